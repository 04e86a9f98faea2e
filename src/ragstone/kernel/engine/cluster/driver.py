"""Rows of a stage -> the workers of a cluster and back, in order, while few blocks of them are in memory.

Workers are actors of Ray. Blocks of rows run as rows do in one process: so many under way, results in order.
A block is done by whichever worker is free; when that is gone, by another, from the ledger.
"""

import asyncio
import contextlib
import functools
import os
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable, Iterator
from itertools import islice
from typing import Any, cast

import msgspec

from ragstone.kernel.engine.cluster._coordinator import Call, Coordinator, Learnt, Opened
from ragstone.kernel.engine.cluster._troubles import GONE, explained, of_coordinator
from ragstone.kernel.engine.cluster._worker import Begin, BlockMade, StageWorker
from ragstone.kernel.engine.cluster.spec import RowOutcome, StageSpec
from ragstone.kernel.engine.cluster.starting import RayAddress, connected, no_room
from ragstone.kernel.engine.local import STOP_S, map_in_order
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import DataError, ModelError, RagstoneError
from ragstone.kernel.llm import open_ledger
from ragstone.kernel.llm.budget import BudgetCounts
from ragstone.kernel.llm.learnt import learnt_in_folder

AT_ONCE = 3  # blocks that a worker has begun, so that no slot is idle at the end of one
AHEAD = 2  # blocks more than those, that wait to be written
LOOK_S = 0.5  # how often the coordinator is asked for what was spent, and for silent workers
STARTS = 3  # of a worker that ends as it begins
AGAIN_S = 1.0  # between two of them
START_S = 120.0  # how long a run waits for its first worker
ROOM_S = 30.0  # and for one when all are gone

Actor = Any
"""A handle of Ray's, for which it has no type."""


