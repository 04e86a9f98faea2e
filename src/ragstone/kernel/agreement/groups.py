"""The judge beside people on parts of the answers: by system, by tag, and in what order systems stand."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import msgspec
import numpy as np

from ragstone.kernel.agreement.card import AnswerGroup, Reversal, SystemRanking
from ragstone.kernel.agreement.comparison import GradeComparison
from ragstone.kernel.agreement.estimates import mean_difference, table_totals
from ragstone.kernel.agreement.pairing import GradePairs
from ragstone.kernel.records import Metadata
from ragstone.kernel.statistics import (
    Clusters,
    Codes,
    Estimate,
    Floats,
    Statistic,
    bootstrap_estimates,
    cluster_codes,
    cluster_totals,
    exact_matches,
    join_columns,
    kappa_of_cells,
    mean_columns,
    mean_estimate,
    nominal,
    quadratic,
    resampled_totals,
    spearman_columns,
)
from ragstone.kernel.statistics.orders import tau_estimate

USUAL = ("lang", "language", "subset", "dataset")  # fields that are grouped by without being asked
MOST_GROUPS = 30
UNTOLD = "(not given)"


def by_system(
    comparison: GradeComparison, pairs: GradePairs, *, seed: int, resamples: int
) -> list[AnswerGroup]:
    """Return a group for each system, in order of first appearance."""
    return _groups(_places(pairs.systems), comparison, pairs, seed=seed, resamples=resamples)


def by_tags(
    comparison: GradeComparison, pairs: GradePairs, wanted: Iterable[str], *, seed: int, resamples: int
) -> dict[str, list[AnswerGroup]]:
    """Return the groups of each tag that has two values or more, the largest first, at most 30 of a tag.

    Tags are fields of the metadata of labels and judgements (columns of their files that are none of ours),
    and what stands in its `tags`. All tags there are grouped by, the usual fields (lang, language, subset,
    dataset) and those wanted. Answers without a value are a group of their own.
    """
    told = _told(pairs)
    in_tags = dict.fromkeys(tag for fields in told for one in fields if "tags" in one for tag in _tags(one))
    found: dict[str, list[AnswerGroup]] = {}
    for tag in dict.fromkeys([*USUAL, *in_tags, *wanted]):
        places = _places([field_value(fields, tag) or UNTOLD for fields in told])
        if len(places) < 2:
            continue
        largest = dict(sorted(places.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_GROUPS])
        found[tag] = _groups(largest, comparison, pairs, seed=seed, resamples=resamples)
    return found


def has_field(pairs: GradePairs, name: str) -> bool:
    """Return whether any row of these pairs has a value to group by."""
    return any(field_value(fields, name) for fields in _told(pairs))


def _told(pairs: GradePairs) -> list[list[Metadata]]:
    """Return what the rows of each answer say of it, the labels first."""
    return [
        [found for found in (*(label.metadata for label in human.labels), row.metadata) if found]
        for human, row in zip(pairs.humans, pairs.rows, strict=True)
    ]


def _tags(metadata: Metadata) -> Metadata:
    inside = metadata.get("tags")
    return inside if isinstance(inside, dict) else {}


def field_value(fields: Sequence[Metadata], name: str) -> str | None:
    """Return the first value of a tag, or else of a field, that can be the name of a group."""
    for metadata in fields:
        value = _tags(metadata).get(name, metadata.get(name))
        if isinstance(value, str | int | float):
            return f"{value:g}" if isinstance(value, float) else str(value)
    return None


def _places(names: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    return places


GroupMeasured = tuple[dict[str, Estimate | None], Estimate | None]
"""What is measured of a group: its measures of agreement by name, and its bias."""


def _groups(
    places: Mapping[str, list[int]],
    comparison: GradeComparison,
    pairs: GradePairs,
    *,
    seed: int,
    resamples: int,
) -> list[AnswerGroup]:
    """Return the groups at these places."""
    codes = cluster_codes(pairs.clusters, len(pairs.keys))
    parts = {
        name: msgspec.structs.replace(
            comparison, human=comparison.human[at], judge=comparison.judge[at], raw=comparison.raw[at]
        )
        for name, at in places.items()
    }
    if comparison.categories:
        measured = {
            name: _graded(part, codes[places[name]], seed=seed, resamples=resamples)
            for name, part in parts.items()
        }
    else:
        measured = _ungraded(parts, places, codes, seed=seed, resamples=resamples)
    return [
        AnswerGroup(
            name=name,
            n=len(part.human),
            n_questions=len(np.unique(codes[places[name]])),
            agreement={measure: estimate for measure, estimate in measured[name][0].items() if estimate},
            judge=float(np.mean(part.judge)),
            human=float(np.mean(part.human)),
            bias=measured[name][1],
        )
        for name, part in parts.items()
    ]


def _graded(part: GradeComparison, codes: Codes, *, seed: int, resamples: int) -> GroupMeasured:
    """Return exact agreement, a kappa and the bias of one group."""
    human, judge, categories = part.human, part.judge, part.categories
    exact = mean_estimate(exact_matches(human, judge), codes, seed=seed, resamples=resamples)
    name, weights = ("quadratic kappa", quadratic) if len(categories) > 2 else ("kappa", nominal)
    kappa = bootstrap_estimates(
        table_totals(human, judge, categories, codes),
        {name: kappa_of_cells(categories, weights)},
        len(human),
        seed=seed,
        resamples=resamples,
    )
    bias = mean_difference(judge - human, codes, seed=seed, resamples=resamples)
    return {"exact agreement": exact, **kappa}, bias


def _ungraded(
    parts: Mapping[str, GradeComparison],
    places: Mapping[str, list[int]],
    codes: Codes,
    *,
    seed: int,
    resamples: int,
) -> dict[str, GroupMeasured]:
    """Return Spearman and, in a common unit, the bias of every group, from one draw of resamples.

    A group has columns of its own, 0 where an answer is not of it.
    """
    joined: list[tuple[Floats, dict[str, Statistic]]] = []
    for name, part in parts.items():
        ranks, spearman = spearman_columns(part.human, part.judge)
        joined.append((_spread(ranks, places[name], len(codes)), {f"{name}: Spearman": spearman}))
        if part.same_unit:
            errors, mean = mean_columns(part.judge - part.human)
            joined.append((_spread(errors, places[name], len(codes)), {f"{name}: bias": mean}))
    columns, statistics = join_columns(joined)
    found = bootstrap_estimates(
        cluster_totals(columns, codes), statistics, len(codes), seed=seed, resamples=resamples
    )

    def of(name: str, measure: str) -> Estimate | None:
        estimate = found.get(f"{name}: {measure}")
        return estimate and msgspec.structs.replace(estimate, n=len(parts[name].human))

    return {name: ({"Spearman": of(name, "Spearman")}, of(name, "bias")) for name in parts}


def _spread(columns: Floats, at: list[int], n: int) -> Floats:
    whole = np.zeros((n, columns.shape[1]))
    whole[at] = columns
    return whole


def rank_systems(
    human: Floats,
    judge: Floats,
    systems: Sequence[str],
    clusters: Clusters,
    *,
    seed: int,
    resamples: int,
) -> SystemRanking | None:
    """Return the orders of the systems by people and by the judge; None for a single system.

    human, judge: (n,), in units of their own: only the order of the means counts. Systems with equal means
    keep the order of their first appearance, and count as tied. A resample that lacks a system is left out.
    """
    names = list(dict.fromkeys(systems))
    if len(names) < 2:
        return None
    number = {name: at for at, name in enumerate(names)}
    codes = np.array([number[system] for system in systems])
    inside = np.eye(len(names))[codes]
    columns = np.concatenate([inside * human[:, None], inside * judge[:, None], inside], axis=1)
    totals = cluster_totals(columns, cluster_codes(clusters, len(human)))
    people, judged = (_means(totals.sum(axis=0)[None, :], side)[0] for side in (0, 1))
    drawn = resampled_totals(totals, seed=seed, resamples=resamples)
    drawn = drawn[(drawn[:, 2 * len(names) :] > 0).all(axis=1)]
    drawn_people, drawn_judged = _means(drawn, 0), _means(drawn, 1)
    gaps = _reversed_pairs(people, judged)
    found = bootstrap_estimates(
        totals,
        {f"{side} {pair}": _gap(side, pair, len(names)) for pair in gaps for side in (0, 1)},
        len(human),
        seed=seed,
        resamples=resamples,
    )
    reversals = [
        Reversal(better=names[pair[0]], worse=names[pair[1]], human=by_people, judge=by_judge)
        for pair in gaps
        if (by_people := found[f"0 {pair}"]) and (by_judge := found[f"1 {pair}"])
    ]
    return SystemRanking(
        by_people=[names[at] for at in np.argsort(-people, kind="stable")],
        by_judge=[names[at] for at in np.argsort(-judged, kind="stable")],
        tied_by_people=_tied(people, names),
        tied_by_judge=_tied(judged, names),
        tau=tau_estimate(
            np.concatenate([people[None, :], drawn_people]),
            np.concatenate([judged[None, :], drawn_judged]),
            n=len(human),
            n_clusters=len(totals),
        ),
        n_pairs=len(names) * (len(names) - 1) // 2,
        reversals=sorted(reversals, key=lambda one: -one.human.value),
        same_best=_same_best(drawn_people, drawn_judged),
    )


def _means(totals: Floats, side: int) -> Floats:
    """Return each system's mean by people (side 0) or by the judge (side 1): (m, systems)."""
    k = totals.shape[1] // 3
    return np.round(totals[:, side * k : (side + 1) * k] / totals[:, 2 * k :], 12)


