"""Has the judge changed within a history? Its exchanges are judged again, beside their scores of then.

An exchange had the score s then and has t now, by one judge on one day. What the judge of then gave beyond
that of now is s - t. Between two spans of days the judge moved by the difference of the means of s - t,
whatever the judge of now is like: it is the same on both sides. What the means of then moved beyond that is
the application's (difference in differences; the judge's error is taken to be added, alike for good and bad
answers).
"""

# ruff: noqa: S608 - statements are made of our own words and numbers; values are bound

import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise

import msgspec
import numpy as np

from ragstone.features.watch.canaries import Shift
from ragstone.features.watch.cells import DayCell
from ragstone.features.watch.judged import SCORED, UNKNOWN_DAY, judge_of
from ragstone.features.watch.streams import Level, N, Stream, level_of, streams_of
from ragstone.kernel.judging.fields import JOINT_SUFFIX
from ragstone.kernel.statistics.intervals import Codes, Floats, student_quantile

EACH_PERIOD = 400  # answers judged again, at least, so that a period says something
MOST_PERIODS = 6


class RejudgedScore(msgspec.Struct, frozen=True, kw_only=True):
    """A score from 0 to 1 of then, and that of the same answer now. day: of the exchange.

    judge: of then, as cells name it. weight: for how many exchanges it stands.
    """

    day: date
    metric: str
    judge: str
    then: float
    now: float
    weight: float


class RejudgedHistory(msgspec.Struct, frozen=True, kw_only=True):
    """Exchanges of all days of a log that were judged again. number: of the time that this was done, from 0.

    n: exchanges. failed: scores of then whose answer got no score now.
    """

    judged: date
    number: int
    n: int
    failed: int
    scores: list[RejudgedScore]


class RejudgePool(msgspec.Struct, frozen=True, eq=False):
    """Exchanges that have scores, by day and then by their draw: numbers, days (ordinals), 1 / chance."""

    numbers: Codes
    days: Codes
    weights: Floats


