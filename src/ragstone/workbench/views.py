"""Views of the rows of runs, saved, renamed and removed by several people at once."""

from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.journal import held
from ragstone.kernel.runs.views import View, check_view_name, read_view

MOST_COLUMNS = 60
LONGEST = 2_000  # characters of a filter, as tables/where.py takes it
WAIT_S = 5.0


class ViewChanged(DataError):
    """Somebody else has changed a view, or removed it. latest: as it is now, None where it is gone."""

    def __init__(self, message: str, latest: View | None) -> None:
        super().__init__(message)
        self.latest = latest


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
    latest = read_view(folder, alike.stem)
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
