"""The two sorts of processes that Ray runs for us: the desk, and workers with the loop that they live on.

A worker has several lanes, on threads that wait; each takes one block after the other from the desk. Their
rows share one loop, so that the next block has begun before the last row of this one is answered.
"""

import asyncio
import contextlib
import os
import threading
import uuid
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Protocol, cast

import msgspec

from ragstone.config import Settings
from ragstone.engine.cluster.blocks import BlockMade
from ragstone.engine.cluster.desk import Desk
from ragstone.engine.cluster.line import Channel
from ragstone.engine.cluster.messages import CircuitOpened, Halt, Pause, SlotShare, ToWorker, Works
from ragstone.engine.cluster.troubles import of_desk
from ragstone.engine.cluster.worker import Begin, SharedBudget, Worker
from ragstone.errors import ModelError
from ragstone.llm import Caps, open_ledger
from ragstone.llm.budget import Spent

if TYPE_CHECKING:
    import numpy as np

COUNT_S = 0.5  # how often a worker says what it has counted

encode = msgspec.msgpack.Encoder().encode


class DeskActor:
    """The desk as an actor, and the rows of blocks on their way to workers."""

    def __init__(self, settings: bytes, caps: bytes) -> None:
        """Open the project's ledger, unless it is a database. Raises DataError."""
        read = msgspec.msgpack.decode(settings, type=Settings)
        ledger = None if read.ledger.url else open_ledger(read)
        self._desk = Desk(ledger, msgspec.msgpack.decode(caps, type=Caps))
        self._handles: dict[str, object] = {}

    async def begin(self, spent: bytes) -> None:
        """Begin a stage: go on from what the run has spent so far."""
        self._desk.begin(msgspec.msgpack.decode(spent, type=Spent))
        self._handles.clear()

    async def join(self, worker: str, place: str, node: str, handle: object) -> None:
        """See Desk.join. handle: what ends its process for good."""
        self._handles[place] = handle
        self._desk.join(worker, place, node)

    async def handles(self) -> list[object]:
        """Return what ends the processes of all workers of the stage."""
        return list(self._handles.values())

    async def living(self, nodes: list[str]) -> int:
        """See Desk.living."""
        return self._desk.living(nodes)

    async def exchange(self, worker: str, payload: bytes, wait: bool) -> bytes:
        """See Desk.exchange."""
        return await self._desk.exchange(worker, payload, wait)

    async def feed(self, number: int, rows: list[object]) -> None:
        """Take in the rows of a block: a list of one reference to them."""
        self._desk.blocks.feed(number, rows)

    async def take(self, worker: str) -> tuple[bool, tuple[int, list[object]] | None]:
        """Return whether it goes on, and the next block, see Blocks.take."""
        taken = await self._desk.take(worker)
        return not self._desk.blocks.ended, taken

    async def give(self, number: int, result: bytes) -> None:
        """See Blocks.give."""
        self._desk.blocks.give(number, result)

    async def results(self) -> list[bytes]:
        """See Blocks.results."""
        return await self._desk.blocks.results()

    async def halt(self) -> None:
        """Let no worker begin a call or a block."""
        self._desk.halt()

    async def spent(self) -> tuple[bytes, bytes]:
        """Return what the run has spent, and the models that workers have opened."""
        return encode(self._desk.spent()), encode(list(self._desk.met.values()))

    async def counts(self) -> tuple[int, int]:
        """Return the numbers of messages, and of calls of Ray that brought them."""
        return self._desk.n_messages, self._desk.n_exchanges

    async def close(self) -> None:
        """Write what is waiting."""
        self._desk.close()


class Remote(Protocol):
    """A method of an actor, as Ray gives it."""

    def remote(self, *arguments: object) -> Awaitable[object]:
        """Call it."""


class DeskHandle(Protocol):
    """The desk as Ray gives it."""

    begin: Remote
    join: Remote
    exchange: Remote
    living: Remote
    handles: Remote
    feed: Remote
    take: Remote
    give: Remote
    results: Remote
    halt: Remote
    spent: Remote
    counts: Remote
    close: Remote


class StageWorker:
    """What Ray Data calls once for each lane; a call ends with the stage."""

    def __init__(self, begin: bytes, desk: DeskHandle) -> None:
        """Start the loop. What is wrong with the stage is found at its first block.

        Raises RuntimeError where the loop cannot begin, e.g. because the desk is gone.
        """
        self._begin = msgspec.msgpack.decode(begin, type=Begin)
        for name, text in self._begin.environment.items():
            os.environ.setdefault(name, text)
        self._desk = desk
        self._loop: asyncio.AbstractEventLoop | None = None
        self._worker: Worker | None = None
        self._line = Channel(self._send, self._hear)
        self._failed: Exception | None = None
        ready = threading.Event()
        # The process ends with the run, and with it the thread.
        thread = threading.Thread(
            target=lambda: asyncio.run(self._begun(ready)), name="ragstone-worker", daemon=True
        )
        thread.start()
        ready.wait()
        self._check_begun()

    def __call__(self, batch: dict[str, "np.ndarray"]) -> dict[str, "np.ndarray"]:
        """Do blocks until there are no more; Ray calls it again when this process dies."""
        if self._loop is None:
            raise ValueError("the loop has not begun")
        asyncio.run_coroutine_threadsafe(self._lane(), self._loop).result()
        return batch

    def _check_begun(self) -> None:
        if self._failed is not None:
            raise RuntimeError(f"a worker could not begin: {self._failed}") from self._failed

    async def _begun(self, ready: threading.Event) -> None:
        """Live; who waits for that to begin is told when it cannot."""
        try:
            await self._live(ready)
        except Exception as mistake:  # noqa: BLE001 - told by __init__, or by the lanes that end with this loop
            self._failed = mistake
        finally:
            ready.set()

    async def _live(self, ready: threading.Event) -> None:
        import ray

        self._loop = asyncio.get_running_loop()
        self._name = uuid.uuid4().hex
        shared = SharedBudget(self._line, self._begin.caps)
        async with AsyncExitStack() as stack:
            self._shared, self._worker = shared, Worker(self._begin, self._line, shared, stack)
            here = ray.get_runtime_context()
            place, handle = here.get_actor_id(), here.current_actor
            await self._desk.join.remote(self._name, place, here.get_node_id(), handle)
            self._line.start()
            ready.set()
            while True:
                await asyncio.sleep(COUNT_S)
                self._worker.count()

    async def _lane(self) -> None:
        goes_on = True
        while goes_on:
            reply = await of_desk(self._desk.take.remote(self._name))
            goes_on, taken = cast("tuple[bool, tuple[int, list[object]] | None]", reply)
            if taken is not None:
                number, rows = taken
                await of_desk(self._desk.give.remote(number, encode(await self._block(number, rows))))

    async def _block(self, number: int, rows: list[object]) -> BlockMade:
        import ray

        if self._worker is None:
            raise ValueError("the loop has not begun")
        payload = cast(bytes, await asyncio.to_thread(ray.get, rows[0]))
        made = await self._worker.block(number, msgspec.msgpack.decode(payload, type=list[bytes]))
        with contextlib.suppress(ModelError):  # counts are not worth a block
            await self._line.flush()
        return made

    async def _send(self, payload: bytes, wait: bool) -> bytes:
        return cast(bytes, await of_desk(self._desk.exchange.remote(self._name, payload, wait)))

    def _hear(self, told: ToWorker) -> None:
        if isinstance(told, Halt):
            if self._worker is not None:
                self._worker.halt()
        elif isinstance(told, SlotShare | Pause | Works | CircuitOpened):
            self._shared.hear(told)
