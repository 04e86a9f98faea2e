"""The indexes of a workbench: each is made once, beside what else the server does, kept, and never stale."""

import contextlib
import gc
import hashlib
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ragstone.kernel.errors import DataError, RagstoneError, explaining, optional_package
from ragstone.kernel.persistence.journal import held
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.processes import HelperProcess, answer_messages, death
from ragstone.kernel.runs.notes import Note
from ragstone.kernel.serve.rows.asking import RowIndex
from ragstone.kernel.serve.rows.files import RunFiles, files_of
from ragstone.kernel.serve.rows.indexing import HowFar, connect, first_rows, make_index

if TYPE_CHECKING:
    import duckdb

MOST_OPEN = 8
GROWING_S = 5.0
"""Seconds for which the index of a run that goes on is shown, though rows have come since."""
ALONE_BYTES = 20_000_000  # of a run whose index is made before a process has started
STEP_S = 0.1  # that a process works before it says how far it is
WAIT_S = 600.0  # for another server that makes the same index
CHANGED = 3  # times that an index is tried whose files are changed meanwhile
LEAST_SHARE = 0.05  # from which on it can be told how long the rest takes
_RUN = "from ragstone.kernel.serve.rows.indexes import main; main()"


class Making(msgspec.Struct, frozen=True):
    """How far an index is. share: of the work, 0 to 1. remaining_s: None before one can tell."""

    share: float
    remaining_s: float | None = None


_Order = tuple[str, dict[str, str], str, str]  # the fields of RunFiles, and the file of the index


class _Step(msgspec.Struct):
    """What a process says after some work. wrong: what ended it."""

    is_done: bool = False
    how_far: tuple[int, int] = (0, 1)
    wrong: str | None = None


class _IndexTask:
    """The making of one index, in a thread of its own, and where it is worth it in a process of its own."""

    def __init__(self, files: RunFiles, folder: Path) -> None:
        """folder: where indexes of this run are kept."""
        self.files, self.folder = files, folder
        self.began = time.monotonic()
        self.how_far = HowFar(0, 1)
        self.error: RagstoneError | None = None
        self.is_done = threading.Event()
        self.is_given_up = False
        self.helper = HelperProcess(_RUN)

    @property
    def target(self) -> Path:
        """The file of the index."""
        return self.folder / f"{self.files.stamp}.duckdb"

    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True, name="index of a run").start()

    def making(self) -> Making:
        """Return how far it is. What follows the reading of files takes some fifth of the time."""
        share = 0.8 * self.how_far.n_read / max(self.how_far.of, 1)
        took = time.monotonic() - self.began
        return Making(share=share, remaining_s=took * (1 - share) / share if share > LEAST_SHARE else None)

    def give_up(self) -> None:
        """End it, wherever it is."""
        self.is_given_up = True
        self.helper.end()

    def _run(self) -> None:
        try:
            for left in reversed(range(CHANGED)):
                try:
                    self._make()
                    break
                except RagstoneError:
                    files = files_of(self.files.folder)
                    if files.stamp == self.files.stamp or not left:
                        raise
                    self.files = files  # they were changed while they were read: what is there now is read
        except RagstoneError as mistake:
            self.error = mistake
        except Exception as mistake:
            self.error = DataError(f"{self.files.folder}: the run's rows cannot be indexed ({mistake}).")
            raise  # the thread prints where it was
        finally:
            self.helper.rest()
            self.is_done.set()

    def is_large(self) -> bool:
        """Return whether a process of its own is worth it."""
        with contextlib.suppress(OSError):
            return sum(path.stat().st_size for path in self.files.paths.values()) > ALONE_BYTES
        return False

    def _make(self) -> None:
        if self.is_large() and self._made_beside():
            return
        for how_far in _made_whole(self.files, self.target):
            self.how_far = how_far
            if self.is_given_up:
                return

    def _made_beside(self) -> bool:
        """Make it in a process of its own; return whether there could be one. Raises DataError."""
        if not self.helper.start():
            return False
        paths = {kind: str(path) for kind, path in self.files.paths.items()}
        order: _Order = (str(self.files.folder), paths, self.files.stamp, str(self.target))
        message = msgspec.json.encode(order)
        while (reply := self.helper.ask(message, lambda: self.is_given_up)) is not None:
            step = msgspec.json.decode(reply, type=_Step)
            self.how_far = HowFar(*step.how_far)
            if step.wrong:
                raise DataError(step.wrong)
            if step.is_done:
                return True
            message = b""
        if not self.is_given_up:
            raise DataError(
                f"{self.files.folder}: the process that indexed the run's rows ended with "
                f"{death(self.helper.rest(1))}. Free some memory, then reload the page."
            )
        return True