def _tied(means: Floats, names: Sequence[str]) -> list[list[str]]:
    """Return the groups of systems that share their mean, the highest mean first."""
    groups = [np.flatnonzero(means == mean).tolist() for mean in np.unique(means)[::-1]]
    return [[names[at] for at in group] for group in groups if len(group) > 1]


def _same_best(people: Floats, judged: Floats) -> float:
    """Return the share of rows where both have the same best; of several best by the judge, their share."""
    best = people == people.max(axis=1, keepdims=True)
    chosen = judged == judged.max(axis=1, keepdims=True)
    return float(np.mean((best & chosen).sum(axis=1) / chosen.sum(axis=1)))


def _reversed_pairs(people: Floats, judged: Floats) -> list[tuple[int, int]]:
    """Return (better by people, worse by people) of each pair that the judge orders the other way."""
    pairs = [(a, b) if people[a] > people[b] else (b, a) for a, b in combinations(range(len(people)), 2)]
    return [(a, b) for a, b in pairs if people[a] > people[b] and judged[a] < judged[b]]


def _gap(side: int, pair: tuple[int, int], k: int) -> Statistic:
    """Return the difference of two systems' means as a function of the totals of k systems.

    side: 0 by people, 1 by the judge. NaN in a resample that lacks one of the two.
    """
    sums, counts = [side * k + system for system in pair], [2 * k + system for system in pair]

    def statistic(totals: Floats) -> Floats:
        there = totals[:, counts]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.where(there > 0, totals[:, sums] / there, np.nan)
        return np.asarray(means[:, 0] - means[:, 1])

    return statistic
