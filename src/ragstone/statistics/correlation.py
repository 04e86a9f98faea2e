"""Do two raters order the items alike? Pearson and Spearman, for one sample and for all resamples at once."""

import math
from collections.abc import Sequence

import numpy as np

from ragstone.statistics.bootstrap import Statistic
from ragstone.statistics.clusters import Codes, Floats

EXACT_CELLS = 256  # up to so many distinct pairs of values, every resample is ranked anew


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
    return pearson(_levels(first)[1], _levels(second)[1])


def _levels(values: Sequence[float] | Floats) -> tuple[Codes, Floats]:
    """Return the level of each value (equal values share one, from 0) and its mid-rank / n, in (0, 1)."""
    array = np.asarray(values, dtype=np.float64)
    _, codes, counts = np.unique(array, return_inverse=True, return_counts=True)
    return codes, ((np.cumsum(counts) - counts / 2) / max(1, array.size))[codes]


def spearman_columns(first: Floats, second: Floats) -> tuple[Floats, Statistic]:
    """Return columns (pairs, k) and Spearman's correlation as a function of their totals, for the bootstrap.

    Up to 256 distinct pairs of values, the columns count them and each resample is ranked anew. Beyond,
    ranking 10,000 resamples is too slow: the columns are each pair's share in the moments of the ranks, its
    effect on the ranks of the others included (the first-order expansion; exact for the data itself).
    """
    (codes_a, ranks_a), (codes_b, ranks_b) = _levels(first), _levels(second)
    width = int(codes_b.max()) + 1
    kinds, kind_of_pair = np.unique(codes_a * width + codes_b, return_inverse=True)
    if len(kinds) <= EXACT_CELLS:
        return np.eye(len(kinds))[kind_of_pair], spearman_of_cells(kinds // width, kinds % width)
    product = ranks_a * ranks_b
    columns = [
        np.ones_like(product),
        product + _above(codes_a, ranks_b) + _above(codes_b, ranks_a) - 2 * product.mean(),
        ranks_a**2 + 2 * _above(codes_a, ranks_a) - 2 * np.mean(ranks_a**2),
        ranks_b**2 + 2 * _above(codes_b, ranks_b) - 2 * np.mean(ranks_b**2),
    ]
    return np.stack(columns, axis=1), _spearman_of_moments


def _above(codes: Codes, worth: Floats) -> Floats:
    """Return the mean worth of those above each item, equals counted half: its effect on their ranks."""
    sums = np.bincount(codes, weights=worth)
    return np.asarray(((sums.sum() - np.cumsum(sums) + sums / 2) / len(codes))[codes])


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
        spread = moments[:, 1] * moments[:, 2]
        varies = (moments[:, 1] > 1e-12) & (moments[:, 2] > 1e-12)
        return np.where(varies, np.clip(moments[:, 0] / np.sqrt(spread), -1.0, 1.0), np.nan)
