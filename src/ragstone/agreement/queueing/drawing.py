"""Chances -> a sample of exactly n rows, each drawn with its chance."""

import numpy as np

from ragstone.statistics import Codes, Floats

SURE = 1.0 - 1e-9


def chances_of(sizes: Floats, n: int, spread: float) -> Floats:
    """Return each row's chance to be one of n that are drawn, in proportion to its size; together n.

    sizes: (rows,), 0 or more. spread: the share of the n that goes to all rows alike, whatever their size, so
    that no chance is 0 and no guess of a size can do more harm than that; 1 makes all chances equal. A row
    whose chance would be above 1 is drawn for certain, and the others share what is left.
    """
    rows = len(sizes)
    if n >= rows:
        return np.ones(rows)
    total = sizes.sum()
    mixed = np.full(rows, 1 / rows) if total <= 0 else spread / rows + (1 - spread) * sizes / total
    chances, sure = np.zeros(rows), np.zeros(rows, dtype=bool)
    while True:
        left = n - int(sure.sum())
        chances = np.where(sure, 1.0, left * mixed / mixed[~sure].sum())
        above = ~sure & (chances > SURE)
        if not above.any():
            return chances
        sure |= above


def draw(chances: Floats, order: Codes, rng: np.random.Generator) -> Codes:
    """Return the places of the rows drawn, in random order: as many as the chances are together.

    Systematic sampling (Madow 1949): a step of 1 through the sums of the chances from a random start, so
    each row has its chance exactly, and rows that stand near each other in `order` are not all drawn or all
    missed. Since the order returned is random, the first of them are a sample with the same ratio of chances.
    """
    n = round(float(chances.sum()))
    if n >= len(chances):
        return rng.permutation(order)
    sums = np.cumsum(chances[order])
    steps = (np.arange(n) + rng.random()) * (sums[-1] / n)
    places = np.searchsorted(sums, steps, side="right")
    return rng.permutation(order[np.minimum(places, len(order) - 1)])
