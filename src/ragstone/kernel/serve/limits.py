"""How often somebody may ask, and how much of what is refused is still read."""

import asyncio
import contextlib
import math
from collections import deque

from litestar.types import Receive

MINUTE_S = 60.0


class RequestLimits:
    """Knows when each caller asked of late: never more than `most` times in any `within_s` seconds."""

    def __init__(self, most: int, within_s: float = MINUTE_S) -> None:
        self._most, self._within_s = most, within_s
        self._asked: dict[str, deque[float]] = {}
        self._swept = 0.0

    def wait_s(self, caller: str, now: float) -> int | None:
        """Count a request; return the whole seconds to wait where it is one too many, which counts not."""
        self._sweep(now)
        times = self._asked.setdefault(caller, deque())
        while times and now - times[0] >= self._within_s:
            times.popleft()
        if len(times) >= self._most:
            wait_s = max(1, math.ceil(times[0] + self._within_s - now))
            return wait_s + (now + wait_s - times[0] < self._within_s)  # sums of floats may fall short
        times.append(now)
        return None

    def take_back(self, caller: str) -> None:
        """Count the last request of a caller no more."""
        if times := self._asked.get(caller):
            times.pop()

    def _sweep(self, now: float) -> None:
        """Forget, once in that time, who has not asked within it."""
        if now - self._swept >= self._within_s:
            self._swept = now
            self._asked = {
                who: times for who, times in self._asked.items() if times and times[-1] > now - self._within_s
            }


DRAINED = 16 << 20
DRAIN_S = 10.0


async def drain(receive: Receive) -> None:
    """Read up to 16 MB of what is sent, for 10 seconds at most, and forget it."""
    n_bytes, more = 0, True
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            while more and n_bytes < DRAINED:
                message = await receive()
                if message["type"] != "http.request":
                    return
                n_bytes += len(message["body"])
                more = message.get("more_body", False)
