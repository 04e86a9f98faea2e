"""Files of spans -> one SQLite file with a row a trace, so that 100,000 are filtered and sorted at once.

Each file is read once; of one that has grown only what is new. Beside each trace stand the places of the
lines with its spans, so that a trace is opened by reading these alone. The index is made of the files: any of
it may be deleted at any time, and what is no longer in a file is no longer in it.
"""

import contextlib
import hashlib
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from ragstone.features.watch.traces import trace_files
from ragstone.kernel.errors import DataError, explaining
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.persistence.sqlite import open_database
from ragstone.kernel.tables.interchange.openinference import steps_in
from ragstone.kernel.tables.interchange.trace_filter import trace_cells
from ragstone.kernel.tables.interchange.trace_steps import TraceStep
from ragstone.kernel.tables.interchange.traces import evaluated_answers
from ragstone.kernel.tables.where import folded

FORMAT = 1
BLOCK_BYTES = 4_000_000  # of a file that are read before what was found is kept
CHECKED = 1024  # bytes before the place that was reached
LONGEST = 50_000  # characters of a text that a search looks through
PREVIEW = 300  # characters of a text in a list
LONGEST_NAME = 1_000  # characters of a name that is compared
NAMED = ("service", "user", "session", "model", "name", "error", "trace")
MEASURED = ("time", "duration", "cost", "tokens", "spans", "errors")
SAID = ("question", "answer")
TABLES = (
    "CREATE TABLE IF NOT EXISTS files (n INTEGER PRIMARY KEY, path TEXT UNIQUE, inode TEXT, size INTEGER,"
    " changed INTEGER, reached INTEGER, before TEXT)",
    # Texts are folded, as filters compare them; view: a TraceRow as it is shown.
    "CREATE TABLE IF NOT EXISTS traces (n INTEGER PRIMARY KEY, id TEXT UNIQUE COLLATE NOCASE, time REAL,"
    " duration REAL, cost REAL, tokens INTEGER, spans INTEGER, errors INTEGER, failed INTEGER, service TEXT,"
    " user TEXT, session TEXT, model TEXT, name TEXT, error TEXT, trace TEXT)",
    "CREATE INDEX IF NOT EXISTS traces_by_time ON traces (time)",
    "CREATE INDEX IF NOT EXISTS traces_by_session ON traces (session)",
    "CREATE INDEX IF NOT EXISTS traces_by_user ON traces (user)",
    "CREATE INDEX IF NOT EXISTS traces_by_service ON traces (service)",
    "CREATE TABLE IF NOT EXISTS views (n INTEGER PRIMARY KEY, view BLOB)",
    "CREATE TABLE IF NOT EXISTS texts (n INTEGER PRIMARY KEY, question TEXT, answer TEXT)",
    "CREATE TABLE IF NOT EXISTS evaluations (trace INTEGER, name TEXT, score REAL, label TEXT)",
    "CREATE INDEX IF NOT EXISTS evaluations_of ON evaluations (trace)",
    "CREATE TABLE IF NOT EXISTS lines (trace INTEGER, file INTEGER, start INTEGER, size INTEGER,"
    " PRIMARY KEY (trace, file, start)) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS lines_of ON lines (file)",
)


class TraceRow(msgspec.Struct, frozen=True, kw_only=True):
    """A trace in a list. time: seconds since 1970; duration: seconds; cost: USD. Texts are the first words.

    asks: how many questions were asked in it.
    """

    id: str
    name: str | None
    service: str | None
    user: str | None
    session: str | None
    model: str | None
    time: float | None
    duration: float | None
    cost: float | None
    tokens: int | None
    spans: int
    errors: int
    error: str | None
    question: str | None
    answer: str | None
    asks: int = 1


class IndexState(NamedTuple):
    """How far the index is. left: files that are still to be read. wrong: why one could not be read."""

    files: int
    left: int
    wrong: str | None


NOTHING_READ = IndexState(0, 0, None)


class LinePlace(NamedTuple):
    """Where a line with spans stands."""

    path: Path
    start: int
    size: int


