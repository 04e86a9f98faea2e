"""Every measure of agreement that the footing allows, each with an interval over whole clusters."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from ragstone.agreement.comparison import Comparison
from ragstone.statistics import (
    Estimate,
    Floats,
    Statistic,
    bootstrap_estimates,
    cell_codes,
    cell_totals,
    cluster_codes,
    cluster_totals,
    exact_matches,
    kappa_of_cells,
    linear,
    matches_within_one,
    mean_estimate,
    nominal,
    quadratic,
    spearman_columns,
    spearman_of_cells,
)


def agreement_estimates(
    comparison: Comparison, clusters: Sequence[str], *, seed: int, resamples: int
) -> dict[str, Estimate]:
    """Return the measures by name, the most telling first, without those that are undefined or mean nothing.

    Grade by grade: exact agreement, kappa and, for more than two grades, within one, linear and quadratic
    kappa. Always: Spearman. In the same unit: signed error, the mean of judge minus human.
    """
    human, judge, categories = comparison.human, comparison.judge, comparison.categories
    mean = partial(mean_estimate, clusters=clusters, seed=seed, resamples=resamples)
    estimates: dict[str, Estimate | None] = {}
    if categories:
        estimates["exact agreement"] = mean(exact_matches(human, judge))
        if len(categories) > 2:
            estimates["within one"] = mean(matches_within_one(human, judge, categories))
        totals = table_totals(human, judge, categories, clusters)
        statistics = _of_tables(categories)
    else:
        columns, spearman = spearman_columns(human, judge)
        totals = cluster_totals(columns, cluster_codes(clusters, len(human)))
        statistics = {"Spearman": spearman}
    estimates |= bootstrap_estimates(totals, statistics, len(human), seed=seed, resamples=resamples)
    if comparison.same_unit:
        estimates["signed error"] = mean(judge - human)
    return {name: estimate for name, estimate in estimates.items() if estimate}


def table_totals(
    first: Floats, second: Floats, categories: Sequence[float], clusters: Sequence[str]
) -> Floats:
    """Return the contingency table of each cluster, its k * k cells row by row: (clusters, k * k)."""
    cells = cell_codes(first, second, categories)
    return cell_totals(cells, len(categories) ** 2, cluster_codes(clusters, len(cells)))


def _of_tables(categories: Sequence[float]) -> Mapping[str, Statistic]:
    statistics = {"kappa": kappa_of_cells(categories, nominal)}
    if len(categories) > 2:
        statistics["linear kappa"] = kappa_of_cells(categories, linear)
        statistics["quadratic kappa"] = kappa_of_cells(categories, quadratic)
    place = np.arange(len(categories))
    rows, columns = np.repeat(place, len(place)), np.tile(place, len(place))
    return {**statistics, "Spearman": spearman_of_cells(rows, columns)}
