"""BCa bootstrap over whole clusters, of every statistic that follows from sums over the data.

Means, rates, kappa and correlations need only sums: of values, of the cells of a table, of products. So the
data is one row of sums for each cluster, a resample is a weighted sum of these rows, and all resamples
together are one matrix product. Clusters with equal rows are interchangeable: they are drawn together.
"""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from ragstone.kernel.statistics.estimate import Estimate
from ragstone.kernel.statistics.intervals import Floats, student_quantile

RESAMPLES = 10_000
Statistic = Callable[[Floats], Floats]
"""Totals (m, k) -> m values. NaN marks an undefined one, in here only: it leaves this file as None."""

UNDEFINED_AT_MOST = 0.05  # share of resamples in which a statistic may be undefined (kappa of one category)
BLOCK = 2**18  # numbers that are held at a time while resampling: 2 MB stays in the processor's cache
GROUPED_FROM = 10_000  # clusters beyond which they are drawn in groups
GROUPS = 5_000
FEW = 255  # clusters up to which draws are kept: none can be drawn more often than a byte holds
HIGHEST = 1 - 1e-9  # level whose quantiles are the least and the greatest of 10,000 resamples
MULTINOMIAL_PAYS = 25  # a multinomial draw costs about 70 ns for each distinct row, an index 3 ns a cluster