class TraceIndex:
    """The index of a project. folder: where it is kept. sources: the folders and files of traces."""

    def __init__(self, folder: Path, sources: Callable[[], Sequence[Path]]) -> None:
        self._path = folder / "traces.sqlite"
        self._sources = sources
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._state = NOTHING_READ

    def refresh(self, wait_s: float) -> IndexState:
        """Read what is new, for so long; the rest is read behind the scenes. Raises DataError."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                files = trace_files(self._sources())
                self._thread = threading.Thread(target=self._read_all, args=(files,), daemon=True)
                self._state = IndexState(len(files), len(files), None)
                self._thread.start()
            thread = self._thread
        thread.join(wait_s)
        return self._state

    def close(self) -> None:
        """Stop reading; what was read stays."""
        self._closed = True
        if self._thread is not None:
            self._thread.join(5.0)

    @contextlib.contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """Give a connection to it. Raises DataError."""
        with explaining(
            f"{self._path}: the index of traces cannot be written",
            "Free some disk space, or make the folder writable: it is `store` in [workbench] of "
            "ragstone.toml.",
        ):
            make_folder(self._path.parent)
            con = self._connect()
        try:
            yield con
        finally:
            con.close()

    def _connect(self) -> sqlite3.Connection:
        try:
            con = open_database(self._path, TABLES, format_=FORMAT)
        except sqlite3.OperationalError as mistake:
            raise OSError(str(mistake)) from None
        except sqlite3.DatabaseError:
            for ending in ("", "-wal", "-shm"):  # it is made anew
                self._path.with_name(self._path.name + ending).unlink(missing_ok=True)
            con = open_database(self._path, TABLES, format_=FORMAT)
        con.execute("PRAGMA secure_delete = ON")  # what is taken out is gone from the disk, too
        return con

    def _read_all(self, files: Sequence[Path]) -> None:
        wrong: str | None = None
        try:
            with self.opened() as con:
                writer = _TraceWriter(con)
                writer.forget_all_but(files)
                for n, path in enumerate(files, 1):
                    try:
                        writer.read(path, lambda: self._closed)
                    except (OSError, DataError) as mistake:
                        wrong = f"{path}: cannot be read ({mistake})."
                    self._state = IndexState(len(files), len(files) - n, wrong)
                    if self._closed:
                        return
        except Exception as mistake:  # whatever ends it is told, or the page would wait for it
            self._state = IndexState(len(files), self._state.left, str(mistake))
            if not isinstance(mistake, DataError | sqlite3.Error):
                raise


class _TraceWriter:
    """Reads files into the index, over one connection."""

    def __init__(self, con: sqlite3.Connection) -> None:
        self._con = con

    def forget_all_but(self, files: Sequence[Path]) -> None:
        there = {str(path) for path in files}
        for number, path in self._con.execute("SELECT n, path FROM files").fetchall():
            if path not in there:
                with self._con:
                    self._forget(number)

    def read(self, path: Path, stopped: Callable[[], bool]) -> None:
        """Read what is new of a file, a block at a time. Raises OSError and sqlite3.Error."""
        with path.open("rb") as file:
            status = path.stat()
            state = (f"{status.st_dev}:{status.st_ino}", status.st_size, status.st_mtime_ns)
            row = self._con.execute(
                "SELECT n, inode, size, changed, reached, before FROM files WHERE path = ?", (str(path),)
            ).fetchone()
            if row is not None and row[1:4] == state:
                return
            number, reached = None, 0
            if row is not None:
                goes_on = row[1] == state[0] and status.st_size >= row[4] and _before(file, row[4]) == row[5]
                number, reached = row[0], row[4]
                if not goes_on:
                    with self._con:
                        self._forget(number)
                    number, reached = None, 0
            while not stopped():
                lines = list(_lines(file, reached, status.st_size))
                end = lines[-1][0] + len(lines[-1][1]) if lines else reached
                is_last = not lines or end >= status.st_size
                with self._con:
                    self._con.execute("BEGIN IMMEDIATE")
                    number = self._mark(number, path, state if is_last else (state[0], -1, 0), file, end)
                    self._keep(number, lines)
                reached = end
                if is_last:
                    return

    def _mark(
        self, number: int | None, path: Path, state: tuple[str, int, int], file: BinaryIO, reached: int
    ) -> int:
        values = (str(path), *state, reached, _before(file, reached))
        if number is None:
            columns = "(path, inode, size, changed, reached, before)"
            cursor = self._con.execute(
                f"INSERT OR REPLACE INTO files {columns} VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own
                values,
            )
            return int(cursor.lastrowid or 0)
        self._con.execute(
            "UPDATE files SET path = ?, inode = ?, size = ?, changed = ?, reached = ?, before = ?"
            " WHERE n = ?",
            (*values, number),
        )
        return number

    def _keep(self, file: int, lines: Sequence[tuple[int, bytes]]) -> None:
        """Keep the traces with spans in these lines; of one that was there all its spans are read again."""
        steps: dict[str, list[TraceStep]] = defaultdict(list)
        places: dict[str, dict[tuple[int, int, int], None]] = defaultdict(dict)
        for start, line in lines:
            for step in _steps(line):
                if step.trace is not None:
                    key = step.trace.lower()
                    steps[key].append(step)
                    places[key][file, start, len(line)] = None
        for key, new_steps in steps.items():
            row = self._con.execute("SELECT n FROM traces WHERE id = ?", (key,)).fetchone()
            number = row[0] if row else None
            if number is not None:
                new_steps = [*self._steps_of(number, key), *new_steps]
            number = self._put(number, new_steps)
            self._con.executemany(
                "INSERT OR IGNORE INTO lines VALUES (?, ?, ?, ?)", [(number, *at) for at in places[key]]
            )

    def _steps_of(self, number: int, key: str) -> Iterator[TraceStep]:
        for line_place in _places(self._con, number):
            with contextlib.suppress(OSError):
                yield from (step for step in _steps(_read(line_place)) if (step.trace or "").lower() == key)

    def _put(self, number: int | None, steps: Sequence[TraceStep]) -> int:
        pairs = evaluated_answers(steps)
        cells, view, evaluations = _summary(pairs, steps)
        numbers = [cells[name] for name in MEASURED]
        texts = [None if cells[name] is None else folded(cells[name][:LONGEST_NAME]) for name in NAMED]
        con = self._con
        if number is not None:
            self._remove([number], lines=False)
        cursor = con.execute(
            f"INSERT INTO traces (n, id, failed, {', '.join((*MEASURED, *NAMED))})"  # noqa: S608 - our own
            f" VALUES ({', '.join('?' * (3 + len(MEASURED) + len(NAMED)))})",
            (number, view.id, cells["failed"], *numbers, *texts),
        )
        number = int(cursor.lastrowid or 0)
        con.execute("INSERT INTO views VALUES (?, ?)", (number, msgspec.json.encode(view)))
        said = (folded("\n".join(cells[name] or ())[:LONGEST]) or None for name in SAID)
        con.execute("INSERT INTO texts VALUES (?, ?, ?)", (number, *said))
        con.executemany(
            "INSERT INTO evaluations VALUES (?, ?, ?, ?)", [(number, *each) for each in evaluations]
        )
        return number

    def _remove(self, numbers: Sequence[int], *, lines: bool) -> None:
        for number in numbers:
            for table, key in (
                ("traces", "n"),
                ("views", "n"),
                ("texts", "n"),
                ("evaluations", "trace"),
                *([("lines", "trace")] if lines else []),
            ):
                self._con.execute(f"DELETE FROM {table} WHERE {key} = ?", (number,))  # noqa: S608 - our own

    def _forget(self, file: int) -> None:
        """Take out a file, the traces of which nothing is left, and what of others stood in it."""
        numbers = [
            n for (n,) in self._con.execute("SELECT DISTINCT trace FROM lines WHERE file = ?", (file,))
        ]
        ids = {n: self._con.execute("SELECT id FROM traces WHERE n = ?", (n,)).fetchone() for n in numbers}
        self._con.execute("DELETE FROM lines WHERE file = ?", (file,))
        self._con.execute("DELETE FROM files WHERE n = ?", (file,))
        for number in numbers:
            left = list(self._steps_of(number, ids[number][0].lower())) if ids[number] else []
            if left:
                self._put(number, left)
            else:
                self._remove([number], lines=True)


def _summary(
    pairs: Sequence[tuple[dict[str, Any], list[TraceStep]]], steps: Sequence[TraceStep]
) -> tuple[dict[str, Any], TraceRow, list[tuple[str, float | None, str | None]]]:
    """Return the columns of a trace, its row in a list, and what evaluators say of it.

    Of a trace in which several questions were asked texts are those of all, and sums of all that is known.
    """
    spans = list({step.id or id(step): step for step in steps if step.evaluation is None}.values())
    rows = [row for row, _ in pairs if row]
    top = pairs[0][1][0] if pairs else None
    ordered = [*([top] if top else []), *(step for step in spans if top is None or step.id != top.id)]
    costs = [row.get("cost_usd") for row in rows]
    usages = [row["usage"] for row in rows if row.get("usage")]
    merged = {**(rows[0] if rows else {})}
    if len(rows) > 1:
        merged |= {
            "answer": rows[-1].get("answer"),
            "error": next((row["error"] for row in rows if row.get("error")), None),
            "cost_usd": sum(cost for cost in costs if cost) if None not in costs else None,
            "usage": {name: sum(usage[name] for usage in usages) for name in ("input", "output")}
            if usages
            else None,
        }
    cells = trace_cells(merged, ordered or list(steps))
    cells["question"] = [row["question"] for row in rows] or None
    cells["answer"] = [row["answer"] for row in rows if row.get("answer")] or None
    named: dict[str, Any] = {name: cells[name] and str(cells[name])[:PREVIEW] for name in NAMED[:5]}
    # A link to all traces of a session, or of a user, has the whole of what is compared.
    named |= {name: cells[name] and str(cells[name])[:LONGEST_NAME] for name in ("session", "user")}
    named |= {name: cells[name] for name in MEASURED}
    view = TraceRow(
        id=str(cells["trace"]),
        question=_preview(merged.get("question")),
        answer=_preview(merged.get("answer")),
        error=_preview(cells["error"]),
        asks=len(rows),
        **named,
    )
    listed = [each for row in rows for each in (row.get("metadata") or {}).get("evaluations", ())]
    scores = [(str(each.get("name") or ""), each.get("score"), each.get("label")) for each in listed]
    return cells, view, [each for each in scores if each[0]]


def _preview(text: str | None) -> str | None:
    return " ".join(text[: 2 * PREVIEW].split())[:PREVIEW] if text else None


def decoded_line(line: bytes) -> dict[str, Any] | None:
    """Return what a line of OTLP holds; None for what is no OTLP."""
    try:
        raw = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return raw if isinstance(raw, dict) and raw.keys() & {"resourceSpans", "resourceLogs"} else None


def _steps(line: bytes) -> Iterator[TraceStep]:
    """Yield the spans and events of a line of OTLP; none of what is no OTLP."""
    if raw := decoded_line(line):
        yield from (step for _, step in steps_in([(1, raw)]) if isinstance(step, TraceStep))


def _lines(file: BinaryIO, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a block with their places; a file that is one object over many lines is one.

    A last line that has no end and is no whole object is left for the next time.
    """
    file.seek(start)
    if start == 0:
        head = file.read(65_536)
        if b"\n" in head.strip() and head.lstrip()[:1] == b"{" and b"\n{" not in head and not _is_json(head):
            file.seek(0)
            yield 0, file.read(end)
            return
        file.seek(0)
    taken = 0
    for line in file:
        at = start + taken
        if at >= end or taken >= BLOCK_BYTES:
            return
        if not line.endswith(b"\n") and not _is_json(line):
            return
        yield at, line
        taken += len(line)


