"""Rows -> CSV that a spreadsheet may open: no text of theirs is a formula, and all of it can be had again."""

import contextlib
import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

# What makes a spreadsheet take a cell for a formula, or would after the character is dropped (OWASP, CSV
# injection), also in the wide forms of East Asian keyboards.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
NUMBER = re.compile(r"[-+]\d+(?:[.,]\d+)*+")
GUARDED = "guarded_cells"
"""The last column: the names of the columns whose text has a `'` before it here, as a JSON list."""


@contextlib.contextmanager
def open_table(
    path: Path, names: Sequence[str], *, delimiter: str = ",", bom: bool = False
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Give a function that writes one row. bom: the mark that tells Excel that this is UTF-8."""
    header = [no_formula(name) for name in names]
    with path.open("w", encoding="utf-8-sig" if bom else "utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow([*header, GUARDED])

        def write(row: Mapping[str, Any]) -> None:
            plain = [cell(row.get(name)) for name in names]
            safe = [no_formula(one) if isinstance(one, str) else one for one in plain]
            marked = [name for name, one, two in zip(header, plain, safe, strict=True) if one is not two]
            writer.writerow([*safe, msgspec.json.encode(marked).decode() if marked else ""])

        yield write


def cell(value: Any) -> Any:
    """Return a value as a cell: lists, objects and truth values as JSON."""
    return msgspec.json.encode(value).decode() if isinstance(value, list | Mapping | tuple | bool) else value


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
