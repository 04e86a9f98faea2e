"""Scores that are read as probabilities: is a thing that is called 80 % sure right 80 times of 100?

The calibration error is a mean of absolute values, so that what is perfectly calibrated has one above 0 in
every sample, and an ordinary bootstrap, which adds the same noise once more, puts its whole interval above 0.
Here the noise is taken out of the value, and the interval is found by asking which true errors could have
given what was seen. benchmarks/decisions.py counts how often that interval holds the truth.
"""

import math

import msgspec
import numpy as np

from ragstone.kernel.statistics.bootstrap import RESAMPLES, Statistic, bootstrap_estimates, expanded_level
from ragstone.kernel.statistics.estimate import Estimate
from ragstone.kernel.statistics.intervals import (
    Clusters,
    Codes,
    Floats,
    cluster_codes,
    cluster_totals,
    row_sums,
)
from ragstone.kernel.statistics.mean import mean_estimate

BINS = 10
LEAST_IN_BIN = 20  # things; with fewer the share of right ones in a bin says little
DRAWS = 4_000  # of the noise of the bins
STEPS = 40  # halvings in the search for an end: far below what DRAWS tell


class ReliabilityBin(msgspec.Struct, frozen=True, kw_only=True):
    """Things whose probabilities go from `low` to `high`, both included.

    mean: of these probabilities; right: share of them that are labelled 1.
    """

    low: float
    high: float
    mean: float
    right: Estimate


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """Whether what is called 80 % sure is right 80 times of 100.

    bins: ascending, of about equally many things each. error: the expected calibration error over these bins,
    less what chance is estimated to add; see calibration_error. brier: mean squared distance of probability
    and label; rate_brier: what the share of 1 among the labels, given to everything, would reach.
    usual_error: the error as most tools print it, over ten bins of equal width and with what chance adds.
    skill: rate_brier minus brier; its interval is above 0 where the probabilities are nearer than the share.
    lean: mean probability minus share of 1, above 0 where they are too high. distinct: different
    probabilities. The last four are None in numbers of earlier versions.
    """

    bins: list[ReliabilityBin]
    error: Estimate
    brier: Estimate
    rate_brier: float
    usual_error: float | None = None
    skill: Estimate | None = None
    lean: Estimate | None = None
    distinct: int | None = None


