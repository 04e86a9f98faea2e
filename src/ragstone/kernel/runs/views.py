"""Saved views of the rows of runs: a filter, an order and columns under a name, one JSON file each.

They are in the folder `views` of the project, so that a team shares them with its judges and prompts. A view
has a version: who changes one says which version they saw, and is told where somebody else has changed it.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.errors import DataError, nearest
from ragstone.kernel.runs.folders import NOT_JSON
from ragstone.kernel.tables import Rows
from ragstone.kernel.tables.where import folded

VIEWS = "views"
LONGEST_NAME = 60


class View(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is shown of rows. where: a filter. order: `file`, or the name of a column.

    With `-` before the column rows are shown from the highest down. columns: in their order; [] for the usual
    ones. version: from 1, one more with each change. by: who changed it last.
    """

    name: str
    version: int = 1
    where: str = ""
    order: str = "file"
    columns: list[str] = []
    by: str = ""


def views_in(folder: Path) -> tuple[list[View], list[str]]:
    """Return the views of a project by name, and what is wrong with files that are none."""
    views, wrong = [], []
    for path in sorted(folder.glob("*.json")):
        if not path.name.startswith("."):
            try:
                views.append(_read(path))
            except DataError as mistake:
                wrong.append(str(mistake))
    return views, wrong


def read_view(folder: Path, name: str) -> View:
    """Return a view by its name. Raises DataError, naming those that there are."""
    path = folder / f"{check_view_name(name)}.json"
    if not path.is_file():
        known = [view.name for view in views_in(folder)[0]]
        hint = nearest(name, known) if known else "Save one in the workbench: the rows of a run, Save view."
        raise DataError(f"There is no view {name!r} in {folder}. {hint}")
    return _read(path)


def check_view_name(name: str) -> str:
    """Return a name as views are called by it. Raises DataError for one that cannot be a file's."""
    plain = unicodedata.normalize("NFC", " ".join(name.split()))
    kinds = "".join(unicodedata.category(sign)[0] if sign not in " -_" else "_" for sign in plain)
    if not 0 < len(plain) <= LONGEST_NAME or kinds[0] not in "LN" or set(kinds) - set("LMN_"):
        raise DataError(
            f"{name[:80]!r} cannot be the name of a view: use letters, digits, spaces, - and _, at most 60, "
            "such as low scores."
        )
    return plain


def shown_rows(table: Rows[dict[str, Any]], view: View) -> Rows[dict[str, Any]]:
    """Return the rows of a joined table in the order and the columns of a view.

    table: as the view's filter left it. A column that the table lacks is left out. Raises DataError where
    it has none of them, or not that of the order.
    """
    rows = [*table]
    columns = {
        name: kind for name, kind in table.columns().items() if name in view.columns or not view.columns
    }
    tags = [name for name in view.columns if name not in columns and _is_tag(name, table)]
    if view.columns and not columns and not tags:
        raise DataError(
            f"The view {view.name!r} has no column that this run has: {', '.join(view.columns[:8])}."
        )
    names = [name for name in view.columns if name in columns or name in tags] or [*columns]
    if view.order != "file":
        rows = _in_order(rows, view.order, table)
    cells = [{name: _cell(row, name) for name in names} for row in rows]
    return Rows(cells, {name: columns.get(name, str | None) for name in names})


def _is_tag(name: str, table: Rows[dict[str, Any]]) -> bool:
    key = name.removeprefix("tags.")
    return any(key in (row["tags"] or {}) for row in table)


def _cell(row: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - of several types
    return row[name] if name in row else (row["tags"] or {}).get(name.removeprefix("tags."))


def _in_order(
    rows: Sequence[dict[str, Any]], order: str, table: Rows[dict[str, Any]]
) -> list[dict[str, Any]]:
    column = order.removeprefix("-")
    if column not in table.columns() and not _is_tag(column, table):
        if not table:
            return []
        hint = nearest(column, [*table.columns()])
        raise DataError(f"Rows cannot be sorted by {column!r}: there is no such column. {hint}")

    def key(row: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a number or a text
        value = _cell(row, column)
        return (
            min(map(folded, map(str, value)))
            if isinstance(value, list)
            else (folded(value) if isinstance(value, str) else value)
        )

    known = [row for row in rows if _cell(row, column) is not None]
    unknown = [row for row in rows if _cell(row, column) is None]
    return [*sorted(known, key=key, reverse=order.startswith("-")), *unknown]


def _read(path: Path) -> View:
    try:
        view = msgspec.json.decode(path.read_bytes(), type=View)
    except FileNotFoundError:
        raise DataError(f"There is no view {path.stem!r} any more: it was deleted meanwhile.") from None
    except (*NOT_JSON, OSError) as mistake:
        raise DataError(f"{path}: not a view ({mistake}). Correct it, or delete it.") from None
    return msgspec.structs.replace(view, name=path.stem)  # a file may have been renamed by hand
