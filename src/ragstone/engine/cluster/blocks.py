"""The blocks of a stage on their way: handed to who asks first, and again when who had them is gone."""

import asyncio
import contextlib
import heapq
from typing import Generic, TypeVar

import msgspec

from ragstone.engine.cluster.spec import RowOutcome

Rows = TypeVar("Rows")

HELD_S = 1.0  # how long a question is held when there is nothing to give

encode = msgspec.msgpack.Encoder().encode


class BlockMade(msgspec.Struct, frozen=True, array_like=True):
    """What became of a block: each row of it, None where the run was stopped before it was finished.

    error: the type and the words of what ends the run, at the first row that is lacking at the end.
    """

    number: int
    made: list[RowOutcome | None]
    error: tuple[str, str] | None = None


class Blocks(Generic[Rows]):
    """Lives on one event loop. Results are kept as they came, encoded, until the driver asks for them."""

    def __init__(self) -> None:
        self.ended = False
        self._rows: dict[int, Rows] = {}  # of the blocks that are not made yet
        self._free: list[int] = []  # a heap of those that nobody has
        self._with: dict[int, str] = {}
        self._asking: dict[asyncio.Future[None], str] = {}
        self._results: list[bytes] = []
        self._made = asyncio.Event()

    def feed(self, number: int, rows: Rows) -> None:
        """Take in the rows of a block, or what they can be fetched by."""
        self._rows[number] = rows
        self._put_back(number)

    async def take(self, worker: str) -> tuple[int, Rows] | None:
        """Return the first block that nobody has; None when there is none for HELD_S, and after `end`."""
        if not self._free and not self.ended:
            asking = asyncio.get_running_loop().create_future()
            self._asking[asking] = worker
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asking, HELD_S)
            if self._asking.pop(asking, None) is None:  # who asked is gone
                return None
        if not self._free:
            return None
        number = heapq.heappop(self._free)
        self._with[number] = worker
        return number, self._rows[number]

    def give(self, number: int, result: bytes) -> None:
        """Take in what became of a block; the first counts, for who was taken for dead may bring another."""
        if self._rows.pop(number, None) is None:
            return
        self._with.pop(number, None)
        if number in self._free:
            self._free.remove(number)
            heapq.heapify(self._free)
        self._results.append(result)
        self._made.set()

    async def results(self) -> list[bytes]:
        """Return the results that have come since it was last asked; none after HELD_S without one."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._made.wait(), HELD_S)
        results, self._results = self._results, []
        self._made.clear()
        return results

    def leave(self, worker: str) -> None:
        """Hand the blocks of a worker that is gone to the others."""
        for asking, who in list(self._asking.items()):
            if who == worker:
                del self._asking[asking]
                _wake(asking)
        had = [number for number, who in self._with.items() if who == worker]
        for number in had:
            del self._with[number]
            self._put_back(number)

    def end(self) -> None:
        """Hand out no block from now on; those that nobody has are results without a row."""
        self.ended = True
        for number in list(self._free):
            self._put_back(number)
        for asking in self._asking:
            _wake(asking)

    def _put_back(self, number: int) -> None:
        if self.ended:
            self.give(number, encode(BlockMade(number, [])))
            return
        heapq.heappush(self._free, number)
        for asking in self._asking:
            _wake(asking)


def _wake(asking: "asyncio.Future[None]") -> None:
    if not asking.done():
        asking.set_result(None)