def calibration_of(
    probabilities: Floats,
    labels: Floats,
    clusters: Clusters,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Calibration | None:
    """Return how far probabilities hold beside labels of 0 and 1; None where that cannot be estimated."""
    columns, statistics = calibration_columns(probabilities, labels)
    codes = cluster_codes(clusters, len(labels))
    estimates = bootstrap_estimates(
        cluster_totals(columns, codes), statistics, len(labels), seed=seed, resamples=resamples
    )
    brier, usual = estimates["Brier score"], estimates["usual error"]
    if brier is None or usual is None:
        return None
    bin_of_label, bins = equal_bins(probabilities), []
    for number in range(int(bin_of_label.max()) + 1):
        at = np.flatnonzero(bin_of_label == number)
        inside = probabilities[at]
        if right := mean_estimate(labels[at], codes[at], seed=seed, resamples=resamples):
            low, high = float(inside.min()), float(inside.max())
            bins.append(ReliabilityBin(low=low, high=high, mean=float(inside.mean()), right=right))
    return Calibration(
        bins=bins,
        error=calibration_error(probabilities, labels, codes, seed=seed),
        brier=brier,
        rate_brier=float(labels.mean() * (1 - labels.mean())),
        usual_error=usual.value,
        skill=estimates["skill"],
        lean=estimates["lean"],
        distinct=len(np.unique(probabilities)),
    )


def equal_bins(probabilities: Floats) -> Codes:
    """Return the bin of each probability, from 0, ascending: of about equally many, equal ones together.

    At most 10 bins, and so few that each would hold 20. Raises ValueError for a value outside 0 to 1.
    """
    _check(probabilities)
    k = max(1, min(BINS, len(probabilities) // LEAST_IN_BIN))
    edges = np.quantile(probabilities, np.arange(1, k) / k, method="inverted_cdf")
    bins = np.searchsorted(np.unique(edges), probabilities)
    return np.unique(bins, return_inverse=True)[1]


def calibration_error(
    probabilities: Floats, labels: Floats, clusters: Clusters | None = None, *, seed: int = 0
) -> Estimate:
    """Return the expected calibration error with its interval.

    probabilities: in [0, 1], (n,); labels: 0 and 1. It is the distance of the mean probability and the share
    of 1 in each of equal_bins, weighted by its items, in [0, 1] (Naeini et al. 2015, AAAI). In a sample each
    distance reads too high; what chance adds is estimated from the bins' standard errors over clusters, as if
    the seen distances were the true ones, and taken off once (the debiased estimator of Kumar, Liang and Ma
    2019, NeurIPS, with the mean of a folded normal variable, Leone et al. 1961). Some of it stays: of 200
    answers .02 to .04 where the true error is 0. Two bins' errors in opposite directions that share one bin
    cancel, so the error is that of these bins, and at most the true one.

    The interval holds the true errors that could have given what was seen: for its low end, distances in
    proportion to those seen; for its high end, spread evenly, for which a small sum is the most likely. It
    may begin at 0. None with one cluster.
    """
    codes, n = cluster_codes(clusters, len(labels)), len(labels)
    bins = equal_bins(probabilities)
    inside = np.eye(int(bins.max()) + 1)[bins]
    sizes, apart = inside.sum(axis=0), probabilities - labels
    distance = np.abs(inside.T @ apart) / n  # of each bin, times its share of the items
    sums = cluster_totals(inside * (apart - (inside.T @ apart / sizes)[bins])[:, None], codes)
    n_clusters = len(sums)
    spread = sums.T @ sums / n**2 * (n_clusters / max(1, n_clusters - 1))
    # A bin in which all is right still leaves some doubt: one more of each label is counted.
    share = (inside.T @ labels + 1) / (sizes + 2)
    least = sizes * share * (1 - share) / n**2
    np.fill_diagonal(spread, np.maximum(np.diag(spread), least))
    sd = np.sqrt(np.diag(spread))
    ratio = distance / sd
    inside_sd = np.array([math.erf(z / math.sqrt(2)) for z in ratio])
    folded = sd * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2) + distance * inside_sd
    value = max(0.0, float((2 * distance - folded).sum()))
    if n_clusters == 1:
        return Estimate(value=value, low=None, high=None, n=n, method="bootstrap")
    scales, axes = np.linalg.eigh(spread)
    normal = np.random.default_rng(seed).standard_normal((DRAWS, len(sizes)))
    noise = normal @ (axes * np.sqrt(np.maximum(scales, 0))).T
    tail = (1 - expanded_level(0.95, n_clusters)) / 2
    seen = float(distance.sum())
    side = np.where(inside.T @ apart < 0, -1.0, 1.0)
    alike, even = (distance / seen if seen else sizes / n), sizes / n
    low = _reached(seen, 1 - tail, side * alike, noise)
    # What is nearer than chance leaves calibrated judges does not bear an end below theirs.
    least_seen = max(seen, float(np.median(row_sums(np.abs(noise)))))
    high = _reached(least_seen, tail, side * even, noise)
    return Estimate(
        value=value, low=min(low, value), high=min(1.0, max(high, value)), n=n, method="bootstrap"
    )


def _reached(seen: float, quantile: float, direction: Floats, noise: Floats) -> float:
    """Return the true error in this direction under which what was seen is that quantile; 0 if it is below.

    direction: of the bins, its absolute values sum to 1. noise: (draws, bins).
    """

    def of(error: float) -> float:
        return float(np.quantile(row_sums(np.abs(error * direction + noise)), quantile))

    low, high = 0.0, 1.0
    if of(low) >= seen:
        return low
    while of(high) < seen:
        high *= 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if of(middle) < seen else (low, middle)
    return high


def _check(probabilities: Floats) -> None:
    if ((probabilities < 0) | (probabilities > 1)).any():
        raise ValueError("a probability lies outside 0 to 1: divide a percentage by 100")


def calibration_columns(
    probabilities: Floats, labels: Floats, bins: int = BINS
) -> tuple[Floats, dict[str, Statistic]]:
    """Return columns (items, k), and what follows from their totals.

    labels: 0 and 1. `Brier score`: mean squared distance of probability and label, in [0, 1], 0 best; 0.25 is
    what 0.5 for everything reaches (Brier 1950). `skill`: the Brier score of the share of 1, given to
    everything, minus it. `lean`: mean probability minus the share of 1. `usual error`: the calibration error
    over bins of equal width, an edge belonging to the lower one, with what chance adds. Raises ValueError for
    a probability outside 0 to 1.
    """
    _check(probabilities)
    inside = np.eye(bins)[np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], probabilities)]
    apart = probabilities - labels
    columns = np.column_stack([np.ones(len(labels)), apart**2, apart, labels, inside * apart[:, None]])

    def skill(totals: Floats) -> Floats:
        share = totals[:, 3] / totals[:, 0]
        return np.asarray(share * (1 - share) - totals[:, 1] / totals[:, 0])

    return columns, {
        "Brier score": lambda totals: totals[:, 1] / totals[:, 0],
        "skill": skill,
        "lean": lambda totals: totals[:, 2] / totals[:, 0],
        # A bin's items times its distance is the sum of its differences: the counts cancel.
        "usual error": lambda totals: row_sums(np.abs(totals[:, 4:])) / totals[:, 0],
    }
