"""One run at a time: a file or a run folder is held by the process that writes it."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ragstone.errors import DataError

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
        lock = _locked(path)
        if lock is not None:
            break
        if time.monotonic() >= until:
            raise DataError(
                f"{path}: another run is writing it at this moment. Wait for it, or give another name."
            )
        time.sleep(POLL_S)
    try:
        yield
    finally:
        _lock_of(path).unlink(missing_ok=True)
        os.close(lock)


def _lock_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


def _locked(path: Path) -> int | None:
    """Return the open lock of a path, None while another process has it."""
    lock = _lock_of(path)
    try:
        file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as mistake:
        raise DataError(
            f"{path}: cannot be written ({mistake.strerror}). Choose a folder that can."
        ) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever held it before may have removed it since it was opened: then the lock is on nothing.
        if os.path.samestat(os.fstat(file), lock.stat()):
            return file
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(file)
    return None
