"""Rows of a stage that asks nobody: computed here, and by all cores where that pays for processes."""

import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from ragstone.kernel.engine.local import map_in_order

if TYPE_CHECKING:
    from ragstone.kernel.engine.processes import RowProcesses

In = TypeVar("In")
Out = TypeVar("Out")

ALONE_S = 0.5  # that this process computes before it reckons how long the rest takes
WORTH_S = 2.0  # of the rest, from which on it is done sooner though a process takes 0.3 s to start
TRIED = 64  # rows begun and not finished, before processes take over


async def map_on_cores(
    here: Callable[[In], Awaitable[Out]],
    rows: Iterable[In],
    n_rows: int | None,
    stop: Callable[[], None],
    opened: "Callable[[], Awaitable[RowProcesses[In, Out]]]",
) -> AsyncIterator[Out]:
    """Yield what becomes of each row, in order. Stops and raises as `map_in_order` does.

    here: the work in this process. n_rows: how many there are, None where nobody has counted. opened: gives
    the processes; called only where the rest of the rows takes longer than starting them.
    """
    left = iter(rows)
    trial = _Trial(here, n_rows)
    # Rows that are begun are finished here: few, for processes may take over.
    alone = map_in_order(trial.do, trial.until_worth(left), stop, window=TRIED)
    async with contextlib.aclosing(cast(AsyncGenerator[Out, None], alone)):
        async for out in alone:
            yield out
    if not trial.is_worth:
        return
    processes = await opened()
    rest = processes.map(here, left, stop, row_s=trial.row_s())
    async with contextlib.aclosing(cast(AsyncGenerator[Out, None], rest)):
        async for out in rest:
            yield out


class _Trial(Generic[In, Out]):
    """Rows that are computed here, until it is known how long one takes."""

    def __init__(self, here: Callable[[In], Awaitable[Out]], n_rows: int | None) -> None:
        self.is_worth = False  # whether the rest of the rows is worth starting processes
        self._here, self._n_rows = here, n_rows
        self._n_done, self._began = 0, time.thread_time()

    async def do(self, row: In) -> Out:
        out = await self._here(row)
        self._n_done += 1
        return out

    def row_s(self) -> float:
        """Return the seconds that a row takes a core, with what becomes of it here."""
        return (time.thread_time() - self._began) / max(1, self._n_done)

    def until_worth(self, rows: Iterator[In]) -> Iterator[In]:
        """Yield rows as long as the rest is not worth starting processes."""
        for row in rows:
            yield row
            spent_s = time.thread_time() - self._began
            # Of rows that nobody has counted, as much is left as was done.
            n_left = self._n_done if self._n_rows is None else self._n_rows - self._n_done
            if spent_s >= ALONE_S and n_left * self.row_s() >= WORTH_S:
                self.is_worth = True
                return
