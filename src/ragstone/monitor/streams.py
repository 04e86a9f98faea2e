"""Cells -> streams: the days of one metric, value and judge, and what each of them weighs."""

import math
from collections.abc import Iterable
from datetime import date, timedelta

import msgspec
import numpy as np

from ragstone.monitor.cell import Cell
from ragstone.statistics.clusters import Floats
from ragstone.statistics.student import student_quantile

N, W, WX, W2, W2X, W2X2 = range(6)

SPANS = (1, 7, 28)
"""Days that may be taken together. Whole weeks, so that their rhythm cancels out."""

LEAST_EVENTS = 0.5
"""Of what is rarer, good or bad, expected in a block; with fewer, blocks are made of more days."""

RAREST = 0.01
"""A share below is taken for this: what never happened yet may happen, and must not seem a wonder at once."""

ALIKE = 0.001
"""How alike two scores of a day are, as correlation: at a mean of 0.85 an effect of the day with SD 0.011."""

Key = tuple[str, str, str, str]  # metric, tag, value, judge


class Stream(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One metric of one value of one tag, by one judge. sums: (days from `first` on, 6), see N to W2X2."""

    metric: str
    tag: str
    value: str
    judge: str
    first: date
    sums: Floats

    @property
    def key(self) -> Key:
        """Return what tells it from other streams, in the order in which they are listed."""
        return self.metric, self.tag, self.value, self.judge

    def day(self, place: int) -> date:
        """Return the date of a row of `sums`."""
        return self.first + timedelta(days=place)


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """A mean from 0 to 1 with its 95 % interval, None where there is none, and the scores it rests on."""

    mean: float
    low: float | None
    high: float | None
    n: int

    @property
    def half(self) -> float:
        """Half the width of the interval, 0 where there is none."""
        return 0.0 if self.low is None or self.high is None else (self.high - self.low) / 2


class Blocks(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A stream from `begin` on, ready for change_paths: blocks of `span` days. noise, jump: see there."""

    stream: Stream
    begin: int
    span: int
    values: Floats
    weights: Floats
    noise: float
    jump: float


def streams_of(cells: Iterable[Cell], before: date) -> list[Stream]:
    """Return the streams of the days before that day, ordered by their keys.

    The order of the cells does not matter, nor into how many cells a day's exchanges are split. A stream
    begins with its first scored exchange; days without one have sums of 0.
    """
    found: dict[Key, dict[date, list[tuple[float, ...]]]] = {}
    for cell in cells:
        if cell.n and cell.day < before:
            days = found.setdefault((cell.metric, cell.tag, cell.value, cell.judge), {})
            days.setdefault(cell.day, []).append((cell.n, cell.w, cell.wx, cell.w2, cell.w2x, cell.w2x2))
    return [_stream(key, found[key], before) for key in sorted(found)]


def _stream(key: Key, days: dict[date, list[tuple[float, ...]]], before: date) -> Stream:
    first = min(days)
    sums = np.zeros(((before - first).days, 6))
    for day, parts in days.items():
        sums[(day - first).days] = [math.fsum(column) for column in zip(*parts, strict=True)]
    metric, tag, value, judge = key
    return Stream(metric=metric, tag=tag, value=value, judge=judge, first=first, sums=sums)


def blocks_of(stream: Stream, begin: int, baseline_days: int) -> Blocks | None:
    """Return the blocks of a stream from the day `begin` on; None where it has no baseline yet.

    The first baseline_days decide how many days make a block, and what a block weighs; if they are too thin
    for blocks of 28 days, the next ones are tried: what decides is never what is tested.
    """
    while len(stream.sums) - begin >= baseline_days:
        base = stream.sums[begin : begin + baseline_days]
        span = _span(base) if base[:, N].sum() else None
        if span:
            return _weighed(stream, begin, span, base)
        begin += baseline_days
    return None


def _middle(base: Floats) -> float:
    total = base.sum(axis=0)
    return float(np.clip(total[WX] / total[W], RAREST, 1 - RAREST))


def _span(base: Floats) -> int | None:
    total = base.sum(axis=0)
    middle = _middle(base)
    events = total[W] ** 2 / total[W2] / len(base) * min(middle, 1 - middle)
    return next((span for span in SPANS if events * span >= LEAST_EVENTS), None)


def _weighed(stream: Stream, begin: int, span: int, base: Floats) -> Blocks:
    """Return blocks whose weight is the inverse of their variance, sampling and the day's own effect."""
    total, middle = base.sum(axis=0), _middle(base)
    of_one = float((total[W2X2] - 2 * middle * total[W2X] + middle**2 * total[W2]) / total[W2])
    of_one = max(of_one, RAREST * (1 - RAREST))
    # A block of several days: their effects average out.
    of_day = ALIKE * middle * (1 - middle) / span
    usual = float(total[W2] / total[W] ** 2) * len(base) / span
    n_blocks = (len(stream.sums) - begin) // span
    sums = stream.sums[begin : begin + n_blocks * span].reshape(n_blocks, span, 6).sum(axis=1)
    there = sums[:, W] > 0
    weight = np.where(there, sums[:, W], 1.0)
    variances = of_one * np.where(there, sums[:, W2], 1.0) / weight**2 + of_day
    usual_variance = of_one * usual + of_day
    return Blocks(
        stream=stream,
        begin=begin,
        span=span,
        values=np.where(there, sums[:, WX] / weight - middle, 0.0),
        weights=np.where(there, usual_variance / variances, 0.0),
        noise=of_one * usual,
        jump=usual * abs(1 - 2 * middle),  # of yes or no: third cumulant over variance
    )


def level_of(sums: Floats) -> Level:
    """Return the mean of these days, one of which has a score; the days are the units of its interval.

    The variance is that of a ratio of totals over days (Särndal et al. 1992, ch. 5), so that days that
    differ more than sampling explains widen it; of one day, that of its exchanges.
    """
    total = sums.sum(axis=0)
    if not total[N]:
        raise ValueError("days without a score have no mean")
    mean = float(total[WX] / total[W])
    there = sums[sums[:, N] > 0]
    sampled = float(total[W2X2] - 2 * mean * total[W2X] + mean**2 * total[W2]) / total[W] ** 2
    days = len(there)
    quantile = student_quantile(0.975, days - 1 if days > 1 else max(1, int(total[N]) - 1))
    between = ((there[:, WX] - mean * there[:, W]) ** 2).sum() / total[W] ** 2 * days / max(1, days - 1)
    variance = max(between, sampled) if days > 1 else sampled
    if variance <= 0:
        return Level(mean=mean, low=None, high=None, n=int(total[N]))
    half = quantile * math.sqrt(variance)
    return Level(mean=mean, low=max(0.0, mean - half), high=min(1.0, mean + half), n=int(total[N]))
