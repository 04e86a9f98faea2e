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
from ragstone.kernel.persistence.journal import held
from ragstone.kernel.tables import Rows
from ragstone.kernel.tables.where import folded

VIEWS = "views"
LONGEST_NAME = 60
MOST_COLUMNS = 60
LONGEST = 2_000  # characters of a filter, as tables/where.py takes it
WAIT_S = 5.0


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


class ViewChanged(DataError):
    """Somebody else has changed a view, or removed it. latest: as it is now, None where it is gone."""

    def __init__(self, message: str, latest: View | None) -> None:
        super().__init__(message)
        self.latest = latest


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


def save_view(folder: Path, view: View, *, seen: int | None, who: str) -> View:
    """Write a view, and return it as it is kept. seen: the version that it was made from, None for a new one.

    Raises ViewChanged where another version is there by now, or one of this name; DataError for what cannot
    be kept.
    """
    name = check_view_name(view.name)
    if len(view.columns) > MOST_COLUMNS or any(len(column) > LONGEST for column in view.columns):
        raise DataError(f"A view has {MOST_COLUMNS} columns at most: remove some.")
    if max(len(view.where), len(view.order)) > LONGEST:
        raise DataError(f"A view takes a filter of {LONGEST:,} characters at most: shorten it.")
    with _alone(folder):
        latest = _unchanged(folder, name, seen)
        version = 1 if latest is None else latest.version + 1
        saved = msgspec.structs.replace(view, name=name, version=version, by=who)
        _write(folder, saved)
    return saved


def rename_view(folder: Path, name: str, to: str, *, seen: int, who: str) -> View:
    """Give a view another name. Raises as save_view does."""
    name, to = check_view_name(name), check_view_name(to)
    with _alone(folder):
        latest = _unchanged(folder, name, seen)
        if latest is None or name == to:
            raise DataError(f"The view is already called {name!r}: give it another name.")
        if to.casefold() != name.casefold():  # else it is this file itself, where case does not count
            _unchanged(folder, to, None)
        renamed = msgspec.structs.replace(latest, name=to, version=latest.version + 1, by=who)
        (folder / f"{name}.json").replace(folder / f"{to}.json")
        _write(folder, renamed)
    return renamed


def remove_view(folder: Path, name: str, *, seen: int) -> None:
    """Delete a view. Raises ViewChanged where another version is there by now, or none."""
    with _alone(folder):
        _unchanged(folder, check_view_name(name), seen)
        (folder / f"{name}.json").unlink()


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


def _alone(folder: Path) -> Any:  # noqa: ANN401 - a context manager
    """Keep others from changing views of this folder, which is made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as mistake:
        raise DataError(
            f"{folder}: the folder of views cannot be created ({mistake.strerror}). Create it yourself, or "
            "start the workbench in a project that is writable."
        ) from None
    return held(folder / "views", WAIT_S)


def _unchanged(folder: Path, name: str, seen: int | None) -> View | None:
    """Return the view of this name if it is the version that was seen. Raises ViewChanged."""
    alike = next((path for path in folder.glob("*.json") if path.stem.casefold() == name.casefold()), None)
    if alike is None:
        if seen is None:
            return None
        raise ViewChanged(
            f"The view {name!r} was deleted or renamed meanwhile: save yours as a new view.", None
        )
    latest = _read(alike)
    if seen is None:
        raise ViewChanged(
            f"There is a view {latest.name!r} already, saved by {latest.by or 'somebody'}: give this one "
            "another name, or open that one and change it.",
            latest,
        )
    if latest.version != seen:
        raise ViewChanged(
            f"{latest.by or 'Somebody'} has changed the view {latest.name!r} meanwhile: it is version "
            f"{latest.version}, and yours began as version {seen}. Save yours under another name, or open "
            "the newer one.",
            latest,
        )
    return latest


def _read(path: Path) -> View:
    try:
        view = msgspec.json.decode(path.read_bytes(), type=View)
    except FileNotFoundError:
        raise DataError(f"There is no view {path.stem!r} any more: it was deleted meanwhile.") from None
    except (msgspec.DecodeError, OSError) as mistake:
        raise DataError(f"{path}: not a view ({mistake}). Correct it, or delete it.") from None
    return msgspec.structs.replace(view, name=path.stem)  # a file may have been renamed by hand


def _write(folder: Path, view: View) -> None:
    path = folder / f"{view.name}.json"
    unfinished = folder / f".{view.name}.json.partial"
    try:
        unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(view), indent=1) + b"\n")
        unfinished.replace(path)
    except OSError as mistake:
        unfinished.unlink(missing_ok=True)
        raise DataError(
            f"{path}: cannot be written ({mistake.strerror}). Free some space, or make the folder writable."
        ) from None
