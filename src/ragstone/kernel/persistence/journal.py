"""Files that survive a kill and are shared: locks, journals of rows that only grow, files replaced whole.

What has been acknowledged is on the disk. What a killed process had half written counts as never written:
nobody had been told that it was.
"""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from ragstone.kernel.errors import DataError, explaining
from ragstone.kernel.persistence.private import make_folder

if sys.platform != "win32":
    import fcntl


POLL_S = 0.005


@contextlib.contextmanager
def held(path: Path, wait_s: float = 0.0) -> Iterator[None]:
    """Keep other processes out of a file or folder of rows until the block ends.

    wait_s: how long to wait for another that has it. The lock is the operating system's (on `.NAME.lock`
    beside it), so a killed process holds nothing. Raises DataError if another process has it, or if the
    folder that it is in cannot be written to.
    """
    if sys.platform == "win32":  # two runs in one folder are not told apart there
        yield
        return
    until = time.monotonic() + wait_s
    while True:
        lock = _open_lock(path)
        if lock is not None:
            break
        if time.monotonic() >= until:
            raise DataError(f"{path}: another run is writing to it now. Wait for it, or give another name.")
        time.sleep(POLL_S)
    try:
        yield
    finally:
        _lock_of(path).unlink(missing_ok=True)
        os.close(lock)


def _lock_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


def _open_lock(path: Path) -> int | None:
    """Return the open lock of a path, None while another process has it."""
    lock = _lock_of(path)
    with explaining(f"{path}: cannot be written", "Choose a writable folder."):
        file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever held it before may have removed it since it was opened: then the lock is on nothing.
        if os.path.samestat(os.fstat(file), lock.stat()):
            return file
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(file)
    return None


if sys.platform != "win32":
    import fcntl

RowT = TypeVar("RowT", bound=msgspec.Struct)

SHOWN = 10  # lines that are no rows


class Journal(Generic[RowT]):
    """JSONL to which rows are added, never changed; shared by threads and by processes.

    rows: all that were read so far, in order. strict: a line that is no row is an error; else it is passed
    over, as what a kill left of one.
    """

    def __init__(self, path: Path, row_type: type[RowT], *, strict: bool = True) -> None:
        self.path = path
        self.rows: list[RowT] = []
        self._row_type, self._strict = row_type, strict
        self._read_to = self._n_lines = 0

    def read(self) -> list[RowT]:
        """Return the rows that were added since the last time; a last line without an end is none yet.

        Raises DataError for lines that are no rows, by their numbers; for a file that is shorter than it was;
        and for one that cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(self._read_to)
                content = file.read()
        except FileNotFoundError:
            size, content = 0, b""
        except OSError as mistake:
            raise DataError(
                f"{self.path} cannot be read ({mistake.strerror}). Give this user read access."
            ) from None
        if size < self._read_to:
            raise DataError(
                f"{self.path} is shorter than it was: it was replaced. Put it back, or open it again."
            )
        lines = content.split(b"\n")[:-1]
        new = self._decoded(lines)
        self._read_to += sum(len(line) + 1 for line in lines)
        self._n_lines += len(lines)
        self.rows += new
        return new

    def append(self, row: RowT) -> None:
        """Add a row; it is on the disk when this returns. Raises OSError where it cannot be written."""
        append_line(self.path, msgspec.json.encode(row))

    def append_if(self, check: Callable[[list[RowT]], RowT | None]) -> RowT | None:
        """Add the row that `check` returns, and return it when it is on the disk.

        check: gets what others have added in the meantime, while nobody else can add, and may raise; for None
        nothing is added. Raises OSError where the row cannot be written, DataError as `read` does.
        """
        with _locked(self.path) as file:
            row = check(self.read())
            if row is None:
                return None
            _append(file, msgspec.json.encode(row) + b"\n")
        self.read()
        return row

    def _decoded(self, lines: list[bytes]) -> list[RowT]:
        rows, problems = [], []
        for number, line in enumerate(lines, self._n_lines + 1):
            if not line.strip():
                continue
            try:
                rows.append(msgspec.json.decode(line, type=self._row_type))
            except (msgspec.DecodeError, ValueError) as mistake:
                problems.append(f"{self.path}:{number}: {mistake}")
        if problems and self._strict:
            raise DataError("\n".join(problems[:SHOWN]))
        return rows


def append_line(path: Path, line: bytes, *, mode: int = 0o644) -> None:
    """Add a line to a journal, mended before; it is on the disk when this returns.

    mode: of a file that is new. Raises OSError where it cannot be written; nothing of it is in the file then.
    """
    with _locked(path, mode) as file:
        _append(file, line + b"\n")


def append_whole(path: Path, content: bytes) -> None:
    """Add bytes to a file that nobody else writes, on the disk, or nothing of them. Raises OSError."""
    with _opened(path, 0o644) as file:
        _append(file, content)


def replace_whole(path: Path, content: bytes) -> None:
    """Put a file in place of another one, whole and on the disk, or not at all. Raises OSError."""
    make_folder(path.parent)
    made = path.with_name(f".{path.name}.new")
    with made.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    made.replace(path)
    sync_folder(path.parent)


@contextlib.contextmanager
def _locked(path: Path, mode: int = 0o644) -> Iterator[int]:
    """Give the file, mended, to which no other process adds until the block ends."""
    with _opened(path, mode) as file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        mend(file)
        yield file


@contextlib.contextmanager
def _opened(path: Path, mode: int) -> Iterator[int]:
    make_folder(path.parent)
    is_new = not path.exists()
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, mode)
    try:
        if is_new:
            sync_folder(path.parent)
        yield file
    finally:
        os.close(file)


def _append(file: int, content: bytes) -> None:
    before = os.fstat(file).st_size
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(file, left) :]
        os.fsync(file)
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(file, before)
        raise


def mend(file: int) -> None:
    """Close the last line of an open file of JSON lines, or cut it off where it is not whole.

    file: open for reading and appending, and no other process writes it. Raises OSError.
    """
    size = os.fstat(file).st_size
    if not size or os.pread(file, 1, size - 1) == b"\n":
        return
    torn, start = b"", size
    while start and b"\n" not in torn:
        length = min(1 << 20, start)
        start -= length
        torn = os.pread(file, length, start) + torn
    torn = torn.rpartition(b"\n")[2]
    try:
        msgspec.json.decode(torn)
    except (msgspec.DecodeError, UnicodeDecodeError):
        os.ftruncate(file, size - len(torn))
    else:
        _append(file, b"\n")


def sync_folder(folder: Path) -> None:
    """Have the names of a folder's new files on the disk."""
    if sys.platform == "win32":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # not every file system can
            os.fsync(opened)
    finally:
        os.close(opened)
