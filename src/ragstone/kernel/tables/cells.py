"""CSV: read by a guess of its delimiter, written so that no text is a formula and all can be had again."""

import contextlib
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

if TYPE_CHECKING:
    from _csv import Reader

LONGEST_CELL = 64 << 20  # characters; the csv module would stop at 131,072, and documents are longer

# What makes a spreadsheet take a cell for a formula, or would after the character is dropped (OWASP, CSV
# injection), also in the wide forms of East Asian keyboards.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
NUMBER = re.compile(r"[-+]\d+(?:[.,]\d+)*+")
GUARDED = "guarded_cells"
"""The last column: the names of the columns whose text has a `'` before it here, as a JSON list."""


def csv_reader(
    lines: Iterable[str],
    head: str,
    *,
    delimiter: str | None = None,
    strict: bool = True,
    most: int = LONGEST_CELL,
) -> "Reader":
    """Return what reads the cells of rows; its `line_num` is the line that the last one ends in.

    head: the beginning of the text: of , ; tab and | that is the delimiter which splits the first line into
    most cells, unless it is given. strict: csv.Error for a broken quote; else it is read as it stands.
    most: characters of a cell; a longer one is a csv.Error.
    """
    csv.field_size_limit(most)
    first = head.lstrip("\r\n").split("\n", 1)[0]
    return csv.reader(lines, delimiter=delimiter or max(",;\t|", key=first.count), strict=strict)


@contextlib.contextmanager
def open_table(
    path: Path, names: Sequence[str], *, delimiter: str = ",", bom: bool = False
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Give a function that writes one row. bom: the mark that tells Excel that this is UTF-8."""
    with path.open("w", encoding="utf-8-sig" if bom else "utf-8", newline="") as file:
        yield row_writer(file, names, delimiter)


def row_writer(
    file: TextIO, names: Sequence[str], delimiter: str = ","
) -> Callable[[Mapping[str, Any]], None]:
    """Write the heads of columns, and return what writes a row. file: open without a change of line ends."""
    header = [no_formula(name) for name in names]
    writer = csv.writer(file, delimiter=delimiter)
    writer.writerow([*header, GUARDED])

    def write(row: Mapping[str, Any]) -> None:
        plain = [cell(row.get(name)) for name in names]
        safe = [no_formula(value) if isinstance(value, str) else value for value in plain]
        marked = [name for name, value, two in zip(header, plain, safe, strict=True) if value is not two]
        writer.writerow([*safe, msgspec.json.encode(marked).decode() if marked else ""])

    return write


def cell(value: Any) -> Any:
    """Return a value as a cell: lists, objects and truth values as JSON."""
    return msgspec.json.encode(value).decode() if isinstance(value, list | Mapping | tuple | bool) else value


def cell_text(value: Any) -> str:
    """Return the text that a CSV has of a value."""
    return no_formula(str(cell(value)))


def no_formula(text: str) -> str:
    """Return a text that a spreadsheet takes for text, or for a number."""
    return f"'{text}" if text.startswith(FORMULA) and not NUMBER.fullmatch(text) else text


def unguarded(row: Mapping[str, str]) -> dict[str, str]:
    """Return the cells of a row as they were before they were guarded; of another tool's, as they are."""
    cells = dict(row)
    try:
        marked = msgspec.json.decode(cells.get(GUARDED) or "[]", type=list[str])
    except msgspec.DecodeError:
        return cells
    cells.pop(GUARDED, None)
    return cells | {name: cells[name].removeprefix("'") for name in marked if cells.get(name)}
