"""Selective accuracy: how often verdicts are right if only those are taken that are the surest."""

import msgspec
import numpy as np

from ragstone.kernel.statistics.bootstrap import RESAMPLES, Statistic, bootstrap_estimates
from ragstone.kernel.statistics.estimate import Estimate
from ragstone.kernel.statistics.intervals import Clusters, Floats, cluster_codes, cluster_totals, row_sums
from ragstone.kernel.statistics.mean import mean_estimate

COVERAGES = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2)
LEAST = 10  # verdicts of a point
GROUPS = 50  # of about equally many verdicts, along which the curve is summed up


class SelectivePoint(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts that are at least so sure.

    coverage: their share of all; sure: the least probability among them. right: share of them that is right;
    more: this minus the share of all verdicts that is right, None where that cannot be estimated.
    """

    coverage: float
    sure: float
    right: Estimate
    more: Estimate | None


class SelectiveAccuracy(msgspec.Struct, frozen=True, kw_only=True):
    """Coverage against risk: whether the surest verdicts are the right ones.

    right: share of all verdicts that is right. points: the surest ones, most of them first; equally sure ones
    are taken together, so coverages are those that the probabilities allow. area: under the curve of the
    share of wrong verdicts against coverage, in [0, 1], 0 best (AURC; Geifman, Uziel and El-Yaniv 2019,
    ICLR); equally sure verdicts in random order. gain: the share of wrong verdicts, which is the area of a
    random order, minus it; above 0 where it helps to take the surest.
    """

    right: Estimate
    points: list[SelectivePoint]
    area: Estimate
    gain: Estimate


def selective_of(
    sure: Floats, right: Floats, clusters: Clusters, *, seed: int = 0, resamples: int = RESAMPLES
) -> SelectiveAccuracy | None:
    """Return how often the surest verdicts are right; None of none.

    sure: the probability of each verdict by the judge itself, (n,). right: 1 or 0, (n,).
    """
    codes = cluster_codes(clusters, len(right))
    everything = mean_estimate(right, codes, seed=seed, resamples=resamples)
    if everything is None:
        return None
    edges = np.unique(np.quantile(-sure, np.arange(1, GROUPS) / GROUPS, method="inverted_cdf"))
    group = np.unique(np.searchsorted(edges, -sure), return_inverse=True)[1]  # from 0, the surest first
    n_groups = int(group.max()) + 1
    values, counts = np.unique(sure, return_counts=True)
    covered = np.cumsum(counts[::-1])[::-1] / len(sure)  # by the verdicts of at least each value
    nearest = {int(np.abs(covered - coverage).argmin()) for coverage in COVERAGES}
    taken = [sure >= values[at] for at in sorted(nearest) if at and covered[at] * len(sure) >= LEAST]
    columns = np.column_stack(
        [np.eye(n_groups)[group], np.eye(n_groups)[group] * right[:, None]]
        + [column for chosen in taken for column in (chosen.astype(np.float64), chosen * right)]
        + [np.ones_like(right), right]
    )

    def area(totals: Floats) -> Floats:
        return _area(totals[:, :n_groups], totals[:, n_groups : 2 * n_groups])

    def overall(totals: Floats) -> Floats:
        return np.asarray(totals[:, -1] / totals[:, -2])

    def more(point: int) -> Statistic:
        at = 2 * (n_groups + point)

        def difference(totals: Floats) -> Floats:
            with np.errstate(invalid="ignore", divide="ignore"):
                return np.asarray(totals[:, at + 1] / totals[:, at] - overall(totals))

        return difference

    statistics: dict[str, Statistic] = {
        "area": area,
        "gain": lambda totals: 1 - overall(totals) - area(totals),
        **{f"{point}": more(point) for point in range(len(taken))},
    }
    totals = cluster_totals(columns, codes)
    estimates = bootstrap_estimates(totals, statistics, len(right), seed=seed, resamples=resamples)
    area_of_all, gain = estimates["area"], estimates["gain"]
    if area_of_all is None or gain is None:
        return None
    points = []
    for point, chosen in enumerate(taken):
        share = mean_estimate(right[chosen], codes[chosen], seed=seed, resamples=resamples)
        if share:
            least, more_right = float(sure[chosen].min()), estimates[f"{point}"]
            coverage = float(chosen.mean())
            points.append(SelectivePoint(coverage=coverage, sure=least, right=share, more=more_right))
    return SelectiveAccuracy(right=everything, points=points, area=area_of_all, gain=gain)


def _area(counts: Floats, rights: Floats) -> Floats:
    """Return the areas under the risk over coverage. counts, rights: of the groups, (m, groups).

    Within a group the order is random: wrong verdicts come evenly, and with u of them all covered after wrong
    ones E the risk is E / u, whose integral has a closed form.
    """
    wrong = counts - rights
    whole = row_sums(counts)[:, None]
    after, wrong_after = np.cumsum(counts, axis=1), np.cumsum(wrong, axis=1)
    before, wrong_before = after - counts, wrong_after - wrong
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(counts > 0, wrong / counts, 0.0)
        logs = np.where(before > 0, np.log(after / before), 0.0)
        parts = rate * counts + (wrong_before - before * rate) * np.where(np.isfinite(logs), logs, 0.0)
    return np.asarray(row_sums(parts) / whole[:, 0])
