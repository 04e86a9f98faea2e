"""What a worker shares with the others, as its doors see it: budget, limits of endpoints, ledger."""

import asyncio
import contextlib
import random
from types import TracebackType
from typing import Literal

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.engine.cluster._channel import Channel
from ragstone.kernel.engine.cluster._coordinator import Coordinator, EndpointUse, Lease
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import Caps
from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.llm.limits import Circuit, Limits, Pace, Slots
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.response_store import LedgerTurn

RENEW_S = 0.1  # how often a worker that makes calls asks for its share of them
HIGHEST = 1_000_000


class SharedBudget:
    """As llm.limits.Shared: what a worker's budget and callers take from those of all."""

    def __init__(self, channel: Channel, caps: Caps) -> None:
        self._channel = channel
        self._capped = not (caps.calls is None and caps.tokens is None and caps.usd is None)
        self._limits: dict[str, Limits] = {}

    async def reserve(self, number: int, tokens: int, usd: float) -> None:
        """Reserve the most that a call can use; without a cap nobody needs to wait for that."""
        if not self._capped:
            self._channel.tell(Coordinator.reserve, number, tokens, usd)
            return
        while not await self._channel.ask(Coordinator.reserve, number, tokens, usd):
            pass

    def settle(self, number: int, tokens: int, usd: float) -> None:
        """Replace a reservation by what the call used."""
        self._channel.tell(Coordinator.settle, number, tokens, usd)

    def limits(self, endpoint: str, concurrency: int, settings: ModelSettings) -> Limits:
        """Return the limits of an endpoint that all workers ask."""
        if endpoint not in self._limits:
            leased = LeasedEndpoint(self._channel, endpoint, concurrency, settings)
            self._limits[endpoint] = Limits(leased, leased.calls, leased.tokens, leased)
        return self._limits[endpoint]


class LeasedEndpoint:
    """As limits.Slots and limits.Circuit: a lease of calls at once, which is renewed while calls are made.

    What happens at the endpoint is told to the coordinator when the lease is renewed.
    """

    def __init__(self, channel: Channel, endpoint: str, concurrency: int, settings: ModelSettings) -> None:
        self._channel = channel
        self._told = EndpointUse(
            endpoint, concurrency, settings.requests_per_minute, settings.tokens_per_minute, 0, 0
        )
        self._slots = Slots(HIGHEST)
        self._slots.allowed = 0.0
        self._circuit = Circuit()
        self._pause = Pace(None, random.Random(0))
        self._use = self._told
        self._changed = asyncio.Event()
        self._renewing: asyncio.Task[None] | None = None
        self._peak = 0  # of calls that were made or waited at once since the lease was last renewed
        self.refused_in_a_row = 0
        self.calls = LeasedPace(self, "calls", settings.requests_per_minute)
        self.tokens = LeasedPace(self, "tokens", settings.tokens_per_minute)

    async def __aenter__(self) -> None:
        self._peak = max(self._peak, self._slots.wanted + 1)
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew())
        elif self._told.wanted < min(self._peak, self._told.concurrency):
            self._changed.set()
        await self._slots.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._slots.__aexit__(kind, value, trace)

    def accepted(self) -> None:
        """The endpoint answered."""
        self.refused_in_a_row = 0
        self._use = self._use._replace(n_accepted=self._use.n_accepted + 1)

    def refused(self) -> None:
        """The endpoint is overloaded."""
        self.refused_in_a_row += 1
        self._tell(self._use._replace(n_refused=self._use.n_refused + 1))

    @property
    def has_answered(self) -> bool:
        """Whether the endpoint ever answered, any worker."""
        return self._circuit.has_answered

    def check(self) -> None:
        """Raise ModelError if no calls are made any more."""
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
        self._tell(self._use._replace(broken=why))

    def answered(self) -> None:
        """The endpoint works; the coordinator hears of it from `accepted`."""
        self._circuit.has_answered = True

    def attempt_failed(self, failure: CallFailed) -> None:
        """Have a failed attempt counted. Raises ModelError if no calls are made any more."""
        self._failed(failure, lost=False)

    def call_lost(self, failure: CallFailed) -> None:
        """Have a call counted that is given up. Raises ModelError if no calls are made any more."""
        self._failed(failure, lost=True)

    async def wait(self, of: Literal["calls", "tokens"], limited: bool, units: float) -> None:
        """Return when so many may be spent of those that a minute has, and nobody asked for a pause."""
        while limited:
            permit = self._channel.ask(Coordinator.permit, self._told.endpoint, of, units)
            await asyncio.sleep(await permit)
            if not self._pause.take():
                return  # else a pause began meanwhile, and this permit is void
        await self._pause.wait()

    def pause(self, seconds: float) -> None:
        """Let nobody begin a call for so long."""
        self._pause.pause(seconds)
        self._tell(self._use._replace(pause_s=max(self._use.pause_s, seconds)))

    def _failed(self, failure: CallFailed, *, lost: bool) -> None:
        self._tell(self._use._replace(failed=(*self._use.failed, (failure, lost))))
        self._circuit.check()

    def _tell(self, use: EndpointUse) -> None:
        self._use = use
        self._changed.set()

    async def _renew(self) -> None:
        """Renew the lease while calls are made or wait, and give it back at the end."""
        while True:
            self._changed.clear()
            # Twice what was needed at most: rows come in bursts, and who has too few slots waits for more.
            wanted = min(2 * max(self._slots.wanted, self._peak), self._told.concurrency)
            self._peak = 0
            if not wanted:
                self._slots.allow(0.0)
            self._told = self._use._replace(
                wanted=wanted, held=max(self._slots.in_use, int(self._slots.allowed))
            )
            self._use = self._told._replace(n_accepted=0, n_refused=0, pause_s=0.0, failed=(), broken=None)
            try:
                self._take(await self._channel.ask(Coordinator.lease, self._told))
            except ModelError as gone:
                self._circuit.open(gone)
                self._slots.allow(HIGHEST)  # so that whoever waits is told
                return
            if not (wanted or self._slots.wanted or self._changed.is_set()):
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RENEW_S):  # see _channel.py
                    await self._changed.wait()

    def _take(self, lease: Lease) -> None:
        self._circuit.has_answered |= lease.has_answered
        if lease.why_not is not None:
            self._circuit.open(lease.why_not)
        if lease.pause_s > self._pause.take() + RENEW_S:
            self._pause.pause(lease.pause_s)
        self._slots.allow(float(lease.slots))


