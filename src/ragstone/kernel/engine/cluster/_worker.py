"""A worker: blocks of rows of one stage, with a session of its own whose calls go by what all share."""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

from ragstone.kernel.engine.cluster._channel import Channel, Exchange
from ragstone.kernel.engine.cluster._coordinator import Coordinator
from ragstone.kernel.engine.cluster._leases import SharedBudget, SharedLedger
from ragstone.kernel.engine.cluster.spec import RowOutcome, StageSpec, build_work, portable
from ragstone.kernel.engine.local import STOP_S
from ragstone.kernel.engine.session import Session, SessionOptions, WorkerShare
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import Budget, Caps
from ragstone.kernel.llm.learnt import LearntStore
from ragstone.kernel.llm.limits import CallsStopped

COUNT_S = 0.5  # how often a worker says what it has counted


class Begin(NamedTuple):
    """What a worker begins with.

    secret: that of the project. environment: names of keys, and the keys. learnt: what earlier commands
    learnt of models.
    """

    spec: StageSpec
    caps: Caps
    offline: bool
    secret: bytes
    environment: dict[str, str]
    learnt: dict[str, dict[str, Any]]


class BlockMade(NamedTuple):
    """What became of a block: each row of it, None where the run was stopped before it was finished.

    error: what ends the run, at the first row that is lacking at the end.
    """

    made: list[RowOutcome | None]
    error: Exception | None = None


class StageWorker:
    """Lives on one event loop until its process ends. What is wrong with its stage is found by each block."""

    def __init__(self, begin: Begin, exchange: Exchange) -> None:
        """exchange: how calls come to the coordinator."""
        for name, text in begin.environment.items():
            os.environ.setdefault(name, text)
        self._begin = begin
        self._channel = Channel(exchange, self._lost)
        self._stack = AsyncExitStack()

    async def open(self) -> None:
        """Begin to live."""
        begin = self._begin
        self._loop = asyncio.get_running_loop()
        self._halted = asyncio.Event()
        self._work: asyncio.Future[Callable[[bytes], Awaitable[RowOutcome]]] | None = None
        self._budget = Budget(begin.caps, SharedBudget(self._channel, begin.caps))
        # A database is asked by each worker itself; a file is the coordinator's.
        by_url = begin.spec.settings.ledger.url is not None
        ledger = None if by_url else SharedLedger(self._channel, offline=begin.offline)
        self._session = Session(
            begin.spec.settings,
            self._stack,
            SessionOptions(begin.caps, begin.offline),
            worker=WorkerShare(
                self._budget,
                ledger,
                begin.secret,
                LearntStore(lambda: begin.learnt, self._tell_learnt),
                begin.spec.listening,
            ),
        )
        self._channel.start()
        self._counting = asyncio.create_task(self._count_on())

    def _tell_learnt(self, model: str, fields: Mapping[str, object]) -> None:
        self._channel.tell(Coordinator.learn, model, fields)

    async def close(self) -> None:
        """End, where the process does not."""
        self._counting.cancel()
        await self._stack.aclose()
        await asyncio.to_thread(self._channel.close)

    async def halt(self) -> None:
        """Begin no call from now on."""
        self._session.models.stop()
        self._halted.set()

    async def block(self, rows: Sequence[bytes]) -> BlockMade:
        """Return what becomes of the rows of a block, all of them at once."""
        if self._halted.is_set():
            return BlockMade([None] * len(rows))
        try:
            if self._work is None:
                self._work = asyncio.ensure_future(build_work(self._begin.spec, self._session))
            work = await asyncio.shield(self._work)
        except Exception as mistake:  # noqa: BLE001 - it is raised where the rows are awaited
            return BlockMade([], portable(mistake))
        tasks = [asyncio.ensure_future(work(row)) for row in rows]
        await self._finish(tasks)
        await self._count()
        return _gathered(tasks)

    async def _count(self) -> None:
        """Say what was counted so far; returns when that was heard."""
        with contextlib.suppress(ModelError):  # counts are not worth a block
            await self._channel.ask(Coordinator.count, self._budget.spent(), self._session.models.opened())

    async def _count_on(self) -> None:
        while True:
            await asyncio.sleep(COUNT_S)
            await self._count()

    async def _finish(self, tasks: Sequence["asyncio.Future[RowOutcome]"]) -> None:
        """Wait for all rows; when the run is stopped, for those that come within STOP_S."""
        ending = asyncio.gather(*tasks, return_exceptions=True)
        halted = asyncio.ensure_future(self._halted.wait())
        await asyncio.wait((ending, halted), return_when=asyncio.FIRST_COMPLETED)
        halted.cancel()
        if not ending.done():
            await asyncio.wait(tasks, timeout=STOP_S)
            for task in tasks:
                task.cancel()
            await ending

    def _lost(self) -> None:
        """What is answered from now on could not be kept."""
        asyncio.run_coroutine_threadsafe(self.halt(), self._loop)


def _gathered(tasks: Sequence["asyncio.Future[RowOutcome]"]) -> BlockMade:
    made: list[RowOutcome | None] = []
    for task in tasks:
        mistake = None if task.cancelled() else task.exception()
        if task.cancelled() or isinstance(mistake, CallsStopped):
            made.append(None)
        elif mistake is not None:
            return BlockMade(made, portable(mistake))
        else:
            made.append(task.result())
    return BlockMade(made)
