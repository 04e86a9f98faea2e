"""What judges say of exchanges -> the store; and which exchanges they have yet to judge."""

# ruff: noqa: S608 - statements are made of our own words and numbers; values are bound

import datetime
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.judging import Judge
from ragstone.kernel.judging.classify import ClassifyJudge
from ragstone.kernel.llm import Caps
from ragstone.kernel.records import JOINT_SUFFIX, NO_MODEL, STATUSES, Judgement, Status
from ragstone.kernel.runs.modes import has_mode
from ragstone.kernel.tables import read_rows

PASSING: frozenset[Status] = frozenset({"timeout", "rate_limited", "error"})
"""A judge that could not answer: it is asked again in a later run, TRIES times at most."""

TRIES = 3
LONGEST_REASON = 2000  # characters
PEOPLE, THUMB = "people", "feedback"
"""The judge and the metric of people's feedback."""
LOG = "log"
"""The judge of what the log itself tells of an exchange, see use.py."""


class StoredScore(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge says of an exchange in one metric. score: from 0 to 1, by the scale of the judge."""

    judge: str
    version: int
    model: str
    metric: str
    status: Status
    score: float | None = None
    label: str | None = None
    reason: str | None = None


def scored_of(row: Judgement, modes: Collection[str] = ()) -> StoredScore:
    """Return what is kept of a judgement. A score without a scale is taken as it is, within 0 and 1.

    modes: metrics of failure modes, whose score is 1 where the answer has the mode, else 0.
    """
    score = row.score
    if row.metric in modes:
        score = None if score is None else float(bool(has_mode(row)))
    elif score is not None:
        low, high = row.scale or (0.0, 1.0)
        score = min(1.0, max(0.0, (score - low) / (high - low))) if high > low else 0.0
    return StoredScore(
        judge=row.judge,
        version=row.prompt_version,
        model=row.model,
        metric=row.metric,
        status=row.status,
        score=score,
        label=row.label,
        reason=why[:LONGEST_REASON] if (why := row.explanation) else None,
    )


def judge_of(judge: str, version: int, model: str) -> str:
    """Return who judged, as cells name it: name, version and model, with spaces between them."""
    return judge if judge == PEOPLE else f"{judge} {version} {model}"


def judge_words(judge: str) -> str:
    """Return a judge, as cells name it, for people: a model that there is not is no name."""
    return f"{judge.removesuffix(f' {NO_MODEL}')} without a model" if cannot_drift(judge) else judge


def cannot_drift(judge: str) -> bool:
    """Return whether a judge, as cells name it, calls no model: it scores the same answer always alike."""
    return judge.endswith(f" {NO_MODEL}")


def best_of(judges: list[Judge]) -> dict[str, str]:
    """Return metric -> which end of its scale is the good one; labels of no order have none."""
    ends: dict[str, str] = {}
    for judge in judges:
        unordered = isinstance(judge, ClassifyJudge) and not judge.is_ordered
        ends |= dict.fromkeys(judge.metrics, "none" if unordered else judge.best)
    return ends


def check_given(files: Iterable[Path | str]) -> None:
    """Check that the files are there, before a log is read for minutes. Raises DataError."""
    for file in files:
        if not Path(file).exists():
            raise DataError(
                f"{file}: no such file of judgements. Check the spelling and the folder that you are in."
            )


def given_judgements(path: Path | str) -> Iterator[Judgement]:
    """Yield the judgements of a file, as read_rows does, without remembering which were there already.

    JSON lines as Ragstone writes them are decoded at once; a line that is otherwise, and any other file, is
    left to read_rows, which says what is wrong with it. Raises DataError.
    """
    path = Path(path)
    if path.suffix != ".jsonl" or not path.is_file() or not _is_ours(path):
        yield from read_rows(path, Judgement)
        return
    decode = msgspec.json.Decoder(Judgement).decode
    with path.open("rb") as file:
        for line in file:
            if not line.isspace():
                yield decode(line)


def _is_ours(path: Path) -> bool:
    """Say whether every line of a file is a judgement under its own names."""
    decode = msgspec.json.Decoder(Judgement).decode
    n = 0
    with path.open("rb") as file:
        for line in file:
            if line.isspace():
                continue
            n += 1
            try:
                decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return False
    return n > 0


PLACES = {status: place for place, status in enumerate(STATUSES)}
SCORED = PLACES["scored"]
_PASSING = ",".join(str(PLACES[status]) for status in PASSING)


_UNKNOWN_DAY = 0
"""What stands for the day of judging where nobody knows it."""

JudgedOn = Mapping[tuple[str, str], Mapping[datetime.date, tuple[datetime.date, datetime.date] | None]]
"""Metric and judge, as cells name it -> the day of exchanges -> the first and the last day on which these
were judged; None where nobody knows."""


def read_judged_on(db: sqlite3.Connection) -> JudgedOn:
    """Return when scores were made, see JudgedOn; of a store of an earlier version nothing is known."""
    judged_on: dict[tuple[str, str], dict[datetime.date, tuple[datetime.date, datetime.date] | None]] = {}
    date_of = datetime.date.fromordinal
    for day, first, last, judge, version, model, metric in db.execute(
        "SELECT o.day, o.first, o.last, m.judge, m.version, m.model, m.metric FROM judged_on o"
        " JOIN measures m ON m.n = o.measure"
    ):
        days = judged_on.setdefault((metric, judge_of(judge, version, model)), {})
        days[date_of(day)] = None if first == _UNKNOWN_DAY else (date_of(first), date_of(last))
    return judged_on


class Due(msgspec.Struct, frozen=True):
    """An exchange that is to be judged, and by which judges."""

    n: int
    judges: tuple[str, ...]


def due(
    db: sqlite3.Connection, judges: Sequence[str], *, most: int, leave: Collection[int] = ()
) -> list[Due]:
    """Return the exchanges of the sample that judges have yet to judge, at most so many.

    The newest day comes first: what is wrong now matters most, and a budget that is too small for every day
    then covers each day by chance. Of a day the smallest draw / chance comes first, so that what was judged
    when the budget is spent is a random part of it (sequential Poisson sampling, Ohlsson 1998). leave: those
    that were tried in this run.
    """
    left = [n for n in due_numbers(db, judges, most + len(leave)) if n not in leave][:most]
    return [Due(n, missing) for n in left if (missing := _missing(db, n, judges))]


def due_numbers(db: sqlite3.Connection, judges: Sequence[str], most: int = -1) -> list[int]:
    """Return the numbers of exchanges that are to be judged, in their order; at most so many."""
    rows = db.execute(
        f"SELECT n FROM exchanges WHERE draw < chance AND done NOT IN ({_done(db, judges)})"
        " ORDER BY day IS NULL, day DESC, draw / chance, n LIMIT ?",
        (most,),
    )
    return [n for (n,) in rows]


def count_due(db: sqlite3.Connection, judges: Sequence[str]) -> int:
    """Return how many exchanges of the sample some judge has yet to judge."""
    return int(
        db.execute(
            f"SELECT count(*) FROM exchanges WHERE draw < chance AND done NOT IN ({_done(db, judges)})"
        ).fetchone()[0]
    )


def _done(db: sqlite3.Connection, judges: Iterable[str]) -> str:
    """Return the sets of judges that hold these and perhaps others, as a list of numbers."""
    wanted = set(judges)
    sets = db.execute("SELECT n, judges FROM judge_sets").fetchall()
    return ",".join(str(n) for n, names in sets if wanted <= set(names.split())) or "-1"


def _missing(db: sqlite3.Connection, n: int, judges: Sequence[str]) -> tuple[str, ...]:
    have = {
        judge.removesuffix(JOINT_SUFFIX)
        for (judge,) in db.execute(
            "SELECT m.judge FROM scores s JOIN measures m ON m.n = s.measure WHERE s.exchange = ?"
            f" AND NOT (s.status IN ({_PASSING}) AND s.tries < {TRIES})",
            (n,),
        )
    }
    return tuple(judge for judge in judges if judge not in have)


class Scores:
    """Keeps scores within the transaction of the caller."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._measures: dict[tuple[object, ...], int] = {}
        self._labels: dict[tuple[int, str], int] = {}

    def keep(
        self, of: Iterable[tuple[int, StoredScore]], best: dict[str, str], on: datetime.date | None = None
    ) -> None:
        """Keep scores of exchanges; one of the same measure is replaced. best: see best_of.

        on: the day on which they were made, None where nobody knows.
        """
        rows, reasons, days = [], [], set()
        for n, score in of:
            if score.status == "over_budget":  # nobody judged it: it is still due
                continue
            measure = self._measure(score, best)
            label = None if score.label is None else self._label(measure, score.label)
            rows.append((n, measure, PLACES[score.status], score.score, label))
            reasons += [(n, measure, score.reason)] if score.reason else []
            days.add(n)
        self._db.executemany(
            "INSERT INTO scores VALUES (?, ?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET status = excluded.status,"
            " score = excluded.score, label = excluded.label, tries = tries + 1",
            rows,
        )
        self._db.executemany("INSERT OR REPLACE INTO reasons VALUES (?, ?, ?)", reasons)
        self._db.executemany(
            "INSERT OR IGNORE INTO stale SELECT day FROM exchanges WHERE n = ? AND day IS NOT NULL",
            [(n,) for n in days],
        )
        self._date({(n, measure) for n, measure, *_ in rows}, on)

    def _date(self, pairs: Iterable[tuple[int, int]], on: datetime.date | None) -> None:
        """Note of the days of exchanges when a measure has scored them."""
        day = on.toordinal() if on else _UNKNOWN_DAY
        self._db.execute(
            "INSERT INTO judged_on SELECT DISTINCT e.day, json_extract(p.value, '$[1]'), ?, ?"
            " FROM json_each(?) p JOIN exchanges e ON e.n = json_extract(p.value, '$[0]')"
            " WHERE e.day IS NOT NULL"
            " ON CONFLICT DO UPDATE SET first = min(first, excluded.first), last = max(last, excluded.last)",
            (day, day, msgspec.json.encode(list(pairs)).decode()),
        )

    def finish(self, exchanges: Iterable[int], judges: Sequence[str]) -> set[int]:
        """Note and return which exchanges all of these judges have judged; the others stay due."""
        number = self._set(judges)
        done = {n for n in exchanges if not _missing(self._db, n, judges)}
        self._db.executemany("UPDATE exchanges SET done = ? WHERE n = ?", [(number, n) for n in done])
        return done

    def finish_all(self, judges: Sequence[str]) -> None:
        """Note for every exchange whether all of these judges have judged it."""
        listed = [judge for name in judges for judge in (name, f"{name}{JOINT_SUFFIX}")]
        marks = ",".join("?" * len(listed))
        self._db.execute(
            "UPDATE exchanges SET done = ? WHERE n IN (SELECT s.exchange FROM scores s JOIN measures m"
            f" ON m.n = s.measure WHERE m.judge IN ({marks})"
            f" AND NOT (s.status IN ({_PASSING}) AND s.tries < {TRIES})"
            " GROUP BY s.exchange HAVING count(DISTINCT replace(m.judge, ?, '')) = ?)",
            (self._set(judges), *listed, JOINT_SUFFIX, len(judges)),
        )

    def _set(self, judges: Sequence[str]) -> int:
        names = " ".join(sorted(judges))
        self._db.execute("INSERT OR IGNORE INTO judge_sets (judges) VALUES (?)", (names,))
        (number,) = self._db.execute("SELECT n FROM judge_sets WHERE judges = ?", (names,)).fetchone()
        return int(number)

    def declare(self, score: StoredScore, labels: Iterable[str], best: dict[str, str]) -> None:
        """Make known which labels a judge can give, so that those that it never gave have a share of 0."""
        measure = self._measure(score, best)
        for label in labels:
            self._label(measure, label)

    def _measure(self, score: StoredScore, best: dict[str, str]) -> int:
        key = (score.judge, score.version, score.model, score.metric)
        if key not in self._measures:
            self._db.execute(
                "INSERT OR IGNORE INTO measures (judge, version, model, metric, best) VALUES (?, ?, ?, ?, ?)",
                (*key, best.get(score.metric, "highest")),
            )
            (self._measures[key],) = self._db.execute(
                "SELECT n FROM measures WHERE judge = ? AND version = ? AND model = ? AND metric = ?", key
            ).fetchone()
        return self._measures[key]

    def _label(self, measure: int, label: str) -> int:
        key = (measure, label)
        if key not in self._labels:
            self._db.execute("INSERT OR IGNORE INTO labels (measure, label) VALUES (?, ?)", key)
            (self._labels[key],) = self._db.execute(
                "SELECT n FROM labels WHERE measure = ? AND label = ?", key
            ).fetchone()
        return self._labels[key]


def left_of(db: sqlite3.Connection, caps: Caps, today: datetime.date) -> Caps:
    """Return what is left of the budget of a day; of USD nothing where what the day has cost is not known."""
    spent_row = db.execute(
        "SELECT calls, tokens, usd FROM spent WHERE day = ?", (today.toordinal(),)
    ).fetchone()
    calls, tokens, usd = spent_row or (0, 0, 0.0)
    return msgspec.structs.replace(
        caps,
        calls=None if caps.calls is None else max(0, caps.calls - calls),
        tokens=None if caps.tokens is None else max(0, caps.tokens - tokens),
        usd=None if caps.usd is None else 0.0 if usd is None else max(0.0, caps.usd - usd),
    )


def spend(db: sqlite3.Connection, today: datetime.date, calls: int, tokens: int, usd: float | None) -> None:
    """Count what was spent to its day, within the transaction of the caller.

    usd: None where it is unknown. What is added to it, or it to, stays unknown: NULL plus anything is NULL.
    """
    db.execute(
        "INSERT INTO spent VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET calls = calls + excluded.calls,"
        " tokens = tokens + excluded.tokens, usd = usd + excluded.usd",
        (today.toordinal(), calls, tokens, usd),
    )
