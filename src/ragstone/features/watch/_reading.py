"""A log -> the store: what was not read before, masked, each exchange once, with what could not be read.

What was read of a file is remembered by its inode and by digests of its beginning and of what stands before
the place that was reached. A file of JSON lines goes on from there, also under another name; one that is
shorter than that place, or in which those bytes have changed, is read anew. Files of other kinds, packed
ones, and traces, whose spans may stand anywhere in them, are read anew when they have changed. Rows that are
read twice do no harm: an exchange is known by its digest, see logged.py.

Files of spans are read as one stream, since a trace may begin in one and end in the next. While they grow, a
trace that is not whole is not taken, and the files that hold spans of it are read anew with those that grow.
"""

import hashlib
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from glob import escape
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from ragstone.features.watch._evaluations import Evaluations
from ragstone.features.watch._logged import Feedback, Logged, Masker, Reader
from ragstone.features.watch.store import Mark, MonitorStore
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.errors import DataError
from ragstone.kernel.tables.interchange.marks import is_openinference
from ragstone.kernel.tables.interchange.openinference import steps_in
from ragstone.kernel.tables.interchange.recognise import is_trace
from ragstone.kernel.tables.interchange.trace_steps import TraceStep
from ragstone.kernel.tables.interchange.traces import OpenTraces
from ragstone.kernel.tables.logs.reading import (
    is_json_lines,
    log_files,
    nothing_asked,
    read_log,
    read_spans,
    row_in,
)

CHECKED = 1024  # bytes of the beginning, and before the place that was reached
BATCH = 1000  # rows that are handed on together
Raw = dict[str, Any] | str
"""A row, or why it cannot be read."""


class LogBatch(msgspec.Struct, frozen=True):
    """Rows with their places, and the mark to keep with them; None before the end of a whole file."""

    rows: list[tuple[str, Raw]]
    mark: Mark | None
    anew: bool = False


def rotated_from(sources: Iterable[Path | str], marks: Mapping[str, Mark]) -> list[Path]:
    """Return the files that were read under the name of a source, and stand beside it under another now."""
    rotated = []
    for source in map(Path, sources):
        inodes = {mark.inode for mark in marks.values() if mark.path == str(source) and not mark.whole}
        if not inodes or source.is_dir() or not source.parent.is_dir():
            continue
        beside = (file for file in source.parent.glob(f"{escape(source.name)}?*") if file.is_file())
        rotated += [file for file in beside if _inode(file.stat()) in inodes]
    return rotated


def _inode(status: os.stat_result) -> str:
    return f"{status.st_dev}:{status.st_ino}"


def new_rows(path: Path, marks: Mapping[str, Mark]) -> Iterator[LogBatch]:
    """Yield what was not read of a file before, in batches. marks: of all files, by their inodes.

    Raises DataError for a file that cannot be read at all.
    """
    try:
        status = path.stat()
        inode = _inode(status)
        same = _unchanged(_known(path, inode, marks), status)
        if same is not None:
            if same.path != str(path):
                yield LogBatch([], msgspec.structs.replace(same, path=str(path)))
            return
        with path.open("rb") as file:
            known = _known(path, inode, marks)
            goes_on = (
                mark
                for mark in known
                if not mark.whole
                and status.st_size >= mark.offset
                and _before(file, mark.offset) == mark.before
            )
            reached = next(goes_on, None)
            anew = inode in marks and reached is None
            # JSON lines can be read on from a place, traces cannot.
            if reached is None and (not is_json_lines(path) or is_trace(_first_row(file))):
                yield from _whole(path, status, anew=anew)
                return
            start = reached or Mark(str(path), inode, 0, 0, 0, 1, "")
            yield from _lines(path, file, start, inode, anew=anew)
    except OSError as mistake:
        raise DataError(f"{path}: cannot be read ({mistake.strerror}).") from None


def _known(path: Path, inode: str, marks: Mapping[str, Mark]) -> Iterator[Mark]:
    """Yield what is kept of a file, then of those that it replaced, for which all marks are searched."""
    if inode in marks:
        yield marks[inode]
    yield from (mark for mark in marks.values() if mark.path == str(path) and mark.inode != inode)


