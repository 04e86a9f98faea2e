"""The one place where a mean, or a difference of means, is taken and given its interval."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ragstone.kernel.statistics.bootstrap import RESAMPLES, Statistic, bootstrap_estimates
from ragstone.kernel.statistics.estimate import Estimate
from ragstone.kernel.statistics.intervals import (
    Clusters,
    Codes,
    Floats,
    cluster_codes,
    cluster_totals,
    is_yes_no,
    n_clusters,
    student_quantile,
    wilson_interval,
)

FEW = 30
"""Clusters below which zeros and ones are not resampled: resamples of so few reach 0 and 1 by themselves."""


def mean_estimate(
    values: Sequence[float] | Floats,
    clusters: Clusters | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    proportion: bool = True,
) -> Estimate | None:
    """Return the mean with its interval, None if there are no values.

    values: finite, in any unit; the mean has the same. clusters: one key a value, equal for values that
    are not independent (questions of one document); None if all are. Wilson if all values are 0 or 1 and
    no two share a cluster, or fewer than FEW clusters hold them (see effective_size); else BCa bootstrap of
    whole clusters. If all are 0, or all 1, nothing varies: then Wilson with every cluster counted once,
    which errs on the wide side. proportion: False for values that could be other than 0 and 1 though none
    of these is (grades from 0 to 3): never Wilson.
    """
    if not len(values):
        return None
    return mean_estimates(
        {"": values}, clusters, seed=seed, resamples=resamples, level=level, proportion=proportion
    )[""]


def is_same_mean(mean: float, other: float) -> bool:
    """Return whether two means are equal, apart from the rounding of their sums."""
    return math.isclose(mean, other, rel_tol=1e-9, abs_tol=1e-12)


def mean_bounds(mean: float, n: int, n_missing: int, ends: tuple[float, float]) -> tuple[float, float]:
    """Return what a mean would be if every missing value were the lowest, and if it were the highest.

    mean: of n values. ends: the lowest and the highest value that is possible. No chance is in them: they
    hold whatever the missing values are.
    """
    low, high = ((n * mean + n_missing * end) / (n + n_missing) for end in ends)
    return low, high


def mean_estimates(
    columns: Mapping[str, Sequence[float] | Floats],
    clusters: Clusters | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    proportion: bool = True,
) -> dict[str, Estimate]:
    """Return the mean of each column with its interval, as mean_estimate does; empty if there are no rows.

    columns: values of the same rows in the same order. Those that are resampled share their resamples: many
    columns take little longer than one.
    """
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}
    n = {array.size for array in arrays.values()}
    if len(n) > 1:
        raise ValueError(f"columns of {sorted(n)} values: they must be of the same rows")
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise ValueError("a value is not a finite number: leave failures out and count them")
    if not n or n == {0}:
        return {}
    codes = cluster_codes(clusters, n.pop())
    estimates = {name: _wilson(array, codes, level) if proportion else None for name, array in arrays.items()}
    drawn = [name for name, estimate in estimates.items() if estimate is None]
    if drawn:
        totals = _totals(np.stack([arrays[name] for name in drawn], axis=1), codes)
        means = {name: _mean(at) for at, name in enumerate(drawn)}
        estimates |= bootstrap_estimates(
            totals, means, codes.size, seed=seed, resamples=resamples, level=level
        )
    return {name: estimate for name, estimate in estimates.items() if estimate is not None}


def difference_estimates(
    columns: Floats,
    pairs: Sequence[tuple[int, int]],
    clusters: Clusters | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> list[Estimate]:
    """Return the mean difference, first minus second, of each pair of columns with its paired BCa interval.

    columns: (rows, k), at least one row; the values of a row belong together and are drawn together, with
    all rows of their cluster. The interval is None where the difference is the same in every cluster.
    """
    totals = _totals(columns, cluster_codes(clusters, len(columns)))
    differences = {str(at): _difference(*pair) for at, pair in enumerate(pairs)}
    estimates = bootstrap_estimates(
        totals, differences, len(columns), seed=seed, resamples=resamples, level=level
    )
    return [estimate for estimate in estimates.values() if estimate is not None]


def mean_contrast(
    values: Floats,
    inside: Floats,
    clusters: Clusters | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate | None:
    """Return the mean of the values inside minus that of the others, with its interval; None without either.

    inside: (n,), 1 or 0. Both means are of the same resamples of whole clusters.
    """
    outside = 1.0 - inside
    columns = np.column_stack([inside * values, inside, outside * values, outside])
    totals = cluster_totals(columns, cluster_codes(clusters, len(values)))

    def contrast(totals: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(totals[:, 0] / totals[:, 1] - totals[:, 2] / totals[:, 3])

    return bootstrap_estimates(totals, {"": contrast}, len(values), seed=seed, resamples=resamples)[""]


def effective_size(values: Floats, codes: Codes, level: float = 0.95, *, most: float | None = None) -> float:
    """Return how many independent zeros and ones tell as much as these, which clusters hold; at most n.

    values: 0 and 1, both among them, or shares of zeros and ones; then `most` is how many of these there
    are, and stands for n. codes: see cluster_codes; at least 2 clusters. n is divided by the design effect,
    the variance of the share over clusters (linearised) against that of independent rows, and by the squared
    ratio of Student's quantiles, for few clusters tell that variance badly (Korn and Graubard 1998, Survey
    Methodology 24:193). Wilson's interval of it: Dean and Pagano 2015, Journal of Survey Statistics and
    Methodology 3:484. In simulation (benchmarks/interval_coverage.py) 4 to 30 clusters hold 92 to 99 % but
    for few that are all but copies of each other; resamples of 6 reach from 0 to 1.
    """
    n, clusters, share = values.size, n_clusters(codes), float(values.mean())
    whole = float(n) if most is None else most
    totals = _totals(values[:, None], codes)
    apart = totals[:, 0] - share * totals[:, 1]
    variance = clusters / (clusters - 1) * float(apart @ apart) / n**2
    if variance <= 0:  # the same share in every cluster
        return whole
    quantile = 0.5 + level / 2
    unsure = student_quantile(quantile, max(1, round(whole) - 1)) / student_quantile(quantile, clusters - 1)
    return min(whole, share * (1 - share) / (whole - 1) / variance * whole * unsure**2)


def _wilson(array: Floats, codes: Codes, level: float) -> Estimate | None:
    """Return the estimate of zeros and ones: alike, independent, or in few clusters; None of others."""
    clusters, n = n_clusters(codes), array.size
    if not is_yes_no(array):
        return None
    mean = float(array.mean())
    if array.min() == array.max() or clusters == n:
        low, high = wilson_interval(round(mean * clusters), clusters, level)
    elif 1 < clusters < FEW:
        size = effective_size(array, codes, level)
        low, high = wilson_interval(mean * size, size, level)
    else:
        return None
    return Estimate(value=mean, low=low, high=high, n=n, method="wilson", level=level)


def _totals(columns: Floats, codes: Codes) -> Floats:
    """Return the sums of each cluster, and last its number of rows: (clusters, k + 1)."""
    return cluster_totals(np.column_stack([columns, np.ones(len(columns))]), codes)


def _mean(column: int) -> Statistic:
    return lambda totals: np.asarray(totals[:, column] / totals[:, -1])


def _difference(first: int, second: int) -> Statistic:
    return lambda totals: np.asarray((totals[:, first] - totals[:, second]) / totals[:, -1])
