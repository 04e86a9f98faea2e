"""One run at a time: a file or a run folder is held by the process that writes it."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ragstone.errors import DataError

if sys.platform != "win32":
    import fcntl


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep other processes out of a file or folder of rows until the block ends.

    The lock is the operating system's (on `.NAME.lock` beside it), so a killed process holds nothing.
    Raises DataError if another process has it, or if the folder that it is in cannot be written to.
    """
    if sys.platform == "win32":  # two runs in one folder are not told apart there
        yield
        return
    lock = path.with_name(f".{path.name}.lock")
    try:
        file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as mistake:
        raise DataError(
            f"{path}: cannot be written ({mistake.strerror}). Choose a folder that can."
        ) from None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever held it before may have removed it since it was opened: then the lock is on nothing.
            held_by_us = lock.exists() and os.path.samestat(os.fstat(file), lock.stat())
        except BlockingIOError:
            held_by_us = False
        if not held_by_us:
            raise DataError(
                f"{path}: another run is writing it at this moment. Wait for it, or give another name."
            )
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
    finally:
        os.close(file)
