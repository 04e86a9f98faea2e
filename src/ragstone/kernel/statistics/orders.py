"""Do two measurements put the same few things in the same order? Kendall's tau-b of their means.

Sums over questions -> tau with an interval. Both orders come from the same resamples, so what they share (the
questions) does not count as a difference.
"""

import math

import numpy as np

from ragstone.kernel.statistics.bootstrap import UNDEFINED_AT_MOST, expanded_level
from ragstone.kernel.statistics.intervals import Estimate, Floats

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
