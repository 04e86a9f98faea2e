"""What ledgers have in common, and which one a project's settings name."""

import asyncio
import contextlib
import logging
import math
import time
import weakref
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol

from ragstone.config import Settings
from ragstone.llm.claims import Turn
from ragstone.llm.ledger import Ledger
from ragstone.llm.postgres_database import Database
from ragstone.llm.prompt import Completion

LOG = logging.getLogger(__name__)
FIRST_LOOK_S, LONGEST_LOOK_S = 0.05, 1.0  # how often one who waits looks whether the response is there
LONG_S = 30.0  # of waiting, after which it is said what for
WAITING = (
    "Waiting for %.0f s now for calls that another command on this ledger is making. If it was suspended "
    "(Ctrl-Z), let it go on or end it."
)
_WAITED: weakref.WeakSet["AnyLedger"] = weakref.WeakSet()  # those whose waiting has been told


class AnyLedger(Protocol):
    """Where responses are kept: in a file, in memory, in a database."""

    async def find(self, key: bytes, *, saved: bool = True, since: float = 0.0) -> Completion | None:
        """Return the response stored under the key, or None: also where it was stored before `since`.

        saved: count it as a call that was saved. since: in seconds since 1970.
        """

    async def turn(self, key: bytes, since: float = 0.0) -> Turn:
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


def open_ledger(settings: Settings, *, counting: bool = True) -> AnyLedger:
    """Return the project's ledger, opened. Raises DataError when it cannot be used, saying what to do.

    counting: whether a response that is found saved a call; a forecast saves none. Raises ConfigError for a
    URL that is none, and MissingExtra.
    """
    place = ledger_place(settings)
    if isinstance(place, Path):
        return Ledger(place, counting=counting)
    from ragstone.llm.postgres import PostgresLedger

    return PostgresLedger(place, settings.path(".ragstone"), counting=counting)


def ledger_place(settings: Settings) -> Path | Database:
    """Return where the project's ledger is: a file, or the database of `[ledger] url`. Raises ConfigError."""
    url = settings.ledger.url
    return settings.path(".ragstone") / "ledger.sqlite" if url is None else Database(url)
