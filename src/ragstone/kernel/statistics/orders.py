"""Do two measurements put the same few things in the same order? Kendall's tau-b of their means.

Sums over questions -> tau with an interval. Both orders come from the same resamples, so what they share (the
questions) does not count as a difference.
"""

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ragstone.kernel.statistics.bootstrap import (
    RESAMPLES,
    UNDEFINED_AT_MOST,
    Statistic,
    bootstrap_estimates,
    expanded_level,
    resampled_totals,
)
from ragstone.kernel.statistics.estimate import Estimate
from ragstone.kernel.statistics.intervals import Clusters, Codes, Floats, cluster_codes, cluster_totals

DIGITS = 12  # means that differ only after so many digits are one, and tie


def tau_of_rows(first: Floats, second: Floats) -> Floats:
    """Return tau-b of each row of two tables, (m,), in [-1, 1].

    first, second: (m, k), values of k things. Looks at every pair of things, so k is small. NaN where a row
    has a NaN, or is constant on one side.
    """
    a, b = np.triu_indices(first.shape[1], 1)
    signs = [np.sign(np.round(side[:, a] - side[:, b], DIGITS)) for side in (first, second)]
    untied = np.abs(signs[0]).sum(axis=1) * np.abs(signs[1]).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(untied > 0, (signs[0] * signs[1]).sum(axis=1) / np.sqrt(untied), np.nan)


def tau_estimate(
    first: Floats, second: Floats, *, n: int, n_clusters: int, level: float = 0.95
) -> Estimate | None:
    """Return tau-b of two orders with its interval, None where it is undefined for the data.

    first, second: (1 + resamples, k), the means of k things: the data's, then those of each resample, in
    which both have drawn the same clusters. n, n_clusters: observations, and what they were drawn in. The
    interval is None where tau is the same in every resample, or undefined in more than 5 % of them.

    A resample adds chance to chance: where things lie close together its tau is nearer to 0 than that of the
    data, as the data's is than the true one. So the ends are those of the resamples and of their mirror image
    at the value, whichever lie further out. In simulation (5 things, of 50 and 200 questions) such intervals
    hold 90 to 99 %; of the resamples alone it is 74 to 99 %, with the BCa correction 70 to 96 %.
    """
    value, *_ = taus = tau_of_rows(first, second)
    if math.isnan(value):
        return None
    drawn = taus[1:][np.isfinite(taus[1:])]
    low = high = None
    if n_clusters > 1 and len(drawn) >= (1 - UNDEFINED_AT_MOST) * (len(taus) - 1) and np.ptp(drawn) > 0:
        tail = (1 - expanded_level(level, n_clusters)) / 2
        least, most = np.quantile(drawn, (tail, 1 - tail), method="nearest")
        low = max(-1.0, min(float(least), 2 * float(value) - float(most)))
        high = min(1.0, max(float(most), 2 * float(value) - float(least)))
    return Estimate(value=float(value), low=low, high=high, n=n, method="bootstrap", level=level)


class ReversedPair(NamedTuple):
    """Two things that the second measurement puts in the other order: their numbers, by the first.

    first, second: mean of `better` minus mean of `worse`, by each measurement.
    """

    better: int
    worse: int
    first: Estimate
    second: Estimate


class OrderAgreement(NamedTuple):
    """Whether the order of things survives another measurement.

    first, second: the mean of each thing, (k,). tau: of the two orders, None if one is all ties. same_best:
    share of resamples in which both have the same best.
    """

    first: Floats
    second: Floats
    tau: Estimate | None
    same_best: float
    reversals: list[ReversedPair]


def compare_orders(
    first: Floats,
    second: Floats,
    things: Codes,
    clusters: Clusters,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> OrderAgreement:
    """Return how the means of things by two measurements compare; at least two things.

    first, second: (n,), in units of their own: only the order of the means counts. things: (n,), which one
    each row is of, from 0. A resample that lacks a thing is left out.
    """
    inside = np.eye(int(things.max()) + 1)[things]
    k = inside.shape[1]
    columns = np.concatenate([inside * first[:, None], inside * second[:, None], inside], axis=1)
    totals = cluster_totals(columns, cluster_codes(clusters, len(first)))
    means = [_means(totals.sum(axis=0)[None, :], side)[0] for side in (0, 1)]
    drawn = resampled_totals(totals, seed=seed, resamples=resamples)
    drawn = drawn[(drawn[:, 2 * k :] > 0).all(axis=1)]
    drawn_means = [_means(drawn, side) for side in (0, 1)]
    by_first, by_second = means
    ordered = [(a, b) if by_first[a] > by_first[b] else (b, a) for a, b in combinations(range(k), 2)]
    pairs = [(a, b) for a, b in ordered if by_first[a] > by_first[b] and by_second[a] < by_second[b]]
    gaps = bootstrap_estimates(
        totals,
        {f"{side} {pair}": _gap(side, pair, k) for pair in pairs for side in (0, 1)},
        len(first),
        seed=seed,
        resamples=resamples,
    )
    # Of several best by the second, their share counts.
    best, chosen = (drawn == drawn.max(axis=1, keepdims=True) for drawn in drawn_means)
    return OrderAgreement(
        first=by_first,
        second=by_second,
        tau=tau_estimate(
            *(np.concatenate([mean[None, :], drawn]) for mean, drawn in zip(means, drawn_means, strict=True)),
            n=len(first),
            n_clusters=len(totals),
        ),
        same_best=float(np.mean((best & chosen).sum(axis=1) / chosen.sum(axis=1))),
        reversals=[
            ReversedPair(*pair, gap, other)
            for pair in pairs
            if (gap := gaps[f"0 {pair}"]) and (other := gaps[f"1 {pair}"])
        ],
    )


def _means(totals: Floats, side: int) -> Floats:
    """Return each thing's mean by the first measurement (side 0) or the second (side 1): (m, k)."""
    k = totals.shape[1] // 3
    return np.round(totals[:, side * k : (side + 1) * k] / totals[:, 2 * k :], DIGITS)


def _gap(side: int, pair: tuple[int, int], k: int) -> Statistic:
    """Return the difference of two things' means as a function of the totals; NaN where one is lacking."""
    sums, counts = [side * k + thing for thing in pair], [2 * k + thing for thing in pair]

    def statistic(totals: Floats) -> Floats:
        there = totals[:, counts]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.where(there > 0, totals[:, sums] / there, np.nan)
        return np.asarray(means[:, 0] - means[:, 1])

    return statistic
