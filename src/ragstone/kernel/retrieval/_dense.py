"""Dense search: by the similarity of vectors, over the index that is declared."""

import asyncio
import contextlib
import functools
import os
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.config import DenseSettings, Similarity
from ragstone.kernel.embedding.model import Embed, NotEmbedded, TextRefused, Vectors
from ragstone.kernel.errors import ConfigError, ModelError, optional_package
from ragstone.kernel.records import Chunk
from ragstone.kernel.retrieval.bm25 import rank_by_bm25
from ragstone.kernel.retrieval.deps import RetrieverDeps
from ragstone.kernel.retrieval.ranks import Hit, Rank, Subset, hits_among, narrowed, search_exactly

Nearest = Callable[[Vectors, int, Subset | None], list[list[Hit]]]
"""Queries, k, the chunks that may be found -> for each query at most k hits, best first."""


async def rank_by_vectors(
    chunks: Sequence[Chunk], texts: Sequence[str], declared: DenseSettings, deps: RetrieverDeps
) -> Rank:
    """Return a function that ranks chunks by the similarity of their texts' vectors with the question's.

    texts: what each chunk is searched by. Every chunk is a hit: k larger than their number gives all.
    A cosine is in [-1, 1]. In a forecast, what is not embedded yet is ranked by BM25.

    Raises ConfigError where the declaration contradicts itself, ModelError where a text cannot be embedded
    or a server would be asked offline, MissingExtra without the index's package, DataError for an index that
    cannot be used.
    """
    _check(declared, deps)
    opened = deps.open_embedder if declared.similarity == "cosine" else deps.open_as_given
    embed = opened(declared.embedder or deps.embedder)
    try:
        passages = await asyncio.to_thread(embed, texts, "passage")
        nearest = await asyncio.to_thread(_index, passages, chunks, declared, deps)
    except NotEmbedded:
        return _forecast(texts, embed)
    except TextRefused as refusal:
        raise with_its_document(refusal, chunks, texts) from None

    async def rank(questions: Sequence[str], k: int, among: Subset | None) -> list[list[Hit]]:
        if not questions:
            return []
        try:
            queries = await asyncio.to_thread(embed, questions, "query")
        except NotEmbedded:
            return await rank_by_bm25(texts)(questions, k, among)
        return await asyncio.to_thread(nearest, queries, k, among)

    return rank


def _forecast(texts: Sequence[str], embed: Embed) -> Rank:
    """Return a function that ranks by BM25, and asks for the vectors of the questions, so that they count."""
    by_words = rank_by_bm25(texts)

    async def rank(questions: Sequence[str], k: int, among: Subset | None) -> list[list[Hit]]:
        with contextlib.suppress(NotEmbedded):
            await asyncio.to_thread(embed, questions, "query")
        return await by_words(questions, k, among)

    return rank


def _index(
    passages: Vectors, chunks: Sequence[Chunk], declared: DenseSettings, deps: RetrieverDeps
) -> Nearest:
    match declared.index:
        case "exact":
            index = narrowed(passages) if declared.similarity == "cosine" else passages
            return functools.partial(search_exactly, index, similarity=declared.similarity)
        case "faiss":
            return search_by_faiss(passages, declared.similarity)
        case "qdrant":
            from ragstone.kernel.retrieval.qdrant import QdrantPlace, search_by_qdrant

            location = QdrantPlace(
                url=declared.url,
                api_key=None if declared.api_key_env is None else os.environ.get(declared.api_key_env),
                folder=deps.store and deps.store / "qdrant",
                collection=declared.collection,
                similarity=declared.similarity,
            )
            return search_by_qdrant(passages, chunks, location)


def _check(declared: DenseSettings, deps: RetrieverDeps) -> None:
    of_qdrant = {"url": declared.url, "collection": declared.collection, "api_key_env": declared.api_key_env}
    of_other = [key for key, value in of_qdrant.items() if value is not None]
    if declared.index != "qdrant" and of_other:
        raise ConfigError(
            f"[retrievers] {of_other[0]}: this is for index = 'qdrant', not for {declared.index!r}."
        )
    if declared.api_key_env is not None and not os.environ.get(declared.api_key_env):
        raise ConfigError(
            f"[retrievers] api_key_env: the environment variable {declared.api_key_env} is not set."
        )
    if declared.url is not None and deps.offline:
        raise ModelError(f"--offline, but a retriever asks the Qdrant server {declared.url}.")


def with_its_document(refusal: TextRefused, chunks: Sequence[Chunk], texts: Sequence[str]) -> ModelError:
    """Return the error with the chunk whose text the endpoint refused."""
    chunk = next(
        (chunk for chunk, text in zip(chunks, texts, strict=True) if refusal.text.endswith(text)), None
    )
    where = "" if chunk is None else f"document {chunk.document_id!r}, chunk {chunk.id!r}: "
    return ModelError(f"{where}{refusal} Cut the documents smaller: [chunk] size, or --size.")


def search_by_faiss(
    passages: Vectors, similarity: Similarity = "cosine"
) -> Callable[[Vectors, int, Subset | None], list[list[Hit]]]:
    """Return a function that finds for each query its k nearest passages, as search_exactly does.

    Raises MissingExtra without the package faiss-cpu.
    """
    with optional_package("a dense retriever with index = 'faiss'", "faiss"), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its bindings cause some in newer Pythons
        import faiss
    index = (faiss.IndexFlatL2 if similarity == "l2" else faiss.IndexFlatIP)(passages.shape[1])
    index.add(np.ascontiguousarray(passages))

    def search(queries: Vectors, k: int, among: Subset | None) -> list[list[Hit]]:
        chosen = None if among is None else faiss.IDSelectorBatch(among.positions)
        parameters = None if chosen is None else faiss.SearchParameters(sel=chosen)  # type: ignore[call-arg]

        def find(some: Vectors, depth: int) -> NDArray[np.int64]:
            positions: NDArray[np.int64] = index.search(np.ascontiguousarray(some), depth, params=parameters)[
                1
            ]
            return positions

        n = len(passages) if among is None else len(among.positions)
        return hits_among(find, passages, queries, k, n, similarity=similarity)

    return search
