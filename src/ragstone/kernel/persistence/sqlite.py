"""SQLite files of our own: for their owner alone, in WAL mode, brought up to the newest of their formats."""

import sqlite3
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from ragstone.kernel.persistence.private import make_file

BUSY_S = 30.0  # how long one who writes waits for another process that does


def open_database(
    path: Path,
    tables: Sequence[str],
    *,
    format_: int,
    upgrades: Mapping[int, Sequence[str]] = MappingProxyType({}),
    busy_s: float = BUSY_S,
) -> sqlite3.Connection:
    """Return a connection to a file, made and brought to this format if need be: `connect` and `prepare`.

    Raises OSError and sqlite3.Error, which the caller explains to the user.
    """
    connection = connect(path, busy_s=busy_s)
    try:
        prepare(connection, tables, format_=format_, upgrades=upgrades, busy_s=busy_s)
    except BaseException:
        connection.close()
        raise
    return connection


def connect(path: Path, *, busy_s: float = BUSY_S) -> sqlite3.Connection:
    """Return a connection to a file, made empty if need be; any thread may use it, one at a time.

    Raises OSError and sqlite3.Error.
    """
    make_file(path)
    return sqlite3.connect(path, timeout=busy_s, check_same_thread=False)


def prepare(
    connection: sqlite3.Connection,
    tables: Sequence[str],
    *,
    format_: int,
    upgrades: Mapping[int, Sequence[str]] = MappingProxyType({}),
    busy_s: float = BUSY_S,
) -> None:
    """Bring a file that is new or of an older format to this one; what it holds stays as it is.

    tables: statements that make what is not there. upgrades: number of an older format -> the statements that
    it needs besides. The number stands in `PRAGMA user_version`; a newer one is refused with a
    sqlite3.DatabaseError. Waits for other processes that do the same.
    """
    version = _version(connection, format_)
    if version < format_:
        _set_wal(connection, busy_s)
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            # Looked at again now that nobody else can write: another process may have been quicker.
            version = _version(connection, format_)
            for statement in (*tables, *upgrades.get(version, ())):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {format_}")
    # With WAL, NORMAL loses nothing when the process dies; only a power cut may cost the last commits.
    connection.execute("PRAGMA synchronous = NORMAL")


def _version(connection: sqlite3.Connection, newest: int) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > newest:
        raise sqlite3.DatabaseError(f"written by a newer Ragstone (format {version})")
    return version


def _set_wal(connection: sqlite3.Connection, busy_s: float) -> None:
    deadline = time.monotonic() + busy_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as mistake:
            # SQLite does not wait here, even when told to, while another process does the same.
            if "locked" not in str(mistake) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
