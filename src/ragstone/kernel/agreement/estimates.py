"""Every measure of agreement that the comparison allows, each with an interval over whole clusters."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain

import msgspec
import numpy as np

from ragstone.kernel.agreement.comparison import MAX_GRADES, YES_NO, GradeComparison
from ragstone.kernel.agreement.pairing import GradePairs
from ragstone.kernel.statistics import (
    Clusters,
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
    join_columns,
    kappa_of_cells,
    linear,
    matches_within_one,
    mean_columns,
    mean_estimate,
    nominal,
    pearson_of_cells,
    quadratic,
    spearman_of_cells,
    tau_of_cells,
    value_columns,
)


class Raters(msgspec.Struct, frozen=True):
    """The answers that a judge has scored and people have graded, also those on which people are tied.

    people: the grades of each answer, one or more. judge: its score, cut where the comparison is.
    clusters: what it shares with others.
    """

    people: list[list[float]]
    judge: list[float]
    clusters: list[str]

    @property
    def together(self) -> list[list[float]]:
        """The values of each answer, people's and the judge's last."""
        return [[*given, score] for given, score in zip(self.people, self.judge, strict=True)]

    @property
    def known(self) -> list[float]:
        """Every value that anybody gave, ascending."""
        return sorted({value for given in self.together for value in given})


def raters_of(pairs: GradePairs, comparison: GradeComparison) -> Raters | None:
    """Return who gave what; None where no answer has two annotators, and the pairs say it all."""
    people = [human.grades for human in pairs.humans] + [human.grades for _, human in pairs.tied]
    if all(len(given) == 1 for given in people):
        return None
    cut = comparison.threshold
    tied = [row.score for row, _ in pairs.tied if row.score is not None]
    return Raters(
        people=people,
        judge=comparison.judge.tolist() + [score if cut is None else float(score >= cut) for score in tied],
        clusters=pairs.clusters + [human.cluster for _, human in pairs.tied],
    )


Found = dict[str, Estimate | None]


def agreement_estimates(
    comparison: GradeComparison,
    clusters: Clusters,
    raters: Raters | None = None,
    *,
    seed: int,
    resamples: int,
) -> dict[str, Estimate]:
    """Return the measures by name, the most telling first, without those that are undefined or mean nothing.

    raters: what each annotator gave, where that is more than comparison.human; alpha is of these answers.
    Grade by grade: exact agreement, kappa and, for more than two grades, within one, linear and quadratic
    kappa. In the same unit: Krippendorff's alpha of people and the judge as one more rater (for more than
    two grades nominal, ordinal and interval; for values too many to count interval alone), signed error.
    For labels of yes and no: ROC AUC. Always: Pearson, Spearman, Kendall tau-b.
    """
    if not comparison.categories:
        return _without_grades(comparison, clusters, raters, seed=seed, resamples=resamples)
    human, judge, categories = comparison.human, comparison.judge, comparison.categories
    drawn = partial(bootstrap_estimates, seed=seed, resamples=resamples)
    mean = partial(mean_estimate, clusters=clusters, seed=seed, resamples=resamples)
    codes = cluster_codes(clusters, len(human))
    estimates: Found = {"exact agreement": mean(exact_matches(human, judge))}
    if len(categories) > 2:
        estimates["within one"] = mean(matches_within_one(human, judge, categories))
    totals = table_totals(human, judge, categories, clusters)
    found = drawn(totals, _of_tables(categories, alphas=raters is None), len(human))
    if raters:
        found |= alpha_estimates(raters, judge=True, seed=seed, resamples=resamples)
    estimates |= dict(sorted(found.items(), key=lambda item: _place(item[0])))
    if np.isin(human, YES_NO).all():
        columns, auc = auc_columns(human, comparison.raw)
        estimates |= drawn(cluster_totals(columns, codes), {"ROC AUC": auc}, len(human))
    estimates["signed error"] = mean_difference(judge - human, codes, seed=seed, resamples=resamples)
    return {name: estimate for name, estimate in estimates.items() if estimate}


def mean_difference(differences: Floats, clusters: Clusters, *, seed: int, resamples: int) -> Estimate | None:
    """Return the mean of judge minus human, or of other differences; no interval where all are the same."""
    columns, mean = mean_columns(differences)
    totals = cluster_totals(columns, cluster_codes(clusters, len(differences)))
    found = bootstrap_estimates(totals, {"": mean}, len(differences), seed=seed, resamples=resamples)
    return found[""]


def _without_grades(
    comparison: GradeComparison,
    clusters: Clusters,
    raters: Raters | None,
    *,
    seed: int,
    resamples: int,
) -> dict[str, Estimate]:
    """Return what can be measured of scores that are not compared grade by grade."""
    human, judge = comparison.human, comparison.judge
    parts = [correlation_columns(human, judge)]
    if comparison.same_unit and not raters:
        parts.insert(0, _alpha_columns(np.stack([human, judge], axis=1).tolist(), np.union1d(human, judge)))
    if np.isin(human, YES_NO).all():
        columns, auc = auc_columns(human, comparison.raw)
        parts.append((columns, {"ROC AUC": auc}))
    if comparison.same_unit:
        columns, mean = mean_columns(judge - human)
        parts.append((columns, {"signed error": mean}))
    columns, statistics = join_columns(parts)
    totals = cluster_totals(columns, cluster_codes(clusters, len(human)))
    found = bootstrap_estimates(totals, statistics, len(human), seed=seed, resamples=resamples)
    if comparison.same_unit and raters:
        found = alpha_estimates(raters, judge=True, seed=seed, resamples=resamples) | found
    return {name: estimate for name, estimate in found.items() if estimate}


def _place(name: str) -> int:
    """Kappas before alphas before correlations."""
    return 0 if "kappa" in name else 1 if "alpha" in name else 2


def alpha_estimates(raters: Raters, *, judge: bool, seed: int, resamples: int) -> dict[str, Estimate | None]:
    """Return Krippendorff's alpha of the answers, one for each kind of distance.

    judge: with the judge as one more rater, else of people alone. Both have the same kinds, which follow
    from the values of all. An estimate's n is the number of answers with two values or more.
    """
    values = raters.together if judge else raters.people
    return alphas_of(values, raters.known, raters.clusters, seed=seed, resamples=resamples)


def alphas_of(
    values: Sequence[Sequence[float]],
    known: Sequence[float],
    clusters: Clusters,
    *,
    seed: int,
    resamples: int,
) -> dict[str, Estimate | None]:
    """Return Krippendorff's alpha of the values of each answer. known: every value there is, ascending."""
    columns, statistics = _alpha_columns(values, known)
    totals = cluster_totals(columns, cluster_codes(clusters, len(values)))
    n = sum(len(given) > 1 for given in values)
    return bootstrap_estimates(totals, statistics, n, seed=seed, resamples=resamples)


def _alpha_columns(
    raters: Sequence[Sequence[float]], known: Sequence[float] | Floats
) -> tuple[Floats, dict[str, Statistic]]:
    """Return columns (answers, k) and Krippendorff's alphas as functions of their totals.

    known: every value that there is, ascending.
    """
    values = np.fromiter(chain.from_iterable(raters), dtype=np.float64)
    items = np.repeat(np.arange(len(raters)), [len(given) for given in raters])
    if len(known) > MAX_GRADES:
        return value_columns(values, items), {"interval alpha": alpha_of_values}
    grades = [float(value) for value in known]
    return coincidence_columns(values, items, grades), _alphas(grades, alpha_of_coincidences)


def table_totals(first: Floats, second: Floats, categories: Sequence[float], clusters: Clusters) -> Floats:
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
