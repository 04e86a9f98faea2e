"""How much one value moves when another one grows by one: a least-squares slope, by whole clusters."""

import numpy as np

from ragstone.kernel.statistics.bootstrap import RESAMPLES, bootstrap_estimates
from ragstone.kernel.statistics.estimate import Estimate
from ragstone.kernel.statistics.intervals import Clusters, Floats, cluster_codes, cluster_totals


def slope_estimate(
    x: Floats, y: Floats, clusters: Clusters | None = None, *, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate | None:
    """Return the least-squares slope of y on x with its BCa interval over whole clusters.

    x, y: (n,), finite; the slope is in units of y for one unit of x. None where x does not vary, or for
    fewer than three items.
    """
    if len(x) < 3 or np.ptp(x) == 0:
        return None
    at = x - x.mean()  # sums of squares of values far from 0 would lose their digits
    columns = np.stack([np.ones_like(at), at, y, at * y, at * at], axis=1)
    totals = cluster_totals(columns, cluster_codes(clusters, len(x)))
    drawn = bootstrap_estimates(totals, {"slope": _slope}, len(x), seed=seed, resamples=resamples)
    return drawn["slope"]


def _slope(totals: Floats) -> Floats:
    n, x, y, xy, xx = totals.T
    spread = n * xx - x * x
    slope = np.full(len(totals), np.nan)
    np.divide(n * xy - x * y, spread, out=slope, where=spread > 1e-9 * np.maximum(n * xx, 1.0))
    return slope
