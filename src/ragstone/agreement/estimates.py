"""Every measure of agreement that the footing allows, each with an interval over whole clusters."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain

import numpy as np

from ragstone.agreement.comparison import MAX_GRADES, YES_NO, Comparison
from ragstone.statistics import (
    Codes,
    Estimate,
    Floats,
    Statistic,
    alpha_of_cells,
    alpha_of_coincidences,
    alpha_of_values,
    auc_columns,
    bootstrap_estimates,
    cell_codes,
    cell_totals,
    cluster_codes,
    cluster_totals,
    coincidence_columns,
    correlation_columns,
    exact_matches,
    kappa_of_cells,
    linear,
    matches_within_one,
    mean_estimate,
    nominal,
    pearson_of_cells,
    quadratic,
    spearman_of_cells,
    tau_of_cells,
    value_columns,
)

Found = dict[str, Estimate | None]


def agreement_estimates(
    comparison: Comparison,
    clusters: Sequence[str],
    grades: Sequence[Sequence[float]] | None = None,
    *,
    seed: int,
    resamples: int,
) -> dict[str, Estimate]:
    """Return the measures by name, the most telling first, without those that are undefined or mean nothing.

    grades: what each annotator gave each answer, where that is more than comparison.human.
    Grade by grade: exact agreement, kappa and, for more than two grades, within one, linear and quadratic
    kappa. In the same unit: Krippendorff's alpha of people and the judge as one more rater (for more than
    two grades nominal, ordinal and interval; for values too many to count interval alone), signed error.
    For labels of yes and no: ROC AUC. Always: Pearson, Spearman, Kendall tau-b.
    """
    human, judge, categories = comparison.human, comparison.judge, comparison.categories
    drawn = partial(bootstrap_estimates, seed=seed, resamples=resamples)
    mean = partial(mean_estimate, clusters=clusters, seed=seed, resamples=resamples)
    codes = cluster_codes(clusters, len(human))
    estimates: Found = {}
    one_grade = grades is None or all(len(given) == 1 for given in grades)
    if categories:
        estimates["exact agreement"] = mean(exact_matches(human, judge))
        if len(categories) > 2:
            estimates["within one"] = mean(matches_within_one(human, judge, categories))
        totals = table_totals(human, judge, categories, clusters)
        found = drawn(totals, _of_tables(categories, alphas=one_grade), len(human))
    else:
        columns, statistics = correlation_columns(human, judge)
        found = drawn(cluster_totals(columns, codes), statistics, len(human))
    if comparison.same_unit and not (categories and one_grade):
        raters = [[*given, score] for given, score in zip(grades or human[:, None], judge, strict=True)]
        found = alpha_estimates(raters, codes, seed=seed, resamples=resamples) | found
    estimates |= dict(sorted(found.items(), key=lambda item: _place(item[0])))
    if np.isin(human, YES_NO).all():
        columns, auc = auc_columns(human, comparison.raw)
        estimates |= drawn(cluster_totals(columns, codes), {"ROC AUC": auc}, len(human))
    if comparison.same_unit:
        estimates["signed error"] = mean(judge - human)
    return {name: estimate for name, estimate in estimates.items() if estimate}


def _place(name: str) -> int:
    """Kappas before alphas before correlations."""
    return 0 if "kappa" in name else 1 if "alpha" in name else 2


def alpha_estimates(
    raters: Sequence[Sequence[float]], codes: Codes, *, seed: int, resamples: int
) -> dict[str, Estimate | None]:
    """Return Krippendorff's alpha of the values that each answer was given, one for each kind of distance.

    raters: the values of each answer, as many as it has. codes: the cluster of each answer. An estimate's n
    is the number of answers with two values or more.
    """
    values = np.fromiter(chain.from_iterable(raters), dtype=np.float64)
    items = np.repeat(np.arange(len(raters)), [len(given) for given in raters])
    known = [float(value) for value in np.unique(values)]
    if len(known) <= MAX_GRADES:
        columns, statistics = coincidence_columns(values, items, known), _alphas(known, alpha_of_coincidences)
    else:
        columns, statistics = value_columns(values, items), {"interval alpha": alpha_of_values}
    n = sum(len(given) > 1 for given in raters)
    return bootstrap_estimates(
        cluster_totals(columns, codes[: len(columns)]), statistics, n, seed=seed, resamples=resamples
    )


def table_totals(
    first: Floats, second: Floats, categories: Sequence[float], clusters: Sequence[str]
) -> Floats:
    """Return the contingency table of each cluster, its k * k cells row by row: (clusters, k * k)."""
    cells = cell_codes(first, second, categories)
    return cell_totals(cells, len(categories) ** 2, cluster_codes(clusters, len(cells)))


AlphaOf = Callable[[Sequence[float], str], Statistic]


def _alphas(categories: Sequence[float], alpha_of: AlphaOf) -> dict[str, Statistic]:
    """Return alpha for each kind of distance; of two grades all kinds are one."""
    if len(categories) <= 2:
        return {"alpha": alpha_of(categories, "nominal")}
    return {f"{kind} alpha": alpha_of(categories, kind) for kind in ("nominal", "ordinal", "interval")}


def _of_tables(categories: Sequence[float], *, alphas: bool) -> Mapping[str, Statistic]:
    statistics = {"kappa": kappa_of_cells(categories, nominal)}
    if len(categories) > 2:
        statistics["linear kappa"] = kappa_of_cells(categories, linear)
        statistics["quadratic kappa"] = kappa_of_cells(categories, quadratic)
    if alphas:
        statistics |= _alphas(categories, alpha_of_cells)
    place, known = np.arange(len(categories)), np.asarray(categories, dtype=np.float64)
    rows, columns = np.repeat(place, len(place)), np.tile(place, len(place))
    return {
        **statistics,
        "Pearson": pearson_of_cells(known[rows], known[columns]),
        "Spearman": spearman_of_cells(rows, columns),
        "Kendall tau-b": tau_of_cells(rows, columns),
    }