class JudgedSpan(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge, as cells name it, scored of the days from `begin` on; end: the first day after them."""

    judge: str
    begin: date
    end: date | None = None


DaySpan = tuple[date, date | None]
"""Days from the first on, up to the second, which is not in it; None for all that come."""

JudgedOn = Mapping[tuple[str, str], Mapping[date, tuple[date, date] | None]]
"""Metric and judge, as cells name it -> the day of exchanges -> the first and the last day on which these
were judged; None where nobody knows."""


def read_judged_on(db: sqlite3.Connection) -> JudgedOn:
    """Return when scores were made, see JudgedOn; of a store of an earlier version nothing is known."""
    found: dict[tuple[str, str], dict[date, tuple[date, date] | None]] = {}
    day = date.fromordinal
    for at, first, last, judge, version, model, metric in db.execute(
        "SELECT o.day, o.first, o.last, m.judge, m.version, m.model, m.metric FROM judged_on o"
        " JOIN measures m ON m.n = o.measure"
    ):
        of_one = found.setdefault((metric, judge_of(judge, version, model)), {})
        of_one[day(at)] = None if first == UNKNOWN_DAY else (day(first), day(last))
    return found


def read_pool(db: sqlite3.Connection, judges: Iterable[str]) -> tuple[RejudgePool, dict[int, int]]:
    """Return the exchanges with a day that one of these judges has scored, and how many a day has."""
    names = [name for judge in judges for name in (judge, f"{judge}{JOINT_SUFFIX}")]
    rows = db.execute(
        "SELECT e.n, e.day, 1 / e.chance FROM exchanges e WHERE e.day IS NOT NULL AND e.n IN"
        " (SELECT s.exchange FROM scores s JOIN measures m ON m.n = s.measure"
        f" WHERE s.status = {SCORED} AND m.judge IN ({','.join('?' * len(names))}))"
        " ORDER BY e.day, e.draw, e.n",
        names,
    ).fetchall()
    volumes = dict(db.execute("SELECT day, count(*) FROM exchanges WHERE day IS NOT NULL GROUP BY day"))
    numbers, days, weights = zip(*rows, strict=True) if rows else ((), (), ())
    whole = np.int64
    return RejudgePool(np.array(numbers, whole), np.array(days, whole), np.array(weights, float)), volumes


def draw_history(
    pool: RejudgePool, volumes: Mapping[int, int], spans: Sequence[DaySpan], n: int
) -> list[tuple[int, float]]:
    """Return about n exchanges to judge again, all where there are fewer, and for how many each stands.

    Each span of days gets the same part of n, each day in it alike, and exchanges of a day by what they
    stand for (Madow 1949, systematic sampling). volumes: how many exchanges a day had, by its ordinal.
    """
    days, codes = np.unique(pool.days, return_inverse=True)
    share = pool.weights / np.bincount(codes, weights=pool.weights)[codes]
    intensity = np.zeros(days.size)
    for begin, end in spans:
        inside = (days >= begin.toordinal()) & (days < (end.toordinal() if end else days[-1] + 1))
        intensity += inside / max(1, inside.sum())
    sizes = intensity[codes] * share
    sizes /= sizes.sum()
    stands_for = np.array([volumes[int(day)] for day in days])[codes] * share
    if n >= pool.numbers.size:
        at, chance = np.arange(pool.numbers.size), np.ones(pool.numbers.size)
    else:
        points = (np.arange(n) + 0.5) / n
        at = np.unique(np.minimum(np.searchsorted(np.cumsum(sizes), points), sizes.size - 1))
        chance = np.minimum(1.0, n * sizes[at])
    return list(zip(pool.numbers[at].tolist(), (stands_for[at] / chance).tolist(), strict=True))


def history_shift(
    history: RejudgedHistory, metric: str, before: JudgedSpan, after: JudgedSpan
) -> Shift | None:
    """Return how far the judge moved from one span to another; None with fewer than two answers of either.

    The interval is Student's. A judge that gave every answer its old score again may yet change its mind on
    others: the variance is taken as if one answer more of each side had moved by the whole scale.
    """
    sides = [_side(history, metric, span) for span in (before, after)]
    if any(side is None for side in sides):
        return None
    (first, gap, gap_variance, n), (_, later_gap, later_variance, n_later) = filter(None, sides)
    half = student_quantile(0.975, min(n, n_later) - 1) * math.sqrt(gap_variance + later_variance)
    mean = later_gap - gap
    return Shift(
        mean=mean,
        first=first,
        low=mean - half,
        high=mean + half,
        n=n + n_later,
        before=n,
        after=n_later,
    )


def _side(history: RejudgedHistory, metric: str, span: JudgedSpan) -> tuple[float, float, float, int] | None:
    """Return the mean score of then, the mean gap of then and now, its variance, and of how many answers."""
    rows = [
        (one.then, one.then - one.now, one.weight)
        for one in history.scores
        if (one.metric, one.judge) == (metric, span.judge)
        and span.begin <= one.day
        and (span.end is None or one.day < span.end)
    ]
    if len(rows) < 2:
        return None
    then, gap, weight = np.array(rows).T
    weight = weight / weight.sum()
    mean = float(weight @ gap)
    spread = float(weight**2 @ (gap - mean) ** 2) * len(rows) / (len(rows) - 1)
    return float(weight @ then), mean, spread + float(weight.max()) ** 2, len(rows)


class Movement(msgspec.Struct, frozen=True, kw_only=True):
    """By how much a mean moved, from -1 to 1, with a 95 % interval."""

    mean: float
    low: float
    high: float


class PeriodDrift(msgspec.Struct, frozen=True, kw_only=True):
    """Some days of a metric by one judge: what moved since the metric's first days, judge and application.

    first, last: days, both included. then: the scores of then. n: answers of these days that were judged
    again. by_judge, by_application: None for the first days, which the others are compared with, and where
    too few answers were judged again.
    """

    metric: str
    judge: str
    first: date
    last: date
    n: int
    then: Level
    by_judge: Shift | None = None
    by_application: Movement | None = None


def period_drifts(history: RejudgedHistory, cells: Iterable[DayCell]) -> list[PeriodDrift]:
    """Return the periods of each metric that was judged again, by time: as many as its answers allow."""
    whole = [cell for cell in cells if not cell.tag]
    if not whole:
        return []
    streams = {
        (one.metric, one.judge): one
        for one in streams_of(whole, max(cell.day for cell in whole) + timedelta(days=1))
    }
    found = []
    for metric in sorted({one.metric for one in history.scores}):
        rows = [one for one in history.scores if one.metric == metric and (metric, one.judge) in streams]
        base: PeriodDrift | None = None
        for begin, end in _borders(rows):
            counts = {
                judge: sum(one.judge == judge and begin <= one.day < end for one in rows)
                for judge in sorted({one.judge for one in rows})
            }
            for judge, n in counts.items():
                period = _period(history, streams[metric, judge], n, begin, end, base) if n else None
                if period is not None:
                    base = base or period
                    found.append(period)
    return found


def _borders(rows: Sequence[RejudgedScore]) -> list[tuple[date, date]]:
    """Return periods of the same number of days; none for scores of fewer days than two."""
    if not rows:
        return []
    first = min(one.day for one in rows)
    days = (max(one.day for one in rows) - first).days + 1
    n = min(MOST_PERIODS, max(2, len(rows) // EACH_PERIOD), days)
    borders = [first + timedelta(days=round(at * days / n)) for at in range(n + 1)]
    return list(pairwise(borders))


def _period(
    history: RejudgedHistory, stream: Stream, n: int, begin: date, end: date, base: PeriodDrift | None
) -> PeriodDrift | None:
    sums = stream.sums[max(0, (begin - stream.first).days) : max(0, (end - stream.first).days)]
    if not len(sums) or not sums[:, N].any():
        return None
    period = PeriodDrift(
        metric=stream.metric,
        judge=stream.judge,
        first=begin,
        last=end - timedelta(days=1),
        n=n,
        then=level_of(sums),
    )
    if base is None:
        return period
    shift = history_shift(
        history,
        stream.metric,
        JudgedSpan(judge=base.judge, begin=base.first, end=base.last + timedelta(days=1)),
        JudgedSpan(judge=stream.judge, begin=begin, end=end),
    )
    if shift is None:
        return period
    left = period.then.mean - base.then.mean - shift.mean
    half = math.hypot(base.then.half, period.then.half, (shift.high - shift.low) / 2)
    moved = Movement(mean=left, low=left - half, high=left + half)
    return msgspec.structs.replace(period, by_judge=shift, by_application=moved)


def moved_words(part: Shift | Movement | None, more: str, less: str) -> str:
    """Return `+0.060 [+0.031, +0.089]: more`; `cannot tell` where the interval holds 0."""
    if part is None:
        return "cannot tell: too few judged again"
    verdict = more if part.low > 0 else less if part.high < 0 else "cannot tell"
    return f"{part.mean:+.3f} [{part.low:+.3f}, {part.high:+.3f}]: {verdict}"


def judged_at_once(judged_on: JudgedOn, stream: Stream, begin: int, end: int | None) -> date | None:
    """Return the day by whose end all scores of these days of a stream were made within a day.

    None where they were not, or nobody knows. Shares of labels were made with their metric.
    """
    known = judged_on.get((stream.metric.partition("=")[0], stream.judge), {})
    scored = np.flatnonzero(stream.sums[begin:end, N]) + begin
    found = [known.get(stream.day(int(at))) for at in scored]
    if not found or any(one is None for one in found):
        return None
    first, last = (pick(one[at] for one in found if one) for at, pick in ((0, min), (1, max)))
    return last if (last - first).days <= 1 else None
