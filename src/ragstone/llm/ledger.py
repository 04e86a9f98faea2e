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

import asyncio
import contextlib
import logging
import queue
import sqlite3
import struct
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from ragstone.errors import DataError
from ragstone.llm.claims import FileClaims, Turn
from ragstone.llm.prompt import Completion
from ragstone.records import Usage
from ragstone.tables.private import make_file

# PRAGMA user_version: 1 had no table of hits, 2 no checksums; an older one is upgraded, a newer one refused
FORMAT = 3
BUSY_S = 30.0
HITS_S = 5.0
CHECKED_BYTES = 1 << 28  # of a file that is looked through before the first call: 0.7 s at most
DAY_S = 86_400

TABLES = (
    "CREATE TABLE IF NOT EXISTS responses"
    " (key BLOB PRIMARY KEY, model TEXT NOT NULL, response BLOB NOT NULL, created REAL NOT NULL,"
    " checksum INTEGER) WITHOUT ROWID",
    # day: days since 1970-01-01, UTC. uncounted: hits on responses without token counts.
    "CREATE TABLE IF NOT EXISTS hits"
    " (day INTEGER, model TEXT, calls INTEGER, input INTEGER, output INTEGER, cached INTEGER,"
    " uncounted INTEGER, PRIMARY KEY (day, model)) WITHOUT ROWID",
)
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
BAD_ROWS = (
    "%s: %d of the responses asked for cannot be read any more: what is stored has changed. They count as "
    "missing, and are replaced when their calls are made again."
)
LOG = logging.getLogger(__name__)
_decode = msgspec.json.Decoder(Completion).decode

Row = tuple[bytes, str, bytes, float]
"""A stored response: key, model, Completion in JSON, seconds since 1970."""


class _Entry(NamedTuple):
    """A response on its way into the file, and who waits for it."""

    row: Row
    renewed: bool
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[None]


class Ledger:
    """An open ledger file. `find` and `put` may be called from one event loop; `close` flushes."""

    def __init__(self, path: Path, *, counting: bool = True) -> None:
        """Open or create the file. Raises DataError when it cannot be used, saying what to do.

        counting: whether a response that is found saved a call; a forecast saves none.
        """
        self.path = path
        self._counting = counting
        try:
            _make_folder(path)
            self._reader = connect(path)
            self._writer = connect(path)
            for connection in (self._reader, self._writer):
                connection.text_factory = bytes  # a name of a model may be damaged too
        except sqlite3.Error as mistake:
            raise DataError(explain(path, mistake)) from None
        self._hits = Hits()
        self._claims = FileClaims(path)
        self._bad: set[bytes] = set()
        self._checked = False
        self._encode = msgspec.json.Encoder().encode
        self._closed = False
        self._waiting: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_batches, name="ragstone-ledger", daemon=True)
        self._thread.start()

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
                self._check()
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

    def _check(self) -> None:
        if self.path.stat().st_size <= CHECKED_BYTES:
            check_order(self._reader)
        self._checked = True

    async def turn(self, key: bytes, since: float = 0.0) -> Turn:
        """See AnyLedger. Raises DataError."""
        try:
            mine = self._claims.take(key)
        except OSError as mistake:
            raise DataError(explain(self.path, mistake)) from None
        if not mine:
            return Turn(None, mine=False)
        found: Completion | None = None
        try:
            # After the claim, so that what another stored before they gave theirs up is seen.
            found = await self.find(key, since=since)
        except BaseException:
            self._claims.release(key)
            raise
        if found is not None:
            self._claims.release(key)
        return Turn(found, mine=found is None)

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
        return [said for row in rows if (said := readable(*row)) is not None]

    async def put(self, key: bytes, model: str, completion: Completion, *, renewed: bool = False) -> None:
        """Store a response; returns when it is committed. Raises DataError when it cannot be.

        renewed: see AnyLedger. Cancelling the caller does not take the response back: it was paid for.
        """
        if self._closed:
            raise DataError(f"{self.path}: the ledger is closed. Open it again to ask more.")
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        row = (key, model, self._encode(completion), time.time())
        self._waiting.put(_Entry(row, renewed, loop, done))
        await done

    def close(self) -> None:
        """Commit what is waiting and close the file. A second time it does nothing."""
        if self._closed:
            return
        self._closed = True
        self._waiting.put(None)
        self._thread.join()
        self._writer.close()
        self._reader.close()
        self._claims.close()
        if self._bad:
            LOG.warning(BAD_ROWS, self.path, len(self._bad))

    def _write_batches(self) -> None:
        for batch in self._batches():
            hits = self._hits.take()
            if not batch and not hits:
                continue
            mistake: DataError | None = None
            try:
                self._commit(batch, hits)
            except sqlite3.Error as wrong:  # hits go unrecorded then: they are never worth an error
                mistake = DataError(explain(self.path, wrong))
            for loop in {entry.loop for entry in batch}:
                waiting = [entry.done for entry in batch if entry.loop is loop]
                with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    loop.call_soon_threadsafe(_tell, waiting, mistake)

    def _commit(self, batch: list[_Entry], hits: dict[str, list[int]]) -> None:
        day = int(time.time() // DAY_S)
        with self._writer:
            self._writer.execute("BEGIN IMMEDIATE")
            for entry in batch:
                if entry.renewed:
                    self._set_aside(entry.row)
            self._writer.executemany(STORE.format(rows=VALUES), [with_checksum(entry.row) for entry in batch])
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
            "SELECT model, response, created, checksum FROM responses WHERE key = ? AND created < ?",
            (key, moment),
        ).fetchone()
        if before is None:
            return
        self._writer.execute("DELETE FROM responses WHERE key = ?", (key,))
        if readable(key, *before) is not None:
            model, response, created, _ = before
            older = (superseded_key(key, moment), model.decode(), response, created)
            self._writer.execute(STORE.format(rows=VALUES), with_checksum(older))

    def _batches(self) -> Iterator[list[_Entry]]:
        """Yield all that waits, each time that something does; none after HITS_S; the rest at a None."""
        while True:
            batch: list[_Entry] = []
            try:
                entry = self._waiting.get(timeout=HITS_S)
                while entry is not None:
                    batch.append(entry)
                    entry = self._waiting.get_nowait()
            except queue.Empty:
                yield batch
            else:
                yield batch
                return


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


