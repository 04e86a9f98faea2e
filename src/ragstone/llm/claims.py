"""Whose turn it is to make a call, among processes that share a ledger file.

A claim is a lock of the operating system on one byte of a file, at a place that the key decides. So it ends
with its process, however that ends, and nobody's clock matters.
"""

import os
import struct
import sys
from pathlib import Path
from typing import NamedTuple

from ragstone.llm.prompt import Completion

if sys.platform != "win32":
    import fcntl

N_FILES = 16  # the kernel goes through all locks of a file, and a process holds a thousand
# Of one open file, so that two ledgers in one process keep each other out. Elsewhere locks are the process's.
OF_ONE_FILE = getattr(fcntl, "F_OFD_SETLK", None) if sys.platform != "win32" else None


class Turn(NamedTuple):
    """The response that is there, or whether the call is to be made by who asked, until they release it.

    With neither somebody else is making it.
    """

    completion: Completion | None
    mine: bool


class FileClaims:
    """The claims of one open ledger. On Windows they hold within it alone."""

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
        number, place = key[0] % N_FILES, int.from_bytes(key[1:8], "big")
        file = self._files.get(number)
        if file is None:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            file = os.open(self._folder / f"{number:x}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._files[number] = file
        if OF_ONE_FILE is None:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB if taken else fcntl.LOCK_UN, 1, place)
            return
        # struct flock: type, whence (0: from the beginning), start, length, process (0).
        kind = fcntl.F_WRLCK if taken else fcntl.F_UNLCK
        fcntl.fcntl(file, OF_ONE_FILE, struct.pack("hhqqi0q", kind, 0, place, 1, 0))
