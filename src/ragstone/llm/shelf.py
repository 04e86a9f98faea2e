"""The responses of a ledger as a whole, for those who count, export, import and prune them."""

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import msgspec

from ragstone.llm.ledger import STORE, Row, existing_file, open_file, readable, with_checksum
from ragstone.llm.postgres_database import Database

SHRINK_MS = 2000  # how long the shrinking of the file waits for those who read or write it

Place = Path | Database
"""Where a ledger is."""

Hit = tuple[int, str, int, int, int, int, int]
"""Day since 1970, model; calls, input, output, cached, uncounted."""


class Shelf(Protocol):
    """What a ledger can do with all of its responses, wherever it keeps them.

    n_bad: of the rows that were read, how many are not what was written. They are left out.
    """

    n_bad: int

    def one_moment(self) -> AbstractContextManager[None]:
        """A block in which all is read as it was at one moment, whoever writes meanwhile."""

    def rows(self) -> Iterable[Row]:
        """Return every response, ordered by key."""

    def made(self) -> Iterable[tuple[str, float, bytes]]:
        """Return model, moment and response of each."""

    def chosen(self, before: float, models: list[str]) -> Iterable[tuple[str, float, bytes]]:
        """Return model, moment and response of those of these models that were stored before then."""

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


def existing_shelf(place: Place) -> AbstractContextManager[Shelf]:
    """Give a ledger that exists. Raises DataError, also for what goes wrong in the block."""
    if isinstance(place, Path):
        return _file(existing_file(place))
    from ragstone.llm.postgres_shelf import open_shelf

    return open_shelf(place, make=False)


def made_shelf(place: Place) -> AbstractContextManager[Shelf]:
    """Give a ledger, made if need be. Raises DataError, also for what goes wrong in the block."""
    if isinstance(place, Path):
        return _file(open_file(place))
    from ragstone.llm.postgres_shelf import open_shelf

    return open_shelf(place, make=True)


def size_on_disk(place: Place) -> int:
    """Return the bytes of a ledger: of its file and what SQLite keeps beside it, or of its tables."""
    if isinstance(place, Path):
        files = (place.with_name(place.name + ending) for ending in ("", "-wal", "-shm"))
        return sum(file.stat().st_size for file in files if file.exists())
    from ragstone.llm.postgres_shelf import size_of_tables

    return size_of_tables(place)


@contextlib.contextmanager
def _file(opened: AbstractContextManager[sqlite3.Connection]) -> Iterator[Shelf]:
    with opened as connection:
        yield FileShelf(connection)


class FileShelf:
    """The responses of a SQLite file. Its methods are those of Shelf."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.n_bad = 0

    @contextlib.contextmanager
    def one_moment(self) -> Iterator[None]:
        """See Shelf."""
        self._connection.execute("BEGIN")
        yield
        self._connection.rollback()

    def rows(self) -> Iterable[Row]:
        """See Shelf."""
        return self._good("ORDER BY key")

    def made(self) -> Iterable[tuple[str, float, bytes]]:
        """See Shelf."""
        return ((model, created, response) for _, model, response, created in self._good())

    def chosen(self, before: float, models: list[str]) -> Iterable[tuple[str, float, bytes]]:
        """See Shelf."""
        those = "WHERE created < ? AND model IN (SELECT value FROM json_each(?))"
        return ((one[1], one[3], one[2]) for one in self._good(those, (before, _json(models))))

    def _good(self, which: str = "", values: tuple[object, ...] = ()) -> Iterator[Row]:
        rows = self._connection.execute(
            f"SELECT key, CAST(model AS BLOB), response, created, checksum FROM responses {which}",  # noqa: S608 - of this class
            values,
        )
        for key, model, response, created, checksum in rows:
            if readable(key, model, response, created, checksum) is None:
                self.n_bad += 1
            else:
                yield key, model.decode(), response, created

    def hits(self) -> Iterable[Hit]:
        """See Shelf."""
        return self._connection.execute(
            "SELECT day, model, calls, input, output, cached, uncounted FROM hits"
        )

    def models(self) -> list[str]:
        """See Shelf."""
        found = self._connection.execute("SELECT DISTINCT CAST(model AS BLOB) FROM responses")
        return [str(name, "utf-8", "replace") for (name,) in found if isinstance(name, bytes)]

    def add(self, rows: Iterable[Row]) -> tuple[int, int]:
        """See Shelf."""
        # Read into a table of our own first: others can write until the whole file has been checked.
        self._connection.execute("CREATE TEMP TABLE incoming (key, model, response, created, checksum)")
        n = self._connection.executemany(
            "INSERT INTO incoming VALUES (?, ?, ?, ?, ?)", map(with_checksum, rows)
        ).rowcount
        self._connection.commit()
        with self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            # WHERE true: else SQLite takes ON for that of a join.
            new = connection.execute(
                STORE.format(rows="SELECT * FROM incoming WHERE true ORDER BY rowid")
            ).rowcount
        return new, max(n, 0)

    def delete(self, before: float, models: list[str]) -> int:
        """See Shelf."""
        with self._connection as connection:
            return connection.execute(
                "DELETE FROM responses WHERE created < ? AND model IN (SELECT value FROM json_each(?))",
                (before, _json(models)),
            ).rowcount

    def shrink(self) -> None:
        """See Shelf."""
        # While others read or the disk is full, the space is only marked as free, and used again later.
        with contextlib.suppress(sqlite3.OperationalError):
            self._connection.execute(f"PRAGMA busy_timeout = {SHRINK_MS}")
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _json(models: list[str]) -> str:
    return msgspec.json.encode(models).decode()
