"""Pairs of values -> columns whose totals give a correlation of any resample.

Few distinct pairs are counted, and every resample is measured anew. Many are not: there a statistic of order
two, a mean over pairs of items, is replaced by its first-order expansion, the effect of each item on it. That
is exact for the data itself, and what it leaves out of a resample is of order 1 / n.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from ragstone.statistics.bootstrap import Statistic
from ragstone.statistics.clusters import Codes, Floats

EXACT_CELLS = 256  # up to so many distinct pairs of values, every resample is measured anew
MANY = 5_000  # items beyond which the expansion is as good, and so many cells slow
CELLS_OF_MANY = 32


def levels(values: Floats) -> tuple[Floats, Codes]:
    """Return the distinct values, ascending, and the place of each value among them."""
    known, codes = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
    return known, codes


def kinds_of_pairs(first: Codes, second: Codes) -> tuple[Codes, Codes, Codes] | None:
    """Return the levels of both of each distinct pair, and the kind of each pair.

    None beyond 256 kinds, or 32 where there are more than 5,000 pairs.
    """
    width = int(second.max(initial=0)) + 1
    kinds, kind_of_pair = np.unique(first * width + second, return_inverse=True)
    if len(kinds) > (EXACT_CELLS if len(first) <= MANY else min(EXACT_CELLS, CELLS_OF_MANY)):
        return None
    return kinds // width, kinds % width, kind_of_pair


def one_hot(codes: Codes, n: int) -> Floats:
    """Return a column for each of n kinds, 1 where a row is of it: their totals count the kinds."""
    return np.eye(n)[codes]


def share_below(codes: Codes, worth: Floats) -> Floats:
    """Return for each item the worth of those below it, equals counted half, as a share of n items."""
    sums = np.bincount(codes, weights=worth)
    return np.asarray(((np.cumsum(sums) - sums / 2) / len(codes))[codes])


def share_above(codes: Codes, worth: Floats) -> Floats:
    """Return for each item the worth of those above it, equals counted half, as a share of n items."""
    sums = np.bincount(codes, weights=worth)
    return np.asarray(((sums.sum() - np.cumsum(sums) + sums / 2) / len(codes))[codes])


def join_columns(
    parts: Sequence[tuple[Floats, Mapping[str, Statistic]]],
) -> tuple[Floats, dict[str, Statistic]]:
    """Return the columns of several parts side by side, and each part's statistics on its own columns.

    All parts are of the same rows; names of statistics differ. One draw of resamples then serves all.
    """
    statistics: dict[str, Statistic] = {}
    at = 0
    for columns, found in parts:
        end = at + columns.shape[1]
        statistics |= {name: _of_columns(statistic, at, end) for name, statistic in found.items()}
        at = end
    return np.concatenate([columns for columns, _ in parts], axis=1), statistics


def _of_columns(statistic: Statistic, start: int, end: int) -> Statistic:
    return lambda totals: statistic(totals[:, start:end])


def mean_columns(values: Floats) -> tuple[Floats, Statistic]:
    """Return columns (rows, 2) and the mean of the values as a function of their totals; NaN without rows."""
    return np.stack([values, np.ones_like(values)], axis=1), _mean


def _mean(totals: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(totals[:, 1] > 0, totals[:, 0] / totals[:, 1], np.nan)
