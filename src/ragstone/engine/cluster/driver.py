"""Rows of a stage -> the workers of a cluster and back, in order, while few blocks of them are in memory.

Ray Data runs the workers; their lanes take the blocks from the desk, and bring it what became of them. The
driver keeps the rows of the few blocks that are under way, and reads on as their results are taken. So a slow
writer slows the workers, memory does not grow with the file, and a worker that is gone, for a moment or for
good, leaves its blocks to whoever asks next.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from itertools import islice
from typing import Any, cast

import msgspec

from ragstone.engine.cluster.actors import DeskActor, DeskHandle, StageWorker
from ragstone.engine.cluster.blocks import BlockMade
from ragstone.engine.cluster.messages import Met
from ragstone.engine.cluster.spec import RowOutcome, StageSpec
from ragstone.engine.cluster.starting import RayAddress, connected, living_nodes, no_room
from ragstone.engine.cluster.troubles import explained, of_desk
from ragstone.engine.cluster.worker import Begin, error_of
from ragstone.engine.local import STOP_S
from ragstone.engine.session import Session
from ragstone.errors import ModelError, RagstoneError
from ragstone.llm import open_ledger
from ragstone.llm.budget import Spent
from ragstone.tables.storage import credentials

AT_ONCE = 3  # blocks that a worker has begun
AHEAD = 2  # blocks more than those, that wait to be written
STATE_S = 0.5
LOOK_S = 2.0  # how often nodes and workers are counted
START_S = 120.0  # how long a run waits for its first worker
ROOM_S = 30.0  # and for one when all are gone

Rows = Callable[[], Iterable[bytes]]
"""Gives the encoded rows anew each time."""

encode = msgspec.msgpack.Encoder().encode


async def map_blocks(
    spec: StageSpec, rows: Rows, session: Session, *, n_rows: int | None = None
) -> AsyncGenerator[RowOutcome]:
    """Yield what becomes of each row, in the order of the rows.

    n_rows: how many there are; they are counted first if it is not given. The session's budget counts what
    all workers spend, and its caps hold for all of them. The first error stops everything and is raised here
    as `map_in_order` does. Cancelled (Ctrl-C), no call begins; rows that are finished within STOP_S are
    yielded, in order, and then the cancellation is raised. Raises MissingExtra without Ray, ConfigError where
    there is no cluster.
    """
    n_rows = sum(1 for _ in rows()) if n_rows is None else n_rows
    if not n_rows:
        return
    cluster = await cluster_of(session)
    mapping = _Mapping(cluster, spec, rows, session, n_rows)
    async with cluster.counting(session):
        try:
            async for made in mapping.made():
                yield made
        finally:
            await mapping.end()


class Cluster:
    """The Ray of a session, and its desk."""

    def __init__(self, place: RayAddress, desk: DeskHandle) -> None:
        self.place = place
        self.desk = desk
        self.closed = False

    async def halt(self) -> None:
        """Let no worker begin a call or a block."""
        if not self.closed:
            await of_desk(self.desk.halt.remote())

    @contextlib.asynccontextmanager
    async def counting(self, session: Session) -> AsyncIterator[None]:
        """Within the block, the session's budget shows what the workers spend."""
        await of_desk(self.desk.begin.remote(encode(session.budget.spent())))

        async def look() -> None:
            while True:
                await asyncio.sleep(STATE_S)
                await self._count(session)

        looking = asyncio.create_task(look())
        try:
            yield
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
            await self._count(session)

    async def _count(self, session: Session) -> None:
        if self.closed:  # whoever took the rows let go of them, and the session ended first
            return
        spent, met = cast("tuple[bytes, bytes]", await of_desk(self.desk.spent.remote()))
        session.budget.take_over(msgspec.msgpack.decode(spent, type=Spent))
        for one in msgspec.msgpack.decode(met, type=list[Met]):
            session.models.opened_elsewhere[one.model] = (one.identity, one.list_price)


