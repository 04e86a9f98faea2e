"""What keeps the responses of models: what every ledger can do, and one in memory."""

import asyncio
import contextlib
import datetime
import logging
import math
import struct
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Annotated, NamedTuple, Protocol

import msgspec

from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.records import Usage

HITS_S = 5.0  # hits are written down after so long at the latest
DAY_S = 86_400
MOST_RESPONSES = 2_000
MOST_CHARACTERS = 16_384  # of a response that is kept: all of them together stay below 2,000 times that
FIRST_LOOK_S, LONGEST_LOOK_S = 0.05, 1.0  # how often one who waits looks whether the response is there
LONG_S = 30.0  # of waiting, after which it is said what for
BAD_ROWS = (
    "%s: %d of the requested responses cannot be read: their stored content has changed. They count as "
    "missing, and are replaced when their calls are made again."
)
WAITING = (
    "Waiting for %.0f s now for calls that another command on this ledger is making. If it was suspended "
    "(Ctrl-Z), resume it or end it."
)
LOG = logging.getLogger(__name__)

Row = tuple[bytes, str, bytes, float]
"""A stored response: key, model, Completion in JSON, seconds since 1970."""

Hit = tuple[int, str, int, int, int, int, int]
"""Day since 1970, model; calls, input, output, cached, uncounted."""


