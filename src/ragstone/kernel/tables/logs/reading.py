"""Log files -> their rows as they are: JSONL, JSON, CSV, TSV and Parquet, packed and rotated ones too."""

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ragstone.kernel.errors import DataError, explaining
from ragstone.kernel.tables.formats import READERS, read_csv, read_jsonl
from ragstone.kernel.tables.interchange.openinference import steps_in
from ragstone.kernel.tables.interchange.recognise import answers_in, check_filtered, is_trace
from ragstone.kernel.tables.interchange.trace_steps import TraceStep

# logrotate's endings: app.jsonl.1, app.jsonl-20260131
_ROTATED = re.compile(r"(?:\.\d{1,3}|[.-]\d{8}(?:-?\d{2,6})?)$")
_JSON_LINES = ".jsonl"
_AS_JSONL = {".log", ".ndjson", _JSON_LINES}


class LogLine(NamedTuple):
    """Where a row stands: the file, and its line, or its number in the file."""

    path: Path
    line: int


def log_files(sources: Iterable[Path | str], *, strict: bool = True) -> list[Path]:
    """Return the files of a log, those of folders in the order of their names.

    Raises DataError for a source that is not there, for a folder without a log, and for a file of an unknown
    kind that is named itself; in folders such files are passed over. Unless it is `strict`, such sources are
    passed over too.
    """
    files: dict[Path, None] = {}
    for source in map(Path, sources):
        try:
            files |= dict.fromkeys(_files_of(source))
        except DataError:
            if strict:
                raise
    if not files and strict:
        raise DataError("no log was given. Name a file or a folder.")
    return list(files)


def _files_of(source: Path) -> list[Path]:
    if source.is_dir():
        inside = [path for path in sorted(source.rglob("*")) if path.is_file() and _ending(path) in _known()]
        if not inside:
            raise DataError(f"{source}: the folder holds no log. Logs are files of {_endings()}.")
        return inside
    if not source.exists():
        raise DataError(f"{source}: no such file. Check the spelling and the folder that you are in.")
    if _ending(source) not in _known():
        raise DataError(f"{source}: cannot tell the format from {source.suffix!r}. Use one of: {_endings()}.")
    return [source]


def _known() -> set[str]:
    return {*READERS, ".log"}


def _endings() -> str:
    return " ".join([*READERS, ".log"]) + ", each also with .gz"


def _ending(path: Path) -> str:
    """Return the ending that tells the format, without what packs and rotates."""
    name = path.name.lower()
    name = _ROTATED.sub("", name.removesuffix(".gz"))
    return Path(name.removesuffix(".gz")).suffix


def is_json_lines(path: Path) -> bool:
    """Say whether a file holds JSON lines by its name, also a rotated one, and is not packed."""
    return not path.name.lower().endswith(".gz") and _ending(path) in _AS_JSONL


def read_log(path: Path) -> Iterator[tuple[LogLine, dict[str, Any] | str]]:
    """Yield the rows of a file, each with its place; a text in place of a row that cannot be read says why.

    Of traces these are the answers in them, see interchange/traces.py. Raises DataError where nothing of the
    file can be read: it is packed with something else, binary, or of another format than its name says.
    """
    ending = _ending(path)
    reader = LENIENT.get(_JSON_LINES if ending in _AS_JSONL else ending) or READERS[ending]
    with explaining(f"{path}: cannot be read"):
        rows = iter(reader(path))
        first = next(rows, (0, None))
        every = chain([first], rows) if first[0] else rows
        traced = isinstance(first[1], dict) and is_trace(first[1])
        if isinstance(first[1], dict):
            check_filtered(first[1], str(path))
        for line, raw in answers_in(every, str(path)) if traced else every:
            yield LogLine(path, line), _row(raw)


def read_spans(path: Path) -> Iterator[tuple[LogLine, TraceStep | dict[str, Any] | str]]:
    """Yield the spans of a file of JSON lines, as read_log does its rows. Raises DataError."""
    with explaining(f"{path}: cannot be read"):
        for line, raw in steps_in(LENIENT[_JSON_LINES](path)):
            yield LogLine(path, line), raw if isinstance(raw, TraceStep) else _row(raw)


_decode = msgspec.json.Decoder().decode


def row_in(line: bytes) -> dict[str, Any] | str:
    """Return the object in a line of JSON, or why what it holds is no object.

    Raises DecodeError, UnicodeDecodeError, RecursionError.
    """
    return _row(_decode_line(line))


def _decode_line(line: bytes) -> object:
    """Return what a line of JSON says; NaN and Infinity are null: no JSON, but Python's json writes them."""
    try:
        return _decode(line)
    except msgspec.DecodeError:
        if b"NaN" not in line and b"Infinity" not in line:
            raise
        try:
            return _decode(msgspec.json.encode(json.loads(line)))  # which writes null for both
        except (ValueError, RecursionError):
            pass
        raise


def _row(raw: object) -> dict[str, Any] | str:
    if isinstance(raw, msgspec.DecodeError | ValueError):
        return str(raw)
    return raw if isinstance(raw, dict) else f"expected a JSON object, got {type(raw).__name__}"


LENIENT: dict[str, Callable[[Path], Iterable[tuple[int, Any]]]] = {
    ".csv": functools.partial(read_csv, strict=False),
    ".tsv": functools.partial(read_csv, delimiter="\t", strict=False),
    _JSON_LINES: functools.partial(read_jsonl, decode=_decode_line),
}
"""Ending -> what reads a log of it: one bad row is no end of it. The others as all tables are read."""


def nothing_asked(remedy: str, columns: Sequence[str]) -> DataError:
    """Return the error for a log of which no row asks anything. remedy: how a user names the column."""
    return DataError(
        f"no row of the log holds a question under a known name. {remedy} The columns: "
        f"{', '.join(columns) or 'none'}."
    )


Row = Mapping[str, Any]


Source = Sequence[Path | str] | Sequence[Row]


def rows_of(source: Source) -> Iterator[tuple[LogLine | None, Row | str]]:
    """Yield the rows of files and folders, or a caller's dicts, with their places. Raises DataError."""
    if source and isinstance(source[0], Mapping):
        for row in source:
            yield None, row if isinstance(row, Mapping) else f"expected a dict, got {type(row).__name__}"
        return
    for path in log_files([file for file in source if isinstance(file, str | Path)]):
        yield from read_log(path)
