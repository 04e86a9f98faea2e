"""Texts and tables in any encoding and form -> rows as they stand, streamed, told apart by their content."""

import codecs
import io
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.files.decoding import decode
from ragstone.kernel.files.file import Unreadable
from ragstone.kernel.records import Question
from ragstone.kernel.tables.formats import READERS, read_jsonl
from ragstone.kernel.tables.reading import read_worksheet

_BLOCK = 1 << 20
PACKED = {
    b"PK\x03\x04": "a ZIP archive or an Office file",
    b"\x1f\x8b": "compressed with gzip",
    b"BZh": "compressed with bzip2",
}


def open_text(path: Path) -> TextIO:
    """Return the open text of a file, lines ending in "\\n" or "\\r\\n"; the caller closes it.

    Other encodings than UTF-8 are found as `ragstone ingest` finds them. Raises DataError for a file that is
    missing, empty, packed or no text.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file. Check the spelling and the folder that you are in.")
    if not path.stat().st_size:
        raise DataError(f"{path}: the file is empty. Check that the step that wrote it has finished.")
    with path.open("rb") as file:
        head = file.read(4)
    for mark, what in PACKED.items():
        if head.startswith(mark):
            raise DataError(
                f"{path}: it is {what}. Decompress it, or save the table as CSV, and import that."
            )
    try:
        if _is_utf8(path):
            return path.open(encoding="utf-8-sig", newline="")
        text, _ = decode(path.read_bytes())
    except (OSError, Unreadable) as mistake:
        raise DataError(f"{path}: cannot be read ({mistake}).") from None
    return io.StringIO(text, newline="")


def read_text(path: Path) -> str:
    """Return the text of a file, every line end as "\\n". Raises DataError as `open_text` does."""
    with open_text(path) as file:
        return file.read().replace("\r\n", "\n").replace("\r", "\n")


def line_of(text: str, at: int) -> int:
    """Return the number of the line, from 1, in which a place of a text stands."""
    return bisect_left(_line_ends(text), at) + 1


@lru_cache(maxsize=1)  # the lines of one text are asked for one after the other
def _line_ends(text: str) -> list[int]:
    return [at for at, sign in enumerate(text) if sign == "\n"]


def _is_utf8(path: Path) -> bool:
    """Say whether a file is UTF-8 throughout, and holds no NUL."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        try:
            while block := file.read(_BLOCK):
                if b"\0" in block or b"\x1b$" in block:  # UTF-16 without a mark, ISO-2022-JP
                    return False
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


Cells = dict[str, Any]
NO_OBJECT = "it is not a JSON object"
MORE_CELLS = "it has more cells than the header: quote cells that hold the separator"

BINARY = frozenset({".xlsx", ".arrow", ".feather"})
"""Formats that are known by their ending, besides Parquet."""
_HEAD = 1 << 16


class Sheet(NamedTuple):
    """The rows of a file, each with its number; in place of a row, the reason that it cannot be read.

    columns: of a header; None where each row names its own. where: what stands between the name of the file
    and a row's number.
    """

    path: Path
    columns: list[str] | None
    rows: Iterator[tuple[int, Cells | str]]
    where: str = ":"

    def place(self, number: int) -> str:
        """Return what a person finds a row by."""
        return f"{self.path}{self.where}{number}"


def open_sheet(path: Path, columns: Mapping[str, str] = {}) -> Sheet:
    """Return the rows of a file. columns: field -> column, which tell the worksheet of questions.

    Raises DataError where it is none of the kinds, or broken as a whole; ColumnsError where several
    worksheets could be meant.
    """
    if is_parquet(path):
        return _table(path, READERS[".parquet"](path))
    if path.suffix.lower() == ".xlsx" and path.is_file():
        return _table(path, read_worksheet(path, Question, columns))
    if path.suffix.lower() in BINARY and path.is_file():
        return _table(path, READERS[path.suffix.lower()](path))
    with open_text(path) as file:
        head = file.read(_HEAD).lstrip()
    if head.startswith("[") or (head.startswith("{") and not _is_jsonl(path, head)):
        return Sheet(path, None, _objects(json_list(path)), ", item ")
    return (
        Sheet(path, None, _jsonl_rows(path))
        if head.startswith("{")
        else _table(path, READERS[".csv"](path), ":")
    )


