"""The monitor's memory: what was read of which log, what was asked, and what judges and people said of it."""

# ruff: noqa: S608 - statements are made of our own words and numbers; values are bound

import contextlib
import datetime
import secrets
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import msgspec

from ragstone.features.watch import _showing as showing
from ragstone.features.watch._adding import Adder
from ragstone.features.watch._cells import (
    DayCell,
    Overview,
    read_cells,
    read_last_day,
    read_overview,
    refresh_cells,
)
from ragstone.features.watch._evaluations import TABLE as EVALUATIONS
from ragstone.features.watch._evaluations import Evaluations, keep_evaluations
from ragstone.features.watch._judged import (
    Due,
    JudgedOn,
    Scores,
    StoredScore,
    count_due,
    due,
    due_numbers,
    left_of,
    read_judged_on,
    spend,
)
from ragstone.features.watch._logged import Feedback, Logged
from ragstone.features.watch._showing import ExchangeFilter, ExchangePage, JudgedExchange, StoredExchange
from ragstone.features.watch._uncovered import ModeSet, declare_modes, mode_sets
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.errors import DataError
from ragstone.kernel.llm import Caps
from ragstone.kernel.persistence.sqlite import open_database
from ragstone.kernel.records import Answer

FILE = "monitor.sqlite"
FORMAT = 4  # PRAGMA user_version; a newer one is refused
TABLES = (
    "CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID",
    # How far each file was read, by its inode, see reading.py.
    "CREATE TABLE IF NOT EXISTS files (inode TEXT PRIMARY KEY, mark BLOB NOT NULL) WITHOUT ROWID",
    # day: of date.toordinal, UTC. draw: from 0 to 1; judged if draw < chance. done: a set of judges that
    # have judged it.
    "CREATE TABLE IF NOT EXISTS exchanges (n INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE,"
    " name TEXT NOT NULL, time REAL, day INTEGER, draw REAL NOT NULL, chance REAL NOT NULL,"
    " feedback REAL, done INTEGER NOT NULL DEFAULT 0)",
    "CREATE INDEX IF NOT EXISTS exchanges_by_day ON exchanges (day, draw, chance, done)",
    "CREATE INDEX IF NOT EXISTS exchanges_by_name ON exchanges (name)",
    # contexts: JSON, a list of [passage, id, document_id, score]; null where they are unknown.
    "CREATE TABLE IF NOT EXISTS texts (n INTEGER PRIMARY KEY, question TEXT NOT NULL, answer TEXT,"
    " contexts TEXT, system TEXT, who TEXT, error TEXT)",
    # What exchanges tell of who asked, as digests, and of what the answer took; since format 2.
    "CREATE TABLE IF NOT EXISTS usage (exchange INTEGER PRIMARY KEY, user TEXT, conversation TEXT,"
    " latency_s REAL, tokens INTEGER, usd REAL)",
    # How often it called tools, and how often they failed.
    "CREATE TABLE IF NOT EXISTS tools (exchange INTEGER PRIMARY KEY, calls INTEGER, failed INTEGER)",
    "CREATE TABLE IF NOT EXISTS passages (n INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, text TEXT)",
    "CREATE TABLE IF NOT EXISTS tag_values (n INTEGER PRIMARY KEY, tag TEXT NOT NULL, value TEXT NOT NULL,"
    " UNIQUE (tag, value))",
    "CREATE TABLE IF NOT EXISTS tags (exchange INTEGER, value INTEGER, PRIMARY KEY (exchange, value))"
    " WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS counts (day INTEGER, value INTEGER, n INTEGER, PRIMARY KEY (day, value))"
    " WITHOUT ROWID",
    # What people said in rows of their own, by the name of the exchange, which may come later.
    "CREATE TABLE IF NOT EXISTS said (name TEXT PRIMARY KEY, feedback REAL, correction TEXT) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS measures (n INTEGER PRIMARY KEY, judge TEXT, version INTEGER, model TEXT,"
    " metric TEXT, best TEXT, UNIQUE (judge, version, model, metric))",
    "CREATE TABLE IF NOT EXISTS labels (n INTEGER PRIMARY KEY, measure INTEGER, label TEXT,"
    " UNIQUE (measure, label))",
    # status: its place in records.STATUSES. tries: how often a judge was asked that could not answer.
    "CREATE TABLE IF NOT EXISTS scores (exchange INTEGER, measure INTEGER, status INTEGER, score REAL,"
    " label INTEGER, tries INTEGER, PRIMARY KEY (exchange, measure)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS reasons (exchange INTEGER, measure INTEGER, text TEXT,"
    " PRIMARY KEY (exchange, measure)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS judge_sets (n INTEGER PRIMARY KEY, judges TEXT UNIQUE)",
    # Days whose cells are no longer those of their scores.
    "CREATE TABLE IF NOT EXISTS stale (day INTEGER PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS cells (day INTEGER, tag TEXT, value TEXT, metric TEXT, judge TEXT, n INTEGER,"
    " w REAL, wx REAL, w2 REAL, w2x REAL, w2x2 REAL, statuses TEXT,"
    " PRIMARY KEY (day, tag, value, metric, judge)) WITHOUT ROWID",
    # When the exchanges of a day were scored, first and last; 0 where nobody knows. Since format 3.
    "CREATE TABLE IF NOT EXISTS judged_on (day INTEGER, measure INTEGER, first INTEGER, last INTEGER,"
    " PRIMARY KEY (day, measure)) WITHOUT ROWID",
    # In which span an exchange was traced, and what others' evaluators said; since format 4.
    "CREATE TABLE IF NOT EXISTS spans (exchange INTEGER PRIMARY KEY, span TEXT)",
    EVALUATIONS,
    "CREATE TABLE IF NOT EXISTS spent (day INTEGER PRIMARY KEY, calls INTEGER, tokens INTEGER, usd REAL)",
)

