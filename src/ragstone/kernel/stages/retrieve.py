"""Stage: questions -> rankings, in this process or by the workers of a cluster."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from ragstone.kernel.config import (
    DenseSettings,
    HybridSettings,
    RerankSettings,
    RetrieverSettings,
    RetrieveSection,
)
from ragstone.kernel.embedding.model import Role, Vectors
from ragstone.kernel.engine.mapping import in_rounds, map_rows, on_cluster
from ragstone.kernel.engine.row_work import RowWork
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import ConfigError, plural
from ragstone.kernel.records import Chunk, Document, Question, Ranking, status_counts
from ragstone.kernel.retrieval.deps import ChunkFilter, RetrieverDeps, question_tags
from ragstone.kernel.retrieval.passages import indexed_text
from ragstone.kernel.retrieval.rerank import asks_a_model
from ragstone.kernel.retrieval.search import RETRIEVERS, build_search

SHOWN = 3  # questions that a note names


def retriever_deps(session: Session, documents: Iterable[Document] = ()) -> RetrieverDeps:
    """Return what retrievers need, as `[retrieve]` and `[retrievers]` declare."""
    declared = session.settings.retrieve
    return RetrieverDeps(
        retrievers=session.settings.retrievers,
        filter=ChunkFilter(where=declared.where, match=tuple(declared.match)),
        embedder=declared.embedder,
        open_embedder=session.embed,
        open_as_given=partial(session.embed, as_given=True),
        open_door=session.models.ask,
        context_tokens=session.models.context_tokens,
        each=session.each,
        documents={document.id: document for document in documents},
        offline=session.asks_nobody,
        secret=session.secret,
        store=session.settings.path(".ragstone"),
    )


TEXTS = 64  # that are embedded as one row
QUESTIONS = 256  # that are searched as one row

Packed = list[bytes]
"""Vectors, each as the bytes of its float32 numbers."""


async def _embedding(session: Session, *, of: str, role: Role) -> Callable[[list[str]], Awaitable[Packed]]:
    embedder = session.embedder(of)

    async def work(texts: list[str]) -> Packed:
        return [vector.tobytes() for vector in await asyncio.to_thread(embedder, texts, role)]

    return work


async def _retrieving(
    session: Session,
    *,
    chunks: list[Chunk],
    documents: list[Document],
    declared: RetrieveSection,
    vectors: dict[str, Packed],
) -> Callable[[list[Question]], Awaitable[list[Ranking]]]:
    """Build the index once. vectors: name of an embedder -> those of the chunks, which were made before."""
    texts = [indexed_text(chunk) for chunk in chunks]
    for name, packed in vectors.items():
        session.embedder(name).take(texts, "passage", _unpacked(packed))
    search = await build_search(declared.retriever, chunks, retriever_deps(session, documents))

    async def work(questions: list[Question]) -> list[Ranking]:
        return await search(questions, declared.k)

    return work


EMBEDDING: RowWork[list[str], Packed] = RowWork(
    f"{__name__}:EMBEDDING", list[str], Packed, {"of": str, "role": Role}, _embedding
)
RETRIEVING: RowWork[list[Question], list[Ranking]] = RowWork(
    f"{__name__}:RETRIEVING",
    list[Question],
    list[Ranking],
    {
        "chunks": list[Chunk],
        "documents": list[Document],
        "declared": RetrieveSection,
        "vectors": dict[str, Packed],
    },
    _retrieving,
)


async def rank_on_cluster(
    questions: Sequence[Question],
    chunks: Sequence[Chunk],
    session: Session,
    documents: Iterable[Document],
    declared: RetrieveSection,
) -> list[Ranking]:
    """Return what rank_questions returns. Raises ConfigError for an index that workers cannot share."""
    texts = [indexed_text(chunk) for chunk in chunks]
    vectors = {}
    for name in embedders_of(declared, session.settings.retrievers):
        await embed_on_cluster(name, texts, "passage", session)
        vectors[name] = [vector.tobytes() for vector in session.embedder(name)(texts, "passage")]
    batches = [list(questions[at : at + QUESTIONS]) for at in range(0, len(questions), QUESTIONS)]
    made = map_rows(
        RETRIEVING,
        lambda: batches,
        session,
        n_rows=len(batches),
        chunks=list(chunks),
        documents=list(documents),
        declared=declared,
        vectors=vectors,
    )
    with session.progress("retrieve", len(questions), session.state) as advance:
        rankings: list[Ranking] = []
        async for some, _heard in made:
            rankings += some
            for _ in some:
                advance()
        return rankings


async def embed_on_cluster(name: str, texts: Sequence[str], role: Role, session: Session) -> None:
    """Have workers embed the texts that the store of the embedder lacks, and store their vectors."""
    embedder = session.embedder(name)
    lacking = embedder.lacking(texts, role)
    batches = [lacking[at : at + TEXTS] for at in range(0, len(lacking), TEXTS)]
    with session.progress("embed", len(lacking), session.state) as advance:
        at = 0
        made = map_rows(EMBEDDING, lambda: batches, session, n_rows=len(batches), of=name, role=role)
        async for packed, _heard in made:
            embedder.take(batches[at], role, _unpacked(packed))
            at += 1
            for _ in packed:
                advance()


def _unpacked(packed: Packed) -> Vectors:
    if not packed:
        return np.zeros((0, 0), dtype=np.float32)
    return np.stack([np.frombuffer(vector, dtype=np.float32) for vector in packed])


def embedders_of(declared: RetrieveSection, retrievers: Mapping[str, RetrieverSettings]) -> list[str]:
    """Return the embedders of a retriever and of those that it is made from, each once."""
    known = RETRIEVERS | dict(retrievers)
    return list(dict.fromkeys(_named(declared.retriever, known, declared.embedder)))


def _named(name: str, known: Mapping[str, RetrieverSettings], usual: str) -> list[str]:
    others = {other: declared for other, declared in known.items() if other != name}
    match known.get(name):
        case DenseSettings(index="qdrant"):
            raise ConfigError(
                f"[retrievers] {name}: an index of Qdrant is built by one process. With --engine ray, choose "
                "index = 'exact' or 'faiss'; or leave out --engine ray."
            )
        case DenseSettings(similarity="dot" | "l2"):
            raise ConfigError(
                f"[retrievers] {name}: workers share only vectors of length 1. With --engine ray, choose "
                "similarity = 'cosine'; or leave out --engine ray."
            )
        case DenseSettings() as dense:
            return [dense.embedder or usual]
        case HybridSettings() as hybrid:
            return [declared for part in hybrid.of for declared in _named(part, others, usual)]
        case RerankSettings() as reranked:
            return _named(reranked.of, others, usual)
        case _:
            return []


async def rank_questions(
    questions: Sequence[Question],
    chunks: Sequence[Chunk],
    session: Session,
    *,
    documents: Iterable[Document] = (),
    declared: RetrieveSection | None = None,
) -> list[Ranking]:
    """Return the rankings that `[retrieve]` declares, one a question, in order.

    documents: those of the chunks, where a retriever elsewhere returns texts to be found in them. declared:
    in place of `[retrieve]`; its filter and its embedder stay.
    """
    declared = declared or session.settings.retrieve
    if on_cluster(session):
        return await rank_on_cluster(questions, chunks, session, documents, declared)
    search = await build_search(declared.retriever, chunks, retriever_deps(session, documents))
    if not asks_a_model(declared.retriever, session.settings.retrievers):
        return await search(questions, declared.k)

    async def rows() -> AsyncIterator[Ranking]:
        for ranking in await search(questions, declared.k):
            yield ranking

    return [ranking async for ranking in in_rounds(rows, session, asking=rows)]


def ranking_notes(
    rankings: Sequence[Ranking], questions: Sequence[Question], declared: RetrieveSection
) -> list[str]:
    """Return what went otherwise than a reader of the rankings would think, each with its count."""
    notes = []
    known = {key for question in questions for key in question_tags(question)}
    notes += [
        f"No question has the tag {key!r}, so matching by it restricts none."
        for key in declared.match
        if key not in known
    ]
    noted_of = {ranking.question_id: ranking.metadata or {} for ranking in rankings}
    lacking = {name: noted["no_chunk_has"] for name, noted in noted_of.items() if "no_chunk_has" in noted}
    if lacking:
        notes.append(
            f"{plural(len(lacking), 'question')} found nothing, because no chunk has their tags: "
            f"{_shown([f'{name} {tags}' for name, tags in lacking.items()])}."
        )
    failed = {name: noted["error"] for name, noted in noted_of.items() if "error" in noted}
    if failed:
        notes.append(
            f"{plural(len(failed), 'question')} got no answer from the retriever, which counts as nothing "
            f"found: {_shown([f'{name} ({error})' for name, error in failed.items()])}."
        )
    reasons_of = Counter(
        str(noted.get("reason")) for noted in noted_of.values() if noted.get("reranked") is False
    )
    if reasons_of:
        notes.append(
            f"{plural(reasons_of.total(), 'question')} not reranked, so in the first order: "
            f"{status_counts(reasons_of)}."
        )
    foreign = Counter(noted["lang_of_no_chunk"] for noted in noted_of.values() if "lang_of_no_chunk" in noted)
    if foreign:
        langs = ", ".join(f"{n} in {lang}" for lang, n in foreign.most_common())
        notes.append(
            f"{plural(foreign.total(), 'question')} in a language of no chunk ({langs}): words find a "
            "shortlist, so it holds little of use for them. Use dense or hybrid."
        )
    n_fused = sum(noted.get("fused_by") == "document" for noted in noted_of.values())
    if n_fused:
        notes.append(
            f"The rankings of {n_fused} of {plural(len(rankings), 'question')} were fused by document, "
            "because the retrievers return pieces that cannot be matched, such as chunks and whole "
            "documents. Such a ranking names a document once."
        )
    n_cut = sum(noted.get("cut", 0) for noted in noted_of.values())
    if n_cut:
        notes.append(
            f"{plural(n_cut, 'passage')} cut to fit the reranker's context: a larger `context_tokens` in its "
            "model's table, a smaller depth or smaller chunks cut less."
        )
    return notes


def _shown(texts: Sequence[str]) -> str:
    return "; ".join(texts[:SHOWN]) + (f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else "")


def too_few_chunks(n_chunks: int, k: int) -> list[str]:
    """Return the note that there are fewer chunks than k, none where there are enough."""
    if not 0 < n_chunks < k:
        return []
    there = f"There {'is' if n_chunks == 1 else 'are'} only {plural(n_chunks, 'chunk')}"
    return [f"{there}: use a smaller k than {k}, or smaller chunks (--size)."]