async def map_blocks(
    spec: StageSpec, rows: Callable[[], Iterable[bytes]], session: Session, *, n_rows: int | None = None
) -> AsyncGenerator[RowOutcome]:
    """Yield what becomes of each row, in the order of the rows.

    rows: gives the encoded rows anew each time. n_rows: how many there are; they are counted first if it is
    not given. The session's budget counts what all workers spend, and its caps hold for all of them. Stops
    and raises as `map_in_order` does. Raises MissingExtra without Ray, ConfigError where there is no cluster.
    """
    n_rows = sum(1 for _ in rows()) if n_rows is None else n_rows
    if not n_rows:
        return
    cluster = await cluster_of(session)
    n_workers = cluster.place.workers
    # Few rows are cut so that every worker has some.
    size = max(1, min(session.settings.engine.block_rows, -(-n_rows // (n_workers * AT_ONCE))))
    blocks = _blocks(rows(), size)
    async with _working(cluster, spec, session, min(n_workers, -(-n_rows // size))) as workers:
        # A worker waits STOP_S for its rows itself.
        made = map_in_order(
            workers.do, blocks, workers.halt, window=n_workers * AT_ONCE + AHEAD, stop_s=STOP_S + 1
        )
        async with contextlib.aclosing(cast(AsyncGenerator[BlockMade, None], made)):
            async for block in made:
                for outcome in block.made:
                    if outcome is not None:
                        yield outcome
                    elif not workers.halted:  # it halted by itself
                        raise ModelError(GONE)
                if block.error is not None and not workers.halted:
                    raise block.error


def _blocks(rows: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    left = iter(rows)
    while block := list(islice(left, size)):
        yield block


class Cluster:
    """The Ray of a session, and its coordinator."""

    def __init__(self, address: RayAddress, coordinator: Actor) -> None:
        self.place = address
        self.coordinator = coordinator
        self.closed = False

    async def count(self, session: Session) -> list[str]:
        """Have the session's budget show what the workers spend; return those that are taken for dead."""
        if self.closed:  # whoever took the rows let go of them, and the session ended first
            return []
        reply = await of_coordinator(self.coordinator.look.remote())
        spent, opened, learnt, silent = cast("tuple[BudgetCounts, Opened, Learnt, list[str]]", reply)
        session.budget.take_over(spent)
        session.models.opened_elsewhere.update(opened)
        store = learnt_in_folder(session.settings.path(".ragstone"))
        with contextlib.suppress(DataError, OSError):  # as of a door: a folder that cannot be written to
            for model, fields in learnt.items():
                store.keep(model, fields)
        return silent


async def cluster_of(session: Session) -> Cluster:
    """Return the cluster of a session, connected to or started when it is first needed."""
    return await session.once("cluster", lambda: _open_cluster(session))


@contextlib.asynccontextmanager
async def _open_cluster(session: Session) -> AsyncIterator[Cluster]:
    with connected(session.settings) as address:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(address.node, soft=False)
        settings = msgspec.structs.replace(session.settings, root=str(session.settings.path(".").absolute()))
        opening = None if settings.ledger.url else functools.partial(open_ledger, settings)
        if opening is not None:
            opening().close()  # what is wrong with it is said here, and not by an actor
        actor = ray.remote(num_cpus=0, max_concurrency=10_000, scheduling_strategy=here)(Coordinator)
        coordinator = actor.remote(opening, session.budget.caps)
        cluster = Cluster(address, coordinator)
        try:
            yield cluster
        finally:
            cluster.closed = True
            with contextlib.suppress(ModelError):
                await of_coordinator(coordinator.close.remote())
            ray.kill(coordinator)


@contextlib.asynccontextmanager
async def _working(
    cluster: Cluster, spec: StageSpec, session: Session, n_workers: int
) -> AsyncIterator["Workers"]:
    """Give the workers of a stage; within the block the session's budget shows what they spend."""
    await of_coordinator(cluster.coordinator.begin.remote(session.budget.spent()))
    workers = Workers(cluster, spec, session)

    async def look() -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            for name in await cluster.count(session):
                workers.lose(name)

    looking = asyncio.create_task(look())
    try:
        for _ in range(n_workers):
            workers.start()
        yield workers
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        await workers.end()
        await cluster.count(session)


class Workers:
    """The workers of a stage. Who is free takes the next block; one that is gone is started anew."""

    def __init__(self, cluster: Cluster, spec: StageSpec, session: Session) -> None:
        self.halted = False
        self._coordinator = cluster.coordinator
        self._spec = spec
        self._session = session
        self._actors: dict[str, Actor] = {}
        self._begun: set[str] = set()
        self._free: asyncio.Queue[str] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waits_until = asyncio.get_running_loop().time() + START_S
        self._why_not: RagstoneError | None = None  # why a worker cannot begin

    def start(self) -> None:
        """Have one more, as soon as there is room."""
        self._later(self._start())

    async def do(self, rows: list[bytes]) -> BlockMade:
        """Return what becomes of a block. Raises RagstoneError where no worker is there to do it."""
        from ray.exceptions import RayError

        while (name := await self._next_free()) is not None:
            try:
                made = await self._actors[name].block.remote(rows)
            except RayError as mistake:
                if not _is_of_gone_worker(mistake):
                    raise explained(mistake) from None
                self.lose(name)
            else:
                self._free.put_nowait(name)
                return cast(BlockMade, made)
        return BlockMade([None] * len(rows))

    def halt(self) -> None:
        """Let none begin a call or a block."""
        self.halted = True
        for actor in self._actors.values():
            actor.halt.remote()

    def lose(self, name: str) -> None:
        """Start another worker in the place of one that is gone."""
        import ray

        actor = self._actors.pop(name, None)
        if actor is None:
            return
        self._begun.discard(name)
        if not self._begun:
            self._waits_until = asyncio.get_running_loop().time() + ROOM_S
        ray.kill(actor)  # it may live where nobody can reach it
        self._later(self._leave(name))
        self.start()

    async def end(self) -> None:
        """End all."""
        import ray

        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for actor in self._actors.values():
            ray.kill(actor)

    async def _start(self) -> None:
        import ray
        from ray.exceptions import RayError

        engine = self._session.settings.engine
        remote = ray.remote(num_cpus=engine.worker_cpus, num_gpus=engine.worker_gpus or None)(StageWorker)
        for n_left in reversed(range(STARTS)):
            name = uuid.uuid4().hex
            actor = remote.remote(self._begin(), functools.partial(_exchange, self._coordinator, name))
            self._actors[name] = actor
            try:
                await actor.open.remote()
            except RayError as mistake:
                del self._actors[name]
                if not n_left:
                    self._why_not = explained(mistake)
                await asyncio.sleep(AGAIN_S)
            else:
                self._begun.add(name)
                for _ in range(AT_ONCE):
                    self._free.put_nowait(name)
                return

    async def _leave(self, name: str) -> None:
        with contextlib.suppress(ModelError):  # whoever waits for rows is told
            await of_coordinator(self._coordinator.leave.remote(name))

    async def _next_free(self) -> str | None:
        """Return a worker that takes a block; None after a halt.

        Raises RagstoneError where there has been none for long.
        """
        while not self.halted:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    name = await self._free.get()
                if name in self._begun and not self.halted:
                    return name
            if self._why_not is not None:
                raise self._why_not
            if not self._begun and asyncio.get_running_loop().time() > self._waits_until:
                raise RagstoneError(no_room(self._session.settings.engine))
        return None

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _begin(self) -> Begin:
        caps, ends = self._session.budget.caps, self._session.budget.ends
        left = None if ends is None else max(0.001, ends - asyncio.get_running_loop().time())
        return Begin(
            spec=self._spec,
            caps=msgspec.structs.replace(caps, seconds=left),
            offline=self._session.models.offline,
            secret=self._session.secret(),
            learnt=learnt_in_folder(self._session.settings.path(".ragstone")).read(),
            environment=_keys(self._session)
            | (_storage_keys() if self._spec.name == "ragstone.kernel.stages.ingest:READING" else {}),
        )


def _storage_keys() -> dict[str, str]:
    """Return the variables of the environment by which drivers find storage, for workers that read files."""
    return {name: text for name, text in os.environ.items() if name.startswith(("AWS_", "GOOGLE_"))}


async def _exchange(coordinator: Actor, worker: str, calls: list[Call]) -> list[object]:
    """Bring calls of a worker to the coordinator. Raises ModelError where it is gone."""
    return cast("list[object]", await of_coordinator(coordinator.exchange.remote(worker, calls)))


def _is_of_gone_worker(mistake: Exception) -> bool:
    """Return whether an error of Ray's says that a worker, or what it had made, is gone."""
    from ray import exceptions as of

    gone = (of.RayActorError, of.ObjectLostError, of.WorkerCrashedError, of.NodeDiedError)
    return isinstance(mistake, (*gone, of.OutOfMemoryError))


def _keys(session: Session) -> dict[str, str]:
    """Return the variables of the environment by which models are reached; workers may lack them."""
    names = {"OPENAI_API_KEY", "OPENAI_BASE_URL"}
    names |= {model.api_key_env for model in session.settings.models.values() if model.api_key_env}
    return {name: os.environ[name] for name in sorted(names) if name in os.environ}
