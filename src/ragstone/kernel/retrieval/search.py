"""A retriever's name -> a search over chunks: questions in, rankings out."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from ragstone.kernel.config import (
    Bm25Settings,
    DenseSettings,
    HttpSettings,
    HybridSettings,
    RerankSettings,
    RetrieverSettings,
    ShortlistSettings,
)
from ragstone.kernel.errors import ConfigError, DataError, nearest
from ragstone.kernel.records import Chunk, Metadata, Question, Ranking, RankingItem
from ragstone.kernel.retrieval._dense import rank_by_vectors
from ragstone.kernel.retrieval._remote import search_elsewhere
from ragstone.kernel.retrieval.bm25 import rank_by_bm25
from ragstone.kernel.retrieval.deps import ChunkFilter, RetrieverDeps, Search, TagIndex, index_tags, subset_of
from ragstone.kernel.retrieval.fusion import MEANING, WORDS, fuse
from ragstone.kernel.retrieval.passages import indexed_text
from ragstone.kernel.retrieval.ranks import Hit, Rank
from ragstone.kernel.retrieval.rerank import rerank
from ragstone.kernel.retrieval.shortlist import shortlist

Tags = tuple[tuple[str, str], ...]
"""The tags that a question demands of chunks: (tag, value), sorted."""

RETRIEVERS: dict[str, RetrieverSettings] = {
    "bm25": Bm25Settings(),
    "dense": DenseSettings(),
    "hybrid": HybridSettings(weights=[WORDS, MEANING]),
    "shortlist": ShortlistSettings(),
}
"""Those that need no declaration.

How `hybrid` fuses and weighs was chosen on every other question of these packs (but clapnq, ar and zh)
with the packaged embedder; the figures are of the others. hit@1, of cranfield nDCG@10:

                       bm25   dense  hybrid  fused by ranks
    agxqa              .923   .731   .934    .896
    clapnq             .937   .975   1.000   .975
    bankfaq            .380   .426   .443    .414
    cranfield          .301   .354   .365    .366
    xquad, English     .946   .937   .981    .972
    xquad, es to en    .405   .848   .831    .645
    xquad, ru to en    .119   .768   .779    .749
    xquad, hi to en    .104   .807   .823    .794
    xquad, ar to en    .061   .626   .643    .643
    xquad, zh to en    .100   .684   .710    .690
