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
from concurrent.futures import Future
from pathlib import Path

import msgspec

from ragstone.errors import DataError
from ragstone.llm.prompt import Completion

FORMAT = 1  # PRAGMA user_version; a newer one is refused
BUSY_S = 30.0

Item = tuple[tuple[bytes, str, bytes, float], Future[None]]


class Ledger:
    """An open ledger file. `get` and `put` may be called from one event loop; `close` flushes."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises DataError when it cannot be used, saying what to do."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._reader = _connect(path)
        except (sqlite3.Error, OSError) as mistake:
            raise DataError(_explain(path, mistake)) from None
        self._decode = msgspec.json.Decoder(Completion).decode
        self._encode = msgspec.json.Encoder().encode
        self._waiting: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_batches, name="ragstone-ledger", daemon=True)
        self._writer.start()

    def get(self, key: bytes) -> Completion | None:
        """Return the response stored under the key, or None."""
        try:
            found = self._reader.execute("SELECT response FROM responses WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as mistake:
            raise DataError(_explain(self.path, mistake)) from None
        return self._decode(found[0]) if found else None

    async def put(self, key: bytes, model: str, completion: Completion) -> None:
        """Store a response; returns when it is committed. Raises DataError when it cannot be."""
        done: Future[None] = Future()
        self._waiting.put(((key, model, self._encode(completion), time.time()), done))
        try:
            await asyncio.wrap_future(done)
        except (sqlite3.Error, OSError) as mistake:
            raise DataError(_explain(self.path, mistake)) from None

    def close(self) -> None:
        """Commit what is waiting and close the file."""
        self._waiting.put(None)
        self._writer.join()
        self._reader.close()

    def _write_batches(self) -> None:
        connection = _connect(self.path)
        for batch in self._batches():
            try:
                with connection:
                    # The first response wins: another process may have asked the same at the same time.
                    connection.executemany(
                        "INSERT OR IGNORE INTO responses (key, model, response, created) VALUES (?, ?, ?, ?)",
                        [row for row, _ in batch],
                    )
            except sqlite3.Error as mistake:
                for _, done in batch:
                    done.set_exception(mistake)
            else:
                for _, done in batch:
                    done.set_result(None)
        connection.close()

    def _batches(self) -> Iterator[list[Item]]:
        """Yield all that waits, each time that something does, until a None comes."""
        while (item := self._waiting.get()) is not None:
            batch = [item]
            with contextlib.suppress(queue.Empty):
                while (item := self._waiting.get_nowait()) is not None:
                    batch.append(item)
            yield batch
            if item is None:
                return


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_S, check_same_thread=False)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > FORMAT:
        raise sqlite3.DatabaseError(f"written by a newer Ragstone (format {version})")
    # With WAL, NORMAL loses nothing when the process dies; only a power cut may cost the last commits.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS responses"
        " (key BLOB PRIMARY KEY, model TEXT NOT NULL, response BLOB NOT NULL, created REAL NOT NULL)"
        " WITHOUT ROWID"
    )
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.commit()
    return connection


def _explain(path: Path, mistake: Exception) -> str:
    text = str(mistake)
    if "newer Ragstone" in text:
        return f"{path}: {text}. Upgrade with: pip install -U ragstone"
    if "malformed" in text or "not a database" in text:
        return f"{path}: the ledger is damaged ({text}). Move it aside; calls in it are then asked anew."
    if "full" in text:
        return f"{path}: the disk is full. Make room and run the same command again; what is stored stays."
    return f"{path}: the ledger cannot be used ({text}). Check that its folder is writable."
