"""Cohen's kappa: agreement beyond what two raters with these habits would reach by chance."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from ragstone.statistics.bootstrap import Statistic
from ragstone.statistics.clusters import Floats
from ragstone.statistics.contingency import contingency_table

Disagreement = Callable[[Floats], Floats]
"""Grades (k,) -> how much each pair of them disagrees, (k, k): 0 on the diagonal."""


def nominal(grades: Floats) -> Floats:
    """Every disagreement weighs the same: unweighted kappa."""
    return 1.0 - np.eye(len(grades))


def linear(grades: Floats) -> Floats:
    """A disagreement weighs the distance between the grades themselves, not between their positions."""
    return np.abs(grades[:, None] - grades[None, :])


def quadratic(grades: Floats) -> Floats:
    """A disagreement weighs the squared distance between the grades themselves."""
    return np.asarray((grades[:, None] - grades[None, :]) ** 2)


def cohen_kappa(
    first: Sequence[float] | Floats,
    second: Sequence[float] | Floats,
    categories: Sequence[float] | Floats,
    disagreement: Disagreement = nominal,
) -> float | None:
    """Return Cohen's kappa of two raters' grades, at most 1; 0 is chance.

    first, second: the grades of the same items in the same order. categories: every grade of the scale,
    distinct and ascending; one that nobody gave changes nothing. Weights use the real distance between
    grades: 0, 0.5 and 2 are not equally spaced. None where chance alone would agree always: no items, or
    both raters gave one and the same grade throughout (Cohen 1960, 1968).
    """
    table = contingency_table(first, second, categories)
    kappa = float(kappa_of_cells(categories, disagreement)(table.reshape(1, -1))[0])
    return None if math.isnan(kappa) else kappa


def kappa_of_cells(categories: Sequence[float] | Floats, disagreement: Disagreement) -> Statistic:
    """Return kappa as a function of how often each cell of the table occurs, (m, k * k) -> (m,).

    Cells are counted row by row, as contingency_table has them. NaN where no disagreement is expected.
    """
    k = len(categories)
    weights = disagreement(np.asarray(categories, dtype=np.float64))

    def statistic(counts: Floats) -> Floats:
        tables = counts.reshape(-1, k, k)
        rows, columns = tables.sum(axis=2), tables.sum(axis=1)
        observed = (counts @ weights.ravel()) * counts.sum(axis=1)
        expected = ((rows @ weights) * columns).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(expected > 0, 1 - observed / expected, np.nan)

    return statistic
