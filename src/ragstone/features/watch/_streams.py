"""Cells -> streams, the days of one metric, value and judge; and the changes in them."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

import msgspec
import numpy as np

from ragstone.features.watch._cells import DayCell
from ragstone.features.watch._change_paths import change_paths
from ragstone.kernel.statistics.intervals import Floats, student_quantile

N, W, WX, W2, W2X, W2X2 = range(6)
SPANS = (1, 7, 28)
"""Days that may be taken together. Whole weeks, so that their rhythm cancels out."""

LEAST_EVENTS = 0.5
"""Of what is rarer, good or bad, expected in a block; with fewer, blocks are made of more days."""

RAREST = 0.01
"""A share below is taken for this: what never happened yet may happen, and must not seem a wonder at once."""

ALIKE = 0.001
"""How alike two scores of a day are, as correlation: at a mean of 0.85 an effect of the day with SD 0.011."""

StreamKey = tuple[str, str, str, str]  # metric, tag, value, judge


class Stream(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One metric of one value of one tag, by one judge. sums: (days from `first` on, 6), see N to W2X2."""

    metric: str
    tag: str
    value: str
    judge: str
    first: date
    sums: Floats

    @property
    def key(self) -> StreamKey:
        """Return what tells it from other streams, in the order in which they are listed."""
        return self.metric, self.tag, self.value, self.judge

    def day(self, row: int) -> date:
        """Return the date of a row of `sums`."""
        return self.first + timedelta(days=row)


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


