"""Two raters' grades -> which pairs agree, and their contingency table.

Categories are the grades of a scale, distinct and ascending. Tables have a row for each grade of the first
rater (the human) and a column for each of the second (the judge).
"""

from collections.abc import Sequence

import numpy as np

from ragstone.statistics.clusters import Codes, Floats


def grade_codes(values: Sequence[float] | Floats, categories: Sequence[float] | Floats) -> Codes:
    """Return the position of each value among the categories.

    Raises ValueError for a value that is no category: a table that drops pairs measures something else.
    """
    known = np.asarray(categories, dtype=np.float64)
    given = np.asarray(values, dtype=np.float64)
    if not known.size or (np.diff(known) <= 0).any():
        raise ValueError(f"categories must be distinct and ascending, not {list(categories)}")
    codes = np.searchsorted(known, given).clip(max=known.size - 1)
    strange = given[known[codes] != given]
    if strange.size:
        raise ValueError(f"{strange[0]:g} is none of the categories {known.tolist()}")
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