def _unchanged(known: Iterable[Mark], status: os.stat_result) -> Mark | None:
    """Return the mark of a file of which all was read."""
    same = (mark for mark in known if (mark.size, mark.changed) == (status.st_size, status.st_mtime_ns))
    first = next(same, None)
    return first if first is not None and first.offset >= status.st_size else None


def _first_row(file: BinaryIO) -> dict[str, Any]:
    """Return the first object in the first lines of a file; an empty one where there is none."""
    file.seek(0)
    for line in islice(file, 20):
        try:
            row = row_in(line.removeprefix(b"\xef\xbb\xbf"))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(row, dict):
            return row
    return {}


def _before(file: BinaryIO, offset: int) -> str:
    """Return a digest of the beginning of a file and of what stands before a place."""
    file.seek(0)
    head = file.read(min(CHECKED, offset))
    file.seek(max(0, offset - CHECKED))
    return hashlib.blake2b(head + b"\0" + file.read(min(CHECKED, offset)), digest_size=16).hexdigest()


def _lines(path: Path, file: BinaryIO, mark: Mark, inode: str, *, anew: bool) -> Iterator[LogBatch]:
    """Yield rows from a place on. A last line that is no whole JSON is left for the next time."""
    offset, number = mark.offset, mark.line
    rows: list[tuple[str, Raw]] = []

    def batch() -> LogBatch:
        status = os.fstat(file.fileno())
        here = file.tell()
        reached = Mark(
            str(path), inode, status.st_size, status.st_mtime_ns, offset, number, _before(file, offset)
        )
        file.seek(here)
        return LogBatch(rows, reached, anew)

    file.seek(offset)
    for line in file:
        if number == 1:
            line, skipped = line.removeprefix(b"\xef\xbb\xbf"), line
            offset += len(skipped) - len(line)
        try:
            row = None if line.isspace() else row_in(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as mistake:
            if not line.endswith(b"\n"):
                break
            row = f"not valid JSON ({mistake})"
        if row is not None:
            rows.append((f"{path}:{number}", row))
        offset += len(line)
        number += line.endswith(b"\n")
        if len(rows) >= BATCH:
            yield batch()
            rows = []
    if rows or offset != mark.offset or mark.path != str(path) or anew:
        yield batch()


def _whole(path: Path, status: os.stat_result, *, anew: bool) -> Iterator[LogBatch]:
    """Yield all rows of a file, of traces as answers; the mark comes with the last."""
    waiting: list[tuple[str, Raw]] = []
    for line, raw in read_log(path):
        waiting.append((f"{path}:{line.line}", raw))
        if len(waiting) >= BATCH:
            yield LogBatch(waiting, None, anew)
            waiting = []
    yield LogBatch(waiting, _whole_mark(path, status), anew)


def _whole_mark(path: Path, status: os.stat_result, *, held: bool = False) -> Mark:
    size, changed = status.st_size, status.st_mtime_ns
    return Mark(str(path), _inode(status), size, changed, size, 1, "", whole=True, held=held)


class SpanFile(NamedTuple):
    """A file of spans. begins: when its first span did; minus infinity where that is not told."""

    path: Path
    status: os.stat_result
    begins: float
    anew: bool


def span_files(paths: Iterable[Path], marks: Mapping[str, Mark], *, follow: bool) -> list[SpanFile]:
    """Return the files of spans that are to be read: those that have changed, and those of open traces.

    follow: none where nothing has changed, and more spans may still come. Files that cannot be read are none.
    """
    files, changed = [], not follow
    for path in paths:
        try:
            status = path.stat()
            same = _unchanged(_known(path, _inode(status), marks), status)
            if (same is not None and not same.held) or not is_json_lines(path):
                continue
            with path.open("rb") as file:
                row = _first_row(file)
        except OSError:
            continue
        if is_openinference(row):
            steps = (step for _, step in steps_in([(1, row)]) if isinstance(step, TraceStep))
            begins = next((step.started for step in steps if step.started is not None), -math.inf)
            mark = marks.get(_inode(status))
            anew = mark is not None and status.st_size < mark.size
            files.append(SpanFile(path, status, begins, anew))
            changed |= same is None
    return files if changed or _are_quiet(files) else []


def _are_quiet(files: Sequence[SpanFile]) -> bool:
    return all(file.status.st_mtime + OpenTraces.quiet_s < time.time() for file in files)


def span_rows(files: Sequence[SpanFile], *, strict: bool, follow: bool) -> Iterator[LogBatch]:
    """Yield the answers in files of spans, and then their marks.

    follow: without the traces to which spans may still come. strict: a file that cannot be read is an error,
    else it is passed over. Raises DataError, also where nothing was asked.
    """
    traces, n_rows = OpenTraces(), 0
    ended = not follow or _are_quiet(files)
    read: list[SpanFile] = []
    for n, file in enumerate(files, 1):
        rows: list[tuple[int, Raw]] = []
        try:
            for line_at, step in read_spans(file.path):
                if isinstance(step, TraceStep):
                    traces.add(step, file.path, file.status.st_mtime)
                else:
                    rows.append((line_at.line, step))
            read.append(file)
        except DataError:
            if strict:
                raise
        # Of a trace that ended well before all files that follow begin, nothing is in them.
        later = min(
            (later_file.begins for later_file in files[n:]), default=math.inf if ended else traces.newest
        )
        rows += traces.take(later, grace_s=traces.grace_s if n < len(files) else -math.inf)
        n_rows += len(rows)
        for at in range(0, len(rows), BATCH):
            some = rows[at : at + BATCH]
            yield LogBatch([(f"{file.path}:{line}", row) for line, row in some], None, file.anew)
    held = traces.sources()
    if strict and traces.n_taken and not n_rows and not held:
        raise traces.nothing_asked(str(files[0].path))
    for file in read:
        yield LogBatch([], _whole_mark(file.path, file.status, held=file.path in held))


SHOWN = 10  # rows that cannot be read
MOST_COLUMNS = 40


class ReadCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the rows that were read now.

    new: exchanges that were not there before; again: rows that say what is there already. feedback: rows of
    what people said. malformed: could not be read, the first are in `shown`. without_question: ask nothing.
    unread_times, unread_feedback: rows whose time or feedback cannot be understood. anew: files that were
    read from their beginning, since they were replaced, cut off or rewritten. evaluations: of others'
    evaluators, that name the trace that they are of; evaluations_of_nothing: that name none, left out.
    """

    rows: int = 0
    new: int = 0
    again: int = 0
    feedback: int = 0
    malformed: int = 0
    shown: list[str] = []
    without_question: int = 0
    without_time: int = 0
    unread_times: int = 0
    unread_feedback: int = 0
    anew: list[str] = []
    columns: list[str] = []
    evaluations: int = 0
    evaluations_of_nothing: int = 0

    def __add__(self, other: "ReadCounts") -> "ReadCounts":
        mine, others = msgspec.structs.asdict(self), msgspec.structs.asdict(other)
        summed = {name: mine[name] + others[name] for name in mine}
        summed["shown"] = summed["shown"][:SHOWN]
        for name in ("anew", "columns"):
            summed[name] = list(dict.fromkeys(summed[name]))
        return ReadCounts(**summed)


def take_log(
    store: MonitorStore,
    sources: Iterable[Path | str],
    section: MonitorSection,
    masker: Masker | None,
    *,
    strict: bool = True,
    follow: bool = False,
    limit: int | None = None,
    advance: Callable[[], object] = lambda: None,
) -> ReadCounts:
    """Read what is new in a log into the store, and return what became of the rows.

    Each batch is kept with the place that was reached: killed at any moment, nothing is lost. strict: a file
    that is not there or cannot be read is an error, else it is passed over. follow: more looks come, so that
    a trace to which spans may still come is left to them. limit: so many rows at most. Raises DataError, also
    where no row of a log holds a question.
    """
    taking = _Taking(store, section, masker, advance)
    left = limit
    sources = list(sources)
    marks = store.marks()
    paths = dict.fromkeys([*rotated_from(sources, marks), *log_files(sources, strict=strict)])
    spans = span_files(paths, marks, follow=follow)
    whose = {span_file.path for span_file in spans}
    others = (new_rows(path, marks) for path in paths if path not in whose)
    for batches in chain(others, [span_rows(spans, strict=strict, follow=follow)] if spans else []):
        taking.understood = not strict
        for batch in _readable(batches, strict=strict):
            cut = left is not None and len(batch.rows) > left
            rows = batch.rows[:left] if cut else batch.rows
            taking.take(msgspec.structs.replace(batch, rows=rows, mark=None) if cut else batch)
            if batch.mark is not None and taking.understood:
                marks[batch.mark.inode] = batch.mark
            left = None if left is None else left - len(rows)
            if cut or left == 0:
                return taking.counts()
    return taking.counts()


def _readable(batches: Iterator[LogBatch], *, strict: bool) -> Iterator[LogBatch]:
    """Yield batches up to an error of their file, which is passed on if that is strict."""
    try:
        yield from batches
    except DataError:
        if strict:
            raise


class _Taking:
    """Takes batches into the store, and counts."""

    def __init__(
        self,
        store: MonitorStore,
        section: MonitorSection,
        masker: Masker | None,
        advance: Callable[[], object],
    ) -> None:
        self._store, self._masker, self._advance = store, masker, advance
        self._reader = Reader(section, store.key)
        self._adder = store.adder(section)
        self._sum = ReadCounts()
        self.understood = False  # any row of the file; else it is read anew when its columns are named
        self._columns: dict[str, None] = {}

    def take(self, batch: LogBatch) -> None:
        """Keep the rows of a batch."""
        readable: list[Logged | Feedback | Evaluations] = []
        malformed: list[str] = []
        without = 0
        for location, raw in batch.rows:
            self._advance()
            if isinstance(raw, str):
                malformed.append(f"{location}: {raw}")
                continue
            if len(self._columns) < MOST_COLUMNS:
                self._columns.update(dict.fromkeys(islice(map(str, raw), MOST_COLUMNS)))
            read = self._reader.read(raw)
            without += read is None
            if read is not None:
                mask = self._masker
                if mask is not None:
                    if isinstance(read, Logged):
                        read = mask.exchange(read)
                    else:
                        read = mask.said(read) if isinstance(read, Feedback) else mask.evaluations(read)
                readable.append(read)
        exchanges = [row for row in readable if isinstance(row, Logged)]
        apart = [row for row in readable if isinstance(row, Evaluations)]
        self.understood |= bool(readable)
        new = self._store.add(self._adder, readable, batch.mark if self.understood else None)
        path = batch.rows[0][0].rpartition(":")[0] if batch.anew and batch.rows else None
        self._sum += ReadCounts(
            rows=len(batch.rows) - len(apart),
            new=new,
            again=len(exchanges) - new,
            feedback=len(readable) - len(exchanges) - len(apart),
            evaluations=sum(len(row.evaluations) for row in exchanges)
            + sum(len(row.rows) for row in apart if row.name),
            evaluations_of_nothing=sum(len(row.rows) for row in apart if not row.name),
            malformed=len(malformed),
            shown=malformed[:SHOWN],
            without_question=without,
            without_time=sum(row.time is None for row in exchanges),
            anew=[path] if path else [],
        )

    def counts(self) -> ReadCounts:
        """Return what became of the rows. Raises DataError where no row that was ever read asks anything."""
        total = msgspec.structs.replace(
            self._sum,
            columns=list(self._columns)[:MOST_COLUMNS],
            unread_times=self._reader.unread_times,
            unread_feedback=self._reader.unread_feedback,
        )
        if not total.rows or self._store.count():
            return total
        if total.malformed == total.rows:
            raise DataError("no row of the log can be read:\n" + "\n".join(total.shown))
        if total.without_question == total.rows - total.malformed:
            remedy = "Name its column as question in the table [monitor] of ragstone.toml."
            raise nothing_asked(remedy, total.columns)
        return total
