"""`[bench.retrievers]` -> the configurations to measure, each once."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from ragstone.features.bench.retrievers._values import Configuration
from ragstone.kernel.config import ChunkSection, Settings
from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.retrieval.measures import MEASURES
from ragstone.kernel.retrieval.search import RETRIEVERS, named_embedders, searches_chunks

NO_RERANKER = "none"
SPAN_MEASURES = ("span_recall", "span_precision")
T = TypeVar("T")


def plan_grid(settings: Settings) -> list[Configuration]:
    """Return every combination that `[bench.retrievers]` declares, chunkers outermost.

    A retriever that does not embed by the default embedder is there once for all embedders, and one that
    does not search our chunks (HTTP) once for all chunkers. Raises ConfigError for an empty list, an unknown
    retriever and an unknown measure.
    """
    declared = settings.bench.retrievers
    known = {**RETRIEVERS, **settings.retrievers}
    if declared.measure is not None and declared.measure not in (*MEASURES, *SPAN_MEASURES):
        raise ConfigError(
            f"[bench.retrievers] measure = {declared.measure!r}. "
            f"{nearest(declared.measure, (*MEASURES, *SPAN_MEASURES))}"
        )
    chunkers = _once("chunkers", [settings.chunk] if declared.chunkers is None else declared.chunkers)
    embedders = _once(
        "embedders", [settings.retrieve.embedder] if declared.embedders is None else declared.embedders
    )
    retrievers = _once("retrievers", declared.retrievers)
    rerankers = _once("rerankers", declared.rerankers)
    _once("k", declared.k)
    planned = [
        (chunker, retriever, embedder, None if reranker == NO_RERANKER else reranker)
        for chunker in chunkers
        for retriever in retrievers
        if chunker == chunkers[0] or searches_chunks(retriever, known)
        for embedder in (embedders if None in named_embedders(retriever, known) else [None])
        for reranker in rerankers
    ]
    return [
        Configuration(
            name=_name(*cell, several_chunkers=len(chunkers) > 1, several_embedders=len(embedders) > 1),
            chunker=cell[0],
            retriever=cell[1],
            embedder=cell[2],
            reranker=cell[3],
        )
        for cell in planned
    ]


def chunker_label(chunker: ChunkSection) -> str:
    """Return a chunker in a few words: its method, its size and what else is not the default."""
    size = "" if chunker.method == "whole" else f" {chunker.size}"
    others = [
        f"{field.name} {value}"
        for field in msgspec.structs.fields(chunker)
        if field.name not in ("method", "size")
        and (value := getattr(chunker, field.name)) != getattr(ChunkSection(), field.name)
    ]
    return " ".join([chunker.method + size, *others])


def _name(
    chunker: ChunkSection,
    retriever: str,
    embedder: str | None,
    reranker: str | None,
    *,
    several_chunkers: bool,
    several_embedders: bool,
) -> str:
    parts = [
        chunker_label(chunker) if several_chunkers else "",
        retriever,
        (embedder or "") if several_embedders else "",
        reranker or "",
    ]
    return " · ".join(part for part in parts if part)


def _once(key: str, values: Sequence[T]) -> list[T]:
    """Return the values, each once. Raises ConfigError where there are none."""
    if not values:
        raise ConfigError(f"[bench.retrievers] {key} is empty: name at least one.")
    return [value for at, value in enumerate(values) if value not in values[:at]]
