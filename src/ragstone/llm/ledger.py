"""Every model response ever paid for: content-addressed, in SQLite, shared by any number of processes.

Reads are direct (some 10 µs). Writes go through one thread that commits whatever has gathered, so that a
commit is shared by all calls in flight; a response is used only after its commit. Killed at any moment,
the ledger holds every response that was used.
"""

import asyncio
import contextlib
import queue
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from ragstone.errors import DataError
from ragstone.llm.prompt import Completion

FORMAT = 1  # PRAGMA user_version; a newer one is refused
BUSY_S = 30.0


class _Entry(NamedTuple):
    """A response on its way into the file, and who waits for it."""

    row: tuple[bytes, str, bytes, float]
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[None]


class Ledger:
    """An open ledger file. `get` and `put` may be called from one event loop; `close` flushes."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises DataError when it cannot be used, saying what to do."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._reader = _connect(path)
            self._writer = _connect(path)
        except (sqlite3.Error, OSError) as mistake:
            raise DataError(_explain(path, mistake)) from None
        self._decode = msgspec.json.Decoder(Completion).decode
        self._encode = msgspec.json.Encoder().encode
        self._closed = False
        self._waiting: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_batches, name="ragstone-ledger", daemon=True)
        self._thread.start()

    def get(self, key: bytes) -> Completion | None:
        """Return the response stored under the key, or None. Raises DataError if the file is damaged."""
        try:
            found = self._reader.execute("SELECT response FROM responses WHERE key = ?", (key,)).fetchone()
            return self._decode(found[0]) if found else None
        except (sqlite3.Error, msgspec.DecodeError) as mistake:
            raise DataError(_explain(self.path, mistake)) from None

    async def put(self, key: bytes, model: str, completion: Completion) -> None:
        """Store a response; returns when it is committed. Raises DataError when it cannot be.

        Cancelling the caller does not take the response back: it was paid for.
        """
        if self._closed:
            raise DataError(f"{self.path}: the ledger is closed. Open it again to ask more.")
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._waiting.put(_Entry((key, model, self._encode(completion), time.time()), loop, done))
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
            mistake: DataError | None = None
            try:
                with self._writer:
                    # The first response wins: another process may have asked the same at the same time.
                    self._writer.executemany(
                        "INSERT OR IGNORE INTO responses (key, model, response, created) VALUES (?, ?, ?, ?)",
                        [entry.row for entry in batch],
                    )
            except sqlite3.Error as wrong:
                mistake = DataError(_explain(self.path, wrong))
            for loop in {entry.loop for entry in batch}:
                waiting = [entry.done for entry in batch if entry.loop is loop]
                with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    loop.call_soon_threadsafe(_tell, waiting, mistake)

    def _batches(self) -> Iterator[list[_Entry]]:
        """Yield all that waits, each time that something does, until a None comes."""
        while (entry := self._waiting.get()) is not None:
            batch = [entry]
            with contextlib.suppress(queue.Empty):
                while (entry := self._waiting.get_nowait()) is not None:
                    batch.append(entry)
            yield batch
            if entry is None:
                return


def _tell(waiting: list[asyncio.Future[None]], mistake: DataError | None) -> None:
    """Wake those who wait for a commit; the cancelled are gone."""
    for done in waiting:
        if done.done():
            continue
        if mistake is None:
            done.set_result(None)
        else:
            done.set_exception(mistake)


def _connect(path: Path) -> sqlite3.Connection:
    """Return a connection to the file, which is made if need be; waits for others who are making it."""
    connection = sqlite3.connect(path, timeout=BUSY_S, check_same_thread=False)
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > FORMAT:
            raise sqlite3.DatabaseError(f"written by a newer Ragstone (format {version})")
        if version < FORMAT:
            _create(connection)
        # With WAL, NORMAL loses nothing when the process dies; only a power cut may cost the last commits.
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _create(connection: sqlite3.Connection) -> None:
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
        connection.execute(
            "CREATE TABLE IF NOT EXISTS responses"
            " (key BLOB PRIMARY KEY, model TEXT NOT NULL, response BLOB NOT NULL, created REAL NOT NULL)"
            " WITHOUT ROWID"
        )
        connection.execute(f"PRAGMA user_version = {FORMAT}")


def _explain(path: Path, mistake: Exception) -> str:
    text = str(mistake)
    if "newer Ragstone" in text:
        return f"{path}: {text}. Upgrade with: pip install -U ragstone"
    if "malformed" in text or "not a database" in text or isinstance(mistake, msgspec.DecodeError):
        return f"{path}: the ledger is damaged ({text}). Move it aside; calls in it are then asked anew."
    if "full" in text:
        return f"{path}: the disk is full. Make room and run the same command again; what is stored stays."
    return f"{path}: the ledger cannot be used ({text}). Check that its folder is writable."
