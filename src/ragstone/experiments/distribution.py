"""Judgements -> how many have each score: what a mean alone does not say."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from ragstone.records import Judgement

MOST_VALUES = 11  # different whole scores of a scale that are counted one by one, as 0 to 10
N_BINS = 10

Key = tuple[str, str, str, str]


class Bin(msgspec.Struct, frozen=True, kw_only=True):
    """The rows whose score is `low` (where low == high), or from low to below high, the last up to high."""

    low: float
    high: float
    n: int


class Distribution(msgspec.Struct, frozen=True, kw_only=True):
    """The scored rows of one judge and system by their score, lowest first, empty bins among them."""

    system: str
    judge: str
    metric: str
    model: str
    bins: list[Bin]


def distributions(judgements: Iterable[Judgement]) -> list[Distribution]:
    """Return one a system, judge, metric and model that scored anything on a known scale, in row order.

    On a scale of at most MOST_VALUES whole numbers, all scores whole, each number is a bin; else there are
    N_BINS of equal width.
    """
    counts: dict[Key, Counter[float]] = {}
    scales: dict[Key, tuple[float, float]] = {}
    for row in judgements:
        if row.score is None or row.scale is None or row.scale[1] <= row.scale[0]:
            continue
        key = (row.system, row.judge, row.metric, row.model)
        counts.setdefault(key, Counter())[row.score] += 1
        scales.setdefault(key, row.scale)
    return [
        Distribution(system=key[0], judge=key[1], metric=key[2], model=key[3], bins=_bins(found, scales[key]))
        for key, found in counts.items()
    ]


def _bins(counts: Counter[float], scale: tuple[float, float]) -> list[Bin]:
    low, high = scale
    if high - low < MOST_VALUES and all(float(end).is_integer() for end in (low, high, *counts)):
        whole = range(int(low), int(high) + 1)
        return [Bin(low=value, high=value, n=counts.get(float(value), 0)) for value in whole]
    width = (high - low) / N_BINS
    n_of: Counter[int] = Counter()
    for score, n in counts.items():
        n_of[min(max(int((score - low) / width), 0), N_BINS - 1)] += n
    return [Bin(low=low + at * width, high=low + (at + 1) * width, n=n_of[at]) for at in range(N_BINS)]
