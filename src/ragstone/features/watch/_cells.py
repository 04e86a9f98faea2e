"""What is known of a day, as sums, and the means and the courses of metrics that follow from them."""

# ruff: noqa: S608 - statements are made of our own words and numbers; values are bound

import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from statistics import NormalDist, median
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from ragstone.features.watch._judged import PEOPLE, SCORED, THUMB, judge_of
from ragstone.features.watch._uncovered import keep_uncovered, mode_sets
from ragstone.kernel.records import STATUSES
from ragstone.kernel.statistics.intervals import wilson_interval


class DayCell(msgspec.Struct, frozen=True, kw_only=True):
    """The judged exchanges of one day, one value of one tag and one metric, as sums.

    tag, value: both "" for all exchanges. judge: name, version and model of who judged. n: scored exchanges;
    each stands for 1 / (its chance to be sampled) exchanges, its weight w, and has a score x from 0 to 1: w,
    wx: sums of w and w·x; w2, w2x, w2x2: sums of w², w²·x and w²·x². statuses: how many had another status.

    The mean is wx / w; its variance is (w2x2 - 2·mean·w2x + mean²·w2) / w² (Särndal et al. 1992, ch. 5: the
    linearised variance of a ratio).
    """

    day: date
    tag: str
    value: str
    metric: str
    judge: str
    n: int
    w: float
    wx: float
    w2: float
    w2x: float
    w2x2: float
    statuses: dict[str, int] = {}


THIN = 30
"""Scored exchanges of a day, in the median, below which weeks are shown instead."""

EXACT = 1e-9  # relative: sums of floats that would be equal


class TrendPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A day, or the week that begins with that Monday. n: scored; statuses: how many had another status.

    mean: from 0 to 1. It and its ends are None where nothing was scored; the ends also where a single
    score has a weight and no interval.
    """

    day: date
    n: int
    mean: float | None
    low: float | None
    high: float | None
    statuses: dict[str, int]


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """The course of a metric for one value of a tag (both "" for all exchanges), by one judge."""

    metric: str
    tag: str
    value: str
    judge: str
    span: Literal["day", "week"]
    points: list[TrendPoint]


def trends(cells: Iterable[DayCell], level: float = 0.95, *, most_days: int | None = None) -> list[Trend]:
    """Return the trend of each metric, tag, value and judge, all exchanges first, points by time.

    most_days: a course of more days is shown by weeks. Days without a cell are left out. The
    order of cells does not matter, nor into how many a day is split.
    """
    courses: dict[tuple[str, str, str, str], list[DayCell]] = {}
    for cell in cells:
        courses.setdefault((cell.metric, cell.tag, cell.value, cell.judge), []).append(cell)
    return [_trend(courses[key], level, most_days) for key in sorted(courses)]


def _trend(cells: list[DayCell], level: float, most_days: int | None) -> Trend:
    days: Counter[date] = Counter()
    for cell in cells:
        days[cell.day] += cell.n
    weekly = median(days.values()) < THIN or (most_days is not None and len(days) > most_days)
    span: Literal["day", "week"] = "week" if weekly else "day"
    parts: dict[date, list[DayCell]] = {}
    for cell in cells:
        day = cell.day - timedelta(days=cell.day.weekday()) if span == "week" else cell.day
        parts.setdefault(day, []).append(cell)
    return Trend(
        metric=cells[0].metric,
        tag=cells[0].tag,
        value=cells[0].value,
        judge=cells[0].judge,
        span=span,
        points=[point_of(day, parts[day], level) for day in sorted(parts)],
    )


def point_of(day: date, cells: list[DayCell], level: float = 0.95) -> TrendPoint:
    """Return the mean of cells of one stream together, with its interval."""
    statuses: Counter[str] = Counter()
    for cell in cells:
        statuses.update(cell.statuses)
    n = sum(cell.n for cell in cells)
    counted = dict(sorted(statuses.items()))
    if not n:
        return TrendPoint(day=day, n=0, mean=None, low=None, high=None, statuses=counted)
    w, wx, w2, w2x, w2x2 = (
        math.fsum(getattr(cell, name) for cell in cells) for name in ("w", "wx", "w2", "w2x", "w2x2")
    )
    mean = wx / w
    low, high = _interval(n, (w, wx, w2, w2x, w2x2), level)
    return TrendPoint(day=day, n=n, mean=mean, low=low, high=high, statuses=counted)


def _interval(n: int, sums: tuple[float, ...], level: float) -> tuple[float | None, float | None]:
    """Return the ends: Wilson's where weights are 1 and scores 0 or 1, else by the linearised variance.

    Where all scores are equal their variance says nothing, and Wilson's interval of as many unweighted scores
    as these are worth (Kish 1965: w² / w2) is the wide side to err on; that of a mean between, only if it
    is that of 0 or 1.
    """
    w, wx, w2, w2x, w2x2 = sums
    mean = wx / w
    if _same(w, n) and _same(w2, n) and _same(w2x2, w2x):
        return wilson_interval(min(max(wx, 0.0), float(n)), n, level)
    variance = (w2x2 - 2 * mean * w2x + mean * mean * w2) / (w * w)
    if variance > EXACT * mean * mean and n > 1:
        half = NormalDist().inv_cdf(0.5 + level / 2) * math.sqrt(variance * n / (n - 1))
        return max(0.0, mean - half), min(1.0, mean + half)
    if _same(mean, 1.0) or mean == 0:
        worth = w * w / w2
        return wilson_interval(worth if mean else 0.0, worth, level)
    return None, None


def _same(first: float, other: float) -> bool:
    return math.isclose(first, other, rel_tol=EXACT, abs_tol=EXACT)


class MetricMean(msgspec.Struct, frozen=True, kw_only=True):
    """A metric by one judge over all days: its mean, denominator and interval, and its other statuses.

    best: the good end of its scale, `none` for the share of a label and for labels without an order.
    """

    metric: str
    judge: str
    whole: TrendPoint
    best: str


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """How much there is. sampled: that are or will be judged; without_time: that are in no trend.

    in_future: after `last`, see last_day; they are in no trend and no mean either.
    """

    n_exchanges: int
    n_sampled: int
    n_judged: int
    n_feedback: int
    without_time: int
    in_future: int = 0
    first: date | None
    last: date | None
    metrics: list[MetricMean]


def read_cells(
    db: sqlite3.Connection, *, metric: str | None, tag: str | None, since: date | None, until: date | None
) -> list[DayCell]:
    """Return the cells of a choice, by day."""
    chosen = {
        "day >= ?": None if since is None else since.toordinal(),
        "day <= ?": None if until is None else until.toordinal(),
        "tag = ?": tag,
        "metric = ?": metric,
    }
    chosen_values = {where: value for where, value in chosen.items() if value is not None}
    where = f" WHERE {' AND '.join(chosen_values)}" if chosen_values else ""
    rows = db.execute(
        f"SELECT day, tag, value, metric, judge, n, w, wx, w2, w2x, w2x2, statuses FROM cells{where}"
        " ORDER BY day, tag, value, metric, judge",
        list(chosen_values.values()),
    )
    days: dict[int, date] = {}
    decode = msgspec.json.Decoder(dict[str, int]).decode
    cells = []
    for day, tag_, value, metric_, judge, n, w, wx, w2, w2x, w2x2, statuses in rows:
        when = days.get(day) or days.setdefault(day, date.fromordinal(day))
        cells.append(
            DayCell(
                day=when,
                tag=tag_,
                value=value,
                metric=metric_,
                judge=judge,
                n=n,
                w=w,
                wx=wx,
                w2=w2,
                w2x=w2x,
                w2x2=w2x2,
                statuses={} if statuses == "{}" else decode(statuses),
            )
        )
    return cells


def read_last_day(db: sqlite3.Connection, today: date | None) -> date | None:
    """Return the last day of the log that is at most a day after today; None where nothing has a time.

    Where all days are later, or today is not told, it is the last that there is. The one day is for clocks
    that go ahead; a row of 2099 would otherwise be what "the last days" are counted from.
    """
    until = None if today is None else (today + timedelta(days=1)).toordinal()
    (near,) = db.execute("SELECT max(day) FROM exchanges WHERE day <= ?", (until,)).fetchone()
    last = near or db.execute("SELECT max(day) FROM exchanges").fetchone()[0]
    return date.fromordinal(last) if last else None


def read_overview(db: sqlite3.Connection, of_all: Iterable[DayCell], last: date | None) -> Overview:
    """Return how much there is; of_all: the cells of all exchanges, day by day, up to the day `last`."""
    n, sampled, judged, untimed, first, late = db.execute(
        "SELECT count(*), sum(draw < chance), sum(done > 0), sum(day IS NULL), min(day), sum(day > ?)"
        " FROM exchanges",
        (last.toordinal() if last else None,),
    ).fetchone()
    (feedback,) = db.execute(
        "SELECT count(*) FROM exchanges e LEFT JOIN said s ON s.name = e.name"
        " WHERE coalesce(s.feedback, e.feedback) IS NOT NULL"
    ).fetchone()
    best = dict(db.execute("SELECT metric, best FROM measures").fetchall())
    return Overview(
        n_exchanges=n,
        n_sampled=sampled or 0,
        n_judged=judged or 0,
        n_feedback=feedback,
        without_time=untimed or 0,
        in_future=late or 0,
        first=date.fromordinal(first) if first else None,
        last=last,
        metrics=[
            MetricMean(
                metric=cell.metric,
                judge=cell.judge,
                whole=point_of(cell.day, [cell]),
                best="none" if "=" in cell.metric else best.get(cell.metric, "highest"),
            )
            for cell in together(of_all)
        ],
    )


def together(cells: Iterable[DayCell]) -> list[DayCell]:
    """Return one cell for each tag, value, metric and judge, of all days: that of the last one."""
    sums: dict[tuple[str, str, str, str], DayCell] = {}
    for cell in cells:
        key = (cell.metric, cell.judge, cell.tag, cell.value)
        sums[key] = _sum(sums[key], cell) if key in sums else cell
    return [sums[key] for key in sorted(sums)]


def _sum(cell: DayCell, other: DayCell) -> DayCell:
    sums = {
        name: getattr(cell, name) + getattr(other, name) for name in ("n", "w", "wx", "w2", "w2x", "w2x2")
    }
    statuses = {
        name: cell.statuses.get(name, 0) + other.statuses.get(name, 0)
        for name in {**cell.statuses, **other.statuses}
    }
    return msgspec.structs.replace(cell, day=max(cell.day, other.day), statuses=statuses, **sums)


MOST_VALUES = 200  # of a tag, by first appearance; the rest are one
OTHER_VALUES = "(other values)"
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
CellRow = tuple[Any, ...]


class _DayMeasure(msgspec.Struct, frozen=True):
    """What one metric says of some exchanges of a day: their places, scores (which count where the status is
    scored), statuses, weights."""

    metric: str
    judge: str
    at: Ints
    x: Floats
    status: Ints
    w: Floats


def refresh_cells(db: sqlite3.Connection, tags: Sequence[str]) -> None:
    """Bring the cells of stale days in step with their scores, each day in a transaction of its own."""
    days = [day for (day,) in db.execute("SELECT day FROM stale ORDER BY day")]
    if not days:
        return
    names, sets = _value_names(db, tags), mode_sets(db)
    for day in days:
        with db:
            db.execute("BEGIN IMMEDIATE")
            keep_uncovered(db, day, sets)
            rows = list(_day(db, day, names))
            db.execute("DELETE FROM cells WHERE day = ?", (day,))
            db.executemany("INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            db.execute("DELETE FROM stale WHERE day = ?", (day,))


def _value_names(db: sqlite3.Connection, tags: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Return number -> tag and value, of the tags by which trends are shown."""
    names = {}
    for tag in tags:
        values = db.execute("SELECT n, value FROM tag_values WHERE tag = ? ORDER BY n", (tag,)).fetchall()
        for rank, (n, value) in enumerate(values):
            names[n] = (tag, value if rank < MOST_VALUES else OTHER_VALUES)
    return names


