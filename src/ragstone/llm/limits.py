"""How fast an endpoint may be asked: calls at once, calls and tokens a minute, and pauses it asks for."""

import asyncio
import random
from collections import deque
from types import TracebackType

BACKOFF_S = 0.5
BACKOFF_CAP_S = 30.0


class Slots:
    """At most `highest` calls at once, fewer after the endpoint said that it is too much.

    Additive increase, multiplicative decrease (Chiu and Jain 1989): a refused call halves the number, a
    whole round of accepted ones adds one. Used as `async with slots:`.
    """

    def __init__(self, highest: int) -> None:
        self._highest = highest
        self.allowed = float(highest)
        self.in_use = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        if self.in_use < int(self.allowed) and not self._queue:
            self.in_use += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            else:
                self._queue.remove(turn)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def accepted(self) -> None:
        """The endpoint answered: a little more is tried."""
        self.allowed = min(self._highest, self.allowed + 1 / self.allowed)

    def refused(self) -> None:
        """The endpoint is overloaded: half as much."""
        self.allowed = max(1.0, self.allowed / 2)

    def _leave(self) -> None:
        self.in_use -= 1
        while self._queue and self.in_use < int(self.allowed):
            turn = self._queue.popleft()
            if not turn.done():
                self.in_use += 1
                turn.set_result(None)


class Pace:
    """Evenly spaced permits: `per_minute` units a minute, no burst, after any pause asked for."""

    def __init__(self, per_minute: float | None) -> None:
        self._seconds_each = 60 / per_minute if per_minute else 0.0
        self._next = 0.0

    async def wait(self, units: float = 1.0) -> None:
        """Return when `units` more may be spent."""
        now = asyncio.get_running_loop().time()
        start = max(self._next, now)
        self._next = start + units * self._seconds_each
        if start > now:
            await asyncio.sleep(start - now)

    def pause(self, seconds: float) -> None:
        """Let nobody start for so long (Retry-After)."""
        self._next = max(self._next, asyncio.get_running_loop().time() + seconds)


def backoff_s(attempt: int, draw: random.Random) -> float:
    """Return how long to wait after failed attempt number `attempt` (from 0): full jitter, doubling."""
    return draw.uniform(0, min(BACKOFF_CAP_S, BACKOFF_S * 2**attempt))
