"""The file of the monitor's store: its tables, and how it is opened. SQLite, one writer, many readers."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from ragstone.errors import DataError
from ragstone.tables.private import make_file

FILE = "monitor.sqlite"
FORMAT = 1  # PRAGMA user_version; a newer one is refused
BUSY_S = 30.0

TABLES = (
    "CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID",
    # How far each file was read, by its inode, see files.py.
    "CREATE TABLE IF NOT EXISTS files (inode TEXT PRIMARY KEY, mark BLOB NOT NULL) WITHOUT ROWID",
    # day: of date.toordinal, UTC. draw: from 0 to 1; judged if draw < chance. done: a set of judges that
    # have judged it.
    "CREATE TABLE IF NOT EXISTS exchanges (n INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE,"
    " name TEXT NOT NULL, time REAL, day INTEGER, draw REAL NOT NULL, chance REAL NOT NULL,"
    " feedback REAL, done INTEGER NOT NULL DEFAULT 0)",
    "CREATE INDEX IF NOT EXISTS exchanges_by_day ON exchanges (day, draw, chance, done)",
    "CREATE INDEX IF NOT EXISTS exchanges_by_name ON exchanges (name)",
    # contexts: JSON, a list of [passage, id, document_id, score]; null where they are unknown.
    "CREATE TABLE IF NOT EXISTS texts (n INTEGER PRIMARY KEY, question TEXT NOT NULL, answer TEXT,"
    " contexts TEXT, system TEXT, who TEXT, error TEXT)",
    "CREATE TABLE IF NOT EXISTS passages (n INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, text TEXT)",
    "CREATE TABLE IF NOT EXISTS tag_values (n INTEGER PRIMARY KEY, tag TEXT NOT NULL, value TEXT NOT NULL,"
    " UNIQUE (tag, value))",
    "CREATE TABLE IF NOT EXISTS tags (exchange INTEGER, value INTEGER, PRIMARY KEY (exchange, value))"
    " WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS counts (day INTEGER, value INTEGER, n INTEGER, PRIMARY KEY (day, value))"
    " WITHOUT ROWID",
    # What people said in rows of their own, by the name of the exchange, which may come later.
    "CREATE TABLE IF NOT EXISTS said (name TEXT PRIMARY KEY, feedback REAL, correction TEXT) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS measures (n INTEGER PRIMARY KEY, judge TEXT, version INTEGER, model TEXT,"
    " metric TEXT, best TEXT, UNIQUE (judge, version, model, metric))",
    "CREATE TABLE IF NOT EXISTS labels (n INTEGER PRIMARY KEY, measure INTEGER, label TEXT,"
    " UNIQUE (measure, label))",
    # status: its place in records.STATUSES. tries: how often a judge was asked that could not answer.
    "CREATE TABLE IF NOT EXISTS scores (exchange INTEGER, measure INTEGER, status INTEGER, score REAL,"
    " label INTEGER, tries INTEGER, PRIMARY KEY (exchange, measure)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS reasons (exchange INTEGER, measure INTEGER, text TEXT,"
    " PRIMARY KEY (exchange, measure)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS judge_sets (n INTEGER PRIMARY KEY, judges TEXT UNIQUE)",
    # Days whose cells are no longer those of their scores.
    "CREATE TABLE IF NOT EXISTS stale (day INTEGER PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS cells (day INTEGER, tag TEXT, value TEXT, metric TEXT, judge TEXT, n INTEGER,"
    " w REAL, wx REAL, w2 REAL, w2x REAL, w2x2 REAL, statuses TEXT,"
    " PRIMARY KEY (day, tag, value, metric, judge)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS spent (day INTEGER PRIMARY KEY, calls INTEGER, tokens INTEGER, usd REAL)",
)


def connect(folder: Path) -> sqlite3.Connection:
    """Return a connection to the store of a folder, which is made if need be. Raises DataError."""
    path = folder / FILE
    with explained(path):
        make_file(path)
        connection = sqlite3.connect(path, timeout=BUSY_S, check_same_thread=False)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > FORMAT:
                raise sqlite3.DatabaseError(f"written by a newer Ragstone (format {version})")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if version < FORMAT:
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    for table in TABLES:
                        connection.execute(table)
                    connection.execute(f"PRAGMA user_version = {FORMAT}")
        except BaseException:
            connection.close()
            raise
        return connection


def hold(folder: Path) -> sqlite3.Connection:
    """Return what keeps other processes from working on the store until it is closed, or the process ends.

    Raises DataError where another one does: both would pay for the same judgements.
    """
    path = folder / "lock.sqlite"
    with explained(path):
        lock = sqlite3.connect(path, timeout=0, check_same_thread=False, isolation_level=None)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except BaseException:
            lock.close()
            raise
        return lock


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system raise into DataError that says what to do."""
    try:
        yield
    except OSError as mistake:
        raise DataError(f"{path}: cannot be made ({mistake.strerror}). Name another store.") from None
    except sqlite3.Error as mistake:
        text = str(mistake)
        remedy = "Check that its folder is writable."
        if "newer" in text:
            remedy = "Upgrade with: pip install -U ragstone"
        elif "malformed" in text or "not a database" in text:
            remedy = (
                "It is damaged: move it aside. The log is then read anew; what judges said is in the ledger."
            )
        elif "locked" in text:
            remedy = "Another `ragstone watch` writes to it: wait for it, or stop it."
        elif "full" in text:
            remedy = "Make room on the disk and run again; what is stored stays."
        raise DataError(f"{path}: the store cannot be used ({text}). {remedy}") from None
