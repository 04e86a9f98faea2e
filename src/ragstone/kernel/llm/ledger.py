"""Every model response ever paid for: content-addressed, in SQLite, shared by any number of processes.

Reads are direct (some 10 µs). Writes go through one thread that commits whatever has gathered, so that a
commit is shared by all calls in flight; a response is used only after its commit. Killed at any moment,
the ledger holds every response that was used.

How often it answered instead of a model is counted by day and model. Counts are written with the next
commit, after HITS_S at the latest, and at close: a kill loses those of a few seconds, and no response.

Each row has a checksum. A row that is not as it was written counts as missing and is replaced by the next
response under its key; `close` tells how many there were. Rows of older files have none: of them it is
noticed only where they are no Completion any more. And a file in disorder hides rows that are good: before
the first call that it lacks, SQLite looks whether it is in order, so that none of them is paid for again.
"""

import contextlib
import logging
import os
import sqlite3
import struct
import sys
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.response_store import (
    BAD_ROWS,
    DAY_S,
    HITS_S,
    Hit,
    Hits,
    LedgerTurn,
    ResponseStore,
    Row,
    superseded_key,
)
from ragstone.kernel.persistence.sqlite import BUSY_S, open_database
from ragstone.kernel.persistence.writer_thread import WriterThread

if sys.platform != "win32":
    import fcntl

# PRAGMA user_version: 1 had no table of hits, 2 no checksums; an older one is upgraded, a newer one refused
FORMAT = 3
CHECKED_BYTES = 1 << 28  # of a file that is looked through before the first call: 0.7 s at most
SHRINK_MS = 2000  # how long the shrinking of the file waits for those who read or write it
N_CLAIM_FILES = 16  # the kernel goes through all locks of a file, and a process holds a thousand
# Of one open file, so that two ledgers in one process keep each other out. Elsewhere locks are the process's.
OF_ONE_FILE = getattr(fcntl, "F_OFD_SETLK", None) if sys.platform != "win32" else None

TABLES = (
    "CREATE TABLE IF NOT EXISTS responses"
    " (key BLOB PRIMARY KEY, model TEXT NOT NULL, response BLOB NOT NULL, created REAL NOT NULL,"
    " checksum INTEGER) WITHOUT ROWID",
    # day: days since 1970-01-01, UTC. uncounted: hits on responses without token counts.
    "CREATE TABLE IF NOT EXISTS hits"
    " (day INTEGER, model TEXT, calls INTEGER, input INTEGER, output INTEGER, cached INTEGER,"
    " uncounted INTEGER, PRIMARY KEY (day, model)) WITHOUT ROWID",
)
ADD_CHECKSUM = ("ALTER TABLE responses ADD COLUMN checksum INTEGER",)
# The first response wins, for another process may have asked the same at the same time; one that cannot be
# read any more does not. readable: a function that each
# connection has.
STORE = (
    "INSERT INTO responses (key, model, response, created, checksum) {rows}"
    " ON CONFLICT (key) DO UPDATE SET model = excluded.model, response = excluded.response,"
    " created = excluded.created, checksum = excluded.checksum WHERE NOT readable(responses.key,"
    " CAST(responses.model AS BLOB), responses.response, responses.created, responses.checksum)"
)
VALUES = "VALUES (?, ?, ?, ?, ?)"
CHOSEN = "created < ? AND model IN (SELECT value FROM json_each(?))"
IO_ERROR = "disk I/O error"
UNREAD = ("SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_CORRUPTFS", "SQLITE_IOERR_DATA")
LOG = logging.getLogger(__name__)
_decode = msgspec.json.Decoder(Completion).decode


