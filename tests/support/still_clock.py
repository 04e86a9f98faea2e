"""An event loop whose clock stands still while there is work and jumps to the next timer when there is none.

`run(coroutine)` takes no time however long the coroutine sleeps, and `loop.time()` is exact, so tests of
rates and pauses give the same on a busy machine. For code that waits for timers alone, not for sockets.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class _StillLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._now = 0.0
        super().__init__()

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        timers = [timer.when() for timer in self._scheduled if not timer.cancelled()]  # type: ignore[attr-defined]
        if timers and not self._ready:  # type: ignore[attr-defined]
            self._now = max(self._now, min(timers))
        super()._run_once()  # type: ignore[misc]


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Return what the coroutine returns."""
    with asyncio.Runner(loop_factory=_StillLoop) as runner:
        return runner.run(coroutine)
