"""Cohen's kappa: agreement beyond what two raters with these habits would reach by chance.

Two raters' grades -> which pairs agree, and their contingency table.

Categories are the grades of a scale, distinct and ascending. Tables have a row for each grade of the first
rater (the human) and a column for each of the second (the judge).
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from ragstone.kernel.statistics.bootstrap import Statistic
from ragstone.kernel.statistics.intervals import Codes, Floats, row_sums

MAX_GRADES = 11  # 0 to 10 is a scale of grades; more values than that are read as a continuous scale


def grade_codes(values: Sequence[float] | Floats, categories: Sequence[float] | Floats) -> Codes:
    """Return the position of each value among the categories.

    Raises ValueError for a value that is no category: a table that drops pairs measures something else.
    """
    known = np.asarray(categories, dtype=np.float64)
    grades = np.asarray(values, dtype=np.float64)
    if not known.size or (np.diff(known) <= 0).any():
        raise ValueError(f"categories must be distinct and ascending, not {list(categories)}")
    codes = np.searchsorted(known, grades).clip(max=known.size - 1)
    strange = grades[known[codes] != grades]
    if strange.size:
        raise ValueError(f"{strange[0]:g} is not one of the categories {known.tolist()}")
    return codes


def cell_codes(
    first: Sequence[float] | Floats, second: Sequence[float] | Floats, categories: Sequence[float] | Floats
) -> Codes:
    """Return the cell of each pair in the table of k categories, row by row: from 0 to k * k - 1."""
    if len(first) != len(second):
        raise ValueError(f"{len(first)} grades against {len(second)}: pair them first")
    return grade_codes(first, categories) * len(categories) + grade_codes(second, categories)


def contingency_table(
    first: Sequence[float] | Floats, second: Sequence[float] | Floats, categories: Sequence[float] | Floats
) -> Floats:
    """Return how often each pair of grades occurs, (k, k): rows `first`, columns `second`."""
    k = len(categories)
    cells = cell_codes(first, second, categories)
    return np.bincount(cells, minlength=k * k).reshape(k, k).astype(np.float64)


def exact_matches(first: Floats, second: Floats) -> Floats:
    """Return 1 for each pair of equal grades, else 0. The mean is the exact agreement."""
    return np.asarray(first == second, dtype=np.float64)


def matches_within_one(first: Floats, second: Floats, categories: Sequence[float]) -> Floats:
    """Return 1 for each pair that differs by one step at most, else 0.

    A step is 1 if all categories are whole numbers, else the smallest distance between two of them.
    """
    grades = np.asarray(categories, dtype=np.float64)
    whole = bool((grades == np.round(grades)).all())
    step = 1.0 if whole else float(np.diff(grades).min(initial=np.inf))
    return np.asarray(np.abs(first - second) <= step * (1 + 1e-9), dtype=np.float64)


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
    both raters gave the same grade throughout (Cohen 1960, 1968).
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
    in_row, in_column = np.repeat(np.eye(k), k, axis=0), np.tile(np.eye(k), (k, 1))

    def statistic(counts: Floats) -> Floats:
        observed = (counts @ weights.ravel()) * row_sums(counts)
        expected = row_sums((counts @ in_row @ weights) * (counts @ in_column))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(expected > 0, 1 - observed / expected, np.nan)

    return statistic
