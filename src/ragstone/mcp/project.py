"""What an agent may name: runs of the project, and files of rows inside it. Never a path elsewhere."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ragstone.features.bench.finished import kind_of_bench
from ragstone.kernel.config import Settings
from ragstone.kernel.errors import DataError, nearest
from ragstone.kernel.serve.rows.files import holds_run
from ragstone.kernel.tables.formats import READERS, ending_of

LONGEST_NAME = 400


class NamedRun(msgspec.Struct, frozen=True):
    """A run as an agent names it: the name of its folder, and of two with the same, `NAME#2`.

    The number is that of the folder in [workbench] runs, so that it stays when a run is added or changed.
    """

    name: str
    folder: Path


class AgentProject:
    """The runs and files of one project.

    root: its folder; nothing outside of it and of the folders in [workbench] runs is read. config: the file
    of its settings, where that is another than ragstone.toml.
    """

    def __init__(self, settings: Settings, config: Path | None = None) -> None:
        self.settings, self.config = settings, config and config.resolve()
        self.root = settings.path(".").resolve()

    def runs(self) -> list[NamedRun]:
        """Return the runs, the newest first; one with a file that is a link to elsewhere is none."""
        parents = [*self._run_folders()]
        roots = {self.root, *(parent.resolve() for parent in parents)}
        folders = [
            (at, folder)
            for at, parent in enumerate(parents, 1)
            for folder in _folders_in(parent)
            for files in [[*folder.iterdir()]]
            if not any(
                file.is_symlink() and not roots & {*file.resolve().parents} for file in files
            )  # leads out
            and holds_run(folder, {file.name for file in files}, kind_of_bench)
        ]
        folders.sort(key=lambda numbered: (-numbered[1].stat().st_mtime, numbered[1].name))
        n_named = Counter(folder.name for _, folder in folders)
        return [
            NamedRun(f"{folder.name}#{at}" if n_named[folder.name] > 1 else folder.name, folder)
            for at, folder in folders
        ]

    def run(self, name: str) -> Path:
        """Return the folder of a run. Raises DataError, with names like this one."""
        wanted = plain_name(name)
        known = {run.name: run.folder for run in self.runs()}
        if wanted not in known:
            raise DataError(f"There is no run {_short(name)!r}. {nearest(wanted[:LONGEST_NAME], known)}")
        return known[wanted]

    def files(self) -> list[Path]:
        """Return the files of rows in the project's folder and one folder below it, runs left out."""
        runs = [folder.resolve() for folder in self._run_folders()]
        below = [folder for folder in _folders_in(self.root) if folder.resolve() not in runs]
        return sorted(
            file
            for folder in (self.root, *below)
            for file in folder.iterdir()
            if ending_of(file) in READERS
            and not file.name.startswith(".")
            and file.is_file()
            and self.root in file.resolve().parents  # in the folder itself, links followed
        )

    def file(self, name: str) -> Path:
        """Return a file of rows, given by its path from the project's folder. Raises DataError."""
        known = {file.relative_to(self.root).as_posix(): file for file in self.files()}
        if name.strip() not in known:
            raise DataError(
                f"No file of rows here is named {_short(name)!r}. {nearest(name[:LONGEST_NAME], known)}"
            )
        return known[name.strip()]

    def _run_folders(self) -> Iterator[Path]:
        for name in self.settings.workbench.runs:
            folder = self.settings.path(name)
            if folder.is_dir():
                yield folder


def plain_name(name: str) -> str:
    """Return the name of a run without what a path has around it."""
    return name.strip().removeprefix("runs/").rstrip("/")


def _folders_in(parent: Path) -> list[Path]:
    """Return the folders in a folder that are no links to elsewhere, and not hidden."""
    return [
        folder
        for folder in sorted(parent.iterdir())
        if folder.is_dir() and not folder.name.startswith(".") and folder.resolve().parent == parent.resolve()
    ]


def _short(name: str) -> str:
    return name if len(name) <= 80 else name[:80] + "…"
