"""A table of a file: rows with their numbers, and the names of its columns."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec


class FileTable(msgspec.Struct, frozen=True, kw_only=True):
    """Rows with their numbers, and the names of the columns in order.

    name: of a sheet; empty where a file is one table. caption: what stands above the header. unnamed:
    columns at the end have no name in the file.
    """

    rows: list[tuple[int, dict[str, Any]]]
    columns: list[str]
    name: str = ""
    caption: str | None = None
    notes: dict[str, Any] = {}
    unnamed: bool = False


def names_of(header: Mapping[int, str]) -> list[str]:
    """Return a name for each column, none twice; a first column without one is an index, and has none.

    header: number of a column from 1 -> what stands in its head.
    """
    return numbered_names(
        written.strip() or (f"column {number}" if number > 1 else "") for number, written in header.items()
    )


SECOND = " (2)"
"""What the name of the second of two columns of the same name ends in."""


def numbered_names(written: Iterable[str]) -> list[str]:
    """Return the names of columns, none twice: the second `Note` is `Note (2)`. Blank ones stay."""
    names: list[str] = []
    seen: Counter[str] = Counter()
    for name in written:
        seen[name] += 1
        names.append(f"{name} ({seen[name]})" if seen[name] > 1 and name else name)
    return names
