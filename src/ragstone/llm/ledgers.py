"""What ledgers have in common, and which one a project's settings name."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol, runtime_checkable

from ragstone.config import Settings
from ragstone.llm.ledger import Ledger
from ragstone.llm.postgres_database import Database
from ragstone.llm.prompt import Completion


class AnyLedger(Protocol):
    """Where responses are kept: in a file, in memory, in a database."""

    async def find(self, key: bytes, *, saved: bool = True) -> Completion | None:
        """Return the response stored under the key, or None; saved: count it as a call that was saved."""

    async def put(self, key: bytes, model: str, completion: Completion, *, renewed: bool = False) -> None:
        """Store a response, unless there is one; it is stored when this returns.

        renewed: it takes the place of one that was of no use, which is kept as evidence under a longer key.
        """

    def stored_at(self, key: bytes) -> float | None:
        """Return when a response was stored, in seconds since 1970; None where that is unknown."""

    def earlier(self, model: str, most: int = 200) -> list[Completion]:
        """Return some responses of a model."""

    def close(self) -> None:
        """Store what is waiting, and close. A second time it does nothing."""


@runtime_checkable
class ClaimingLedger(AnyLedger, Protocol):
    """A ledger of several machines, which says whose turn it is to make a call."""

    def claim(self, key: bytes) -> AbstractAsyncContextManager[Completion | None]:
        """Give None to the one who is to make the call within the block; who comes later waits for it.

        They are given its response, or their turn when it failed or died.
        """


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