def superseded_key(key: bytes, created: float) -> bytes:
    """Return the key of a response that gave way to one stored at this moment; nobody asks for it."""
    return key + struct.pack(">d", created)


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
                self._counts[model] = [one + other for one, other in zip(now, counts, strict=True)]


def _tell(waiting: list[asyncio.Future[None]], mistake: DataError | None) -> None:
    """Wake those who wait for a commit; the cancelled are gone."""
    for done in waiting:
        if done.done():
            continue
        if mistake is None:
            done.set_result(None)
        else:
            done.set_exception(mistake)


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection to the file, which is made or upgraded if need be; waits for others who do that.

    Raises sqlite3.Error, which `explain` words for the user.
    """
    connection = sqlite3.connect(path, timeout=BUSY_S, check_same_thread=False)
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > FORMAT:
            raise _newer(version)
        if version < FORMAT:
            _upgrade(connection)
        connection.create_function("readable", 5, lambda *row: readable(*row) is not None, deterministic=True)
        # With WAL, NORMAL loses nothing when the process dies; only a power cut may cost the last commits.
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def check_order(connection: sqlite3.Connection) -> None:
    """Look whether every row can be found. Raises sqlite3.DatabaseError, which `is_damage`."""
    (said,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if said not in ("ok", b"ok"):
        raise sqlite3.DatabaseError(f"malformed: {said!s}")


@contextlib.contextmanager
def existing_file(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection to a ledger that exists. Raises DataError, also for what goes wrong in the block."""
    if not path.is_file():
        raise DataError(
            f"{path}: there is no ledger here yet; the first command that asks a model makes it. If yours "
            "is elsewhere, name its settings: --config FOLDER/ragstone.toml."
        )
    with open_file(path) as connection:
        yield connection


@contextlib.contextmanager
def open_file(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection to a ledger, made if need be. Raises DataError, also for errors in the block."""
    try:
        _make_folder(path)
        with contextlib.closing(connect(path)) as connection:
            yield connection
    except sqlite3.Error as mistake:
        raise DataError(explain(path, mistake)) from None


def _make_folder(path: Path) -> None:
    try:
        make_file(path)
    except OSError as mistake:
        raise DataError(explain(path, mistake)) from None


def _upgrade(connection: sqlite3.Connection) -> None:
    """Bring an empty or older file to this format; what it holds stays as it is."""
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as mistake:
            # SQLite does not wait here, even when told to, while another process does the same.
            if "locked" not in str(mistake) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        # Looked at again now that nobody else can write: a newer Ragstone may have been quicker.
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > FORMAT:
            raise _newer(version)
        for table in TABLES:
            connection.execute(table)
        if version in (1, 2):
            connection.execute("ALTER TABLE responses ADD COLUMN checksum INTEGER")
        connection.execute(f"PRAGMA user_version = {FORMAT}")


def _newer(version: int) -> sqlite3.DatabaseError:
    return sqlite3.DatabaseError(f"written by a newer Ragstone (format {version})")


def is_damage(mistake: Exception) -> bool:
    """Return whether the file is not what SQLite wrote."""
    return any(words in str(mistake) for words in ("malformed", "not a database", "disk I/O error"))


def explain(path: Path, mistake: Exception) -> str:
    """Return what is wrong with the ledger, and what to do."""
    text = str(mistake)
    if "newer Ragstone" in text:
        return f"{path}: {text}. Upgrade with: pip install -U ragstone"
    if is_damage(mistake):
        return (
            f"{path}: the ledger is damaged ({text}). Nothing has to be paid for again that can still be "
            f"read: run `ragstone ledger export saved.jsonl`, move {path.name} and the files whose names "
            "begin with it elsewhere, then run `ragstone ledger import saved.jsonl`."
        )
    if "locked" in text:
        return (
            f"{path}: another process has been writing to it for {BUSY_S:.0f} s. Run again when it is done."
        )
    if "full" in text:
        return f"{path}: the disk is full. Make room and run the same command again; what is stored stays."
    return f"{path}: the ledger cannot be used ({text}). Check that its folder is writable."
