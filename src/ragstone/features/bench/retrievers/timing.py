"""Indexes that are built once and searches that are timed, however the parts share their work."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

import msgspec
import numpy as np

from ragstone.features.bench.retrievers._values import Timing
from ragstone.kernel.config import RetrieverSettings
from ragstone.kernel.embedding.embedder import Embedder
from ragstone.kernel.embedding.model import Embed, Role, Vectors
from ragstone.kernel.embedding.opening import open_embedder
from ragstone.kernel.engine.session import Session
from ragstone.kernel.llm import Ask, Prompt, Reply
from ragstone.kernel.records import Chunk, Question, Ranking
from ragstone.kernel.retrieval.deps import RetrieverDeps, Search, one_by_one
from ragstone.kernel.retrieval.search import build_search, named_embedders, parts_of

Out = TypeVar("Out")
N_TIMED = 20  # questions that are asked one by one
UNPAID = ("packaged", "sentence-transformers/")  # what the names of embedders begin with that cost nothing


def is_paid(name: str) -> bool:
    """Return whether an embedder of this name is asked at an endpoint, each time."""
    return bool(name) and not name.startswith(UNPAID)


class BuiltSearch(msgspec.Struct, frozen=True, kw_only=True):
    """A search, and what it took to get it ready, with the parts that it is made from."""

    search: Search
    index_s: float
    n_embedded: int
    n_cached: int


class Watch:
    """What happened behind the searches: vectors that were made or at hand, and the time of model calls.

    fresh: whether texts are embedded although their vectors are in the store, as when a user asks for the
    first time: the question, and the passages of a shortlist. Only embedders of this process do: others cost
    money each time.
    """

    def __init__(self, deps: RetrieverDeps, session: Session | None = None) -> None:
        self.fresh = False
        self.recorded_s = 0.0
        self.n_asked = 0
        self._deps = deps
        self._session = session
        self._opened: dict[str, Embedder] = {}
        self._warm: set[str] = set()

    def deps(self) -> RetrieverDeps:
        """Return the deps, watched."""
        return msgspec.structs.replace(
            self._deps,
            open_embedder=self.embedder,
            open_door=self._deps.open_door and self.ask,
            each=self.each,
        )

    async def each(
        self, name: str, work: Callable[[Question], Awaitable[Out]], questions: Sequence[Question]
    ) -> list[Out]:
        """Return `work(question)` for every question; without a bar where a single one is timed."""
        return await (one_by_one if self.fresh else self._deps.each)(name, work, questions)

    def counts(self) -> tuple[int, int]:
        """Return the texts that were embedded so far, and those that had not to be."""
        opened = self._opened.values()
        return sum(each.n_embedded for each in opened), sum(each.n_cached for each in opened)

    def embedder(self, name: str) -> Embed:
        """Return the embedder of a name."""
        stored = self._deps.open_embedder(name)
        if self._session is None:
            return stored
        self._opened[name] = self._session.embedder(name)
        unstored = self._unstored(name)

        def embed(texts: Sequence[str], role: Role) -> Vectors:
            return (unstored if self.fresh and unstored else stored)(texts, role)

        return embed

    def _unstored(self, name: str) -> Embedder | None:
        """Return the embedder without its store; None for an endpoint, which is paid each time."""
        if self._session is None or is_paid(name):
            return None
        return open_embedder(name, settings=self._session.settings)

    async def warm_up(self, chunks: Sequence[Chunk], embedders: Sequence[str]) -> None:
        """Load what is loaded once in a process, so that no configuration has to pay for being the first."""
        if "bm25" not in self._warm:
            await build_search("bm25", chunks[:1])
        for name in embedders:
            unstored = None if name in self._warm else self._unstored(name)
            if unstored:
                await asyncio.to_thread(unstored, ["a question"], "query")
        self._warm |= {"bm25", *embedders}

    async def ask(self, model: str) -> Ask:
        """Return what asks a model; its recorded latency counts, not the time that the ledger takes."""
        if self._deps.open_door is None:
            raise ValueError("these deps have no door")
        ask = await self._deps.open_door(model)

        async def watched(prompt: Prompt) -> Reply:
            self.n_asked += 1
            began = time.perf_counter()
            reply = await ask(prompt)
            if reply.latency_s is not None:
                self.recorded_s += reply.latency_s - (time.perf_counter() - began)
            return reply

        return watched


class Indexes:
    """The searches over one chunking, each built once, also where several retrievers are made from it."""

    def __init__(self, chunks: Sequence[Chunk], known: Mapping[str, RetrieverSettings], watch: Watch) -> None:
        self._chunks = chunks
        self._known = known
        self._watch = watch
        self._built: dict[tuple[str, str | None], BuiltSearch] = {}

    async def build(
        self, name: str, embedder: str | None, declared: Mapping[str, RetrieverSettings]
    ) -> BuiltSearch:
        """Return the search of a retriever, as build_search does. declared: those that do not ship."""
        key = (name, embedder if None in named_embedders(name, self._known) else None)
        if key in self._built:
            return self._built[key]
        await self._watch.warm_up(self._chunks, embedders_of(name, embedder, self._known))
        parts = {part: await self.build(part, embedder, declared) for part in parts_of(self._known[name])}
        before, began = self._watch.counts(), time.perf_counter()
        deps = msgspec.structs.replace(
            self._watch.deps(),
            retrievers=declared,
            embedder=embedder or self._watch.deps().embedder,
            built={part: built.search for part, built in parts.items()},
        )
        search = await build_search(name, self._chunks, deps)
        after = self._watch.counts()
        self._built[key] = BuiltSearch(
            search=search,
            index_s=time.perf_counter() - began + sum(built.index_s for built in parts.values()),
            n_embedded=after[0] - before[0] + sum(built.n_embedded for built in parts.values()),
            n_cached=after[1] - before[1] + sum(built.n_cached for built in parts.values()),
        )
        return self._built[key]


async def search_timed(
    built: BuiltSearch, questions: Sequence[Question], k: int, watch: Watch, embedders: Sequence[str]
) -> tuple[list[Ranking], Timing]:
    """Return what a search finds, and its times: all questions at once, then some one by one.

    embedders: those that the search embeds questions with; the vectors are made before the clock starts, and
    those of a shortlist's passages too: where it embedded any, it searches again.
    """
    for name in embedders:
        await asyncio.to_thread(watch.embedder(name), [question.question for question in questions], "query")
    n_asked, (n_embedded, _), began = watch.n_asked, watch.counts(), time.perf_counter()
    rankings = await built.search(questions, k)
    at_once_s = time.perf_counter() - began
    asks = watch.n_asked > n_asked
    if watch.counts()[0] > n_embedded and not asks:
        began = time.perf_counter()
        await built.search(questions, k)
        at_once_s = time.perf_counter() - began
    step = max(1, len(questions) // N_TIMED)
    seconds = [
        await _one_by_one(built.search, question, k, watch) for question in questions[::step][:N_TIMED]
    ]
    p50, p95 = np.quantile(seconds, (0.5, 0.95)).tolist()
    return rankings, Timing(
        index_s=built.index_s,
        n_embedded=built.n_embedded,
        n_cached=built.n_cached,
        p50_s=p50,
        p95_s=p95,
        n_timed=len(seconds),
        questions_per_s=None if asks else len(questions) / max(at_once_s, 1e-9),
    )


async def _one_by_one(search: Search, question: Question, k: int, watch: Watch) -> float:
    """Return the seconds that one question takes, as when it is asked for the first time."""
    watch.fresh, watch.recorded_s = True, 0.0
    began = time.perf_counter()
    try:
        await search([question], k)
    finally:
        watch.fresh = False
    return max(0.0, time.perf_counter() - began + watch.recorded_s)


def embedders_of(name: str, embedder: str | None, known: Mapping[str, RetrieverSettings]) -> list[str]:
    """Return the embedders that a retriever embeds questions with; `embedder` is the default one."""
    names = [named or embedder for named in named_embedders(name, known)]
    return list(dict.fromkeys(embedder_name for embedder_name in names if embedder_name is not None))