class Ledger:
    """An open ledger file. `find` and `put` may be called from one event loop; `close` flushes."""

    def __init__(self, path: Path, *, counting: bool = True) -> None:
        """Open or create the file. Raises DataError when it cannot be used, saying what to do.

        counting: whether a response that is found saved a call; a forecast saves none.
        """
        self.path = path
        self._counting = counting
        self._reader, self._writer = _opened(path), _opened(path)
        for connection in (self._reader, self._writer):
            connection.text_factory = bytes  # a name of a model may be damaged too
        self._hits = Hits()
        self._claims = FileClaims(path)
        self._bad: set[bytes] = set()
        self._checked = False
        self._encode = msgspec.json.Encoder().encode
        self._closed = False
        self._storing: WriterThread[tuple[Row, bool], None] = WriterThread(
            "ragstone-ledger",
            self._store,
            if_closed=f"{path}: the ledger is closed. Open it again to ask more.",
            idle_s=HITS_S,
        )

    async def find(self, key: bytes, *, saved: bool = True, since: float = 0.0) -> Completion | None:
        """Return the response stored under the key, or None; one that cannot be read is none.

        saved: whether one that is found saved a call, and is counted so. since: see AnyLedger. Raises
        DataError if the file is damaged so that nothing can be looked up.
        """
        try:
            row = self._reader.execute(
                "SELECT model, response, created, checksum FROM responses WHERE key = ?", (key,)
            ).fetchone()
            if row is None and not self._checked:
                if self.path.stat().st_size <= CHECKED_BYTES:
                    check_order(self._reader)
                self._checked = True
        except sqlite3.Error as mistake:
            raise DataError(explain(self.path, mistake)) from None
        if row is None:
            return None
        completion = readable(key, *row)
        if completion is None:
            self._bad.add(key)
            return None
        if row[2] < since:
            return None
        if self._counting and saved:
            self._hits.add(row[0].decode(errors="replace"), completion.usage)
        return completion

    async def turn(self, key: bytes, since: float = 0.0) -> LedgerTurn:
        """See AnyLedger. Raises DataError."""
        try:
            mine = self._claims.take(key)
        except OSError as mistake:
            raise DataError(explain(self.path, mistake)) from None
        if not mine:
            return LedgerTurn(None, mine=False)
        completion: Completion | None = None
        try:
            # After the claim, so that what another stored before they gave theirs up is seen.
            completion = await self.find(key, since=since)
        except BaseException:
            self._claims.release(key)
            raise
        if completion is not None:
            self._claims.release(key)
        return LedgerTurn(completion, mine=completion is None)

    def release(self, key: bytes) -> None:
        """See AnyLedger."""
        self._claims.release(key)

    def earlier(self, model: str, most: int = 200) -> list[Completion]:
        """Return some responses of a model, as good as drawn at random: they come in the order of digests.

        Raises DataError if the file is damaged.
        """
        try:
            rows = self._reader.execute(
                "SELECT key, model, response, created, checksum FROM responses WHERE model = ? LIMIT ?",
                (model, most),
            ).fetchall()
        except sqlite3.Error as mistake:
            raise DataError(explain(self.path, mistake)) from None
        return [completion for row in rows if (completion := readable(*row)) is not None]

    async def put(self, key: bytes, model: str, completion: Completion, *, renewed: bool = False) -> None:
        """Store a response; returns when it is committed. Raises DataError when it cannot be.

        renewed: see AnyLedger. Cancelling the caller does not take the response back: it was paid for.
        """
        row = (key, model, self._encode(completion), time.time())
        await self._storing.post((row, renewed))

    def close(self) -> None:
        """Commit what is waiting and close the file. A second time it does nothing."""
        if self._closed:
            return
        self._closed = True
        self._storing.close()
        self._writer.close()
        self._reader.close()
        self._claims.close()
        if self._bad:
            LOG.warning(BAD_ROWS, self.path, len(self._bad))

    def _store(self, responses: list[tuple[Row, bool]]) -> Sequence[DataError | None]:
        """Commit responses, each with whether it is renewed, and hits; in the thread."""
        hits = self._hits.take()
        try:
            if responses or hits:
                self._commit(responses, hits)
        except sqlite3.Error as mistake:  # hits go unrecorded then: they are never worth an error
            return [DataError(explain(self.path, mistake))] * len(responses)
        return [None] * len(responses)

    def _commit(self, responses: list[tuple[Row, bool]], hits: dict[str, list[int]]) -> None:
        day = int(time.time() // DAY_S)
        with self._writer:
            self._writer.execute("BEGIN IMMEDIATE")
            for row, renewed in responses:
                if renewed:
                    self._set_aside(row)
            self._writer.executemany(STORE.format(rows=VALUES), [with_checksum(row) for row, _ in responses])
            self._writer.executemany(
                "INSERT INTO hits VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " calls = calls + excluded.calls, input = input + excluded.input,"
                " output = output + excluded.output, cached = cached + excluded.cached,"
                " uncounted = uncounted + excluded.uncounted",
                [(day, model, *counts) for model, counts in hits.items()],
            )

    def _set_aside(self, row: Row) -> None:
        """Keep the response that gives way to this one under a longer key."""
        key, _, _, moment = row
        before = self._writer.execute(
            # Whatever its moment: the clock may have been set back since.
            "SELECT model, response, created, checksum FROM responses WHERE key = ?",
            (key,),
        ).fetchone()
        if before is None:
            return
        self._writer.execute("DELETE FROM responses WHERE key = ?", (key,))
        if readable(key, *before) is not None:
            model, response, created, _ = before
            older = (superseded_key(key, moment), model.decode(), response, created)
            self._writer.execute(STORE.format(rows=VALUES), with_checksum(older))


class FileClaims:
    """Whose turn it is to make a call, among processes that share a ledger file: the claims of one of them.

    A claim is a lock of the operating system on one byte of a file, at a place that the key decides. So it
    ends with its process, however that ends, and nobody's clock matters. On Windows they hold within one open
    ledger alone.
    """

    def __init__(self, ledger: Path) -> None:
        self._folder = ledger.with_name(ledger.name + "-claims")
        self._files: dict[int, int] = {}
        self._held: set[bytes] = set()

    def take(self, key: bytes) -> bool:
        """Return whether the call is ours now; never waits. Raises OSError where no file can be made."""
        if key in self._held:
            return False
        try:
            self._lock(key, taken=True)
        except (BlockingIOError, PermissionError):
            return False
        self._held.add(key)
        return True

    def release(self, key: bytes) -> None:
        """Let others take it; of no effect where it is not ours."""
        self._held.discard(key)
        if self._files:
            self._lock(key, taken=False)

    def close(self) -> None:
        """Release all."""
        self._held.clear()
        while self._files:
            os.close(self._files.popitem()[1])

    def _lock(self, key: bytes, *, taken: bool) -> None:
        if sys.platform == "win32":
            return
        number, offset = key[0] % N_CLAIM_FILES, int.from_bytes(key[1:8], "big")
        file = self._files.get(number)
        if file is None:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            file = os.open(self._folder / f"{number:x}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._files[number] = file
        if OF_ONE_FILE is None:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB if taken else fcntl.LOCK_UN, 1, offset)
            return
        # struct flock: type, whence (0: from the beginning), start, length, process (0).
        kind = fcntl.F_WRLCK if taken else fcntl.F_UNLCK
        fcntl.fcntl(file, OF_ONE_FILE, struct.pack("hhqqi0q", kind, 0, offset, 1, 0))


@contextlib.contextmanager
def open_store(path: Path, *, make: bool) -> Iterator[ResponseStore]:
    """Give all responses of a ledger file. make: whether it is made where it is not.

    Raises DataError, also for what goes wrong in the block.
    """
    if not make and not path.is_file():
        raise DataError(
            f"{path}: there is no ledger here yet; the first command that asks a model creates it. If yours "
            "is elsewhere, name its settings: --config FOLDER/ragstone.toml."
        )
    try:
        with contextlib.closing(_opened(path)) as connection:
            yield FileStore(connection)
    except sqlite3.Error as mistake:
        raise DataError(explain(path, mistake)) from None


class FileStore:
    """The responses of a SQLite file. Its methods are those of ResponseStore."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.n_bad = 0

    @contextlib.contextmanager
    def one_moment(self) -> Iterator[None]:
        """See ResponseStore."""
        self._connection.execute("BEGIN")
        yield
        self._connection.rollback()

    def rows(self) -> Iterable[Row]:
        """See ResponseStore."""
        return self._good("ORDER BY key")

    def chosen(self, before: float, models: list[str]) -> Iterable[Row]:
        """See ResponseStore."""
        return self._good(f"WHERE {CHOSEN}", (before, msgspec.json.encode(models).decode()))

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
        """See ResponseStore."""
        return self._connection.execute(
            "SELECT day, model, calls, input, output, cached, uncounted FROM hits"
        )

    def models(self) -> list[str]:
        """See ResponseStore."""
        rows = self._connection.execute("SELECT DISTINCT CAST(model AS BLOB) FROM responses")
        return [str(name, "utf-8", "replace") for (name,) in rows if isinstance(name, bytes)]

    def add(self, rows: Iterable[Row]) -> tuple[int, int]:
        """See ResponseStore."""
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
        """See ResponseStore."""
        with self._connection as connection:
            return connection.execute(
                f"DELETE FROM responses WHERE {CHOSEN}",  # noqa: S608 - a constant
                (before, msgspec.json.encode(models).decode()),
            ).rowcount

    def shrink(self) -> None:
        """See ResponseStore."""
        # While others read or the disk is full, the space is only marked as free, and used again later.
        with contextlib.suppress(sqlite3.OperationalError):
            self._connection.execute(f"PRAGMA busy_timeout = {SHRINK_MS}")
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def readable(
    key: bytes, model: bytes, response: bytes, created: float, checksum: int | None
) -> Completion | None:
    """Return the response of a row, None where the row is not what was written."""
    try:
        if checksum is not None and checksum != _checksum(key, model, response, created):
            return None
        return _decode(response)
    except (TypeError, struct.error, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def with_checksum(row: Row) -> tuple[bytes, str, bytes, float, int]:
    """Return a row as the table has it."""
    key, model, response, created = row
    return (*row, _checksum(key, model.encode(), response, created))


def _checksum(key: bytes, model: bytes, response: bytes, created: float) -> int:
    rest = zlib.crc32(struct.pack(">dI", created, len(model)), zlib.crc32(key))
    return zlib.crc32(response, zlib.crc32(model, rest))


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection to the file, which is made or upgraded if need be; waits for others who do that.

    Raises OSError and sqlite3.Error, which `explain` words for the user.
    """
    connection = open_database(path, TABLES, format_=FORMAT, upgrades={1: ADD_CHECKSUM, 2: ADD_CHECKSUM})
    connection.create_function("readable", 5, lambda *row: readable(*row) is not None, deterministic=True)
    return connection


def _opened(path: Path) -> sqlite3.Connection:
    """Return a connection to the file. Raises DataError."""
    try:
        return connect(path)
    except (OSError, sqlite3.Error) as mistake:
        raise DataError(explain(path, mistake)) from None


def check_order(connection: sqlite3.Connection) -> None:
    """Look whether every row can be found. Raises sqlite3.DatabaseError, which `is_damage`."""
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict not in ("ok", b"ok"):
        raise sqlite3.DatabaseError(f"malformed: {verdict!s}")


def is_damage(mistake: Exception) -> bool:
    """Return whether the file is not what SQLite wrote, or cannot be read.

    What cannot be written, as on a full disk, is an I/O error too, and no damage.
    """
    if IO_ERROR in str(mistake):
        return getattr(mistake, "sqlite_errorname", "") in ("", *UNREAD)
    return any(sign in str(mistake) for sign in ("malformed", "not a database"))


def explain(path: Path, mistake: Exception) -> str:
    """Return what is wrong with the ledger, and what to do."""
    text = str(mistake)
    if "newer Ragstone" in text:
        return f"{path}: {text}. Upgrade with: pip install -U ragstone"
    if is_damage(mistake):
        return (
            f"{path}: the ledger is damaged ({text}). To keep what can still be read, run `ragstone ledger "
            f"export saved.jsonl`, move {path.name} and the files whose names "
            "begin with it elsewhere, then run `ragstone ledger import saved.jsonl`."
        )
    if "locked" in text:
        return (
            f"{path}: another process has been writing to it for {BUSY_S:.0f} s. Run again when it is done."
        )
    if "full" in text or IO_ERROR in text:
        return (
            f"{path}: the disk is full. Free some space and run the same command again; stored responses "
            "stay."
        )
    return f"{path}: the ledger cannot be used ({text}). Check that its folder is writable."


def is_damaged(path: Path) -> bool:
    """Return whether a file is there and SQLite finds it in disorder. Raises DataError if it is in use."""
    if not path.is_file():
        return False
    try:
        with contextlib.closing(connect(path)) as connection:
            check_order(connection)
            return False
    except sqlite3.Error as mistake:
        if is_damage(mistake):
            return True
        raise DataError(explain(path, mistake)) from None
