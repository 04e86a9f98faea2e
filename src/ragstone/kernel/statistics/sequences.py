"""A mean that is looked at again and again while observations come in: evidence and intervals, always valid.

An ordinary test may be looked at once. Looked at after every question, and stopped when it says "worse", it
is wrong far more often than its alpha. What stands here may be looked at whenever one likes.

The evidence against "the mean is at most 0" is the capital of a gambler who starts with 1 and stakes, on each
observation, a fixed share of what he has on its lying above 0. If the mean is at most 0 his capital cannot be
expected to grow, and by Ville's inequality (1939) the chance that it *ever* reaches 1/alpha is at most alpha.
The best share depends on the mean and the spread, which nobody knows, so the capital is split evenly over a
grid of shares (BETS) and the parts are summed: those that bet well soon outgrow the others (Waudby-Smith &
Ramdas 2024, "Estimating means of bounded random variables by betting").

Rows of one cluster are not independent, so an observation is a whole cluster: the sum of its rows over the
number of rows of the largest cluster, which keeps it in [-1, 1]. Such a sum has a mean of at most 0 exactly
where the mean over rows is at most 0. The price is power: a cluster that is small beside the largest moves
the capital little.
"""

import numpy as np

from ragstone.kernel.statistics.intervals import Clusters, Floats, cluster_codes, cluster_totals

BETS: Floats = np.arange(1, 11) / 11
"""Shares of the capital that are staked; below 1, so that no observation ruins the gambler."""

_HALVINGS = 40


def log_capitals(observations: Floats) -> Floats:
    """Return what each observation adds to the log capital of each bet that the mean is above 0.

    observations: any shape, each in [-1, 1]. Returns that shape and one more axis, of BETS; sums over
    observations are what log_evidence takes. Raises ValueError for a value outside.
    """
    observed = np.asarray(observations, dtype=np.float64)
    if not (np.abs(observed) <= 1 + 1e-9).all():
        raise ValueError(
            "an observation lies outside -1 to 1, or is not a number: divide by the largest possible"
        )
    return np.log1p(observed[..., None] * BETS)


def log_evidence(capitals: Floats) -> Floats:
    """Return the natural log of the evidence: of the mean capital over all bets.

    capitals: (..., bets), sums of log_capitals of the observations so far. 0 is no evidence. Against a claim
    that holds, it ever reaches log(1/alpha) with a chance of at most alpha.
    """
    highest = capitals.max(axis=-1)
    return np.asarray(highest + np.log(np.exp(capitals - highest[..., None]).mean(axis=-1)))


def sequence_interval(
    differences: Floats, clusters: Clusters | None = None, *, largest: int | None = None, level: float = 0.95
) -> tuple[float, float]:
    """Return the ends of an interval for the mean of the rows so far, low and high in [-1, 1].

    A confidence sequence: with chance `level` the intervals after every number of clusters all hold the
    mean, so that it does not matter when and why one stopped to look. differences: (rows,), each in [-1, 1];
    none gives -1 and 1. clusters: one key a row. largest: rows of the largest cluster there is, seen or not
    yet; default of those given, which only holds where all are known to be no larger. An end is the mean
    against which a gambler on the one side just has evidence of 2/(1 - level).
    """
    rows = np.asarray(differences, dtype=np.float64)
    log_capitals(rows)  # raises for values outside
    codes = cluster_codes(clusters, rows.size)
    sums, sizes = cluster_totals(np.column_stack([rows, np.ones(rows.size)]), codes).T
    most = float(largest or sizes.max(initial=1))
    if sizes.max(initial=0) > most:
        raise ValueError(f"a cluster has {sizes.max():g} rows, but the stated maximum is {most:g}")
    wanted = float(np.log(2 / (1 - level)))
    return _lowest(sums, sizes, most, wanted), -_lowest(-sums, sizes, most, wanted)


def _lowest(sums: Floats, sizes: Floats, most: float, wanted: float) -> float:
    """Return the highest mean m for which the evidence against "the mean is at most m" is as much as wanted.

    A cluster brings (sum - m * size) / (1 + m) over the size of the largest, at worst -1. It falls as m
    rises, and the evidence with it, so halving finds the end; -1 where not even the mean -1 is refuted.
    """
    low, high = -1.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        brought = (sums - middle * sizes) / (1 + middle) / most
        refuted = log_evidence(np.log1p(brought[:, None] * BETS).sum(axis=0)) >= wanted
        low, high = (middle, high) if refuted else (low, middle)
    return low
