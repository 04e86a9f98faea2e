"""This process as the place where a stage runs: many rows in flight, results in the order of the rows."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ragstone.kernel.errors import without_frames

In = TypeVar("In")
Out = TypeVar("Out")

# Rows begun and not yet handed on. Far more than calls in flight, so that one slow row holds up nothing,
# and few enough that memory does not grow with the file.
WINDOW = 1024
# After Ctrl-C: long enough for most calls in flight, which are paid for; short enough for who waits.
STOP_S = 5.0


async def map_in_order(
    work: Callable[[In], Awaitable[Out]],
    rows: Iterable[In],
    stop: Callable[[], None] = lambda: None,
    *,
    window: int = WINDOW,
    stop_s: float = STOP_S,
) -> AsyncIterator[Out]:
    """Yield `work(row)` for every row, in the order of the rows, up to `window` of them under way.

    The first error stops everything: what is under way is cancelled and awaited, then the error is raised.
    Cancelled (Ctrl-C), it begins no row and calls `stop`, after which rows under way begin no call; those
    that are finished within `stop_s` are yielded, in order, and then the cancellation is raised.
    """
    pending: deque[asyncio.Future[Out]] = deque()

    try:
        for row in rows:
            pending.append(asyncio.ensure_future(work(row)))
            if len(pending) >= window:
                yield await _landed(pending)
        while pending:
            yield await _landed(pending)
    except asyncio.CancelledError:
        stop()
        for finished in await _finished(pending, stop_s):
            yield finished
        raise
    finally:
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)


async def _landed(pending: deque[asyncio.Future[Out]]) -> Out:
    """Return the result of the first task, which is then no longer pending."""
    if not pending[0].done():
        await asyncio.wait((pending[0],))  # cancelled, this leaves the task alone: its call is being paid for
    return pending.popleft().result()


async def _finished(pending: Iterable[asyncio.Future[Out]], stop_s: float) -> list[Out]:
    """Return the results that come within so many seconds."""
    tasks = list(pending)
    if tasks:
        await asyncio.wait(tasks, timeout=stop_s)
    done = [task for task in tasks if task.done() and not task.cancelled()]
    return [task.result() for task in done if task.exception() is None]


def run_sync(work: Coroutine[Any, Any, Out]) -> Out:
    """Return the result of a coroutine, from a script or from a notebook whose event loop is running.

    In a running loop the work gets a loop and a thread of its own, and nothing is patched. Ctrl-C cancels
    the work and raises KeyboardInterrupt when it has ended; pressed twice, at once. An error that is raised
    on purpose has no further frames: where it was found tells a user nothing.
    """
    with without_frames():
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(work)
        return _run_beside(work)


def _run_beside(work: Coroutine[Any, Any, Out]) -> Out:
    """See run_sync, in a running loop."""
    # Ctrl-C reaches the main thread alone, which waits below: it needs the task to cancel it from outside.
    inside: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def cancellable() -> Out:
        task = asyncio.current_task()
        if task is not None:
            inside.append((task.get_loop(), task))
        return await work

    with ThreadPoolExecutor(1, thread_name_prefix="ragstone") as pool:
        running = pool.submit(asyncio.run, cancellable())
        try:
            return running.result()
        except KeyboardInterrupt:
            for loop, task in inside:
                with contextlib.suppress(RuntimeError):  # the loop is closed: the work has ended
                    loop.call_soon_threadsafe(task.cancel)
            raise
