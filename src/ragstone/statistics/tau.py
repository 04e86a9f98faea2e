"""Kendall's tau-b: of two items, how much more often do two raters order them alike than the other way round?

Tau-b allows for ties: the pairs of items that a rater ties are taken out of that rater's share (Kendall 1945,
Biometrika 33:239).
"""

import math
from collections.abc import Sequence

import numpy as np

from ragstone.statistics.bootstrap import Statistic
from ragstone.statistics.clusters import Codes, Floats
from ragstone.statistics.pairs import levels


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
        n = counts.sum(axis=1)
        together = ((counts @ alike) * counts).sum(axis=1)
        untied = [n**2 - ((counts @ inside) ** 2).sum(axis=1) for inside in (in_a, in_b)]
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
    place = np.arange(n)
    found = np.zeros(n, dtype=np.intp)
    width = 1
    while width < n:
        block, left = place // (2 * width), place // width % 2 == 0
        # Of equal values the right half comes first: it does not count them.
        by = np.argsort((block * (n + 1) + values) * 2 + left)
        from_left = left[by]
        found[by] += np.where(from_left, 0, np.cumsum(from_left) - block[by] * width)
        width *= 2
    counts = np.empty(n, dtype=np.intp)
    counts[order] = found
    return counts