UPGRADES = dict.fromkeys(
    (1, 2),  # nobody knows when their scores were made
    (
        "INSERT INTO judged_on SELECT DISTINCT e.day, s.measure, 0, 0 FROM scores s"
        " JOIN exchanges e ON e.n = s.exchange WHERE e.day IS NOT NULL",
    ),
)


def connect(folder: Path) -> sqlite3.Connection:
    """Return a connection to the store of a folder, which is made if need be. Raises DataError."""
    path = folder / FILE
    with explained(path):
        return open_database(path, TABLES, format_=FORMAT, upgrades=UPGRADES)


def hold(folder: Path) -> sqlite3.Connection:
    """Return what keeps other processes from working on the store until it is closed, or the process ends.

    Raises DataError where another one does: both would pay for the same judgements.
    """
    path = folder / "lock.sqlite"
    with explained(path):
        lock = sqlite3.connect(path, timeout=0, check_same_thread=False, isolation_level=None)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except BaseException:
            lock.close()
            raise
        return lock


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system raise into DataError that says what to do."""
    try:
        yield
    except OSError as mistake:
        raise DataError(f"{path}: cannot be created ({mistake.strerror}). Name another store.") from None
    except sqlite3.Error as mistake:
        text = str(mistake)
        remedy = "Check that its folder is writable."
        if "newer" in text:
            remedy = "Upgrade with: pip install -U ragstone"
        elif "malformed" in text or "not a database" in text:
            remedy = (
                "It is damaged: move it aside. The log is then read again; the judges' replies are in the "
                "ledger."
            )
        elif "locked" in text:
            remedy = "Another `ragstone watch` writes to it: wait for it, or stop it."
        elif "full" in text:
            remedy = "Free some disk space and run again; what is stored is kept."
        raise DataError(f"{path}: the store cannot be used ({text}). {remedy}") from None


class Mark(msgspec.Struct, frozen=True):
    """How far a file was read. offset, line: what comes next; whole: it is read anew when it has changed.

    held: it holds spans of traces that were not taken, and is read anew with the files that go on with them.
    """

    path: str
    inode: str
    size: int
    changed: int
    offset: int
    line: int
    before: str
    whole: bool = False
    held: bool = False


DEFAULT_TAGS = MonitorSection().tags


class MonitorStore:
    """An open store: a folder with one SQLite file. What is kept in one call is kept whole, or not at all.

    One process writes and any number read. Close it, or use it in a `with` block.
    """

    def __init__(self, folder: Path | str, *, key: bytes | None = None) -> None:
        """Open a store, made if need be. key: of digests and draws of a new store; a random one if None.

        Raises DataError when it cannot be used, saying what to do.
        """
        self.path = Path(folder) / FILE
        self._db = connect(Path(folder))
        with explained(self.path), self._db:
            new = key or secrets.token_bytes(32)
            self._db.execute("INSERT OR IGNORE INTO notes VALUES ('key', ?)", (new[:64],))
            self.key: bytes = self.note("key") or new
        self._scores = Scores(self._db)
        self._lock: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. A second time it does nothing."""
        if self._lock is not None:
            self._lock.close()
        self._db.close()

    def hold(self) -> None:
        """Keep other processes from reading logs and judging here until this store is closed.

        Raises DataError where another one does so: both would pay for the same judgements.
        """
        self._lock = self._lock or hold(self.path.parent)

    @property
    def connection(self) -> sqlite3.Connection:
        """The open file, for what keeps tables of its own in it."""
        return self._db

    def note(self, name: str) -> bytes | None:
        """Return what was kept under a name, None if nothing was."""
        row = self._db.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def keep_note(self, name: str, value: bytes) -> None:
        """Keep something under a name, in place of what was kept there."""
        with explained(self.path), self._db:
            self._db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    def best(self) -> dict[str, Literal["highest", "lowest"]]:
        """Return metric -> which end of its scale is the good one; metrics that have none are left out."""
        with explained(self.path):
            return dict(self._db.execute("SELECT metric, best FROM measures WHERE best != 'none'").fetchall())

    @property
    def tags(self) -> list[str]:
        """The tags by which cells are kept."""
        stored = self.note("tags")
        return DEFAULT_TAGS if stored is None else msgspec.json.decode(stored, type=list[str])

    def declare(self, section: MonitorSection) -> None:
        """Keep cells by the tags of the settings, and give exchanges of a lower rate theirs."""
        with explained(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._show_by(section.tags)
            self._all_stale("day IS NOT NULL AND chance < ?", section.rate)
            self._db.execute("UPDATE exchanges SET chance = ? WHERE chance < ?", (section.rate, section.rate))

    def declare_modes(self, *, wrong_by: Sequence[str], modes: Mapping[str, str], model: str) -> None:
        """Watch these modes from now on, see ModeSet; the sets before stay for the days that they saw."""
        with explained(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            declare_modes(self._db, wrong_by=wrong_by, modes=modes, model=model)

    @property
    def mode_sets(self) -> list[ModeSet]:
        """The sets of modes that were ever watched, the first one first."""
        with explained(self.path):
            return mode_sets(self._db)

    def watched_modes(self) -> Collection[str]:
        """Return the names of the modes that are watched now."""
        sets = self.mode_sets
        return sets[-1].modes if sets else ()

    def show_by(self, tags: list[str]) -> None:
        """Keep cells by these tags."""
        if tags != self.tags:
            with explained(self.path), self._db:
                self._db.execute("BEGIN IMMEDIATE")
                self._show_by(tags)

    def _show_by(self, tags: list[str]) -> None:
        if tags != self.tags:
            self._db.execute("INSERT OR REPLACE INTO notes VALUES ('tags', ?)", (msgspec.json.encode(tags),))
            self._all_stale("day IS NOT NULL")

    def _all_stale(self, where: str, *values: object) -> None:
        self._db.execute(
            f"INSERT OR IGNORE INTO stale SELECT DISTINCT day FROM exchanges WHERE {where}",
            values,
        )

    def adder(self, section: MonitorSection) -> Adder:
        """Return what `add` adds with, one for all the batches of a log."""
        return Adder(self._db, self.key, section)

    def marks(self) -> dict[str, Mark]:
        """Return how far each file was read, by its inode."""
        rows = self._db.execute("SELECT inode, mark FROM files").fetchall()
        return {inode: msgspec.json.decode(mark, type=Mark) for inode, mark in rows}

    def add(
        self, adder: Adder, rows: Iterable[Logged | Feedback | Evaluations], mark: Mark | None = None
    ) -> int:
        """Keep exchanges, feedback and evaluations with the place that was reached.

        Returns how many exchanges are new.
        """
        rows = list(rows)
        with explained(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            n = adder.add(row for row in rows if isinstance(row, Logged))
            adder.say([row for row in rows if isinstance(row, Feedback)])
            apart = [row for row in rows if isinstance(row, Evaluations) and row.name]
            told = ((row.name, said) for row in apart for said in row.rows)
            keep_evaluations(self._db, told, placed=False)
            if mark is not None:
                self._db.execute(
                    "INSERT OR REPLACE INTO files VALUES (?, ?)", (mark.inode, msgspec.json.encode(mark))
                )
        return n

    def count(self) -> int:
        """Return how many exchanges there are."""
        with explained(self.path):
            return int(self._db.execute("SELECT count(*) FROM exchanges").fetchone()[0])

    def due(self, judges: Sequence[str], *, most: int = 2000, leave: Collection[int] = ()) -> list[Due]:
        """Return which exchanges are to be judged next, see judged.due."""
        with explained(self.path):
            return due(self._db, judges, most=most, leave=leave)

    def due_numbers(self, judges: Sequence[str]) -> list[int]:
        """Return the numbers of all exchanges that are to be judged, in their order."""
        with explained(self.path):
            return due_numbers(self._db, judges)

    def count_due(self, judges: Sequence[str]) -> int:
        """Return how many exchanges are to be judged."""
        with explained(self.path):
            return count_due(self._db, judges)

    def answers(self, numbers: Iterable[int]) -> dict[int, Answer]:
        """Return exchanges as judges read them, by their numbers, which are their question_id too."""
        with explained(self.path):
            return showing.answers(self._db, numbers)

    def origins(self, numbers: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return number of an exchange -> its name and its span, which is empty where nobody knows it."""
        with explained(self.path):
            return showing.origins(self._db, numbers)

    def judged_answers(self, numbers: Iterable[int]) -> Iterator[JudgedExchange]:
        """Yield exchanges as judges read them, with their days and their scores."""
        with explained(self.path):
            yield from showing.judged_answers(self._db, numbers)

    def done_numbers(self, most: int) -> list[int]:
        """Return the numbers of exchanges that all judges have judged, as they were read; at most so many."""
        with explained(self.path):
            rows = self._db.execute("SELECT n FROM exchanges WHERE done > 0 ORDER BY n LIMIT ?", (most,))
            return [n for (n,) in rows]

    def judged_on(self) -> JudgedOn:
        """Return when scores were made, see judged.JudgedOn."""
        with explained(self.path):
            return read_judged_on(self._db)

    def keep(
        self,
        scores: Iterable[tuple[int, StoredScore]],
        *,
        best: dict[str, str],
        judges: Sequence[str] = (),
        finished: Iterable[int] = (),
        on: datetime.date | None = None,
    ) -> set[int]:
        """Keep scores; return those of the `finished` exchanges that all these judges have judged.

        on: the day on which they were made, None where nobody knows.
        """
        with explained(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._scores.keep(scores, best, on)
            return self._scores.finish(finished, judges) if judges else set()

    def finish(self, judges: Sequence[str]) -> None:
        """Note which exchanges all of these judges have judged, of all that there are."""
        with explained(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._scores.finish_all(judges)

    def declare_labels(self, score: StoredScore, labels: Iterable[str], best: dict[str, str]) -> None:
        """Make known which labels a judge can give."""
        with explained(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._scores.declare(score, labels, best)

    def take_in(self, scores: Sequence[tuple[str, StoredScore]], *, best: dict[str, str]) -> int:
        """Keep scores that were made elsewhere, by the names of exchanges; return how many had one.

        These exchanges count as taken with certainty: nobody knows how they were chosen.
        """
        with explained(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            placed = showing.numbers_of(self._db, {name for name, _ in scores})
            placed_scores = [(placed[name], score) for name, score in scores if name in placed]
            self._scores.keep(placed_scores, best)
            taken = [(n,) for n in {n for n, _ in placed_scores}]
            self._db.executemany("UPDATE exchanges SET chance = 1.0 WHERE n = ?", taken)
        return len(placed_scores)

    def left_of(self, caps: Caps, today: datetime.date) -> Caps:
        """Return what is left of the budget of a day."""
        return left_of(self._db, caps, today)

    def spend(self, today: datetime.date, calls: int, tokens: int, usd: float | None) -> None:
        """Count what was spent to its day. usd: None where a price is unknown; the day's is then, too."""
        with explained(self.path), self._db:
            spend(self._db, today, calls, tokens, usd)

    def cells(
        self,
        *,
        metric: str | None = None,
        tag: str | None = None,
        since: datetime.date | None = None,
        until: datetime.date | None = None,
    ) -> list[DayCell]:
        """Return the sums of every day, tag, value, metric and judge, by day; those of a choice if given.

        tag: "" for the cells of all exchanges. since, until: both included. Exchanges without a time are in
        none. Raises DataError.
        """
        with explained(self.path):
            refresh_cells(self._db, self.tags)
            return read_cells(self._db, metric=metric, tag=tag, since=since, until=until)

    def exchanges(
        self, chosen: ExchangeFilter = showing.ALL, *, page: int = 1, size: int = 50
    ) -> ExchangePage:
        """Return a page of the exchanges that a filter lets through, the newest first. Raises DataError."""
        with explained(self.path):
            return showing.page_of(self._db, chosen, page, size)

    def scored(
        self,
        metric: str,
        chosen: ExchangeFilter = showing.ALL,
        *,
        page: int = 1,
        size: int = 50,
    ) -> ExchangePage:
        """Return a page of the exchanges that have a score in a metric, the worst first. Raises DataError."""
        with explained(self.path):
            return showing.page_of(self._db, chosen, page, size, worst_by=metric)

    def each(self, chosen: ExchangeFilter = showing.ALL) -> Iterable[StoredExchange]:
        """Yield every exchange that a filter lets through, oldest first; memory does not grow with them."""
        return showing.each(self._db, chosen)

    def last_day(self, today: datetime.date | None) -> datetime.date | None:
        """Return the last day of the log, rows with a time in the future aside, see cells.read_last_day."""
        with explained(self.path):
            return read_last_day(self._db, today)

    def overview(self, today: datetime.date | None = None) -> Overview:
        """Return how much there is, and the mean of every metric over all days. Raises DataError.

        today: exchanges that are later are counted as such, and in no mean.
        """
        last = self.last_day(today)
        cells = self.cells(tag="", until=last)
        with explained(self.path):
            return read_overview(self._db, cells, last)


def has_store(folder: Path | str) -> bool:
    """Say whether a folder holds a store."""
    return (Path(folder) / FILE).is_file()