def _is_json(head: bytes) -> bool:
    """Return whether the first line is whole JSON."""
    try:
        msgspec.json.decode(head.lstrip().partition(b"\n")[0], type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _before(file: BinaryIO, reached: int) -> str:
    file.seek(max(0, reached - CHECKED))
    return hashlib.blake2b(file.read(min(CHECKED, reached)), digest_size=16).hexdigest()


def _places(con: sqlite3.Connection, number: int) -> list[LinePlace]:
    rows = con.execute(
        "SELECT path, start, l.size FROM lines l JOIN files f ON f.n = l.file WHERE trace = ?"
        " ORDER BY path, start",
        (number,),
    )
    return [LinePlace(Path(path), start, size) for path, start, size in rows]


def _read(place: LinePlace) -> bytes:
    with place.path.open("rb") as file:
        file.seek(place.start)
        return file.read(place.size)


def lines_of(con: sqlite3.Connection, trace_id: str) -> list[bytes]:
    """Return the lines that hold spans of a trace; none where it is not there. Raises DataError."""
    row = con.execute("SELECT n FROM traces WHERE id = ?", (trace_id,)).fetchone()
    lines = []
    for line_place in _places(con, row[0]) if row else ():
        with explaining(f"{line_place.path}: cannot be read"), contextlib.suppress(FileNotFoundError):
            lines.append(_read(line_place))
    return lines