class DayBlocks(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A stream from `begin` on, ready for change_paths: blocks of `span` days. noise, jump: see there."""

    stream: Stream
    begin: int
    span: int
    values: Floats
    weights: Floats
    noise: float
    jump: float


def streams_of(cells: Iterable[DayCell], before: date) -> list[Stream]:
    """Return the streams of the days before that day, ordered by their keys.

    The order of the cells does not matter, nor into how many cells a day's exchanges are split. A stream
    begins with its first scored exchange; days without one have sums of 0.
    """
    days_of: dict[StreamKey, dict[date, list[tuple[float, ...]]]] = {}
    for cell in cells:
        if cell.n and cell.day < before:
            days = days_of.setdefault((cell.metric, cell.tag, cell.value, cell.judge), {})
            days.setdefault(cell.day, []).append((cell.n, cell.w, cell.wx, cell.w2, cell.w2x, cell.w2x2))
    return [_stream(key, days_of[key], before) for key in sorted(days_of)]


def _stream(key: StreamKey, days: dict[date, list[tuple[float, ...]]], before: date) -> Stream:
    first = min(days)
    sums = np.zeros(((before - first).days, 6))
    for day, parts in days.items():
        sums[(day - first).days] = [math.fsum(column) for column in zip(*parts, strict=True)]
    metric, tag, value, judge = key
    return Stream(metric=metric, tag=tag, value=value, judge=judge, first=first, sums=sums)


def blocks_of(stream: Stream, begin: int, baseline_days: int) -> DayBlocks | None:
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


def is_compared(cells: Iterable[DayCell], before: date, baseline_days: int) -> bool:
    """Return whether a stream of the days before that day has a baseline, and scores after it."""
    return any(
        blocks.weights[-(-baseline_days // blocks.span) :].any()
        for stream in streams_of(cells, before)
        if (blocks := blocks_of(stream, 0, baseline_days))
    )


def _middle(base: Floats) -> float:
    total = base.sum(axis=0)
    return float(np.clip(total[WX] / total[W], RAREST, 1 - RAREST))


def _span(base: Floats) -> int | None:
    total = base.sum(axis=0)
    middle = _middle(base)
    events = total[W] ** 2 / total[W2] / len(base) * min(middle, 1 - middle)
    return next((span for span in SPANS if events * span >= LEAST_EVENTS), None)


def _weighed(stream: Stream, begin: int, span: int, base: Floats) -> DayBlocks:
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
    return DayBlocks(
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


OVERALL = 0.5
"""The part of alpha for the streams of all exchanges; the rest is for those of tags."""

EARLY = 0.8
"""The part of that for the streams that are there from the beginning; the rest is for those to come."""

AT_ONCE = 500
"""Streams that are looked at together: some 20 MB for a year."""


class Change(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A change of a stream, in days from the stream's first.

    begin: of the days that it was compared with. at: the first day after the change, estimated. raised: the
    day at whose end the evidence sufficed. log_evidence: natural log, of that day. alpha: what was spent.
    """

    stream: Stream
    begin: int
    at: int
    raised: int
    log_evidence: float
    alpha: float


class _Watched(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Where a stream is looked at: from the day `begin`, after `number` changes, with its part of alpha."""

    stream: Stream
    begin: int
    number: int
    share: float

    @property
    def alpha(self) -> float:
        return self.share / ((self.number + 1) * (self.number + 2))  # sums to share over all changes


def changes_of(streams: Sequence[Stream], alpha: float, baseline_days: int) -> list[Change]:
    """Return the changes of all streams in the order of the streams, those of one by time.

    After a change a stream begins anew on the day after it was found: a new baseline, a new part of alpha.
    """
    looks = [
        _Watched(stream=stream, begin=0, number=0, share=share)
        for stream, share in zip(streams, shares_of(streams, alpha, baseline_days), strict=True)
    ]
    changes: list[Change] = []
    while looks:
        ready = [
            (look, blocks) for look in looks if (blocks := blocks_of(look.stream, look.begin, baseline_days))
        ]
        looks = []
        for span in sorted({blocks.span for _, blocks in ready}):
            alike = [(look, blocks) for look, blocks in ready if blocks.span == span]
            for some in (alike[at : at + AT_ONCE] for at in range(0, len(alike), AT_ONCE)):
                for look, change in _first_changes(some, span, baseline_days):
                    changes.append(change)
                    looks.append(
                        msgspec.structs.replace(look, begin=change.raised + 1, number=look.number + 1)
                    )
    rank = {stream.key: at for at, stream in enumerate(streams)}
    return sorted(changes, key=lambda change: (rank[change.stream.key], change.raised))


def shares_of(streams: Sequence[Stream], alpha: float, baseline_days: int) -> list[float]:
    """Return each stream's part of alpha; they sum to at most alpha, whatever streams are still to come.

    Streams that begin in the same baseline_days share alike. How many they are is known before one of them
    is compared with anything, so that no later stream takes from what was spent before.
    """
    if not streams:
        return []
    origin = min(stream.first for stream in streams)
    groups = [(not stream.tag, (stream.first - origin).days // baseline_days) for stream in streams]
    sizes = Counter(groups)
    return [
        alpha
        * (OVERALL if overall else 1 - OVERALL)
        * (EARLY if cohort == 0 else (1 - EARLY) / (cohort * (cohort + 1)))
        / sizes[overall, cohort]
        for overall, cohort in groups
    ]


def _first_changes(
    looks: Sequence[tuple[_Watched, DayBlocks]], span: int, baseline_days: int
) -> list[tuple[_Watched, Change]]:
    """Return the first change of each stream that has one. All have blocks of the same span."""
    offsets = np.zeros(len(looks), dtype=np.intp)
    if span == 1:  # days of the same date stand under one another
        begins = [blocks.stream.first.toordinal() + blocks.begin for _, blocks in looks]
        offsets = np.asarray(np.array(begins, dtype=np.intp) - min(begins))
    n = max(offset + blocks.values.size for offset, (_, blocks) in zip(offsets, looks, strict=True))
    values, weights = np.zeros((len(looks), n)), np.zeros((len(looks), n))
    for row, (offset, (_, blocks)) in enumerate(zip(offsets, looks, strict=True)):
        values[row, offset : offset + blocks.values.size] = blocks.values
        weights[row, offset : offset + blocks.values.size] = blocks.weights
    paths = change_paths(
        values,
        weights,
        np.arange(n) % 7 if span == 1 else np.zeros(n, dtype=np.intp),
        noise=np.array([blocks.noise for _, blocks in looks]),
        jump=np.array([blocks.jump for _, blocks in looks]),
        first=offsets + -(-baseline_days // span),
    )
    changes = []
    for row, (offset, (look, blocks)) in enumerate(zip(offsets, looks, strict=True)):
        enough = paths.log_evidence[row] >= -np.log(look.alpha)
        if enough.any():
            at = int(enough.argmax())
            change = Change(
                stream=look.stream,
                begin=blocks.begin,
                at=blocks.begin + (int(paths.change[row, at]) - int(offset)) * span,
                raised=blocks.begin + (at - int(offset) + 1) * span - 1,
                log_evidence=float(paths.log_evidence[row, at]),
                alpha=look.alpha,
            )
            changes.append((look, change))
    return changes