def first_row(path: Path, columns: Mapping[str, str] = {}) -> Cells:
    """Return the first row that can be read; empty where there is none. columns: as of open_sheet."""
    sheet = open_sheet(path, columns)
    row = next((row for _, row in sheet.rows if isinstance(row, dict)), {})
    return {**dict.fromkeys(sheet.columns or ()), **row}


def is_parquet(path: Path) -> bool:
    """Say whether a file begins as Parquet does, whatever its name."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _is_jsonl(path: Path, head: str) -> bool:
    """Say whether a text that begins with a brace is one object a line."""
    lines = [line for line in head.splitlines() if line.strip()]
    if len(lines) == 1:
        return path.suffix.lower() in (".jsonl", ".ndjson")
    try:
        return isinstance(msgspec.json.decode(lines[0]), dict)
    except (msgspec.DecodeError, RecursionError):  # a broken line, or the first of an object on several
        return not lines[0].rstrip().endswith(("{", "[", ",", ":"))


def _jsonl_rows(path: Path) -> Iterator[tuple[int, Cells | str]]:
    for number, row in read_jsonl(path, msgspec.json.Decoder(Cells).decode):
        if isinstance(row, dict | msgspec.DecodeError):
            yield number, row if isinstance(row, dict) else NO_OBJECT
        else:
            yield number, str(row)


def json_list(path: Path) -> list[msgspec.Raw]:
    """Return the items of a JSON list, not yet decoded, or of the one list that an object holds.

    Raises DataError for broken JSON, and for an object that holds no list or several.
    """
    with open_text(path) as file:
        content = file.read()
    try:
        rows: object = msgspec.json.decode(content, type=list[msgspec.Raw] | dict[str, msgspec.Raw])
        if isinstance(rows, dict):
            inner = rows
            for _ in range(2):  # {"data": [...]} and {"data": {"examples": [...]}}
                lists = [raw for raw in inner.values() if bytes(raw).lstrip()[:1] == b"["]
                objects = [raw for raw in inner.values() if bytes(raw).lstrip()[:1] == b"{"]
                if len(lists) == 1:
                    return msgspec.json.decode(lists[0], type=list[msgspec.Raw])
                if lists or len(objects) != 1:
                    break
                inner = msgspec.json.decode(objects[0], type=dict[str, msgspec.Raw])
            raise DataError(
                f"{path}: an object without one list of rows in it. Give a list of objects, or one "
                "object per line."
            )
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as mistake:
        raise DataError(
            f"{path}: not valid JSON ({mistake}). Export it again, or correct it there."
        ) from None
    return rows if isinstance(rows, list) else []


def _objects(items: list[msgspec.Raw]) -> Iterator[tuple[int, Cells | str]]:
    decode = msgspec.json.Decoder(Cells).decode
    for number, item in enumerate(items, 1):
        try:
            yield number, decode(item)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            yield number, NO_OBJECT


def _table(path: Path, rows: Iterable[tuple[int, Any]], where: str = ", row ") -> Sheet:
    """Return the rows of a format that has a header."""
    every = iter(rows)
    first = next(every, None)
    if first is None:
        return Sheet(path, [], iter(()), where)
    columns = list(first[1]) if isinstance(first[1], dict) else []
    return Sheet(path, columns, _filled(chain([first], every)), where)


def _filled(rows: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Cells | str]]:
    """Yield the rows that hold something, without their blank cells; a text in place of one that is wrong."""
    for number, row in rows:
        if not isinstance(row, dict):
            yield number, MORE_CELLS
            continue
        cells = {
            name: cell
            for name, cell in row.items()
            if cell is not None and (not isinstance(cell, str) or cell.strip())
        }
        if cells:
            yield number, cells