def main() -> None:
    """Make one index for the process that started this one, a step for each message."""
    steps: Iterator[HowFar] | None = None
    how_far = HowFar(0, 1)
    gc.disable()  # nothing here goes in circles, and there are many rows to look through for them

    def answer(message: bytes) -> bytes:
        nonlocal steps, how_far
        until = time.monotonic() + STEP_S
        try:
            if steps is None:
                folder, paths, stamp, target = msgspec.json.decode(message, type=_Order)
                files = RunFiles(Path(folder), {kind: Path(path) for kind, path in paths.items()}, stamp)
                steps = _made_whole(files, Path(target))
            for how_far in steps:
                if time.monotonic() > until:
                    return msgspec.json.encode(_Step(how_far=how_far))
        except RagstoneError as mistake:
            return msgspec.json.encode(_Step(wrong=str(mistake)))
        return msgspec.json.encode(_Step(is_done=True, how_far=how_far))

    answer_messages(answer)


def _made_whole(files: RunFiles, target: Path) -> Iterator[HowFar]:
    """Make an index of a run, and remove those of its earlier states; yield how far it is.

    One process makes it: another that wants the same one waits, and finds it. Raises DataError.
    """
    import duckdb

    folder = target.parent
    room = f"{folder}: the run's index cannot be written"
    fix = "Free some disk space, or make the folder writable: it is `store` in [workbench] of ragstone.toml."
    with explaining(room, fix):
        make_folder(folder)
    with held(folder / "index", WAIT_S):
        if target.is_file():
            return
        for left in folder.glob("*.partial*"):  # by a process that was killed
            left.unlink(missing_ok=True)
        with explaining(room, fix, OSError, duckdb.Error):
            try:
                yield from make_index(files, target)
            except FileNotFoundError as mistake:
                raise DataError(
                    f"{mistake.filename}: the file was removed while it was read. Reload the page."
                ) from None
        for old in folder.glob("*.duckdb"):
            if old != target:
                old.unlink(missing_ok=True)


class _OpenIndex(msgspec.Struct, kw_only=True):
    """An open index. made: when, monotonic seconds. users: cursors on it; is_left: the last one closes it."""

    stamp: str
    con: "duckdb.DuckDBPyConnection"
    made: float
    users: int = 0
    is_left: bool = False


