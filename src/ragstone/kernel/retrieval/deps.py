"""What a search is, and what retrievers are built from."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.config import RetrieverSettings
from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.llm import Ask
from ragstone.kernel.records import Chunk, Document, Metadata, Question, Ranking
from ragstone.kernel.retrieval.ranks import Subset

OWN_KEYS = ("lang", "topic")  # tags that stand in the metadata themselves, not under `tags`
TagIndex = Mapping[str, Mapping[str, NDArray[np.int64]]]
"""Tag -> value -> positions of the chunks that have it, ascending."""


class ChunkFilter(msgspec.Struct, frozen=True, kw_only=True):
    """where: only chunks with these tags. match: only chunks that share the question's value of these tags.

    `lang` and `topic` are tags too. A question without a value of a tag in `match` is not restricted by it;
    a chunk without the tag is not found.
    """

    where: dict[str, str] = {}
    match: tuple[str, ...] = ()

    def of_question(self, question: Question) -> dict[str, str]:
        """Return the tags that chunks must have for this question."""
        own = question_tags(question)
        return {**{key: own[key] for key in self.match if key in own}, **self.where}


def question_tags(question: Question) -> dict[str, str]:
    """Return a question's tags, its language among them."""
    return {**(question.tags or {}), **({"lang": question.lang} if question.lang else {})}


def chunk_tags(chunk: Chunk, key: str) -> list[str]:
    """Return the values that a chunk has of a tag: none, one or several.

    They stand in its metadata: `lang` and `topic` by themselves, all others under `tags`, each a text or a
    list of them (a leaflet may be about maize and wheat).
    """
    metadata = chunk.metadata or {}
    tags = metadata if key in OWN_KEYS else metadata.get("tags")
    value = tags.get(key) if isinstance(tags, dict) else None
    values = value if isinstance(value, list) else [] if value is None else [value]
    return [str(each) for each in values]


def index_tags(chunks: Sequence[Chunk], among: ChunkFilter) -> TagIndex:
    """Return where the chunks have the tags that the filter names.

    Raises ConfigError for a tag that no chunk has, a value of `where` that none has, and for values of
    `where` that no chunk has together: the message lists what there is.
    """
    keys = list(dict.fromkeys([*among.where, *among.match]))
    positions: dict[str, dict[str, list[int]]] = {key: {} for key in keys}
    for position, chunk in enumerate(chunks):
        for key in keys:
            for value in dict.fromkeys(chunk_tags(chunk, key)):
                positions[key].setdefault(value, []).append(position)
    for key in keys:
        if not positions[key]:
            raise ConfigError(f"no chunk has the tag {key!r}, so none can be found by it. {_known(chunks)}")
    for key, value in among.where.items():
        if value not in positions[key]:
            raise ConfigError(f"no chunk has {key} = {value!r}. {nearest(value, positions[key])}")
    index = {
        key: {value: np.array(at, dtype=np.int64) for value, at in values.items()}
        for key, values in positions.items()
    }
    subset = subset_of(index, among.where)
    if subset is not None and not len(subset.positions):
        wanted = ", ".join(f"{key} = {value!r}" for key, value in among.where.items())
        raise ConfigError(f"no chunk has {wanted} together. Ask for fewer tags.")
    return index


def subset_of(index: TagIndex, where: Mapping[str, str]) -> Subset | None:
    """Return the chunks that have all of these tags; None where nothing is asked of them."""
    if not where:
        return None
    none = np.array([], dtype=np.int64)
    positions = [index[key].get(value, none) for key, value in where.items()]
    return Subset(dict(where), reduce(np.intersect1d, positions))


def _known(chunks: Iterable[Chunk]) -> str:
    """Return the tags that there are, in words."""
    known: set[str] = set()
    for chunk in chunks:
        metadata = chunk.metadata or {}
        tags = metadata.get("tags")
        known.update(key for key in OWN_KEYS if metadata.get(key))
        known.update(tags if isinstance(tags, dict) else ())
    return f"Existing tags: {', '.join(sorted(known))}." if known else "The chunks have no tags at all."


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


class RetrieverDeps(msgspec.Struct, frozen=True, kw_only=True):
    """What retrievers need beside the chunks.

    retrievers: those that `[retrievers]` declares. embedder: of retrievers that name none. open_embedder and
    open_door: by name, when a retriever first needs one; open_as_given: an embedder whose vectors need not be
    of length 1. context_tokens: of a model, prompt and reply
    together. each: where a retriever that waits for others works on its questions. offline: no retriever
    elsewhere may be asked. documents: by id, where a retriever must find its results in them. secret: of the
    project, for prompts: whoever gives open_door gives it. store: the folder for indexes on disk. built:
    searches over the same chunks that there are already, by name, for retrievers that are made from them.
    """

    retrievers: Mapping[str, RetrieverSettings] = {}
    filter: ChunkFilter = ChunkFilter()
    embedder: str = "packaged"
    open_embedder: Callable[[str], Embed] = no_embedder
    open_as_given: Callable[[str], Embed] = no_embedder
    open_door: Callable[[str], Awaitable[Ask]] | None = None
    context_tokens: Callable[[str], int] = small_context
    each: Each = one_by_one
    offline: bool = False
    documents: Mapping[str, Document] = {}
    secret: Callable[[], bytes] | None = None
    store: Path | None = None
    built: Mapping[str, Search] = {}
