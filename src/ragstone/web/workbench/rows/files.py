"""The files of rows in a run folder, and what tells one state of them from another."""

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ragstone.errors import DataError
from ragstone.records import Answer, AnyRow, Chunk, Document, Judgement, Question, Ranking
from ragstone.report.asked import CALLS_FILE
from ragstone.report.blame import BLAME, CAUSES
from ragstone.tables import partial_path, read_rows, write_rows
from ragstone.tables.reading import READERS

INDEX_VERSION = 1  # of the tables that indexing.py makes: a new one makes them anew
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


class RunFiles(msgspec.Struct, frozen=True):
    """The files of a run: kind of row -> file, and their stamp, which another state of them does not have."""

    folder: Path
    paths: dict[str, Path]
    stamp: str


def rows_file(folder: Path, kind: str) -> Path | None:
    """Return the file that holds a kind of row, of a run that goes on the rows so far; None without one."""
    for ending in READERS:
        path = folder / f"{kind}{ending}"
        if path.is_file():
            return path
    partial = partial_path(folder / f"{kind}.jsonl")
    return partial if partial.is_file() else None


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
    told = [(name, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino) for name, s in stats]
    digest = hashlib.blake2b(repr((INDEX_VERSION, told)).encode(), digest_size=12)
    return RunFiles(folder, paths, digest.hexdigest())


def as_lines(path: Path, kind: str, folder: Path) -> Path:
    """Return a file that holds the rows as lines of JSON in our names: that one, or a copy in the folder.

    Raises DataError as read_rows does.
    """
    if path.suffix in (".jsonl", ".ndjson", ".partial") and _is_ours(path, KINDS[kind]):
        return path
    copy = folder / f"{kind}.jsonl"
    write_rows(copy, read_rows(path, KINDS[kind]), KINDS[kind], force=True)  # type: ignore[type-var]
    return copy


def _is_ours(path: Path, row_type: type) -> bool:
    with path.open("rb") as file:
        first = next((line for line in file if not line.isspace()), b"")
    try:
        msgspec.json.decode(first, type=row_type)
    except msgspec.DecodeError:
        return path.suffix == ".partial"
    return True


def spans(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield each line that is not blank, with the place where it starts in the file.

    The last line of a file that is being written is left out until it is whole.
    """
    start = 0
    with path.open("rb") as file:
        for line in file:
            if not line.isspace() and not (path.suffix == ".partial" and not line.endswith(b"\n")):
                yield start, line
            start += len(line)


def wrong_line(path: Path, start: int, mistake: Exception) -> DataError:
    """Return the error of a line that is no row."""
    with path.open("rb") as file:
        number = file.read(start).count(b"\n") + 1
    return DataError(f"{path}:{number}: not a row ({mistake}). Restore the file, or run the command again.")
