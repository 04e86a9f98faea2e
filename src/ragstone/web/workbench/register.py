"""The file of accounts, invitations and sessions: how it is opened, and the secret of its own."""

import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragstone.errors import DataError
from ragstone.tables.private import make_folder

FILE = "accounts.sqlite"
BUSY_S = 5.0

SCHEMA = """
CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS people (
    id INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, name TEXT NOT NULL, role TEXT NOT NULL,
    password TEXT NOT NULL, created REAL NOT NULL, seen REAL, removed REAL
);
CREATE TABLE IF NOT EXISTS invitations (
    id INTEGER PRIMARY KEY, token BLOB UNIQUE NOT NULL, role TEXT NOT NULL, person INTEGER,
    made_by TEXT NOT NULL, created REAL NOT NULL, expires REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS sessions (
    token BLOB PRIMARY KEY, person INTEGER NOT NULL, begun REAL NOT NULL, seen REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sessions_of ON sessions (person);
"""


class Register:
    """An open file of accounts; several processes may have it open."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._lock = threading.RLock()
        try:
            make_folder(folder)
            self.path.touch(mode=0o600)
            self.path.chmod(0o600)
            self._database = sqlite3.connect(
                self.path, timeout=BUSY_S, check_same_thread=False, isolation_level=None
            )
            self._database.executescript(SCHEMA)
            self._database.execute(
                "INSERT OR IGNORE INTO kept VALUES ('secret', ?)", (secrets.token_bytes(32),)
            )
        except (OSError, sqlite3.Error) as mistake:
            raise DataError(
                f"{self.path}: accounts cannot be kept there ({mistake}). Make the folder writable, or name "
                "another as store in the table [workbench]."
            ) from None
        self.secret: bytes = self.row("SELECT value FROM kept WHERE name = 'secret'")[0]

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def rows(self, query: str, *values: object) -> list[tuple]:  # type: ignore[type-arg]
        """Return all rows of a query, or change something."""
        try:
            with self._lock:
                return self._database.execute(query, values).fetchall()
        except sqlite3.OperationalError as mistake:  # no room, read-only, held for long by another process
            raise DataError(f"{self.path}: cannot be written at this moment ({mistake}).") from None

    def row(self, query: str, *values: object) -> tuple:  # type: ignore[type-arg]
        """Return the first row of a query; an empty one where there is none."""
        return next(iter(self.rows(query, *values)), ())

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make what is done in the block all or nothing, with no other process or thread in between."""
        with self._lock:
            self.rows("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self.rows("ROLLBACK")
                raise
            self.rows("COMMIT")
