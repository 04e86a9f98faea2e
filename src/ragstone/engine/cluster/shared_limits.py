"""An endpoint's limits as a worker sees them: its share of them, as the desk says."""

import asyncio
import random
from collections.abc import Callable
from types import TracebackType
from typing import Literal

from ragstone.config import ModelSettings
from ragstone.engine.cluster.messages import (
    Asks,
    AskTurn,
    Broken,
    CircuitOpened,
    Failed,
    Pause,
    Paused,
    Refused,
    SlotShare,
    Wants,
    Went,
    Works,
)
from ragstone.engine.cluster.speaking import Speaking
from ragstone.errors import ModelError
from ragstone.llm.limits import Circuit, GivenUp, Limits, Pace, Slots
from ragstone.llm.prompt import CallFailed
from ragstone.llm.transport import AppFailed, Unreachable

HIGHEST = 1_000_000
FATAL: dict[str, type[ModelError]] = {"ModelError": ModelError, "GivenUp": GivenUp}


class SharedSlots:
    """As limits.Slots: as many calls at once as the desk has given this worker."""

    def __init__(self, endpoint: str, line: Speaking, most: int, begin: Callable[[], None]) -> None:
        self.refused_in_a_row = 0
        self._endpoint = endpoint
        self._line = line
        self._most = most
        self._begin = begin
        self._slots = Slots(HIGHEST)
        self._slots.allowed = 0.0
        self._heard = 0
        self._wanted = 0  # as the desk knows it
        self._owing = False  # whether more calls are under way than the share allows
        self._accepted = 0

    async def __aenter__(self) -> None:
        self._begin()
        if self._wanted < min(self._slots.wanted + 1, self._most):
            self._say(self._slots.wanted + 1)
        await self._slots.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._slots.__aexit__(kind, value, trace)
        if self._owing or self._slots.wanted <= self._wanted // 2:
            self._say(self._slots.wanted)

    def share(self, told: SlotShare) -> None:
        """Use so many from now on, and tell the desk when the others are free."""
        self._heard = told.number
        self._slots.allow(float(told.slots))
        self._say(self._slots.wanted)

    def accepted(self) -> None:
        """The endpoint answered."""
        self.refused_in_a_row = 0
        self._line.tell(Went(self._endpoint, 1))

    def refused(self) -> None:
        """The endpoint is overloaded."""
        self.refused_in_a_row += 1
        self._line.tell(Refused(self._endpoint), hurry=True)

    def _say(self, wanted: int) -> None:
        self._wanted = min(wanted, self._most)
        held = max(self._slots.in_use, int(self._slots.allowed))
        self._owing = held > int(self._slots.allowed)
        self._line.tell(Wants(self._endpoint, self._wanted, held, self._heard), hurry=True)


class SharedPace:
    """As limits.Pace: the desk says when; a pause of one worker is everybody's."""

    def __init__(
        self, endpoint: str, line: Speaking, of: Literal["calls", "tokens"], per_minute: int | None
    ) -> None:
        self.limited = per_minute is not None
        self.pauses = Pace(None, random.Random(0))
        self._endpoint = endpoint
        self._line = line
        self._of = of

    async def wait(self, units: float = 1.0) -> None:
        """Return when `units` more may be spent."""
        if self.limited:
            await self._line.ask(lambda n: AskTurn(n, self._endpoint, self._of, units), hurry=True)
        await self.pauses.wait()

    def pause(self, seconds: float) -> None:
        """Let nobody start for so long."""
        self.pauses.pause(seconds)
        self._line.tell(Paused(self._endpoint, seconds), hurry=True)


class SharedCircuit:
    """As limits.Circuit: the desk counts what fails at all workers, and says when there is no hope."""

    def __init__(self, endpoint: str, line: Speaking) -> None:
        self.has_answered = False
        self._endpoint = endpoint
        self._line = line
        self._circuit = Circuit()

    def check(self) -> None:
        """Raise ModelError if the circuit is open."""
        self._circuit.check()

    def tries_again(self) -> bool:
        """Return False: a run is started again by its user."""
        return False

    def stop(self) -> None:
        """Let no more calls of this worker pass."""
        self._circuit.stop()

    def open(self, why: ModelError) -> None:
        """Let no more calls pass, of any worker."""
        self._circuit.open(why)
        self._line.tell(Broken(self._endpoint, type(why).__name__, str(why)), hurry=True)

    def opened(self, told: CircuitOpened) -> None:
        """Let no more calls pass, for a reason that another worker found."""
        self._circuit.open(FATAL.get(told.kind, ModelError)(told.text))

    def answered(self) -> None:
        """The endpoint works; the desk hears of it from the slots."""
        self.has_answered = True

    def attempt_failed(self, failure: CallFailed) -> None:
        """Count a failed attempt. Raises ModelError if the circuit is open."""
        self._failed(failure, lost=False)

    def call_lost(self, failure: CallFailed) -> None:
        """Count a call that is given up. Raises ModelError if the circuit is open."""
        self._failed(failure, lost=True)

    def _failed(self, failure: CallFailed, *, lost: bool) -> None:
        kind: Literal["CallFailed", "Unreachable", "AppFailed"] = "CallFailed"
        if isinstance(failure, Unreachable):
            kind = "Unreachable"
        elif isinstance(failure, AppFailed):
            kind = "AppFailed"
        said = Failed(self._endpoint, kind, failure.status, str(failure), lost)
        self._line.tell(said, hurry=True)
        self._circuit.check()


class SharedEndpoint:
    """The limits of one endpoint, on the loop of the first who waits for a slot."""

    def __init__(self, endpoint: str, line: Speaking, concurrency: int, settings: ModelSettings) -> None:
        self._asks = Asks(endpoint, concurrency, settings.requests_per_minute, settings.tokens_per_minute)
        self._line = line
        self._loop: asyncio.AbstractEventLoop | None = None
        self._slots = SharedSlots(endpoint, line, concurrency, self._begin)
        self._calls = SharedPace(endpoint, line, "calls", settings.requests_per_minute)
        self._tokens = SharedPace(endpoint, line, "tokens", settings.tokens_per_minute)
        self._circuit = SharedCircuit(endpoint, line)
        self.limits = Limits(self._slots, self._calls, self._tokens, self._circuit)

    def hear(self, told: SlotShare | Pause | Works | CircuitOpened) -> None:
        """Take in what the desk says, on the loop of who asks the endpoint."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._take, told)

    def _begin(self) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._line.tell(self._asks)

    def _take(self, told: SlotShare | Pause | Works | CircuitOpened) -> None:
        match told:
            case SlotShare():
                self._slots.share(told)
            case Pause():
                self._calls.pauses.pause(told.seconds)
            case Works():
                self._circuit.has_answered = True
            case CircuitOpened():
                self._circuit.opened(told)