class StoredResponse(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of an export.

    key: 32 hexadecimal digits, 16 more where it gave way to a newer response. response: a Completion, as the
    ledger has it.
    """

    key: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}([0-9a-f]{16})?$")]
    model: Annotated[str, msgspec.Meta(min_length=1)]
    created: Annotated[datetime.datetime, msgspec.Meta(tz=True)]
    response: msgspec.Raw


class LedgerTurn(NamedTuple):
    """The response that is there, or whether the call is to be made by who asked, until they release it.

    With neither somebody else is making it.
    """

    completion: Completion | None
    mine: bool


class AnyLedger(Protocol):
    """Where responses are looked up and stored one by one: a file, a database, memory."""

    async def find(self, key: bytes, *, saved: bool = True, since: float = 0.0) -> Completion | None:
        """Return the response stored under the key, or None: also where it was stored before `since`.

        saved: count it as a call that was saved. since: in seconds since 1970.
        """

    async def turn(self, key: bytes, since: float = 0.0) -> LedgerTurn:
        """Return what `find` does, or whose turn it is to make the call; see `claimed`."""

    def release(self, key: bytes) -> None:
        """End a turn of ours."""

    async def put(self, key: bytes, model: str, completion: Completion, *, renewed: bool = False) -> None:
        """Store a response, unless there is one; it is stored when this returns.

        renewed: it takes the place of one that was of no use, which is kept as evidence under a longer key.
        """

    def earlier(self, model: str, most: int = 200) -> list[Completion]:
        """Return some responses of a model."""

    def close(self) -> None:
        """Store what is waiting, and close. A second time it does nothing."""


class ResponseStore(Protocol):
    """All responses of a ledger that is in a file or a database: to count, export, import and prune them.

    n_bad: of the rows that were read, how many are not what was written. They are left out.
    """

    n_bad: int

    def one_moment(self) -> AbstractContextManager[None]:
        """A block in which all is read as it was at one moment, whoever writes meanwhile."""

    def rows(self) -> Iterable[Row]:
        """Return every response, ordered by key."""

    def chosen(self, before: float, models: list[str]) -> Iterable[Row]:
        """Return those of these models that were stored before then, in seconds since 1970."""

    def hits(self) -> Iterable[Hit]:
        """Return what was answered by day and model."""

    def models(self) -> list[str]:
        """Return the models that have responses."""

    def add(self, rows: Iterable[Row]) -> tuple[int, int]:
        """Add what is not there or cannot be read; return how many, and of how many. All or nothing."""

    def delete(self, before: float, models: list[str]) -> int:
        """Delete what `chosen` returns; return how many."""

    def shrink(self) -> None:
        """Give space back that is not needed any more, as far as others let it."""


_WAITED: weakref.WeakSet[AnyLedger] = weakref.WeakSet()  # those whose waiting has been told


@contextlib.asynccontextmanager
async def claimed(ledger: AnyLedger, key: bytes, since: float = 0.0) -> AsyncIterator[Completion | None]:
    """Give None to the one who is to make the call within the block; who comes later waits for it.

    They are given its response, or their turn when it failed or its process died. since: see AnyLedger.find.
    """
    pause_s, began = FIRST_LOOK_S, time.monotonic()
    turn = await ledger.turn(key, since)
    while turn.completion is None and not turn.mine:
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, LONGEST_LOOK_S)
        if time.monotonic() - began > LONG_S:
            began = math.inf
            if ledger not in _WAITED:
                _WAITED.add(ledger)
                LOG.warning(WAITING, LONG_S)
        turn = await ledger.turn(key, since)
    try:
        yield turn.completion
    finally:
        if turn.mine:
            ledger.release(key)


def superseded_key(key: bytes, created: float) -> bytes:
    """Return the key of a response that gave way to one stored at this moment; nobody asks for it."""
    return key + struct.pack(">d", created)


def export_lines(rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield the lines of an export of rows that can be read."""
    encode = msgspec.json.Encoder().encode
    for key, model, response, created in rows:
        moment = datetime.datetime.fromtimestamp(created, datetime.UTC)
        yield encode(StoredResponse(key.hex(), model, moment, msgspec.Raw(response))) + b"\n"


class Hits:
    """Responses given out and not yet written down: model -> calls, input, output, cached, uncounted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, list[int]] = {}

    def add(self, model: str, usage: Usage) -> None:
        """Count one."""
        with self._lock:
            counts = self._counts.get(model)
            if counts is None:
                counts = self._counts[model] = [0, 0, 0, 0, 0]
            counts[0] += 1
            counts[1] += usage.input
            counts[2] += usage.output
            counts[3] += usage.cached
            counts[4] += not usage.input + usage.output

    def take(self) -> dict[str, list[int]]:
        """Return what was counted, and begin anew."""
        with self._lock:
            counts, self._counts = self._counts, {}
        return counts

    def give_back(self, taken: dict[str, list[int]]) -> None:
        """Count what was taken and not written down again."""
        with self._lock:
            for model, counts in taken.items():
                now = self._counts.get(model, [0] * len(counts))
                self._counts[model] = [n + other for n, other in zip(now, counts, strict=True)]


class MemoryLedger:
    """A ledger of a session that serves people, whose words shall stay on no disk.

    It has the responses that were used last, by their content address, and nothing of the prompts.
    """

    def __init__(self, most: int = MOST_RESPONSES) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, Completion] = OrderedDict()

    async def find(self, key: bytes, *, saved: bool = True, since: float = 0.0) -> Completion | None:  # noqa: ARG002 - as AnyLedger
        """Return the response stored under the key, or None where there is none any more.

        since: does not matter, for all that is here is of this session.
        """
        completion = self._kept.get(key)
        if completion is not None:
            self._kept.move_to_end(key)
        return completion

    async def turn(self, key: bytes, since: float = 0.0) -> LedgerTurn:
        """Return the response, or that the call may be made: nobody shares this ledger."""
        completion = await self.find(key, since=since)
        return LedgerTurn(completion, mine=completion is None)

    def release(self, key: bytes) -> None:
        """Do nothing; see `turn`."""

    def earlier(self, model: str, most: int = 200) -> list[Completion]:  # noqa: ARG002 - as AnyLedger
        """Return nothing: it is not known which model said what."""
        return []

    async def put(self, key: bytes, model: str, completion: Completion, *, renewed: bool = False) -> None:  # noqa: ARG002
        """Keep a response in place of the one that was used least recently; a very long one is not kept."""
        if len(completion.text) > MOST_CHARACTERS or completion.logprobs is not None:
            return
        self._kept[key] = completion
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def close(self) -> None:
        """Forget everything."""
        self._kept.clear()