class LeasedPace:
    """As limits.Pace: the coordinator says when; a pause of one worker is everybody's."""

    def __init__(
        self, endpoint: LeasedEndpoint, of: Literal["calls", "tokens"], per_minute: int | None
    ) -> None:
        self.limited = per_minute is not None
        self._endpoint = endpoint
        self._of: Literal["calls", "tokens"] = of

    async def wait(self, units: float = 1.0) -> None:
        """Return when `units` more may be spent."""
        await self._endpoint.wait(self._of, self.limited, units)

    def pause(self, seconds: float) -> None:
        """Let nobody start for so long."""
        self._endpoint.pause(seconds)


class SharedLedger:
    """As llm.AnyLedger: the coordinator reads and writes it. offline: no call is made, and none claimed."""

    def __init__(self, channel: Channel, *, offline: bool) -> None:
        self._channel = channel
        self._offline = offline
        self._claimed: set[bytes] = set()

    async def find(self, key: bytes, *, saved: bool = True, since: float = 0.0) -> Completion | None:
        """Return the response stored under the key, or None. Raises DataError.

        Where it is None without a `since`, this worker has claimed the call if it could, until `release`:
        one question to the coordinator, and not two.
        """
        if self._offline or since or not saved:
            return await self._channel.ask(Coordinator.find, key, saved, since)
        return (await self.turn(key)).completion

    async def turn(self, key: bytes, since: float = 0.0) -> LedgerTurn:
        """Return the response, or whether it is this worker's turn to make the call. Raises DataError."""
        if key in self._claimed:
            return LedgerTurn(None, mine=True)
        turn = await self._channel.ask(Coordinator.turn, key, since)
        if turn.mine:
            self._claimed.add(key)
        return turn

    def release(self, key: bytes) -> None:
        """Let another worker make the call, if it was not made."""
        if key in self._claimed:
            self._claimed.discard(key)
            self._channel.tell(Coordinator.release, key)

    async def put(self, key: bytes, model: str, completion: Completion, *, renewed: bool = False) -> None:
        """Store a response; returns when it is committed. Raises DataError when it cannot be."""
        await self._channel.ask(Coordinator.put, key, model, completion, renewed)
        self._claimed.discard(key)

    def earlier(self, model: str, most: int = 200) -> list[Completion]:  # noqa: ARG002 - as Ledger.earlier
        """Return nothing: forecasts are made where the ledger is."""
        return []

    def close(self) -> None:
        """Do nothing: the coordinator closes the ledger."""
