"""Do two raters order the items alike? Pearson, Spearman and Kendall's tau, for all resamples at once.

Pairs of values -> columns whose totals give a correlation of any resample.

Few distinct pairs are counted, and every resample is measured anew. Many are not: there a statistic of order
two, a mean over pairs of items, is replaced by its first-order expansion, the effect of each item on it. That
is exact for the data itself, and what it leaves out of a resample is of order 1 / n.

Kendall's tau-b: of two items, how much more often do two raters order them alike than the other way round?

Tau-b allows for ties: the pairs of items that a rater ties are taken out of that rater's share (Kendall 1945,
Biometrika 33:239).
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ragstone.kernel.statistics.bootstrap import Statistic
from ragstone.kernel.statistics.intervals import Codes, Floats, row_sums

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

    def within(statistic: Statistic, start: int, end: int) -> Statistic:
        return lambda totals: statistic(totals[:, start:end])

    statistics: dict[str, Statistic] = {}
    at = 0
    for columns, own in parts:
        end = at + columns.shape[1]
        statistics |= {name: within(statistic, at, end) for name, statistic in own.items()}
        at = end
    return np.concatenate([columns for columns, _ in parts], axis=1), statistics


def mean_columns(values: Floats) -> tuple[Floats, Statistic]:
    """Return columns (rows, 2) and the mean of the values as a function of their totals; NaN without rows."""

    def mean(totals: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(totals[:, 1] > 0, totals[:, 0] / totals[:, 1], np.nan)

    return np.stack([values, np.ones_like(values)], axis=1), mean


def kendall_tau(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float | None:
    """Return tau-b, in [-1, 1]; None for fewer than two pairs or a constant rater. In n log² n steps."""
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values against {len(second)}: pair them first")
    if not len(first):
        return None
    (_, codes_a), (_, codes_b) = (levels(np.asarray(side, dtype=np.float64)) for side in (first, second))
    tau = float(tau_of_moments(tau_moments(codes_a, codes_b).sum(axis=0)[None, :])[0])
    return None if math.isnan(tau) else tau


def tau_of_cells(first: Codes, second: Codes) -> Statistic:
    """Return tau-b as a function of how often each cell occurs, (m, cells) -> (m,).

    first, second: the level of each cell, (cells,), from 0. NaN where a rater is constant.
    """
    signs = np.sign(first[:, None] - first[None, :]) * np.sign(second[:, None] - second[None, :])
    alike = signs.astype(np.float64)
    in_a, in_b = np.eye(int(first.max()) + 1)[first], np.eye(int(second.max()) + 1)[second]

    def statistic(counts: Floats) -> Floats:
        n = row_sums(counts)
        together = row_sums((counts @ alike) * counts)
        untied = [n**2 - row_sums((counts @ inside) ** 2) for inside in (in_a, in_b)]
        return tau_of_moments(np.stack([n**2, together, *untied], axis=1))

    return statistic


def tau_moments(first: Codes, second: Codes) -> Floats:
    """Return each item's share in tau-b: weight, concordant less discordant, untied by either: (n, 4).

    first, second: the level of each item, from 0. The expansion of order one of means over pairs of items
    (Hoeffding 1948): twice what an item meets among all others, less the mean of that.
    """
    n = len(first)
    ties_a, ties_b = (np.bincount(codes)[codes] for codes in (first, second))
    both = first * (int(second.max(initial=0)) + 1) + second
    _, where, times = np.unique(both, return_inverse=True, return_counts=True)
    untied = n - ties_a - ties_b + times[where]
    concordant = _dominated(first, second) + _dominated(first.max() - first, second.max() - second)
    shares = np.stack([2 * concordant - untied, n - ties_a, n - ties_b], axis=1) / n
    return np.column_stack([np.ones(n), 2 * shares - shares.mean(axis=0)])


def tau_of_moments(totals: Floats) -> Floats:
    """Return tau-b from (m, 4): weight, concordant less discordant pairs, pairs untied by each rater."""
    with np.errstate(invalid="ignore", divide="ignore"):
        pairs = totals[:, 1:] / totals[:, :1]
        varies = (pairs[:, 1] > 1e-12) & (pairs[:, 2] > 1e-12)
        return np.where(varies, np.clip(pairs[:, 0] / np.sqrt(pairs[:, 1] * pairs[:, 2]), -1, 1), np.nan)


def _dominated(first: Codes, second: Codes) -> Codes:
    """Return for each item how many others are below it for both raters.

    A merge sort that counts: at each width, items of a right half count those of its left half with a lower
    second value. Ties of the first rater are put in descending order of the second, and so never counted.
    """
    order = np.lexsort((-second, first))
    values = second[order].astype(np.int64)
    n = len(values)
    position = np.arange(n)
    counted = np.zeros(n, dtype=np.intp)
    width = 1
    while width < n:
        block, left = position // (2 * width), position // width % 2 == 0
        # Of equal values the right half comes first: it does not count them.
        by = np.argsort((block * (n + 1) + values) * 2 + left)
        from_left = left[by]
        counted[by] += np.where(from_left, 0, np.cumsum(from_left) - block[by] * width)
        width *= 2
    counts = np.empty(n, dtype=np.intp)
    counts[order] = counted
    return counts


def pearson(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float | None:
    """Return Pearson's correlation, in [-1, 1]; None for fewer than two pairs or a constant rater."""
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values against {len(second)}: pair them first")
    if len(first) < 2:
        return None
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.min() == a.max() or b.min() == b.max():
        return None
    a, b = a - a.mean(), b - b.mean()
    return float(np.clip(a @ b / math.sqrt((a @ a) * (b @ b)), -1.0, 1.0))


