"""A file of rows that people write one by one: nothing acknowledged is lost, whatever dies when."""

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from ragstone.kernel.errors import DataError, explaining
from ragstone.kernel.persistence.journal import append_whole, held, replace_whole
from ragstone.kernel.persistence.private import make_folder

T = TypeVar("T", bound=msgspec.Struct)
WAIT_S = 30.0  # for others who write the same file


class RowFile(Generic[T]):
    """JSONL of rows, of which there is one at most for each key; shared by threads and by processes.

    A new row is appended and on the disk before `put` returns. A row that changes or goes makes a new file in
    the place of the old one, so that the file holds what counts and nothing else: any reader of its rows
    understands it. What a killed process had half written is cut off by the next that writes: nobody had been
    told that it was saved. Two rows of one key, as in files that were joined by hand: the last counts.
    """

    def __init__(
        self, path: Path, key: Callable[[T], Hashable], parse: Callable[[dict[str, Any]], T]
    ) -> None:
        self.path = path
        self._key, self._parse = key, parse
        self._rows: dict[Hashable, T] = {}
        self._seen: tuple[int, int, int] | None = None
        self._mutex = threading.Lock()

    def rows(self) -> list[T]:
        """Return the rows that count, in the order in which their keys were first written.

        Raises DataError for a file that cannot be read, or that holds something else.
        """
        with self._mutex:
            with explaining(f"{self.path}: could not be read", "Give this user read access."):
                self._read()
            return list(self._rows.values())

    def put(self, rows: Iterable[T]) -> int:
        """Add rows, each in the place of that with its key; return how many were not there just so before.

        Raises DataError if they cannot be written: a full disk, a folder that is read-only.
        """
        return self._change([(self._key(row), row) for row in rows])

    def remove(self, key: Hashable) -> bool:
        """Take a row out; return whether it was there."""
        return bool(self._change([(key, None)]))

    def _change(self, changes: list[tuple[Hashable, T | None]]) -> int:
        with explaining(
            f"{self.path}: could not be written", "Free some disk space, or give this user write access."
        ):
            make_folder(self.path.parent)
            with self._mutex, held(self.path, wait_s=WAIT_S):
                self._read(mend=True)
                real = [(key, row) for key, row in changes if self._rows.get(key) != row]
                if not real:
                    return 0
                after = dict(self._rows)
                for key, row in real:
                    if row is None:
                        after.pop(key, None)
                    else:
                        after[key] = row
                new = [row for key, row in real if row is not None and key not in self._rows]
                if len(new) == len(real) and len(after) == len(self._rows) + len(new):
                    append_whole(self.path, _lines(new))
                else:
                    replace_whole(self.path, _lines(after.values()))
                self._rows, self._seen = after, _state(self.path)
                return len(real)

    def _read(self, *, mend: bool = False) -> None:
        """Take in what others have written. mend: also on the disk, which only a holder of the file may
        do."""
        state = _state(self.path)
        if state == self._seen:
            return
        if state and not (self.path.is_file() or self.path.is_dir()):  # a device may never end
            raise DataError(f"{self.path} is not a file. Remove it, or give the rows another name.")
        text = self.path.read_bytes() if state else b""
        whole, end, torn = text.rpartition(b"\n")
        rows: dict[Hashable, T] = {}
        for number, line in enumerate(whole.split(b"\n"), 1):
            if line.strip():
                row = self._row(line, number)
                rows[self._key(row)] = row
        last = None  # the row of a last line without an end, unless part of the row is missing, too
        with contextlib.suppress(DataError):
            last = self._row(torn, -1) if torn.strip() else None
        if last is not None:
            rows[self._key(last)] = last
        if torn and mend:
            replace_whole(self.path, text + b"\n" if last is not None else whole + end)
            state = _state(self.path)
        self._rows, self._seen = rows, state if mend or not torn else None

    def _row(self, line: bytes, number: int) -> T:
        try:
            return self._parse(msgspec.json.decode(line, type=dict[str, Any]))
        except (msgspec.DecodeError, DataError, ValueError) as mistake:
            raise DataError(
                f"{self.path}:{number}: not a row of this file ({mistake}). Correct the line."
            ) from None


def _lines(rows: Iterable[msgspec.Struct]) -> bytes:
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
