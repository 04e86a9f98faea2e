"""Raters of the same items: each measure of their agreement by name, with an interval over whole clusters."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import chain

import msgspec
import numpy as np

from ragstone.kernel.statistics._auc import auc_columns
from ragstone.kernel.statistics._krippendorff import (
    alpha_of_cells,
    alpha_of_coincidences,
    alpha_of_values,
    coincidence_columns,
    value_columns,
)
from ragstone.kernel.statistics.bootstrap import RESAMPLES, Statistic, bootstrap_estimates
from ragstone.kernel.statistics.correlation import (
    correlation_columns,
    join_columns,
    mean_columns,
    pearson_of_cells,
    spearman_columns,
    spearman_of_cells,
    tau_of_cells,
)
from ragstone.kernel.statistics.estimate import Estimate
from ragstone.kernel.statistics.intervals import (
    Clusters,
    Codes,
    Floats,
    cell_totals,
    cluster_codes,
    cluster_totals,
    is_yes_no,
    wilson_interval,
)
from ragstone.kernel.statistics.kappa import (
    MAX_GRADES,
    Disagreement,
    cell_codes,
    exact_matches,
    kappa_of_cells,
    linear,
    matches_within_one,
    nominal,
    quadratic,
)
from ragstone.kernel.statistics.mean import mean_estimate

KAPPAS = {"kappa": nominal, "linear kappa": linear, "quadratic kappa": quadratic}
BY_WEIGHT = ("quadratic kappa", "kappa", "linear kappa")  # the most telling first


def rater_estimates(
    human: Floats,
    judge: Floats,
    clusters: Clusters,
    *,
    grades: Sequence[float] = (),
    scores: Floats,
    same_unit: bool,
    alphas: Mapping[str, Estimate | None] | None = None,
    only: Collection[str] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Estimate]:
    """Return the measures by name, the most telling first, without those that are undefined or mean nothing.

    human, judge: (n,), at least one item. grades: of both, ascending, [] where they are not compared grade by
    grade. scores: the judge's before they were cut at any threshold. same_unit: whether judge minus human
    means anything. alphas: Krippendorff's of more raters than these two, in place of theirs. only: names of
    the measures that are wanted, where not all are: each is the same without the others.
    Grade by grade: kappa, after the quadratic one and before the linear one for more than two grades; exact
    agreement, and within one for more than two grades. In the same unit: Krippendorff's alpha (for more than
    two grades nominal, ordinal and interval; for values too many to count interval alone), signed error. For
    labels of yes and no: ROC AUC. Always: Pearson, Spearman, Kendall tau-b.
    """
    yes_no = is_yes_no(human)
    if not grades:
        return _of_values(
            human,
            judge,
            clusters,
            scores if yes_no else None,
            same_unit=same_unit,
            alphas=alphas,
            only=only,
            seed=seed,
            resamples=resamples,
        )
    mean = partial(mean_estimate, clusters=clusters, seed=seed, resamples=resamples)
    exact: dict[str, Estimate | None] = {}
    if _wanted("exact agreement", only):
        exact["exact agreement"] = mean(exact_matches(human, judge))
    if len(grades) > 2 and _wanted("within one", only):
        exact["within one"] = mean(matches_within_one(human, judge, grades))
    statistics: dict[str, Statistic] = {
        name: kappa_of_cells(grades, weights)
        for name, weights in KAPPAS.items()
        if name == "kappa" or len(grades) > 2
    }
    if alphas is None:
        statistics |= {
            name: alpha_of_cells(grades, distance) for name, distance in _distances(grades).items()
        }
    positions, known = np.arange(len(grades)), np.asarray(grades, dtype=np.float64)
    rows, columns = np.repeat(positions, len(positions)), np.tile(positions, len(positions))
    statistics |= {
        "Pearson": pearson_of_cells(known[rows], known[columns]),
        "Spearman": spearman_of_cells(rows, columns),
        "Kendall tau-b": tau_of_cells(rows, columns),
    }
    statistics = {name: statistic for name, statistic in statistics.items() if _wanted(name, only)}
    totals = _table_totals(human, judge, grades, clusters)
    measured = {
        **bootstrap_estimates(totals, statistics, len(human), seed=seed, resamples=resamples),
        **(alphas or {}),
    }
    kappas = {
        name: _perfect_bounded(measured.pop(name), human, KAPPAS[name], clusters)
        for name in BY_WEIGHT
        if name in measured
    }
    alphas_first = sorted(measured.items(), key=lambda item: "alpha" not in item[0])
    estimates = {**kappas, **exact, **dict(alphas_first)}
    if yes_no and _wanted("ROC AUC", only):
        estimates["ROC AUC"] = auc_estimate(human, scores, clusters, seed=seed, resamples=resamples)
    if _wanted("signed error", only):
        estimates["signed error"] = mean(judge - human, proportion=False)
    return {name: estimate for name, estimate in estimates.items() if estimate}


def _wanted(name: str, only: Collection[str] | None) -> bool:
    return only is None or name in only


def _of_values(
    human: Floats,
    judge: Floats,
    clusters: Clusters,
    scores: Floats | None,
    *,
    same_unit: bool,
    alphas: Mapping[str, Estimate | None] | None,
    only: Collection[str] | None,
    seed: int,
    resamples: int,
) -> dict[str, Estimate]:
    """Return what can be measured of values that are not compared grade by grade, from one draw.

    scores: for the AUC, None where the labels are not yes and no.
    """
    parts = [correlation_columns(human, judge)]
    if same_unit and not alphas:
        parts.insert(0, _alpha_columns(np.stack([human, judge], axis=1).tolist(), np.union1d(human, judge)))
    if scores is not None:
        columns, auc = auc_columns(human, scores)
        parts.append((columns, {"ROC AUC": auc}))
    if same_unit:
        columns, mean = mean_columns(judge - human)
        parts.append((columns, {"signed error": mean}))
    columns, statistics = join_columns(parts)
    statistics = {name: statistic for name, statistic in statistics.items() if _wanted(name, only)}
    totals = cluster_totals(columns, cluster_codes(clusters, len(human)))
    drawn = bootstrap_estimates(totals, statistics, len(human), seed=seed, resamples=resamples)
    return {name: estimate for name, estimate in {**(alphas or {}), **drawn}.items() if estimate}


def kappa_estimate(
    first: Floats,
    second: Floats,
    grades: Sequence[float],
    clusters: Clusters,
    *,
    kind: str,
    both_orders: bool = False,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate | None:
    """Return one of KAPPAS of two raters' grades; None where it is undefined.

    both_orders: each pair counts in both, so that both raters have the same habits (as in Scott's pi).
    """
    totals = _table_totals(first, second, grades, clusters)
    if both_orders:
        totals += _table_totals(second, first, grades, clusters)
    statistics = {kind: kappa_of_cells(grades, KAPPAS[kind])}
    drawn = bootstrap_estimates(totals, statistics, len(first), seed=seed, resamples=resamples)[kind]
    return _perfect_bounded(drawn, first, KAPPAS[kind], clusters)


def _perfect_bounded(
    kappa: Estimate | None, human: Floats, distance: Disagreement, clusters: Clusters
) -> Estimate | None:
    """Return kappa with a lower bound where it is 1, and no resample can differ.

    The bound is kappa if as many answers disagreed as Wilson's interval of n of n clusters leaves open, each
    as far as two grades that were given lie apart: wider than it need be for weighted kappa.
    """
    if kappa is None or kappa.low is not None or kappa.value < 1:
        return kappa
    n = len(np.unique(cluster_codes(clusters, len(human))))
    known, counts = np.unique(human, return_counts=True)
    shares, weights = counts / len(human), distance(known)
    expected = float(shares @ weights @ shares)
    if n < 2 or expected <= 0:
        return kappa
    low = 1 - (1 - wilson_interval(n, n, kappa.level)[0]) * float(weights.max()) / expected
    return msgspec.structs.replace(kappa, low=max(-1.0, low), high=1.0, method="wilson")


def usual_kappa(grades: Sequence[float]) -> str:
    """Return which of KAPPAS is shown alone: with quadratic weights for more than two grades."""
    return "quadratic kappa" if len(grades) > 2 else "kappa"


def _table_totals(first: Floats, second: Floats, grades: Sequence[float], clusters: Clusters) -> Floats:
    """Return the contingency table of each cluster, its k * k cells row by row: (clusters, k * k)."""
    cells = cell_codes(first, second, grades)
    return cell_totals(cells, len(grades) ** 2, cluster_codes(clusters, len(cells)))


def alpha_estimates(
    ratings: Sequence[Sequence[float]],
    known: Sequence[float],
    clusters: Clusters,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Estimate | None]:
    """Return Krippendorff's alpha by name: one a kind of distance, of too many values the interval's alone.

    ratings: the values of each item, of any number of raters. known: every value there is, ascending; the
    kinds follow from them. An estimate's n is the number of items with two values or more.
    """
    columns, statistics = _alpha_columns(ratings, known)
    totals = cluster_totals(columns, cluster_codes(clusters, len(ratings)))
    n = sum(len(values) > 1 for values in ratings)
    return bootstrap_estimates(totals, statistics, n, seed=seed, resamples=resamples)


def _alpha_columns(
    ratings: Sequence[Sequence[float]], known: Sequence[float] | Floats
) -> tuple[Floats, dict[str, Statistic]]:
    """Return columns (items, k) and Krippendorff's alphas as functions of their totals."""
    values = np.fromiter(chain.from_iterable(ratings), dtype=np.float64)
    items = np.repeat(np.arange(len(ratings)), [len(own) for own in ratings])
    if len(known) > MAX_GRADES:
        return value_columns(values, items), {"interval alpha": alpha_of_values}
    grades = [float(value) for value in known]
    alphas = {name: alpha_of_coincidences(grades, distance) for name, distance in _distances(grades).items()}
    return coincidence_columns(values, items, grades), alphas


def _distances(grades: Sequence[float]) -> dict[str, str]:
    """Return name of alpha -> kind of distance; of two grades all kinds are one."""
    if len(grades) <= 2:
        return {"alpha": "nominal"}
    return {f"{kind} alpha": kind for kind in ("nominal", "ordinal", "interval")}


def auc_estimate(
    labels: Floats, scores: Floats, clusters: Clusters, *, seed: int = 0, resamples: int = RESAMPLES
) -> Estimate | None:
    """Return the ROC AUC of scores, see roc_auc; None unless there are labels of both kinds."""
    columns, auc = auc_columns(labels, scores)
    totals = cluster_totals(columns, cluster_codes(clusters, len(labels)))
    return bootstrap_estimates(totals, {"": auc}, len(labels), seed=seed, resamples=resamples)[""]


def rank_estimates(
    human: Floats,
    judge: Floats,
    clusters: Codes,
    groups: Mapping[str, Sequence[int]],
    *,
    same_unit: bool,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> dict[str, tuple[Estimate | None, Estimate | None]]:
    """Return group -> Spearman's correlation within it and, in a common unit, the mean of judge minus human.

    groups: the places of each group's items. All come from one draw of resamples: a group has columns of its
    own, 0 where an item is not of it.
    """
    parts: list[tuple[Floats, dict[str, Statistic]]] = []

    def add(columns: Floats, at: Sequence[int], name: str, statistic: Statistic) -> None:
        whole = np.zeros((len(clusters), columns.shape[1]))
        whole[at] = columns
        parts.append((whole, {name: statistic}))

    for name, at in groups.items():
        ranks, spearman = spearman_columns(human[at], judge[at])
        add(ranks, at, f"{name}: Spearman", spearman)
        if same_unit:
            errors, mean = mean_columns(judge[at] - human[at])
            add(errors, at, f"{name}: bias", mean)
    columns, statistics = join_columns(parts)
    drawn = bootstrap_estimates(
        cluster_totals(columns, clusters), statistics, len(clusters), seed=seed, resamples=resamples
    )

    def of(name: str, measure: str) -> Estimate | None:
        estimate = drawn.get(f"{name}: {measure}")
        return estimate and msgspec.structs.replace(estimate, n=len(groups[name]))

    return {name: (of(name, "Spearman"), of(name, "bias")) for name in groups}
