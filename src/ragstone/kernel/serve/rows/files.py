"""The files of rows in a run folder, and what tells one state of them from another."""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Container, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.engine.progress_file import FILE as PROGRESS
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, AnyRow, Chunk, Document, Judgement, Question, Ranking
from ragstone.kernel.runs.asked import CALLS_FILE
from ragstone.kernel.runs.blamed import BLAME, CAUSES
from ragstone.kernel.runs.folders import is_run
from ragstone.kernel.stages.given import rows_in
from ragstone.kernel.tables import partial_path, read_rows, write_rows
from ragstone.kernel.version import __version__

RowT = TypeVar("RowT")
Ints = NDArray[np.int64]

BLOCK_BYTES = 1_000_000  # few enough that lines are decoded while the cache of the processor has them
NEWLINE = ord("\n")
INDEX_VERSION = 5  # of the tables that indexing.py makes: a new one makes them anew
TICK_S = 0.02
"""What the clock of a file system may lag behind: a file changed so lately may change again unnoticed."""

KINDS: dict[str, type[AnyRow]] = {
    "documents": Document,
    "chunks": Chunk,
    "questions": Question,
    "answers": Answer,
    "judgements": Judgement,
    "rankings": Ranking,
}


OF_A_RUN = ("questions", "rankings", "answers", "judgements")  # rows that make a folder a run
KindOf = Callable[[Container[str]], str | None]
"""Names of files -> what other than a run wrote them, None for nothing that it knows."""


class RunFiles(msgspec.Struct, frozen=True):
    """The files of a run: kind of row -> file, and their stamp, which another state of them does not have."""

    folder: Path
    paths: dict[str, Path]
    stamp: str


def rows_file(folder: Path, kind: str) -> Path | None:
    """Return the file that holds a kind of row, of a run that goes on the rows so far; None without one."""
    partial = partial_path(folder / f"{kind}.jsonl")
    return rows_in(folder, kind) or (partial if partial.is_file() else None)


def holds_run(folder: Path, names: Container[str], kind_of: KindOf) -> bool:
    """Return whether a folder holds a run or what kind_of knows, finished or not. names: of its files."""
    return (
        is_run(folder)
        or PROGRESS in names
        or kind_of(names) is not None
        or any(rows_file(folder, kind) for kind in OF_A_RUN)
    )


def stats_of(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the files of a run; one that is put in place or removed at this moment is left out."""
    for file in folder.iterdir():
        if not file.name.startswith("."):
            with contextlib.suppress(FileNotFoundError):
                yield file.name, file.stat()


def files_of(folder: Path) -> RunFiles:
    """Return the files of a run as they are now.

    The stamp holds size, both times and the inode of each: writing, replacing, copying and touching change
    it, without that a file is read.
    """
    paths = {kind: path for kind in KINDS if (path := rows_file(folder, kind))}
    others = [path for name in (CALLS_FILE, BLAME, CAUSES) if (path := folder / name).is_file()]
    while True:
        stats = [(path.name, path.stat()) for path in (*paths.values(), *others)]
        newest = max((stat.st_ctime for _, stat in stats), default=0.0)
        if not 0 <= time.time() - newest < TICK_S:
            break
        time.sleep(TICK_S)
    states = [(name, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino) for name, s in stats]
    digest = hashlib.blake2b(repr((INDEX_VERSION, __version__, states)).encode(), digest_size=12)
    return RunFiles(folder, paths, digest.hexdigest())


def as_lines(path: Path, kind: str, folder: Path, *, most_rows: int | None = None) -> Path:
    """Return a file that holds the rows as lines of JSON in our names: that one, or a copy in the folder.

    most_rows: of a copy; None for all. Raises DataError as read_rows does.
    """
    if path.suffix in (".jsonl", ".ndjson", ".partial") and _is_ours(path, KINDS[kind]):
        return path
    copy = folder / f"{kind}.jsonl"
    rows = islice(read_rows(path, KINDS[kind]), most_rows)  # type: ignore[type-var]
    write_rows(copy, rows, KINDS[kind], force=True)
    return copy


def _is_ours(path: Path, row_type: type) -> bool:
    with path.open("rb") as file:
        first = next((line for line in file if not line.isspace()), b"")
    try:
        msgspec.json.decode(first, type=row_type)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return path.suffix == ".partial"
    return True


def decoded(
    path: Path, row_type: type[RowT], most_bytes: int | None = None
) -> Iterator[tuple[list[RowT], Ints, Ints]]:
    """Yield the rows of a file by the block, with the place where the line of each starts, and its length.

    most_bytes: after which no further block is read; None for the whole file. The last line of a file that is
    being written is left out until it is whole. Raises DataError.
    """
    decoder = msgspec.json.Decoder(row_type)
    for start, block in _blocks(path, min(BLOCK_BYTES, most_bytes or BLOCK_BYTES)):
        if most_bytes is not None and start >= most_bytes:
            return
        ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == NEWLINE) + 1
        starts = np.concatenate(([0], ends[:-1]))
        try:
            rows = decoder.decode_lines(block)
        except (msgspec.DecodeError, UnicodeDecodeError):  # a line that is blank, or that is no row
            written = [block[at:end].strip() != b"" for at, end in zip(starts, ends, strict=True)]
            starts, ends = starts[written], ends[written]
            rows = [
                _row(block[at:end], decoder, path, start + at) for at, end in zip(starts, ends, strict=True)
            ]
        yield rows, starts + start, ends - starts


def _blocks(path: Path, n_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines, some megabytes at once, with the place where they start in the file."""
    start, left = 0, list[bytes]()  # left: of a line that is longer than a block there are many parts
    with path.open("rb") as file:
        while read := file.read(n_bytes):
            end = read.rfind(b"\n") + 1
            if end:
                block = b"".join((*left, read[:end]))
                yield start, block
                start += len(block)
                left.clear()
            left.append(read[end:])
    if (last := b"".join(left)) and path.suffix != ".partial":
        yield start, last + b"\n"


def _row(line: bytes, decoder: "msgspec.json.Decoder[RowT]", path: Path, start: int) -> RowT:
    """Return the row of a line that starts there. Raises DataError with its number."""
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as mistake:
        with path.open("rb") as file:
            number = file.read(start).count(b"\n") + 1
        raise DataError(
            f"{path}:{number}: not a row ({mistake}). Restore the file, or repeat the run."
        ) from None
