"""What a search is, and what retrievers are built from."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from ragstone.config import RetrieverSettings
from ragstone.embedding.model import Embed
from ragstone.errors import ConfigError
from ragstone.llm import Ask
from ragstone.records import Document, Metadata, Question, Ranking
from ragstone.retrieval.filters import Filter

Search = Callable[[Sequence[Question], int], Awaitable[list[Ranking]]]
"""Questions and k -> one ranking a question, in their order, of at most k items."""


Reorder = Callable[[str, Sequence[str]], Awaitable[tuple[list[int], Metadata]]]
"""A question and passages -> positions of the passages, best first, each once; and what is to be noted."""


def no_embedder(name: str) -> Embed:
    """Refuse: the caller has none to offer."""
    raise ConfigError(f"this retriever needs the embedder {name!r}: give one, or use 'bm25'.")


Out = TypeVar("Out")


class Each(Protocol):
    """Where work on each question is done: a name to show, the work, the questions -> results in order."""

    async def __call__(
        self, name: str, work: Callable[[Question], Awaitable[Out]], questions: Sequence[Question], /
    ) -> list[Out]:
        """Do it."""
        ...


async def one_by_one(
    _name: str, work: Callable[[Question], Awaitable[Out]], questions: Sequence[Question]
) -> list[Out]:
    """Do the work on one question after the other."""
    return [await work(question) for question in questions]


def small_context(_model: str) -> int:
    """Return a context that every model has."""
    return 4096


class SearchMeans(msgspec.Struct, frozen=True, kw_only=True):
    """What retrievers need beside the chunks.

    retrievers: those that `[retrievers]` declares. embedder: of retrievers that name none. open_embedder and
    open_door: by name, when a retriever first needs one. context_tokens: of a model, prompt and reply
    together. each: where a retriever that waits for others works on its questions. offline: no retriever
    elsewhere may be asked. documents: by id, where a retriever must find its results in them. secret: of the
    project, for prompts: whoever gives open_door gives it. store: the folder for indexes on disk. built:
    searches over the same chunks that there are already, by name, for retrievers that are made from them.
    """

    retrievers: Mapping[str, RetrieverSettings] = {}
    filter: Filter = Filter()
    embedder: str = "packaged"
    open_embedder: Callable[[str], Embed] = no_embedder
    open_door: Callable[[str], Awaitable[Ask]] | None = None
    context_tokens: Callable[[str], int] = small_context
    each: Each = one_by_one
    offline: bool = False
    documents: Mapping[str, Document] = {}
    secret: Callable[[], bytes] | None = None
    store: Path | None = None
    built: Mapping[str, Search] = {}
