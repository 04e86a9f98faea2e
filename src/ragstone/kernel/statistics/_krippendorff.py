"""Krippendorff's alpha: agreement of any number of raters who need not have rated every item.

1 is perfect agreement, 0 what values drawn at random from all that were given would show. An item with one
value says nothing of agreement and is left out (Krippendorff 2011, Computing Krippendorff's
alpha-reliability; Hayes and Krippendorff 2007).
"""

import math
from collections.abc import Sequence

import numpy as np

from ragstone.kernel.statistics.bootstrap import Statistic
from ragstone.kernel.statistics.correlation import centred
from ragstone.kernel.statistics.intervals import Codes, Floats, cell_totals, cluster_totals, row_sums
from ragstone.kernel.statistics.kappa import grade_codes


def krippendorff_alpha(
    values: Sequence[float] | Floats, items: Sequence[int] | Codes, distance: str = "interval"
) -> float | None:
    """Return alpha, at most 1; None where the values do not vary, or no item has two.

    values: every value that any rater gave; items: the item of each, numbered from 0. Who gave a value does
    not matter. distance: `nominal` (equal or not), `ordinal` (how many values lie between, by rank) or
    `interval` (the squared difference).
    """
    if len(values) != len(items):
        raise ValueError(f"{len(values)} values of {len(items)} items: give an item for each")
    if distance not in ALPHAS:
        raise ValueError(f"distance {distance!r} is not one of {', '.join(ALPHAS)}")
    if not len(values):
        return None
    numbers, codes = np.asarray(values, dtype=np.float64), np.asarray(items, dtype=np.intp)
    if distance == "interval":
        alpha = float(alpha_of_values(value_columns(numbers, codes).sum(axis=0)[None, :])[0])
    else:
        categories = np.unique(numbers)
        meetings = coincidence_columns(numbers, codes, categories).sum(axis=0)
        alpha = float(alpha_of_coincidences(categories, distance)(meetings[None, :])[0])
    return None if math.isnan(alpha) else alpha


def coincidence_columns(values: Floats, items: Codes, categories: Sequence[float] | Floats) -> Floats:
    """Return how often each pair of grades meets within each item, k * k cells row by row: (items, k * k).

    Every ordered pair of an item's m values counts 1 / (m - 1), so each value counts once. An item with
    fewer than two values has a row of zeros.
    """
    k = len(categories)
    counts = cell_totals(grade_codes(values, categories), k, items)
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, np.arange(k), np.arange(k)] -= counts
    others = np.maximum(counts.sum(axis=1) - 1, 1)
    return np.asarray((pairs / others[:, None, None]).reshape(len(counts), k * k))


def alpha_of_coincidences(categories: Sequence[float] | Floats, distance: str) -> Statistic:
    """Return alpha as a function of how often each pair of grades meets, (m, k * k) -> (m,).

    NaN where no disagreement is expected. distance: see krippendorff_alpha.
    """
    grades = np.asarray(categories, dtype=np.float64)
    k, disagreement = len(grades), ALPHAS[distance]
    in_row = np.repeat(np.eye(k), k, axis=0)

    def statistic(counts: Floats) -> Floats:
        margins = counts @ in_row
        observed, expected = disagreement(counts.reshape(-1, k, k), margins, grades)
        return _alpha(row_sums(margins), observed, expected)

    return statistic


def alpha_of_cells(categories: Sequence[float] | Floats, distance: str) -> Statistic:
    """Return alpha of two raters as a function of their contingency table's cells, (m, k * k) -> (m,)."""
    k, alpha = len(categories), alpha_of_coincidences(categories, distance)

    def statistic(counts: Floats) -> Floats:
        tables = counts.reshape(-1, k, k)
        return alpha((tables + tables.transpose(0, 2, 1)).reshape(-1, k * k))

    return statistic


def value_columns(values: Floats, items: Codes) -> Floats:
    """Return of each item with two values or more: how many, their sum, that of squares, and their
    disagreement, the squared differences of all ordered pairs / (m - 1): (items, 4). For interval alpha of
    values too many to be counted one by one.
    """
    centred = values - values.mean()
    sums = cluster_totals(np.stack([np.ones_like(centred), centred, centred**2], axis=1), items)
    m = sums[:, 0]
    apart = np.maximum(2 * (m * sums[:, 2] - sums[:, 1] ** 2), 0.0) / np.maximum(m - 1, 1)
    return np.where((m > 1)[:, None], np.column_stack([sums, apart]), 0.0)


def alpha_of_values(totals: Floats) -> Floats:
    """Return interval alpha from the totals of value_columns, (m, 4) -> (m,)."""
    n, sums, squares, observed = totals.T
    return _alpha(n, observed, 2 * (n * squares - sums**2))


def _alpha(n: Floats, observed: Floats, expected: Floats) -> Floats:
    """Return alpha. observed: of pairs within items; expected: of all ordered pairs of the n values."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 1e-12 * n**2, 1 - (n - 1) * observed / expected, np.nan)


def _nominal(tables: Floats, margins: Floats, _: Floats) -> tuple[Floats, Floats]:
    n = row_sums(margins)
    agreed = np.trace(tables, axis1=1, axis2=2)
    return n - agreed, n**2 - row_sums(margins**2)


def _ordinal(tables: Floats, margins: Floats, _: Floats) -> tuple[Floats, Floats]:
    """The distance of two grades is the squared difference of their mid-ranks among all values given."""
    n = np.maximum(row_sums(margins), 1)
    return _squared(tables, margins, (np.cumsum(margins, axis=1) - margins / 2) / n[:, None])


def _interval(tables: Floats, margins: Floats, grades: Floats) -> tuple[Floats, Floats]:
    return _squared(tables, margins, np.broadcast_to(centred(grades), margins.shape))


def _squared(tables: Floats, margins: Floats, places: Floats) -> tuple[Floats, Floats]:
    squares = row_sums(margins * places**2)
    within = np.einsum("mck,mc,mk->m", tables, places, places)
    expected = row_sums(margins) * squares - row_sums(margins * places) ** 2
    return 2 * (squares - within), 2 * expected


ALPHAS = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval}
