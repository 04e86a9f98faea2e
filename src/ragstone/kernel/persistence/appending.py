"""Lines -> files that only grow: one line one write, on disk before it is told, rotated by size or day.

Lines go through one thread, which writes all that waits and then flushes the disk once for them, so that
concurrent writers share that flush. A process has files of its own, so that several may share a folder.
"""

import contextlib
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.journal import mend, sync_folder
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.persistence.writer_thread import WriterThread

AT_ONCE = 32  # lines that wait for one flush of the disk: those behind them are still to be masked


class _WaitingLine(NamedTuple):
    """A line that is to be made and written."""

    make: Callable[[], bytes]
    now: datetime


class Appender:
    """Appends lines to `NAME-YYYYMMDDTHHMMSS-N.jsonl` in a folder. problem: why a line was not written.

    The first line makes the first file. Lines that cannot be written are not kept: their writers are told.
    """

    def __init__(self, folder: Path, name: str, rotate_bytes: int, *, daily: bool = False) -> None:
        """Mend what a kill left of files of this name. A folder that cannot be used is a `problem`.

        daily: a new day (UTC) begins a new file.
        """
        self.problem: str | None = None
        self._folder = folder
        self._name = name
        self._rotate_bytes, self._daily = rotate_bytes, daily
        self._day = ""
        self._file: int | None = None
        self._size = 0
        self._thread: WriterThread[_WaitingLine, None] | None = None
        try:
            make_folder(folder)
            if not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(13, "the folder is not writable")
            for path in sorted(folder.glob(f"{name}-*.jsonl")):
                mend_file(path)
        except OSError as mistake:
            self._failed(mistake)

    async def append(self, make: Callable[[], bytes], now: datetime) -> None:
        """Write a line; returns when it is on disk. Raises DataError where it cannot be.

        make: returns the line without its end; it is called in a thread, and its errors are raised here. now:
        names the file, if the line begins one. Cancelling the caller does not take the line back.
        """
        if self._thread is None:
            self._thread = WriterThread(
                f"ragstone-{self._name}", self._write, if_closed="the log is closed", most=AT_ONCE
            )
        await self._thread.post(_WaitingLine(make, now))

    def close(self) -> None:
        """Write what waits, and close the file. A later line opens another one."""
        if self._thread is not None:
            self._thread.close()
            self._thread = None
        self._leave()

    def _write(self, lines: list[_WaitingLine]) -> Sequence[Exception | None]:
        """Write lines and flush the disk once for all; return why each was not written."""
        outcomes = [self._put(line) for line in lines]
        if None in outcomes:
            try:
                os.fsync(self._file if self._file is not None else -1)
                self.problem = None
            except OSError as mistake:
                self._leave()  # what it holds is uncertain now, and nothing more is put behind it
                failure = self._failed(mistake)
                outcomes = [outcome or failure for outcome in outcomes]
        return outcomes

    def _put(self, line: _WaitingLine) -> Exception | None:
        """Write one line; return why it was not."""
        try:
            made = line.make() + b"\n"
        except Exception as mistake:  # noqa: BLE001 - of this line alone: the others are written
            return DataError(f"a line cannot be written to the log ({mistake})")
        try:
            full = self._size and self._size + len(made) > self._rotate_bytes
            # No file was begun, or somebody has deleted it since.
            gone = self._file is None or os.fstat(self._file).st_nlink == 0
            if gone or full or (self._daily and _stamp(line.now)[:8] != self._day):
                self._open(line.now)
            self._append(made)
        except OSError as mistake:
            return self._failed(mistake)
        return None

    def _append(self, made: bytes) -> None:
        if self._file is None:
            raise OSError("no file is open")
        file = self._file
        try:
            left = memoryview(made)
            while left:
                left = left[os.write(file, left) :]
        except OSError:
            # What was written of the line goes again; where even that fails, another file is begun.
            try:
                os.ftruncate(file, self._size)
            except OSError:
                self._leave()
            raise
        self._size += len(made)

    def _open(self, now: datetime) -> None:
        """Begin a file of this moment, under the first number that nobody has taken."""
        if self._file is not None:
            os.fsync(self._file)
        self._leave()
        stamp, number = _stamp(now), 1
        self._day = stamp[:8]
        make_folder(self._folder)
        while self._file is None:
            path = self._folder / f"{self._name}-{stamp}-{number}.jsonl"
            try:
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o640)
            except FileExistsError:
                number += 1
        self._size = 0
        # Held as long as this process lives, so that no other one mends what is still being written.
        _lock(self._file)
        sync_folder(self._folder)

    def _leave(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None

    def _failed(self, mistake: OSError) -> DataError:
        why = mistake.strerror or str(mistake)
        self.problem = (
            f"{self._folder}: the log cannot be written ({why}). Free some disk space, or check who owns the "
            "folder."
        )
        return DataError(self.problem)


def _stamp(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y%m%dT%H%M%S")


def mend_file(path: Path) -> None:
    """Close the last line of a file whose writer was killed, or cut it off where it is not whole.

    A line that was acknowledged always is. A file that a living process writes is left alone. Raises OSError.
    """
    file = os.open(path, os.O_RDWR | os.O_APPEND)
    try:
        if _lock(file):
            mend(file)
    finally:
        os.close(file)


def _lock(file: int) -> bool:
    """Return whether the file is this process's own now; a lock that another one has is not waited for."""
    try:
        import fcntl
    except ImportError:  # Windows, which lets nobody else write to it anyway
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
