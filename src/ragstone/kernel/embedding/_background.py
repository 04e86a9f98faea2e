"""An event loop in a thread of its own, for work that waits for a network behind a plain function."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

Out = TypeVar("Out")


class Background:
    """Runs coroutines for other threads, those with an event loop too. The thread begins with the first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether there is a thread."""
        return self._loop is not None

    def run(self, work: Coroutine[Any, Any, Out], timeout_s: float | None = None) -> Out:
        """Return what the coroutine returns, and raise what it raises; TimeoutError after so long."""
        return asyncio.run_coroutine_threadsafe(work, self._started()).result(timeout_s)

    def close(self) -> None:
        """End the thread; what still runs is cancelled. A second time it does nothing."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_cancel_others(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="ragstone-embedding", daemon=True
                )
                self._thread.start()
            return self._loop


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
