"""This process as the place where a stage runs: many rows in flight, results in the order of the rows."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

In = TypeVar("In")
Out = TypeVar("Out")

# Rows begun and not yet handed on. Far more than calls in flight, so that one slow row holds up nothing,
# and few enough that memory does not grow with the file.
WINDOW = 1024


async def map_in_order(work: Callable[[In], Awaitable[Out]], rows: Iterable[In]) -> AsyncIterator[Out]:
    """Yield `work(row)` for every row, in the order of the rows, up to WINDOW of them under way.

    The first error stops everything: what is under way is cancelled and awaited, then the error is raised.
    """
    pending: deque[asyncio.Task[Out]] = deque()

    async def one(row: In) -> Out:
        return await work(row)

    try:
        for row in rows:
            pending.append(asyncio.create_task(one(row)))
            if len(pending) >= WINDOW:
                yield await pending[0]
                pending.popleft()
        while pending:
            yield await pending[0]
            pending.popleft()
    finally:
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)


def run_sync(work: Coroutine[Any, Any, Out]) -> Out:
    """Return the result of a coroutine, from a script or from a notebook whose event loop is running.

    In a running loop the work gets a loop and a thread of its own, and nothing is patched.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1, thread_name_prefix="ragstone") as pool:
        return pool.submit(asyncio.run, work).result()
