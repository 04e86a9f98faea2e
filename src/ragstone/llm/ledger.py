"""Every model response ever paid for: content-addressed, in SQLite, shared by any number of processes.

Reads are direct (some 10 µs). Writes go through one thread that commits whatever has gathered, so that a
commit is shared by all calls in flight; a response is used only after its commit. Killed at any moment,
the ledger holds every response that was used.

How often it answered instead of a model is counted by day and model. Counts are written with the next
commit, after HITS_S at the latest, and at close: a kill loses those of a few seconds, and no response.
"""

import asyncio
import contextlib
import queue
import sqlite3
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from ragstone.errors import DataError
from ragstone.llm.prompt import Completion
from ragstone.records import Usage

FORMAT = 2  # PRAGMA user_version: 1 had no table of hits; an older one is upgraded, a newer one refused
BUSY_S = 30.0
HITS_S = 5.0
DAY_S = 86_400

TABLES = (
    "CREATE TABLE IF NOT EXISTS responses"
    " (key BLOB PRIMARY KEY, model TEXT NOT NULL, response BLOB NOT NULL, created REAL NOT NULL)"
    " WITHOUT ROWID",
    # day: days since 1970-01-01, UTC. uncounted: hits on responses without token counts.
    "CREATE TABLE IF NOT EXISTS hits"
    " (day INTEGER, model TEXT, calls INTEGER, input INTEGER, output INTEGER, cached INTEGER,"
    " uncounted INTEGER, PRIMARY KEY (day, model)) WITHOUT ROWID",
)


class _Entry(NamedTuple):
    """A response on its way into the file, and who waits for it."""

    row: tuple[bytes, str, bytes, float]
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
        except sqlite3.Error as mistake:
            raise DataError(explain(path, mistake)) from None
        self._hits = Hits()
        self._decode = msgspec.json.Decoder(Completion).decode
        self._encode = msgspec.json.Encoder().encode
        self._closed = False
        self._waiting: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_batches, name="ragstone-ledger", daemon=True)
        self._thread.start()

    async def find(self, key: bytes, *, saved: bool = True) -> Completion | None:
        """Return the response stored under the key, or None.

        saved: whether one that is found saved a call, and is counted so. Raises DataError if the file is
        damaged.
        """
        try:
            found = self._reader.execute(
                "SELECT response, model FROM responses WHERE key = ?", (key,)
            ).fetchone()
            if found is None:
                return None
            completion = self._decode(found[0])
        except (sqlite3.Error, msgspec.DecodeError) as mistake:
            raise DataError(explain(self.path, mistake)) from None
        if self._counting and saved:
            self._hits.add(found[1], completion.usage)
        return completion

    def stored_at(self, key: bytes) -> float | None:
        """See AnyLedger. Raises DataError if the file is damaged."""
        try:
            found = self._reader.execute("SELECT created FROM responses WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as mistake:
            raise DataError(explain(self.path, mistake)) from None
        return None if found is None else float(found[0])

    def earlier(self, model: str, most: int = 200) -> list[Completion]:
        """Return some responses of a model, as good as drawn at random: they come in the order of digests.

        Raises DataError if the file is damaged.
        """
        try:
            found = self._reader.execute(
                "SELECT response FROM responses WHERE model = ? LIMIT ?", (model, most)
            ).fetchall()
            return [self._decode(row[0]) for row in found]
        except (sqlite3.Error, msgspec.DecodeError) as mistake:
            raise DataError(explain(self.path, mistake)) from None

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
        renewed = [entry.row for entry in batch if entry.renewed]
        with self._writer:
            for key, model, response, created in renewed:
                self._writer.execute(
                    "INSERT OR IGNORE INTO responses (key, model, response, created)"
                    " SELECT ?, model, response, created FROM responses WHERE key = ? AND created < ?",
                    (superseded_key(key, created), key, created),
                )
                self._writer.execute(
                    "INSERT OR REPLACE INTO responses (key, model, response, created) VALUES (?, ?, ?, ?)",
                    (key, model, response, created),
                )
            # The first response wins: another process may have asked the same at the same time.
            self._writer.executemany(
                "INSERT OR IGNORE INTO responses (key, model, response, created) VALUES (?, ?, ?, ?)",
                [entry.row for entry in batch],
            )
            self._writer.executemany(
                "INSERT INTO hits VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " calls = calls + excluded.calls, input = input + excluded.input,"
                " output = output + excluded.output, cached = cached + excluded.cached,"
                " uncounted = uncounted + excluded.uncounted",
                [(day, model, *counts) for model, counts in hits.items()],
            )

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
        # With WAL, NORMAL loses nothing when the process dies; only a power cut may cost the last commits.
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


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
    except (sqlite3.Error, msgspec.DecodeError) as mistake:
        raise DataError(explain(path, mistake)) from None


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
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
        connection.execute(f"PRAGMA user_version = {FORMAT}")


def _newer(version: int) -> sqlite3.DatabaseError:
    return sqlite3.DatabaseError(f"written by a newer Ragstone (format {version})")


def explain(path: Path, mistake: Exception) -> str:
    """Return what is wrong with the ledger, and what to do."""
    text = str(mistake)
    if "newer Ragstone" in text:
        return f"{path}: {text}. Upgrade with: pip install -U ragstone"
    if "malformed" in text or "not a database" in text or isinstance(mistake, msgspec.DecodeError):
        return f"{path}: the ledger is damaged ({text}). Move it aside; calls in it are then asked anew."
    if "locked" in text:
        return (
            f"{path}: another process has been writing to it for {BUSY_S:.0f} s. Run again when it is done."
        )
    if "full" in text:
        return f"{path}: the disk is full. Make room and run the same command again; what is stored stays."
    return f"{path}: the ledger cannot be used ({text}). Check that its folder is writable."