class RowIndexes:
    """The indexes of a workbench. folder: where they are kept; any of it may be deleted at any time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[Path, _OpenIndex] = {}
        self._tasks: dict[Path, _IndexTask] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def of(self, run: Path, notes: Sequence[Note] = ()) -> Iterator[RowIndex]:
        """Give the index of a run as its files are now; of one that goes on, a few seconds old.

        notes: of the run, where filters may ask for them. It waits until there is one. Raises DataError for
        rows that cannot be read, MissingExtra without DuckDB.
        """
        with optional_package("the workbench", "serve"):
            import duckdb  # noqa: F401 - it is looked for before a process is started that needs it
        begun = time.monotonic()
        index = self._taken(run)
        while isinstance(index, _IndexTask):
            task = index
            task.is_done.wait()
            if task.error:
                raise task.error
            # Of files that are changed all the time, the index is of a moment after it was asked for.
            index = self._taken(run, task if task.began >= begun else None)
        cursor = index.con.cursor()
        try:
            yield RowIndex(cursor, notes)
        finally:
            cursor.close()
            self._free(index)

    def making(self, run: Path, patience_s: float = 0.3) -> Making | None:
        """Return how far the index of a run is, and begin it where there is none; None once it is there.

        patience_s: for how long to wait for that of a small run. Raises as `of` does.
        """
        index = self._taken(run)
        if isinstance(index, _OpenIndex):
            self._free(index)
            return None
        if not index.is_done.wait(0 if index.is_large() else patience_s):
            return index.making()
        if index.error:
            raise index.error
        return None

    @contextlib.contextmanager
    def first_rows(self, run: Path) -> Iterator[RowIndex]:
        """Give an index of the first rows of a run, see indexing.first_rows. Raises DataError."""
        with tempfile.TemporaryDirectory() as folder:
            con = first_rows(files_of(run), Path(folder))
            try:
                yield RowIndex(con)
            finally:
                con.close()

    def _taken(self, run: Path, made: _IndexTask | None = None) -> _OpenIndex | _IndexTask:
        """Return the index of a run, which counts one user more, or the task that makes it.

        made: a task that has just ended, whose index will do whatever the files are now.
        """
        files = files_of(run)
        with self._lock:
            index = self._open.get(run)
            stamp = made.files.stamp if made else files.stamp
            if index is None or index.stamp != stamp:
                index = self._opened(run, stamp) or self._of_growing(files)
            if index is not None:
                self._open[run] = self._open.pop(run)  # the last one used is the last one closed
                index.users += 1
                return index
            return self._task(files)

    def _opened(self, run: Path, stamp: str) -> _OpenIndex | None:
        """Open the index of a state of a run's files, if it is made."""
        target = self.folder_of(run) / f"{stamp}.duckdb"
        con = _connected(target) if target.is_file() else None
        if con is None:
            return None
        if index := self._open.pop(run, None):
            self._leave(index)
        while len(self._open) >= MOST_OPEN:
            self._leave(self._open.pop(next(iter(self._open))))
        self._open[run] = _OpenIndex(stamp=stamp, con=con, made=time.monotonic())
        return self._open[run]

    def _of_growing(self, files: RunFiles) -> _OpenIndex | None:
        """Return the last index of a run that goes on, and see that there will be one of the rows since.

        Raises the error of the task that was to make that one.
        """
        index = self._open.get(files.folder)
        if index is None or not any(path.suffix == ".partial" for path in files.paths.values()):
            return None
        task = self._tasks.get(files.folder)
        if task and task.is_done.is_set():
            del self._tasks[files.folder]
            if task.error:
                raise task.error
            index = self._opened(files.folder, task.files.stamp) or index
        if time.monotonic() - index.made >= GROWING_S:
            self._task(files)
        return index

    def _task(self, files: RunFiles) -> _IndexTask:
        """Return the task that makes an index of a run: the one that is at it, or a new one."""
        task = self._tasks.get(files.folder)
        if task is None or task.is_done.is_set():
            task = self._tasks[files.folder] = _IndexTask(files, self.folder_of(files.folder))
            task.start()
        return task

    def _free(self, index: _OpenIndex) -> None:
        with self._lock:
            index.users -= 1
            if index.is_left and not index.users:
                index.con.close()

    def _leave(self, index: _OpenIndex) -> None:
        """Close an index, or leave that to the last cursor: closing it would take it from under them."""
        index.is_left = True
        if not index.users:
            index.con.close()

    def folder_of(self, run: Path) -> Path:
        """Return the folder in which what is made of a run's rows is kept; it need not be there yet."""
        return self._folder / hashlib.blake2b(str(run.resolve()).encode(), digest_size=8).hexdigest()

    def close(self) -> None:
        """Close them all, and end what is being made."""
        with self._lock:
            for task in self._tasks.values():
                task.give_up()
            for index in self._open.values():
                index.con.close()
            self._open.clear()


def _connected(target: Path) -> "duckdb.DuckDBPyConnection | None":
    """Return a connection; None, and no file, where it is one that this DuckDB cannot read."""
    import duckdb

    try:
        return connect(target)
    except duckdb.Error:
        target.unlink(missing_ok=True)
        return None
