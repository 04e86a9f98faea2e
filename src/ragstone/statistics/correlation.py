"""Do two raters order the items alike? Pearson and Spearman, for one sample and for all resamples at once."""

import math
from collections.abc import Sequence

import numpy as np

from ragstone.statistics.bootstrap import Statistic
from ragstone.statistics.clusters import Codes, Floats
from ragstone.statistics.pairs import join_columns, kinds_of_pairs, levels, one_hot, share_above
from ragstone.statistics.tau import tau_moments, tau_of_cells, tau_of_moments


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
    a, b = (_standard(values) for values in (first, second))
    return np.stack([np.ones_like(a), a, b, a * b, a * a, b * b], axis=1)


def _standard(values: Floats) -> Floats:
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
        n = counts.sum(axis=1)
        levels_a, levels_b = counts @ in_a, counts @ in_b
        ranks_a = np.cumsum(levels_a, axis=1) - levels_a / 2
        ranks_b = np.cumsum(levels_b, axis=1) - levels_b / 2
        together = (counts * ranks_a[:, first] * ranks_b[:, second]).sum(axis=1)
        square_a, square_b = (levels_a * ranks_a**2).sum(axis=1), (levels_b * ranks_b**2).sum(axis=1)
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
