"""calls.jsonl.gz of a run, so that one question's conversations are found without unpacking all of it.

The file is one stream, which can be read from its beginning alone. It is packed anew once, in pieces, beside
an index of which question's conversations stand in which.
"""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from ragstone.report.asked import CALLS_FILE, Asked, read_asked
from ragstone.tables.private import make_folder

PIECE_BYTES = 1 << 20
QUICK = 1  # the level of compression


class _Piece(NamedTuple):
    start: int
    size: int


class _Pieces(msgspec.Struct):
    """Where the conversations of a question stand: the numbers of its pieces."""

    stamp: tuple[int, int, int]
    pieces: list[_Piece]
    of: dict[str, list[int]]


def conversations(run: Path, question_id: str, kept: Path) -> list[Asked]:
    """Return the conversations of one question, in the order of the run. kept: a folder for the pieces.

    The first call for a run takes a second or two for each 100,000 conversations. Raises DataError for a
    file that cannot be read, OSError where the pieces cannot be written.
    """
    if not (run / CALLS_FILE).is_file():
        return []
    pieces = _kept(run, kept) or _cut(run, kept)
    found = []
    with (kept / "calls").open("rb") as file:
        for number in pieces.of.get(question_id, []):
            start, size = pieces.pieces[number]
            file.seek(start)
            lines = zlib.decompress(file.read(size)).splitlines()
            found += [msgspec.json.decode(line, type=Asked) for line in lines]
    return [one for one in found if one.question_id == question_id]


def _stamp(run: Path) -> tuple[int, int, int]:
    stat = (run / CALLS_FILE).stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _kept(run: Path, kept: Path) -> _Pieces | None:
    try:
        found = msgspec.json.decode((kept / "calls.json").read_bytes(), type=_Pieces)
    except (OSError, msgspec.DecodeError):
        return None
    return found if found.stamp == _stamp(run) else None


def _cut(run: Path, kept: Path) -> _Pieces:
    make_folder(kept)
    found = _Pieces(stamp=_stamp(run), pieces=[], of={})
    (kept / "calls.json").unlink(missing_ok=True)  # never beside the pieces of another state
    unfinished = kept / "calls.partial"
    with unfinished.open("wb") as file:
        for ids, lines in _in_pieces(run):
            packed = zlib.compress(b"\n".join(lines), QUICK)
            for question_id in dict.fromkeys(ids):
                found.of.setdefault(question_id, []).append(len(found.pieces))
            found.pieces.append(_Piece(file.tell(), len(packed)))
            file.write(packed)
    unfinished.replace(kept / "calls")
    (kept / "calls.json").write_bytes(msgspec.json.encode(found))
    return found


def _in_pieces(run: Path) -> Iterator[tuple[list[str], list[bytes]]]:
    ids: list[str] = []
    lines: list[bytes] = []
    size = 0
    for one in read_asked(run):
        line = msgspec.json.encode(one)
        ids.append(one.question_id)
        lines.append(line)
        size += len(line)
        if size > PIECE_BYTES:
            yield ids, lines
            ids, lines, size = [], [], 0
    if lines:
        yield ids, lines
