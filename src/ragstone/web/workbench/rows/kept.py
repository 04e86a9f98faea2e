"""The indexes of runs: made when a run is first opened, kept in the workbench's store, never stale."""

import contextlib
import hashlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.errors import DataError
from ragstone.tables.private import make_folder
from ragstone.web.workbench.rows.files import RunFiles, files_of
from ragstone.web.workbench.rows.indexing import connect, make_index

if TYPE_CHECKING:
    import duckdb

MOST_OPEN = 4
GROWING_S = 5.0
"""Seconds for which the index of a run that goes on is shown, though rows have come since."""


class Indexes:
    """The open indexes of a workbench. folder: where they are kept; any of it may be deleted at any time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[Path, tuple[str, duckdb.DuckDBPyConnection, float]] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def of(self, run: Path) -> "Iterator[duckdb.DuckDBPyConnection]":
        """Give a cursor on the index of a run as its files are now; of one that goes on, a few seconds old.

        Raises DataError for rows that cannot be read, MissingExtra without DuckDB.
        """
        with self._lock:
            cursor = self._opened(run).cursor()
        try:
            yield cursor
        finally:
            cursor.close()

    def _opened(self, run: Path) -> "duckdb.DuckDBPyConnection":
        files = files_of(run)
        kept = self._open.get(run)
        grows = any(path.suffix == ".partial" for path in files.paths.values())
        if kept and (kept[0] == files.stamp or (grows and time.monotonic() - kept[2] < GROWING_S)):
            self._open[run] = self._open.pop(run)  # the last one used is the last one closed
            return kept[1]
        target = self._made(files)
        if kept:
            kept[1].close()
            del self._open[run]
        while len(self._open) >= MOST_OPEN:
            self._open.pop(next(iter(self._open)))[1].close()
        con = _connected(target) or connect(self._made(files))
        self._open[run] = (files.stamp, con, time.monotonic())
        return con

    def folder_of(self, run: Path) -> Path:
        """Return the folder in which what is made of a run's rows is kept; it need not be there yet."""
        return self._folder / hashlib.blake2b(str(run.resolve()).encode(), digest_size=8).hexdigest()

    def _made(self, files: RunFiles) -> Path:
        """Return the file of the index, made where there is none; those of earlier states are removed."""
        folder = self.folder_of(files.folder)
        target = folder / f"{files.stamp}.duckdb"
        if target.is_file():
            return target
        try:
            make_folder(folder)
            make_index(files, target)
            for old in folder.glob("*.duckdb"):
                if old != target:
                    old.unlink(missing_ok=True)
        except OSError as mistake:
            raise DataError(
                f"{folder}: the index of the run cannot be written ({mistake.strerror}). Make room, or "
                "make the folder writable: it is `store` in [workbench] of ragstone.toml."
            ) from None
        return target

    def close(self) -> None:
        """Close them all."""
        with self._lock:
            for _, con, _ in self._open.values():
                con.close()
            self._open.clear()


def _connected(target: Path) -> "duckdb.DuckDBPyConnection | None":
    """Return a connection; None, and no file, where it is one that this DuckDB cannot read."""
    import duckdb

    try:
        return connect(target)
    except duckdb.Error:
        target.unlink(missing_ok=True)
        return None
