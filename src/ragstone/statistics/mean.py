"""The one place where a mean is taken and given its interval."""

from collections.abc import Hashable, Sequence

import numpy as np

from ragstone.statistics.bootstrap import RESAMPLES, bootstrap_estimates
from ragstone.statistics.clusters import Floats, cluster_codes, cluster_totals, n_clusters
from ragstone.statistics.estimate import Estimate
from ragstone.statistics.wilson import wilson_interval


def mean_estimate(
    values: Sequence[float] | Floats,
    clusters: Sequence[Hashable] | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Estimate | None:
    """Return the mean with its interval, None if there are no values.

    values: finite, in any unit; the mean has the same. clusters: one key a value, equal for values that
    are not independent (questions of one document); None if all are. Wilson if all values are 0 or 1 and
    no two share a cluster, else BCa bootstrap of whole clusters. If all are 0, or all 1, resamples cannot
    vary: then Wilson with every cluster counted once, which errs on the wide side.
    """
    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        return None
    if not np.isfinite(array).all():
        raise ValueError("a value is no finite number: leave failures out and count them")
    codes = cluster_codes(clusters, array.size)
    alone = n_clusters(codes)
    binary = bool(np.isin(array, (0.0, 1.0)).all())
    if binary and (alone == array.size or array.min() == array.max()):
        mean = float(array.mean())
        low, high = wilson_interval(round(mean * alone), alone, level)
        return Estimate(value=mean, low=low, high=high, n=array.size, method="wilson", level=level)
    totals = cluster_totals(np.stack([array, np.ones_like(array)], axis=1), codes)
    estimates = bootstrap_estimates(
        totals, {"mean": _mean}, array.size, seed=seed, resamples=resamples, level=level
    )
    return estimates["mean"]


def _mean(totals: Floats) -> Floats:
    return np.asarray(totals[:, 0] / totals[:, 1])