async def cluster_of(session: Session) -> Cluster:
    """Return the cluster of a session, connected to or started when it is first needed."""
    return await session.once("cluster", lambda: _open_cluster(session))


@contextlib.asynccontextmanager
async def _open_cluster(session: Session) -> AsyncIterator[Cluster]:
    with connected(session.settings) as place:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(place.node, soft=False)
        settings = msgspec.structs.replace(session.settings, root=str(session.settings.path(".").absolute()))
        if settings.ledger.url is None:
            open_ledger(settings).close()  # what is wrong with it is said here, and not by an actor
        actor = ray.remote(num_cpus=0, max_concurrency=10_000, scheduling_strategy=here)(DeskActor)
        desk = cast(DeskHandle, actor.remote(encode(settings), encode(session.budget.caps)))
        cluster = Cluster(place, desk)
        try:
            yield cluster
        finally:
            cluster.closed = True
            with contextlib.suppress(ModelError):
                await of_desk(desk.close.remote())
            ray.kill(desk)


class _Mapping:
    """One stage on its way through the workers."""

    def __init__(self, cluster: Cluster, spec: StageSpec, rows: Rows, session: Session, n_rows: int) -> None:
        engine = session.settings.engine
        self._cluster = cluster
        self._spec = spec
        self._session = session
        self._rows = iter(rows())
        workers = cluster.place.workers
        # Few rows are cut so that every worker has some.
        self._size = max(1, min(engine.block_rows, -(-n_rows // (workers * AT_ONCE))))
        self._n_blocks = -(-n_rows // self._size)
        self._n_workers = min(workers, self._n_blocks)
        self._kept: dict[int, object] = {}  # references to the rows of blocks that are under way
        self._n_fed = 0
        self._most = workers * AT_ONCE + AHEAD
        self._results: dict[int, BlockMade] = {}
        self._came = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._ended = threading.Event()
        self._pool: asyncio.Future[None] = self._loop.create_future()
        self._listening: asyncio.Task[None] | None = None

    async def made(self) -> AsyncIterator[RowOutcome]:
        """Yield what becomes of each row, see map_blocks."""
        n_done = 0
        try:
            self._feed()
            threading.Thread(target=self._run, name="ragstone-pool", daemon=True).start()
            self._listening = asyncio.create_task(self._listen())
            while n_done < self._n_blocks:
                for one in _whole(await self._next(n_done)):
                    yield one
                del self._kept[n_done]
                n_done += 1
                self._feed()
        except asyncio.CancelledError:
            await self._cluster.halt()
            for one in await self._finished(n_done):
                yield one
            raise

    async def end(self) -> None:
        """Stop the workers."""
        self._ended.set()
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
            await self._cluster.halt()
            await asyncio.wait((self._pool,), timeout=STOP_S)
            if not self._pool.done():
                await self._end_workers()
        if self._pool.done() and not self._pool.cancelled():
            self._pool.exception()  # whoever waited for rows was told

    async def _end_workers(self) -> None:
        """End workers whose lanes do not end: Ray waits to start them anew."""
        import ray

        with contextlib.suppress(ModelError):
            for handle in cast("list[Any]", await of_desk(self._cluster.desk.handles.remote())):
                ray.kill(handle)
            await asyncio.wait((self._pool,), timeout=STOP_S)

    async def _listen(self) -> None:
        """Take in the blocks that are done. Raises RagstoneError where no worker is there to do them."""
        desk, looked = self._cluster.desk, 0.0
        waits_until = self._loop.time() + START_S
        while True:
            for payload in cast("list[bytes]", await of_desk(desk.results.remote())):
                made = msgspec.msgpack.decode(payload, type=BlockMade)
                self._results[made.number] = made
            self._came.set()
            if (now := self._loop.time()) - looked < LOOK_S:
                continue
            looked = now
            nodes = await asyncio.to_thread(living_nodes)
            if await of_desk(desk.living.remote(nodes)):
                waits_until = now + ROOM_S
            elif now > waits_until:
                raise RagstoneError(no_room(self._session.settings.engine))

    async def _next(self, number: int) -> BlockMade:
        """Return what became of a block. Raises what ended the workers."""
        while number not in self._results:
            self._came.clear()
            came = asyncio.ensure_future(self._came.wait())
            waiting: set[asyncio.Future[Any]] = {came}
            if self._listening is not None:
                waiting.add(self._listening)
            if not self._pool.done():
                waiting.add(self._pool)
            try:
                ended, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            finally:
                came.cancel()
            for one in ended - {came}:
                one.result()
        return self._results.pop(number)

    async def _finished(self, first: int) -> list[RowOutcome]:
        """Return what of the blocks under way comes within a little more than STOP_S, in order."""
        made: list[RowOutcome] = []
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_S + 1):
                for number in range(first, self._n_fed):
                    made += [one for one in (await self._next(number)).made if one is not None]
        return made

    def _feed(self) -> None:
        """Read rows until as many blocks are under way as may be."""
        import ray

        while self._n_fed < self._n_blocks and len(self._kept) < self._most:
            rows = ray.put(encode(list(islice(self._rows, self._size))))
            self._kept[self._n_fed] = rows
            self._cluster.desk.feed.remote(self._n_fed, [rows])
            self._n_fed += 1

    def _run(self) -> None:
        """Let Ray Data keep the workers alive until their lanes end; on a thread, for it waits."""
        from ray.exceptions import RayError

        why: RagstoneError | None = None
        try:
            self._keep_workers()
        except RayError as mistake:
            why = explained(mistake)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._pool_ended, why)

    def _pool_ended(self, why: RagstoneError | None) -> None:
        if why is None:
            self._pool.set_result(None)
        else:
            self._pool.set_exception(why)

    def _keep_workers(self) -> None:
        import pyarrow as pa
        import ray.data

        engine = self._session.settings.engine
        lanes = ray.data.from_arrow([pa.table({"lane": [n]}) for n in range(self._n_workers * AT_ONCE)])
        ending = lanes.map_batches(
            StageWorker,
            batch_size=None,
            compute=ray.data.ActorPoolStrategy(
                size=self._n_workers,
                max_tasks_in_flight_per_actor=AT_ONCE,
                max_concurrent_calls_per_actor=AT_ONCE,
                enable_true_multi_threading=True,
            ),
            fn_constructor_args=(encode(self._begin()), self._cluster.desk),
            num_cpus=engine.worker_cpus,
            num_gpus=engine.worker_gpus or None,
        )
        for _lane in ending.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
            if self._ended.is_set():  # the lanes of a worker that is gone for good never end
                return

    def _begin(self) -> Begin:
        caps, ends = self._session.budget.caps, self._session.budget.ends
        left = None if ends is None else max(0.001, ends - self._loop.time())
        return Begin(
            spec=self._spec,
            caps=msgspec.structs.replace(caps, seconds=left),
            offline=self._session.models.offline,
            secret=self._session.secret(),
            environment=_keys(self._session)
            | (credentials() if self._spec.name == "ragstone.stages.ingest:READING" else {}),
        )


def _whole(block: BlockMade) -> Iterator[RowOutcome]:
    """Yield what became of the rows of a block. Raises the error that ended it."""
    yield from (one for one in block.made if one is not None)
    if block.error is not None:
        raise error_of(block.error)


def _keys(session: Session) -> dict[str, str]:
    """Return the variables of the environment by which models are reached; workers may lack them."""
    names = {"OPENAI_API_KEY", "OPENAI_BASE_URL"}
    names |= {model.api_key_env for model in session.settings.models.values() if model.api_key_env}
    return {name: os.environ[name] for name in sorted(names) if name in os.environ}
