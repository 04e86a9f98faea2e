"""Scores that are read as probabilities: is a thing that is called 80 % sure right 80 times of 100?"""

import msgspec
import numpy as np

from ragstone.kernel.statistics.bootstrap import RESAMPLES, Statistic, bootstrap_estimates
from ragstone.kernel.statistics.intervals import (
    Clusters,
    Codes,
    Estimate,
    Floats,
    cluster_codes,
    cluster_totals,
)
from ragstone.kernel.statistics.mean import mean_estimate

BINS = 10


class ReliabilityBin(msgspec.Struct, frozen=True, kw_only=True):
    """Things whose probability lies in (low, high]; the first bin holds 0 too.

    mean: of these probabilities; right: share of them that are labelled 1.
    """

    low: float
    high: float
    mean: float
    right: Estimate


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """Whether what is called 80 % sure is right 80 times of 100.

    bins: those with things in them, ascending. error: the expected calibration error, which is never negative
    and so reads too high with few labels. brier: mean squared distance of probability and label; rate_brier:
    what the share of 1 among the labels, given to everything, would reach.
    """

    bins: list[ReliabilityBin]
    error: Estimate
    brier: Estimate
    rate_brier: float


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
    error, brier = estimates["expected calibration error"], estimates["Brier score"]
    if error is None or brier is None:
        return None
    bin_of_label, bins = reliability_bins(probabilities), []
    for number in range(BINS):
        at = np.flatnonzero(bin_of_label == number)
        if right := mean_estimate(labels[at], codes[at], seed=seed, resamples=resamples):
            mean = float(probabilities[at].mean())
            bins.append(ReliabilityBin(low=number / BINS, high=(number + 1) / BINS, mean=mean, right=right))
    return Calibration(
        bins=bins, error=error, brier=brier, rate_brier=float(labels.mean() * (1 - labels.mean()))
    )


def reliability_bins(probabilities: Floats, bins: int = BINS) -> Codes:
    """Return the bin of each probability, from 0; bins are equally wide, an edge belongs to the lower one.

    Raises ValueError for a value outside 0 to 1.
    """
    if ((probabilities < 0) | (probabilities > 1)).any():
        raise ValueError("a probability lies outside 0 to 1: divide a percentage by 100")
    return np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], probabilities)


def calibration_columns(
    probabilities: Floats, labels: Floats, bins: int = BINS
) -> tuple[Floats, dict[str, Statistic]]:
    """Return columns (items, k), and the calibration error and Brier score as functions of their totals.

    labels: 0 and 1. `expected calibration error`: the distance of mean probability and share of 1 in each
    bin, weighted by its items, in [0, 1]; it is never negative, so with few items it reads too high, most of
    all in resamples (Naeini et al. 2015, AAAI). `Brier score`: mean squared distance of probability and
    label, in [0, 1], 0 best; 0.25 is what 0.5 for everything reaches (Brier 1950).
    """
    inside = np.eye(bins)[reliability_bins(probabilities, bins)]
    columns = np.column_stack(
        [np.ones(len(labels)), (probabilities - labels) ** 2, inside * (probabilities - labels)[:, None]]
    )
    return columns, {
        # A bin's items times its distance is the sum of its differences: the counts cancel.
        "expected calibration error": lambda totals: np.abs(totals[:, 2:]).sum(axis=1) / totals[:, 0],
        "Brier score": lambda totals: totals[:, 1] / totals[:, 0],
    }
