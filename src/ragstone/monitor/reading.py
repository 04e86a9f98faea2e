"""A log -> the store: what was not read before, masked, each exchange once, with what could not be read."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from ragstone.config import MonitorSection
from ragstone.errors import DataError
from ragstone.monitor.files import Batch, new_rows, present_files, rotated_from
from ragstone.monitor.logged import Logged, Reader, Said
from ragstone.monitor.masking import Masker
from ragstone.monitor.store import MonitorStore

SHOWN = 10  # rows that cannot be read
MOST_COLUMNS = 40


class ReadCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the rows that were read now.

    new: exchanges that were not there before; again: rows that say what is there already. feedback: rows of
    what people said. malformed: could not be read, the first are in `shown`. without_question: ask nothing.
    unread_times, unread_feedback: rows whose time or feedback cannot be understood. anew: files that were
    read from their beginning, since they were replaced, cut off or rewritten.
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
    limit: int | None = None,
    advance: Callable[[], object] = lambda: None,
) -> ReadCounts:
    """Read what is new in a log into the store, and return what became of the rows.

    Each batch is kept with the place that was reached: killed at any moment, nothing is lost. strict: a file
    that is not there or cannot be read is an error, else it is passed over. limit: so many rows at most.
    Raises DataError, also where no row of a log holds a question.
    """
    taking = _Taking(store, section, masker, advance)
    left = limit
    sources = list(sources)
    late = rotated_from(sources, store.marks())
    for path in dict.fromkeys([*late, *present_files(sources, strict=strict)]):
        taking.understood = not strict
        for batch in _readable(new_rows(path, store.marks()), strict=strict):
            cut = left is not None and len(batch.rows) > left
            rows = batch.rows[:left] if cut else batch.rows
            taking.take(msgspec.structs.replace(batch, rows=rows, mark=None) if cut else batch)
            left = None if left is None else left - len(rows)
            if cut or left == 0:
                return taking.counts()
    return taking.counts()


def _readable(batches: Iterator[Batch], *, strict: bool) -> Iterator[Batch]:
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

    def take(self, batch: Batch) -> None:
        """Keep the rows of a batch."""
        found: list[Logged | Said] = []
        malformed: list[str] = []
        without = 0
        for place, raw in batch.rows:
            self._advance()
            if isinstance(raw, str):
                malformed.append(f"{place}: {raw}")
                continue
            if len(self._columns) < MOST_COLUMNS:
                self._columns.update(dict.fromkeys(islice(map(str, raw), MOST_COLUMNS)))
            read = self._reader.read(raw)
            without += read is None
            if read is not None:
                found.append(self._masked(read))
        exchanges = [one for one in found if isinstance(one, Logged)]
        self.understood |= bool(found)
        new = self._store.add(self._adder, found, batch.mark if self.understood else None)
        path = batch.rows[0][0].rpartition(":")[0] if batch.anew and batch.rows else None
        self._sum += ReadCounts(
            rows=len(batch.rows),
            new=new,
            again=len(exchanges) - new,
            feedback=len(found) - len(exchanges),
            malformed=len(malformed),
            shown=malformed[:SHOWN],
            without_question=without,
            without_time=sum(one.time is None for one in exchanges),
            anew=[path] if path else [],
        )

    def _masked(self, one: Logged | Said) -> Logged | Said:
        if self._masker is None:
            return one
        return self._masker.exchange(one) if isinstance(one, Logged) else self._masker.said(one)

    def counts(self) -> ReadCounts:
        """Return what became of the rows. Raises DataError where no row that was ever read asks anything."""
        found = msgspec.structs.replace(
            self._sum,
            columns=list(self._columns)[:MOST_COLUMNS],
            unread_times=self._reader.unread_times,
            unread_feedback=self._reader.unread_feedback,
        )
        if not found.rows or self._store.count():
            return found
        if found.malformed == found.rows:
            raise DataError("no row of the log can be read:\n" + "\n".join(found.shown))
        if found.without_question == found.rows - found.malformed:
            raise DataError(
                "no row of the log holds a question under a name that is known. Name its column as question "
                f"in the table [monitor] of ragstone.toml. The columns: {', '.join(found.columns) or 'none'}."
            )
        return found