def _day(db: sqlite3.Connection, day: int, names: dict[int, tuple[str, str]]) -> Iterator[CellRow]:
    listed = db.execute("SELECT n, draw, chance FROM exchanges WHERE day = ? ORDER BY n", (day,)).fetchall()
    if not listed:
        return
    numbers = np.array([row[0] for row in listed], dtype=np.int64)
    draws, chance = (np.array([row[at] for row in listed]) for at in (1, 2))
    groups = _groups(db, day, numbers, names)
    for measure in _measures(db, day, numbers, chance, int((draws < chance).sum())):
        for tag, values, codes in groups:
            yield from _sums(day, tag, values, codes[measure.at], measure)


def _groups(
    db: sqlite3.Connection, day: int, numbers: Ints, names: dict[int, tuple[str, str]]
) -> list[tuple[str, list[str], Ints]]:
    """Return tag, its values, and the place of each exchange's value among them, -1 for none."""
    groups: list[tuple[str, list[str], Ints]] = [("", [""], np.zeros(numbers.size, dtype=np.int64))]
    rows = db.execute(
        "SELECT t.exchange, t.value FROM exchanges e JOIN tags t ON t.exchange = e.n WHERE e.day = ?", (day,)
    ).fetchall()
    of_tag: dict[str, list[tuple[int, str]]] = {}
    for exchange, value in rows:
        if value in names:
            tag, text = names[value]
            of_tag.setdefault(tag, []).append((exchange, text))
    for tag, pairs in of_tag.items():
        values = list(dict.fromkeys(text for _, text in pairs))
        index_of = {text: at for at, text in enumerate(values)}
        codes = np.full(numbers.size, -1, dtype=np.int64)
        codes[np.searchsorted(numbers, [n for n, _ in pairs])] = [index_of[text] for _, text in pairs]
        groups.append((tag, values, codes))
    return groups


