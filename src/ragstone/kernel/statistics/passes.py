"""pass@k and pass^k of repeated answers: chances that follow from n answers, of which c are right."""

from collections.abc import Sequence

import numpy as np

from ragstone.kernel.statistics.estimate import Estimate
from ragstone.kernel.statistics.intervals import Floats, cluster_codes, n_clusters, wilson_interval
from ragstone.kernel.statistics.mean import effective_size, mean_estimate


def share_estimate(
    shares: Floats, n_answers: float, clusters: Sequence[str], *, seed: int = 0, level: float = 0.95
) -> Estimate:
    """Return the mean of the shares of questions with its interval.

    shares: (m,), of the answers to each question, from 0 to 1. n_answers: that they are shares of, at least
    m: what m independent questions can tell at most. clusters: one key a question, see mean_estimate. Wilson
    with the effective size of the shares; where all are 0 or all are 1, and of a single cluster, as
    mean_estimate. In simulation (benchmarks/interval_coverage.py --repeats) the bootstrap of 5 to 50 such
    means holds 70 to 100 %, for they seldom differ by more than a few steps.
    """
    codes = cluster_codes(clusters, shares.size)
    mean = float(shares.mean())
    if n_clusters(codes) < 2 or mean in (0.0, 1.0):
        estimate = mean_estimate(shares, clusters, seed=seed, level=level)
        assert estimate is not None  # there are shares
        return estimate
    size = effective_size(shares, codes, level, most=n_answers)
    low, high = wilson_interval(mean * size, size, level)
    return Estimate(value=mean, low=low, high=high, n=shares.size, method="wilson", level=level)


def pass_estimates(
    n: Floats, c: Floats, k: int, clusters: Sequence[str], *, seed: int = 0
) -> tuple[Estimate, Estimate]:
    """Return the means of any_of_k and of all_of_k over questions, with their intervals.

    n, c: see any_of_k. clusters: one key a question, see share_estimate.
    """
    # A chance of k answers at once is a share of n / k independent draws at most.
    n_draws = float(n.sum() / k)
    return (
        share_estimate(any_of_k(n, c, k), n_draws, clusters, seed=seed),
        share_estimate(all_of_k(n, c, k), n_draws, clusters, seed=seed),
    )


def any_of_k(n: Floats, c: Floats, k: int) -> Floats:
    """Return the chance that at least one of k answers is right: 1 - C(n - c, k) / C(n, k).

    n, c: (m,), answers to each question, at least k, and how many of them are right. Drawn without
    replacement, so the mean over questions is unbiased (pass@k: Chen et al. 2021, arXiv:2107.03374).
    """
    return 1.0 - all_of_k(n, n - c, k)


def all_of_k(n: Floats, c: Floats, k: int) -> Floats:
    """Return the chance that all of k answers are right: C(c, k) / C(n, k).

    n, c: see any_of_k. Unbiased as it is (pass^k: Yao et al. 2024, arXiv:2406.12045).
    """
    # Factor by factor, for the binomial coefficients of a thousand answers fit into no float.
    steps = np.arange(k, dtype=np.float64)
    factors = np.maximum(c[:, None] - steps, 0.0) / (n[:, None] - steps)
    return np.asarray(factors.prod(axis=1))
