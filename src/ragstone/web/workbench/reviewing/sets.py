"""The evaluation sets of a project that can be reviewed, and the documents that they speak of."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from litestar.exceptions import NotFoundException

from ragstone.config import Settings
from ragstone.dataset.reviewing.decisions import ENDING
from ragstone.web.workbench.desk import Workbench

NAMES = ("questions*.jsonl", "questions*.parquet", "*/questions*.jsonl", "*/questions*.parquet")
PARTS = (".all", ".dev", ".test")  # of a build: parts of the set that is reviewed
DIGITS = 12


class SetEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A file of questions. id: how pages address it. name: its path in the project."""

    id: str
    name: str
    path: Path


def sets_to_review(bench: Workbench) -> list[SetEntry]:
    """Return the files of questions of the project: in its folder and those right below it, by name.

    And that of `[questions] path`. Those of runs are copies, and not among them.
    """
    root = bench.settings.path(".")
    found = {path.resolve(): path for path in _files(bench.settings) if path.is_file()}
    runs = {folder.resolve() for folder in bench.runs}
    entries = [
        SetEntry(id=_id(path), name=_name(path, root), path=path)
        for resolved, path in found.items()
        if not runs & {*resolved.parents}
    ]
    return sorted(entries, key=lambda entry: entry.name)


def find_set(bench: Workbench, set_id: str) -> SetEntry:
    """Return the file of questions with this id. Raises NotFoundException."""
    for entry in sets_to_review(bench):
        if entry.id == set_id:
            return entry
    raise NotFoundException("There is no such data set here. It may have been moved: see the list of them.")


def _files(settings: Settings) -> Iterator[Path]:
    root = settings.path(".")
    for pattern in NAMES:
        for path in root.glob(pattern):
            if not path.name.endswith(ENDING) and not path.stem.endswith(PARTS):
                yield path
    if settings.questions.path:
        yield settings.path(settings.questions.path)


def _id(path: Path) -> str:
    return hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:DIGITS]


def _name(path: Path, root: Path) -> str:
    try:
        return str(path.resolve().relative_to(root.resolve()))
    except ValueError:
        return str(path)