def _measures(
    db: sqlite3.Connection, day: int, numbers: Ints, chance: Floats, n_sampled: int
) -> Iterator[_DayMeasure]:
    """Yield what each metric of each judge says; a label's share is a metric of its own, `metric=label`.

    Where a budget has left part of the day's sample unjudged, that part is random, see judged.due: the chance
    of each exchange is then less in the same proportion.
    """
    rows = db.execute(
        "SELECT s.exchange, s.measure, s.status, s.score, s.label FROM exchanges e"
        " JOIN scores s ON s.exchange = e.n WHERE e.day = ?",
        (day,),
    ).fetchall()
    by_measure: dict[int, list[CellRow]] = {}
    for row in rows:
        by_measure.setdefault(row[1], []).append(row)
    measures = {
        row[0]: row[1:] for row in db.execute("SELECT n, judge, version, model, metric FROM measures")
    }
    judged = _judged(by_measure, measures)
    for measure in sorted(by_measure):
        judge, version, model, metric = measures[measure]
        some = by_measure[measure]
        at = np.searchsorted(numbers, [row[0] for row in some])
        x = np.array([row[3] or 0.0 for row in some], dtype=np.float64)
        status = np.array([row[2] for row in some], dtype=np.int64)
        share = min(1.0, judged[judge, metric] / n_sampled) if n_sampled else 1.0
        w = 1.0 / (chance[at] * share)
        who = judge_of(judge, version, model)
        yield _DayMeasure(metric, who, at, x, status, w)
        labels = db.execute("SELECT n, label FROM labels WHERE measure = ? ORDER BY n", (measure,)).fetchall()
        label_numbers = np.array([-1 if row[4] is None else row[4] for row in some], dtype=np.int64)
        for number, label in labels:
            has_label = (label_numbers == number).astype(np.float64)
            yield _DayMeasure(f"{metric}={label}", who, at, has_label, status, w)
    yield from _feedback(db, day, numbers)


def _judged(by_measure: dict[int, list[CellRow]], measures: dict[int, CellRow]) -> dict[tuple[str, str], int]:
    """Return how many exchanges a judge has judged, whichever its version and model."""
    seen: dict[tuple[str, str], set[int]] = {}
    for measure, some in by_measure.items():
        judge, _, _, metric = measures[measure]
        seen.setdefault((judge, metric), set()).update(row[0] for row in some)
    return {key: len(exchanges) for key, exchanges in seen.items()}


def _feedback(db: sqlite3.Connection, day: int, numbers: Ints) -> Iterator[_DayMeasure]:
    """Yield what people said: of all exchanges, not of the sample."""
    rows = db.execute(
        "SELECT e.n, coalesce(s.feedback, e.feedback) AS said FROM exchanges e"
        " LEFT JOIN said s ON s.name = e.name WHERE e.day = ? AND said IS NOT NULL",
        (day,),
    ).fetchall()
    if rows:
        at = np.searchsorted(numbers, [row[0] for row in rows])
        x = np.array([row[1] for row in rows], dtype=np.float64)
        status = np.full(len(rows), SCORED, dtype=np.int64)
        yield _DayMeasure(THUMB, PEOPLE, at, x, status, np.ones(len(rows)))


def _sums(day: int, tag: str, values: list[str], codes: Ints, measure: _DayMeasure) -> Iterator[CellRow]:
    """Yield the cells of one metric, one for each value that some exchange of it has."""
    size = len(values)
    scored = (measure.status == SCORED) & (codes >= 0)
    at, x, w = codes[scored], measure.x[scored], measure.w[scored]
    n = np.bincount(at, minlength=size)
    w2 = w * w
    sums = [np.bincount(at, weights=column, minlength=size) for column in (w, w * x, w2, w2 * x, w2 * x * x)]
    others = (codes >= 0) & ~scored
    statuses = _statuses_at(codes[others], measure.status[others])
    for index, value in enumerate(values):
        if n[index] or index in statuses:
            counts = msgspec.json.encode(statuses.get(index, {})).decode()
            row = (float(column[index]) for column in sums)
            yield (day, tag, value, measure.metric, measure.judge, int(n[index]), *row, counts)


def _statuses_at(codes: Ints, statuses: Ints) -> dict[int, dict[str, int]]:
    counts_at: dict[int, dict[str, int]] = {}
    for code, status in zip(codes.tolist(), statuses.tolist(), strict=True):
        counts = counts_at.setdefault(code, {})
        counts[STATUSES[status]] = counts.get(STATUSES[status], 0) + 1
    return counts_at
