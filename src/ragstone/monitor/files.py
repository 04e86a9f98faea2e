"""Log files that grow, rotate and are replaced -> the rows that were not read before.

What was read of a file is remembered by its inode and by digests of its beginning and of what stands before
the place that was reached. A file of JSON lines goes on from there, also under another name; one that is
shorter than that place, or in which those bytes have changed, is read anew. Files of other kinds, packed
ones, and traces, whose spans may stand anywhere in them, are read anew when they have changed. Rows that are
read twice do no harm: an exchange is known by its digest, see logged.py.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from glob import escape
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ragstone.dataset.logs import decode_line, is_json_lines, log_files, read_log
from ragstone.errors import DataError
from ragstone.tables.interchange import answers_in, is_trace

CHECKED = 1024  # bytes of the beginning, and before the place that was reached
BATCH = 1000  # rows that are handed on together

Raw = dict[str, Any] | str
"""A row, or why it cannot be read."""


class Mark(msgspec.Struct, frozen=True):
    """How far a file was read. offset, line: what comes next; whole: it is read anew when it has changed."""

    path: str
    inode: str
    size: int
    changed: int
    offset: int
    line: int
    before: str
    whole: bool = False


class Batch(msgspec.Struct, frozen=True):
    """Rows with their places, and the mark to keep with them; None before the end of a whole file."""

    rows: list[tuple[str, Raw]]
    mark: Mark | None
    anew: bool = False


def present_files(sources: Iterable[Path | str], *, strict: bool = True) -> list[Path]:
    """Return the files of a log; raises DataError for what is not there, unless it is not `strict`."""
    found: dict[Path, None] = {}
    for source in sources:
        try:
            found |= dict.fromkeys(log_files([source]))
        except DataError:
            if strict:
                raise
    if not found and strict:
        raise DataError("no log was given. Name a file or a folder.")
    return list(found)


def rotated_from(sources: Iterable[Path | str], marks: Mapping[str, Mark]) -> list[Path]:
    """Return the files that were read under the name of a source, and stand beside it under another now."""
    found = []
    for source in map(Path, sources):
        inodes = {mark.inode for mark in marks.values() if mark.path == str(source) and not mark.whole}
        if not inodes or source.is_dir() or not source.parent.is_dir():
            continue
        beside = (one for one in source.parent.glob(f"{escape(source.name)}?*") if one.is_file())
        found += [one for one in beside if _inode(one.stat()) in inodes]
    return found


def _inode(status: os.stat_result) -> str:
    return f"{status.st_dev}:{status.st_ino}"


def new_rows(path: Path, marks: Mapping[str, Mark]) -> Iterator[Batch]:
    """Yield what was not read of a file before, in batches. marks: of all files, by their inodes.

    Raises DataError for a file that cannot be read at all.
    """
    try:
        status = path.stat()
        inode = _inode(status)
        known = [marks[inode]] if inode in marks else []
        known += [mark for mark in marks.values() if mark.path == str(path) and mark.inode != inode]
        same = [mark for mark in known if (mark.size, mark.changed) == (status.st_size, status.st_mtime_ns)]
        if same and same[0].offset >= status.st_size:
            if same[0].path != str(path):
                yield Batch([], msgspec.structs.replace(same[0], path=str(path)))
            return
        with path.open("rb") as file:
            reached = next((mark for mark in known if not mark.whole and _goes_on(file, mark, status)), None)
            anew = inode in marks and reached is None
            if reached is None and not _is_lines(path, file):
                yield from _whole(path, status, inode, anew=anew)
                return
            start = reached or Mark(str(path), inode, 0, 0, 0, 1, "")
            yield from _lines(path, file, start, inode, anew=anew)
    except OSError as mistake:
        raise DataError(f"{path}: cannot be read ({mistake.strerror}).") from None


def _is_lines(path: Path, file: BinaryIO) -> bool:
    """Say whether a file can be read on from a place: JSON lines by its name, and no traces."""
    if not is_json_lines(path):
        return False
    file.seek(0)
    for line in islice(file, 20):
        try:
            raw = decode_line(line.removeprefix(b"\xef\xbb\xbf"))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(raw, dict):
            return not is_trace(raw)
    return True


def _goes_on(file: BinaryIO, mark: Mark, status: os.stat_result) -> bool:
    return status.st_size >= mark.offset and _before(file, mark.offset) == mark.before


def _before(file: BinaryIO, offset: int) -> str:
    """Return a digest of the beginning of a file and of what stands before a place."""
    file.seek(0)
    head = file.read(min(CHECKED, offset))
    file.seek(max(0, offset - CHECKED))
    return hashlib.blake2b(head + b"\0" + file.read(min(CHECKED, offset)), digest_size=16).hexdigest()


def _lines(path: Path, file: BinaryIO, mark: Mark, inode: str, *, anew: bool) -> Iterator[Batch]:
    """Yield rows from a place on. A last line that is no whole JSON is left for the next time."""
    offset, number = mark.offset, mark.line
    rows: list[tuple[str, Raw]] = []

    def batch() -> Batch:
        status = os.fstat(file.fileno())
        here = file.tell()
        reached = Mark(
            str(path), inode, status.st_size, status.st_mtime_ns, offset, number, _before(file, offset)
        )
        file.seek(here)
        return Batch(rows, reached, anew)

    file.seek(offset)
    for line in file:
        if number == 1:
            line, skipped = line.removeprefix(b"\xef\xbb\xbf"), line
            offset += len(skipped) - len(line)
        row: Raw | None = None
        try:
            raw = decode_line(line) if not line.isspace() else None
            row = raw if raw is None or isinstance(raw, dict) else _no_object(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as mistake:
            if not line.endswith(b"\n"):
                break
            row = f"not valid JSON ({mistake})"
        if row is not None:
            rows.append((f"{path}:{number}", row))
        offset += len(line)
        number += line.endswith(b"\n")
        if len(rows) >= BATCH:
            yield batch()
            rows = []
    if rows or offset != mark.offset or mark.path != str(path) or anew:
        yield batch()


def _no_object(raw: object) -> str:
    return f"expected a JSON object, got {type(raw).__name__}"


def _whole(path: Path, status: os.stat_result, inode: str, *, anew: bool) -> Iterator[Batch]:
    """Yield all rows of a file, of traces as answers; the mark comes with the last."""
    numbered = ((place.line, raw) for place, raw in read_log(path))
    first = next(numbered, None)
    rows = _chained(first, numbered)
    if first is not None and isinstance(first[1], dict) and is_trace(first[1]):
        rows = answers_in(rows, str(path))
    waiting: list[tuple[str, Raw]] = []
    for line, raw in rows:
        waiting.append((f"{path}:{line}", raw))
        if len(waiting) >= BATCH:
            yield Batch(waiting, None, anew)
            waiting = []
    mark = Mark(str(path), inode, status.st_size, status.st_mtime_ns, status.st_size, 1, "", whole=True)
    yield Batch(waiting, mark, anew)


def _chained(first: tuple[int, Raw] | None, rest: Iterator[tuple[int, Raw]]) -> Iterator[tuple[int, Raw]]:
    if first is not None:
        yield first
        yield from rest
