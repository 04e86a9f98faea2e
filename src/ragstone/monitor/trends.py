"""Cells -> the course of every metric, ready to be drawn: means by day, or by week where days are thin."""

import math
from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta
from statistics import NormalDist, median
from typing import Literal

import msgspec

from ragstone.monitor.cell import Cell
from ragstone.statistics.wilson import wilson_interval

THIN = 30
"""Scored exchanges of a day, in the median, below which weeks are shown instead."""

EXACT = 1e-9  # relative: sums of floats that would be equal


class Point(msgspec.Struct, frozen=True, kw_only=True):
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
    points: list[Point]


def trends(cells: Iterable[Cell], level: float = 0.95, *, most_days: int | None = None) -> list[Trend]:
    """Return the trend of each metric, tag, value and judge, all exchanges first, points by time.

    most_days: a course of more days is shown by weeks. Days without a cell are left out. The
    order of cells does not matter, nor into how many a day is split.
    """
    found: dict[tuple[str, str, str, str], list[Cell]] = {}
    for cell in cells:
        found.setdefault((cell.metric, cell.tag, cell.value, cell.judge), []).append(cell)
    return [_trend(found[key], level, most_days) for key in sorted(found)]


def _trend(cells: list[Cell], level: float, most_days: int | None) -> Trend:
    days: Counter[date] = Counter()
    for cell in cells:
        days[cell.day] += cell.n
    weekly = median(days.values()) < THIN or (most_days is not None and len(days) > most_days)
    span: Literal["day", "week"] = "week" if weekly else "day"
    parts: dict[date, list[Cell]] = {}
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


def point_of(day: date, cells: list[Cell], level: float = 0.95) -> Point:
    """Return the mean of cells of one stream together, with its interval."""
    statuses: Counter[str] = Counter()
    for cell in cells:
        statuses.update(cell.statuses)
    n = sum(cell.n for cell in cells)
    counted = dict(sorted(statuses.items()))
    if not n:
        return Point(day=day, n=0, mean=None, low=None, high=None, statuses=counted)
    w, wx, w2, w2x, w2x2 = (
        math.fsum(getattr(cell, name) for cell in cells) for name in ("w", "wx", "w2", "w2x", "w2x2")
    )
    mean = wx / w
    low, high = _interval(n, (w, wx, w2, w2x, w2x2), level)
    return Point(day=day, n=n, mean=mean, low=low, high=high, statuses=counted)


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


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=EXACT, abs_tol=EXACT)
