"""How many requests each key, or each address, may make in a minute."""

import math
from collections import deque

MINUTE_S = 60.0


class Limits:
    """Knows when each caller asked in the last minute: never more than `per_minute` in any 60 seconds."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._asked: dict[str, deque[float]] = {}
        self._swept = 0.0

    def wait_s(self, caller: str, now: float) -> int | None:
        """Count a request; return the whole seconds to wait where it is one too many, which counts not."""
        self._sweep(now)
        times = self._asked.setdefault(caller, deque())
        while times and now - times[0] >= MINUTE_S:
            times.popleft()
        if len(times) >= self._per_minute:
            return max(1, math.ceil(times[0] + MINUTE_S - now))
        times.append(now)
        return None

    def _sweep(self, now: float) -> None:
        """Forget, once a minute, who has not asked for a minute."""
        if now - self._swept >= MINUTE_S:
            self._swept = now
            self._asked = {
                who: times for who, times in self._asked.items() if times and times[-1] > now - MINUTE_S
            }