def bootstrap_estimates(
    totals: Floats,
    statistics: Mapping[str, Statistic],
    n: int,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> dict[str, Estimate | None]:
    """Return each statistic of the data with its BCa interval, all from the same resamples.

    totals: (clusters, k), at least one cluster. n: observations that they rest on. A statistic that is
    undefined for the data is None. Its interval is None if there is one cluster, if no resample differs
    from another, or if it is undefined in more than 5 % of them (fewer are left out). The order of the
    clusters does not matter. The quantiles are those of expanded_level. An end never lies outside what
    resamples give, so kappa stays within 1; and for the same reason an interval from fewer than 5 clusters
    is too narrow.

    Beyond 10,000 clusters that are not alike, they are put together at random in at most 5,000 groups of
    equal size, and groups are drawn: 20 times as fast at 100,000, and intervals as wide but for 1 % by
    chance (the random groups of survey sampling, Wolter 2007).

    Efron 1987, doi:10.1080/01621459.1987.10478410; acceleration by leaving out one cluster at a time.
    """
    rows, counts = _distinct(totals)
    whole = counts @ rows
    drawn = _resampled(rows, counts, resamples, seed) if statistics and len(totals) > 1 else None
    estimates: dict[str, Estimate | None] = {}
    for name, statistic in statistics.items():
        value = float(statistic(whole[None, :])[0])
        if math.isnan(value):
            estimates[name] = None
            continue
        ends = None
        if drawn is not None:
            step = max(1, BLOCK // rows.shape[1])
            without_one = [statistic(whole - rows[at : at + step]) for at in range(0, len(rows), step)]
            acceleration = _acceleration(np.concatenate(without_one), counts)
            ends = _bca(value, statistic(drawn), acceleration, expanded_level(level, len(totals)))
        low, high = ends or (None, None)
        estimates[name] = Estimate(value=value, low=low, high=high, n=n, method="bootstrap", level=level)
    return estimates


def expanded_level(level: float, n_clusters: int) -> float:
    """Return the level of the quantiles to read, so that an interval from few clusters holds `level`.

    n_clusters: at least 2. Resamples of n clusters vary too little, by sqrt((n - 1) / n), and the standard
    error is itself only estimated. So Student's quantile, made wider by that, is read in place of the normal
    one (the expanded interval of Hesterberg 2015, doi:10.1080/00031305.2015.1089789): for data without skew
    that is Student's interval of the mean. In simulation (benchmarks/interval_coverage.py) 10 clusters then
    hold 92 to 97 % in place of 87 to 92, 20 hold 93 to 95 % in place of 91 to 93; of 200 it changes little.
    """
    quantile = student_quantile(0.5 + level / 2, n_clusters - 1) * math.sqrt(n_clusters / (n_clusters - 1))
    # Of 2 or 3 clusters Student's quantile is beyond all resamples: the least and the greatest are read.
    return min(2 * NormalDist().cdf(quantile) - 1, HIGHEST)


def resampled_totals(totals: Floats, *, seed: int = 0, resamples: int = RESAMPLES) -> Floats:
    """Return the totals of each resample, (resamples, k), drawn as bootstrap_estimates does.

    totals: (clusters, k), at least one cluster. For questions that no interval answers, such as which of
    several is the best and how often.
    """
    return _resampled(*_distinct(totals), resamples, seed)


def _resampled(rows: Floats, counts: Floats, resamples: int, seed: int) -> Floats:
    if counts.sum() <= FEW and not _in_one_draw(counts):
        each = np.repeat(rows, counts.astype(np.intp), axis=0)
        return _times_drawn(len(each), resamples, seed).astype(np.float64) @ each
    rng = np.random.default_rng(seed)
    if counts.sum() > GROUPED_FROM and not _in_one_draw(counts):
        # The sums of random groups of clusters, all of one size but the last.
        clusters = int(counts.sum())
        kinds = np.repeat(np.arange(len(rows)), counts.astype(np.intp))
        group = rng.permutation(clusters) // -(-clusters // GROUPS)
        rows = np.stack([np.bincount(group, weights=column[kinds]) for column in rows.T], axis=1)
        counts = np.ones(len(rows))
    return _resample(rows, counts, resamples, rng)


@lru_cache(maxsize=32)
def _times_drawn(clusters: int, resamples: int, seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Return how often each cluster is drawn in each resample, (resamples, clusters); at most FEW clusters.

    Kept (2.5 MB at most), for tables of groups take hundreds of intervals from as many clusters.
    """
    alone = np.eye(clusters)
    return _resample(alone, np.ones(clusters), resamples, np.random.default_rng(seed)).astype(np.uint8)


def _in_one_draw(counts: Floats) -> bool:
    """Return whether to draw how often each distinct row occurs, rather than cluster by cluster."""
    return bool(len(counts) * MULTINOMIAL_PAYS < counts.sum())


def _distinct(totals: Floats) -> tuple[Floats, Floats]:
    """Return the distinct rows in ascending order, and how many clusters have each.

    The order fixes which row a random number picks: it must not depend on the order or unit of the data.
    """
    whole = np.ascontiguousarray(totals, dtype=np.float64) + 0.0  # -0.0 becomes 0.0: compared byte by byte
    as_bytes = whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).ravel()
    _, first, counts = np.unique(as_bytes, return_index=True, return_counts=True)
    rows = whole[first]
    ascending = np.lexsort(rows.T[::-1])
    return rows[ascending], counts[ascending].astype(np.float64)


def _resample(rows: Floats, counts: Floats, resamples: int, rng: "np.random.Generator") -> Floats:
    """Return the totals of each resample, (resamples, k): as many clusters as there are, with replacement."""
    clusters, kinds = int(counts.sum()), len(rows)
    kind_of_cluster = np.repeat(np.arange(kinds), counts.astype(np.intp))
    in_one_draw = _in_one_draw(counts)
    block = max(1, BLOCK // (kinds if in_one_draw else clusters))
    drawn = np.empty((resamples, rows.shape[1]))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        if in_one_draw:
            weights = rng.multinomial(clusters, counts / clusters, size)
        else:
            picks = rng.integers(clusters, size=(size, clusters))
            if kinds < clusters:  # else each cluster is its own kind, in order
                picks = kind_of_cluster[picks]
            picks += np.arange(size)[:, None] * kinds
            weights = np.bincount(picks.ravel(), minlength=size * kinds).reshape(size, kinds)
        drawn[start : start + size] = weights @ rows
    return drawn


def _acceleration(left_out: Floats, counts: Floats) -> float:
    """Return how fast the standard error changes with the value (Efron 1987, equation 6.6)."""
    defined = np.isfinite(left_out)
    left_out, counts = left_out[defined], counts[defined]
    if not left_out.size:
        return 0.0
    influence = (counts @ left_out) / counts.sum() - left_out
    largest = float(np.abs(influence).max())
    if largest <= 1e-300:  # nothing to divide by
        return 0.0
    influence /= largest  # the unit cancels; without it, powers of tiny numbers underflow
    return float(counts @ influence**3) / (6 * math.pow(counts @ influence**2, 1.5))


def _bca(value: float, replicates: Floats, acceleration: float, level: float) -> tuple[float, float] | None:
    """Return the bias-corrected and accelerated interval, None where the replicates cannot give one."""
    defined = replicates[np.isfinite(replicates)]
    if len(defined) < (1 - UNDEFINED_AT_MOST) * len(replicates):
        return None
    rounding = 1e-9 * max(abs(value), float(np.ptp(defined)))
    if np.ptp(defined) <= rounding:
        return None
    # Equal replicates count half: a mean of few grades often meets its own value again.
    below = float(np.mean(defined < value - rounding) + np.mean(defined <= value + rounding)) / 2
    tail = (1 - level) / 2
    low, high = np.quantile(defined, _corrected((tail, 1 - tail), below, acceleration))
    return float(low), float(high)


def _corrected(shares: tuple[float, float], below: float, acceleration: float) -> tuple[float, float]:
    """Return the quantiles to read instead of `shares`; `shares` themselves where that is undefined.

    below: share of the replicates below the value; 0 or 1 if it lies at the edge of what they reach.
    """
    if not 0 < below < 1:
        return shares
    normal = NormalDist()
    bias = normal.inv_cdf(below)
    low, high = (bias + normal.inv_cdf(share) for share in shares)
    if max(acceleration * low, acceleration * high) >= 1:
        return shares
    return (
        normal.cdf(bias + low / (1 - acceleration * low)),
        normal.cdf(bias + high / (1 - acceleration * high)),
    )
