"""Which ledger a project's settings name, and how it is opened."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ragstone.kernel.config import Settings
from ragstone.kernel.llm import ledger
from ragstone.kernel.llm.ledger import Ledger
from ragstone.kernel.llm.response_store import AnyLedger, ResponseStore

if TYPE_CHECKING:
    from ragstone.kernel.llm._postgres_database import Database

LedgerLocation: TypeAlias = "Path | Database"
"""Where a ledger is."""


def ledger_place(settings: Settings) -> LedgerLocation:
    """Return where the project's ledger is: a file, or the database of `[ledger] url`. Raises ConfigError."""
    if settings.ledger.url is None:
        return settings.path(".ragstone") / "ledger.sqlite"
    from ragstone.kernel.llm._postgres_database import Database

    return Database(settings.ledger.url)


def open_ledger(settings: Settings, *, counting: bool = True) -> AnyLedger:
    """Return the project's ledger, opened. Raises DataError when it cannot be used, saying what to do.

    counting: whether a response that is found saved a call; a forecast saves none. Raises ConfigError for a
    URL that is none, and MissingExtra.
    """
    location = ledger_place(settings)
    if isinstance(location, Path):
        return Ledger(location, counting=counting)
    from ragstone.kernel.llm._postgres import PostgresLedger

    return PostgresLedger(location, settings.path(".ragstone"), counting=counting)


def open_store(location: LedgerLocation, *, make: bool = False) -> AbstractContextManager[ResponseStore]:
    """Give all responses of a ledger. make: whether it is made where there is none.

    Raises DataError, also for what goes wrong in the block.
    """
    if isinstance(location, Path):
        return ledger.open_store(location, make=make)
    from ragstone.kernel.llm import _postgres_database as postgres_database

    return postgres_database.open_store(location, make=make)


def size_on_disk(location: LedgerLocation) -> int:
    """Return the bytes of a ledger: of its file and what SQLite keeps beside it, or of its tables."""
    if isinstance(location, Path):
        files = (location.with_name(location.name + ending) for ending in ("", "-wal", "-shm"))
        return sum(file.stat().st_size for file in files if file.exists())
    from ragstone.kernel.llm import _postgres_database as postgres_database

    return postgres_database.size_of_tables(location)