"""


async def build_search(name: str, chunks: Sequence[Chunk], deps: RetrieverDeps | None = None) -> Search:
    """Return a search by the retriever of that name over the chunks.

    name: a key of RETRIEVERS or of `deps.retrievers`. A chunk is searched by its document's title
    (`metadata["title"]`, see corpus) and its text. Equal scores are in the order of `chunks`. A blank
    question gets an empty ranking; questions with the same text are searched once. What went wrong with a
    single question stands in its ranking's `metadata` (see remote.py, rerank.py, fusion.py; `no_chunk_has`:
    tags of the question that no chunk has).

    Raises ConfigError for an unknown retriever, one that is made from itself, a tag that no chunk has, a
    missing embedder or k < 1; DataError without chunks (only a retriever elsewhere needs none), and for two
    chunks of one id.
    """
    deps = deps or RetrieverDeps()
    taken = sorted(deps.retrievers.keys() & RETRIEVERS.keys())
    if taken:
        raise ConfigError(f"[retrievers] {taken[0]}: a retriever of that name ships. Choose another name.")
    twice = [name for name, n in Counter(chunk.id for chunk in chunks).items() if n > 1]
    if twice:
        raise DataError(
            f"{len(twice)} chunk ids are used for several chunks, e.g. {twice[0]!r}. Chunk again."
        )
    search = await _build(name, chunks, deps, ())

    async def checked(questions: Sequence[Question], k: int) -> list[Ranking]:
        if k < 1:
            raise ConfigError(f"k is {k}: ask for at least one result.")
        rankings = await search(questions, k)
        return [msgspec.structs.replace(ranking, retriever=name) for ranking in rankings]

    return checked


async def _build(name: str, chunks: Sequence[Chunk], deps: RetrieverDeps, within: tuple[str, ...]) -> Search:
    """Return the search of a retriever and of those that it is made from; `within` are those around it."""
    if name in deps.built:
        return deps.built[name]
    known = {**RETRIEVERS, **deps.retrievers}
    around = (*within, name)
    match _declared(name, known, within):
        case HttpSettings() as declared:
            return search_elsewhere(name, declared, chunks, deps)
        case HybridSettings() as declared:
            _check_parts(name, declared)
            parts = [await _build(part, chunks, deps, around) for part in declared.of]
            otherwise = None if all(_finds_chunks(part, known) for part in declared.of) else chunks
            return fuse(parts, declared.weights or [1.0] * len(parts), declared.fusion, otherwise)
        case ShortlistSettings() as declared:
            _check_proposer(name, declared.of, known)
            first = await _build(declared.of, chunks, deps, around)
            ours = declared.of in known and searches_chunks(declared.of, known)
            return shortlist(name, declared, first, chunks, deps, by_our_words=ours)
        case RerankSettings() as declared:
            first = await _build(declared.of, chunks, deps, around)
            return await rerank(name, declared, first, chunks, deps)
        case Bm25Settings() | DenseSettings() as declared:
            return await _search_chunks(declared, chunks, deps)


def _declared(
    name: str, known: Mapping[str, RetrieverSettings], within: tuple[str, ...]
) -> RetrieverSettings:
    """Return what a name stands for. Raises ConfigError for an unknown one, and one made from itself."""
    if name not in known:
        raise ConfigError(f"unknown retriever {name!r}. {nearest(name, known)}")
    if name in within:
        raise ConfigError(
            f"[retrievers] {' > '.join([*within, name])}: a retriever cannot be made from itself."
        )
    return known[name]


def _finds_chunks(name: str, known: Mapping[str, RetrieverSettings]) -> bool:
    """Return whether all that a retriever finds are chunks of the corpus: none of its parts is elsewhere.

    A part that was built by the caller, and is not declared, may find anything.
    """
    declared = known.get(name)
    if declared is None or isinstance(declared, HttpSettings):
        return False
    return all(_finds_chunks(part, known) for part in parts_of(declared))


def searches_chunks(name: str, known: Mapping[str, RetrieverSettings]) -> bool:
    """Return whether any part of a retriever searches our chunks; one behind HTTP has texts of its own."""
    return any(isinstance(part, Bm25Settings | DenseSettings) for part in all_parts(name, known))


def named_embedders(name: str, known: Mapping[str, RetrieverSettings]) -> list[str | None]:
    """Return the embedders that a retriever and its parts name, each once; None: the default one."""
    parts = all_parts(name, known)
    named = [part.embedder for part in parts if isinstance(part, DenseSettings | ShortlistSettings)]
    return list(dict.fromkeys(named))


def all_parts(
    name: str, known: Mapping[str, RetrieverSettings], within: tuple[str, ...] = ()
) -> list[RetrieverSettings]:
    """Return a retriever and those that it is made from, down to those that are made from no other.

    Raises ConfigError for an unknown name, and for a retriever that is made from itself.
    """
    declared = _declared(name, known, within)
    parts = [each for part in parts_of(declared) for each in all_parts(part, known, (*within, name))]
    return [declared, *parts]


def parts_of(declared: RetrieverSettings) -> Sequence[str]:
    """Return the names of the retrievers that one is made from."""
    match declared:
        case HybridSettings():
            return declared.of
        case ShortlistSettings() | RerankSettings():
            return [declared.of]
        case _:
            return []


def _check_parts(name: str, declared: HybridSettings) -> None:
    """Raise ConfigError for a fusion that cannot be meant."""
    of, weights = declared.of, declared.weights
    if not of or len(set(of)) < len(of):
        raise ConfigError(f"[retrievers] {name}: `of` must name retrievers, each once; it is {of}.")
    if weights is not None and len(weights) != len(of):
        raise ConfigError(
            f"[retrievers] {name}: {len(weights)} weights for {len(of)} retrievers ({', '.join(of)}). "
            "Give one for each, in their order."
        )
    if weights is not None and not any(weights):
        raise ConfigError(f"[retrievers] {name}: all weights are 0. Give at least one more.")


def _check_proposer(name: str, of: str, known: Mapping[str, RetrieverSettings]) -> None:
    """Raise ConfigError for a shortlist of a retriever that embeds by itself."""
    if of in known and named_embedders(of, known):
        raise ConfigError(
            f"[retrievers] {name}: of = {of!r} embeds by itself, so a shortlist of it saves nothing. "
            "Name one that finds by words, such as 'bm25'."
        )


async def _search_chunks(
    declared: Bm25Settings | DenseSettings, chunks: Sequence[Chunk], deps: RetrieverDeps
) -> Search:
    if not chunks:
        raise DataError(
            "there are no chunks to search. Name documents with --documents or as paths in [documents] of "
            "ragstone.toml, and check that they hold text."
        )
    tags = index_tags(chunks, deps.filter)
    texts = [indexed_text(chunk) for chunk in chunks]
    if isinstance(declared, DenseSettings):
        rank = await rank_by_vectors(chunks, texts, declared, deps)
    else:
        rank = rank_by_bm25(texts)
    return _search(rank, chunks, deps.filter, tags)


def _search(rank: Rank, chunks: Sequence[Chunk], among: ChunkFilter, tags: TagIndex) -> Search:
    async def search(questions: Sequence[Question], k: int) -> list[Ranking]:
        by_tags: dict[Tags, dict[str, list[Hit]]] = {}
        keys = [tuple(sorted(among.of_question(question).items())) for question in questions]
        for question, key in zip(questions, keys, strict=True):
            if question.question.strip():
                by_tags.setdefault(key, {})[question.question] = []
        lacking: dict[Tags, Metadata] = {}
        for (
            key,
            by_text,
        ) in by_tags.items():  # texts that may find the same chunks are searched together, once
            subset = subset_of(tags, dict(key))
            if subset is not None and not len(subset.positions):
                lacking[key] = {"no_chunk_has": dict(key)}
                continue
            texts = list(by_text)
            by_text.update(zip(texts, await rank(texts, k, subset), strict=True))
        none: Mapping[str, list[Hit]] = {}
        return [
            Ranking(
                question_id=question.id,
                retriever="",
                items=[
                    _item(chunks[at], score)
                    for at, score in by_tags.get(key, none).get(question.question, [])
                ],
                metadata=lacking.get(key),
            )
            for question, key in zip(questions, keys, strict=True)
        ]

    return search


def _item(chunk: Chunk, score: float) -> RankingItem:
    return RankingItem(
        document_id=chunk.document_id, chunk_id=chunk.id, start=chunk.start, end=chunk.end, score=score
    )