def spearman(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float | None:
    """Return Spearman's rank correlation, in [-1, 1]; equal values share their mean rank. None as pearson."""
    return pearson(_ranks(first), _ranks(second))


def _ranks(values: Sequence[float] | Floats) -> Floats:
    """Return the mid-rank of each value / n, in (0, 1)."""
    array = np.asarray(values, dtype=np.float64)
    _, codes, counts = np.unique(array, return_inverse=True, return_counts=True)
    return np.asarray(((np.cumsum(counts) - counts / 2) / max(1, array.size))[codes])


def correlation_columns(first: Floats, second: Floats) -> tuple[Floats, dict[str, Statistic]]:
    """Return columns (pairs, k), and Pearson, Spearman and tau-b as functions of their totals.

    Up to 256 distinct pairs of values, the columns count them and each resample is measured anew. Beyond,
    ranking 10,000 resamples is too slow: the columns are each pair's share in the moments of the values, of
    the ranks and of the concordant pairs (see pairs.py; exact for the data itself).
    """
    (known_a, codes_a), (known_b, codes_b) = levels(first), levels(second)
    kinds = kinds_of_pairs(codes_a, codes_b)
    if kinds:
        in_a, in_b, kind_of_pair = kinds
        return one_hot(kind_of_pair, len(in_a)), {
            "Pearson": pearson_of_cells(known_a[in_a], known_b[in_b]),
            "Spearman": spearman_of_cells(in_a, in_b),
            "Kendall tau-b": tau_of_cells(in_a, in_b),
        }
    return join_columns(
        [
            (_value_moments(first, second), {"Pearson": _pearson_of_moments}),
            (_rank_moments(first, second, codes_a, codes_b), {"Spearman": _spearman_of_moments}),
            (tau_moments(codes_a, codes_b), {"Kendall tau-b": tau_of_moments}),
        ]
    )


def spearman_columns(first: Floats, second: Floats) -> tuple[Floats, Statistic]:
    """Return columns (pairs, 4) and Spearman's correlation as a function of their totals (see pairs.py)."""
    (_, codes_a), (_, codes_b) = levels(first), levels(second)
    return _rank_moments(first, second, codes_a, codes_b), _spearman_of_moments


def pearson_of_cells(first: Floats, second: Floats) -> Statistic:
    """Return Pearson's correlation as a function of how often each cell occurs, (m, cells) -> (m,).

    first, second: the values of each cell, (cells,). NaN where a rater is constant.
    """
    moments = _value_moments(first, second)
    return lambda counts: _pearson_of_moments(counts @ moments)


def _value_moments(first: Floats, second: Floats) -> Floats:
    """Return 1, a, b, ab, aa, bb; the values are centred and of unit spread, so that nothing cancels."""
    a, b = centred(first), centred(second)
    return np.stack([np.ones_like(a), a, b, a * b, a * a, b * b], axis=1)


def centred(values: Floats) -> Floats:
    """Return values less their mean and over their range, so that sums of squares lose no digits."""
    spread = float(np.ptp(values)) or 1.0
    return np.asarray((values - values.mean()) / spread, dtype=np.float64)


def _pearson_of_moments(totals: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = totals[:, 1:] / totals[:, :1]
        together = mean[:, 2] - mean[:, 0] * mean[:, 1]
        return _ratio(together, mean[:, 3] - mean[:, 0] ** 2, mean[:, 4] - mean[:, 1] ** 2)


def _rank_moments(first: Floats, second: Floats, codes_a: Codes, codes_b: Codes) -> Floats:
    """Return each pair's share in the moments of the ranks, its effect on the ranks of others included."""
    ranks_a, ranks_b = _ranks(first), _ranks(second)
    product = ranks_a * ranks_b
    columns = [
        np.ones_like(product),
        product + share_above(codes_a, ranks_b) + share_above(codes_b, ranks_a) - 2 * product.mean(),
        ranks_a**2 + 2 * share_above(codes_a, ranks_a) - 2 * np.mean(ranks_a**2),
        ranks_b**2 + 2 * share_above(codes_b, ranks_b) - 2 * np.mean(ranks_b**2),
    ]
    return np.stack(columns, axis=1)


def spearman_of_cells(first: Codes, second: Codes) -> Statistic:
    """Return Spearman's correlation as a function of how often each cell occurs, (m, cells) -> (m,).

    first, second: the level of each cell, (cells,), from 0. NaN where a rater is constant.
    """
    in_a, in_b = np.eye(int(first.max()) + 1)[first], np.eye(int(second.max()) + 1)[second]

    def statistic(counts: Floats) -> Floats:
        n = row_sums(counts)
        levels_a, levels_b = counts @ in_a, counts @ in_b
        ranks_a = np.cumsum(levels_a, axis=1) - levels_a / 2
        ranks_b = np.cumsum(levels_b, axis=1) - levels_b / 2
        together = row_sums(counts * ranks_a[:, first] * ranks_b[:, second])
        square_a, square_b = row_sums(levels_a * ranks_a**2), row_sums(levels_b * ranks_b**2)
        return _spearman_of_moments(np.stack([n**3, together, square_a, square_b], axis=1))

    return statistic


def _spearman_of_moments(totals: Floats) -> Floats:
    """Return the correlation from (m, 4): weight, and the sums of a*b, a*a and b*b of ranks / n, mean 1/2."""
    with np.errstate(invalid="ignore", divide="ignore"):
        moments = totals[:, 1:] / totals[:, :1] - 0.25
        return _ratio(moments[:, 0], moments[:, 1], moments[:, 2])


def _ratio(together: Floats, first: Floats, second: Floats) -> Floats:
    varies = (first > 1e-12) & (second > 1e-12)
    return np.where(varies, np.clip(together / np.sqrt(first * second), -1.0, 1.0), np.nan)
