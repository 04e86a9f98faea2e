"""A worker: rows of one stage at a time, with a session of its own whose calls go by what all share."""

import asyncio
import random
import traceback
from collections.abc import Sequence
from contextlib import AsyncExitStack

import msgspec

from ragstone.config import ModelSettings
from ragstone.engine.cluster.blocks import BlockMade
from ragstone.engine.cluster.desk_ledger import DeskLedger
from ragstone.engine.cluster.line import Channel
from ragstone.engine.cluster.messages import (
    CircuitOpened,
    Counted,
    Met,
    Pause,
    Reserve,
    Settle,
    SlotShare,
    Works,
)
from ragstone.engine.cluster.shared_limits import SharedEndpoint
from ragstone.engine.cluster.spec import RowOutcome, StageSpec, Work, builder_named
from ragstone.engine.local import STOP_S
from ragstone.engine.progress import silent
from ragstone.engine.session import Session
from ragstone.engine.session import WorkerShare as SharedSession
from ragstone.errors import ConfigError, DataError, ModelError, RagstoneError
from ragstone.llm import Budget, Caps
from ragstone.llm.limits import CallsStopped, GivenUp, Limits, RetryPolicy, own_limits

KINDS = {kind.__name__: kind for kind in (ConfigError, DataError, ModelError, GivenUp, RagstoneError)}


class Begin(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker begins with. secret: that of the project. environment: names of keys, and the keys."""

    spec: StageSpec
    caps: Caps
    offline: bool
    secret: bytes
    environment: dict[str, str]


class SharedBudget:
    """What a worker's doors share with those of the others, through the desk."""

    def __init__(self, line: Channel, caps: Caps) -> None:
        self._line = line
        self._capped = not (caps.calls is None and caps.tokens is None and caps.usd is None)
        self._endpoints: dict[str, SharedEndpoint] = {}

    async def reserve(self, number: int, tokens: int, usd: float) -> None:
        """Reserve at the desk; without a cap nobody needs to wait for that."""
        if self._capped:
            await self._line.ask(lambda n: Reserve(n, number, tokens, usd), hurry=True)
        else:
            self._line.tell(Reserve(0, number, tokens, usd))

    def settle(self, number: int, tokens: int, usd: float) -> None:
        """Tell the desk what a call used."""
        self._line.tell(Settle(number, tokens, usd))

    def limits(
        self, endpoint: str, concurrency: int, settings: ModelSettings, retry_policy: RetryPolicy
    ) -> Limits:
        """Return the limits of an endpoint that all workers ask; a model in this process has its own."""
        if not endpoint or endpoint.startswith("llamacpp/"):
            return own_limits(concurrency, settings, retry_policy, random.Random(0))
        if endpoint not in self._endpoints:
            self._endpoints[endpoint] = SharedEndpoint(endpoint, self._line, concurrency, settings)
        return self._endpoints[endpoint].limits

    def hear(self, told: SlotShare | Pause | Works | CircuitOpened) -> None:
        """Pass on what the desk says of an endpoint."""
        if told.endpoint in self._endpoints:
            self._endpoints[told.endpoint].hear(told)


class Worker:
    """Lives on one event loop, from `open_worker` to the end of the run."""

    def __init__(self, begin: Begin, line: Channel, shared: SharedBudget, stack: AsyncExitStack) -> None:
        self._begin = begin
        self._line = line
        self._loop = asyncio.get_running_loop()
        self._halted = asyncio.Event()
        self._work: asyncio.Future[Work] | None = None
        self.budget = Budget(begin.caps, shared)
        # A database is asked by each worker itself; a file is the desk's.
        ledger = None if begin.spec.settings.ledger.url else DeskLedger(line, offline=begin.offline)
        self.session = Session(
            begin.spec.settings,
            stack,
            begin.caps,
            begin.offline,
            silent,
            worker=SharedSession(self.budget, ledger, begin.secret, begin.spec.listening),
        )

    def halt(self) -> None:
        """Begin no call from now on; may be called from any thread."""
        self._loop.call_soon_threadsafe(self._halt)

    async def block(self, number: int, rows: Sequence[bytes]) -> BlockMade:
        """Return what becomes of the rows of a block, all of them at once."""
        if self._halted.is_set():
            return BlockMade(number, [None] * len(rows))
        try:
            work = await self._built()
        except RagstoneError as mistake:
            return BlockMade(number, [], described(mistake))
        tasks = [asyncio.ensure_future(work(row)) for row in rows]
        await self._finish(tasks)
        self.count()
        return _gathered(number, tasks)

    def count(self) -> None:
        """Tell the desk what was counted so far."""
        for model, (identity, list_price) in self.session.models.opened().items():
            self._line.tell(Met(model, identity, list_price))
        self._line.tell(Counted(self.budget.spent()))

    async def _built(self) -> Work:
        """Return the stage, built when it is first needed; a mistake in it is found by every block."""
        if self._work is None:
            build = builder_named(self._begin.spec.name)
            self._work = asyncio.ensure_future(build(self._begin.spec, self.session))
        return await asyncio.shield(self._work)

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

    def _halt(self) -> None:
        self.session.models.stop()
        self._halted.set()


def _gathered(number: int, tasks: Sequence["asyncio.Future[RowOutcome]"]) -> BlockMade:
    made: list[RowOutcome | None] = []
    for task in tasks:
        mistake = None if task.cancelled() else task.exception()
        if task.cancelled() or isinstance(mistake, CallsStopped):
            made.append(None)
        elif mistake is not None:
            return BlockMade(number, made, described(mistake))
        else:
            made.append(task.result())
    return BlockMade(number, made)


def described(mistake: BaseException) -> tuple[str, str]:
    """Return an error as it is sent: its type and its words; for the unforeseen, its traceback."""
    if isinstance(mistake, RagstoneError):
        name = next(kind.__name__ for kind in type(mistake).__mro__ if kind.__name__ in KINDS)
        return name, str(mistake)
    return "", "".join(traceback.format_exception(mistake))


def error_of(described: tuple[str, str]) -> Exception:
    """Return the error that a worker described."""
    name, words = described
    if not name:
        return RuntimeError(f"on a worker:\n{words}")
    return KINDS[name](words)
