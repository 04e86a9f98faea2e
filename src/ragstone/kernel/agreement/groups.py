"""The judge beside people on parts of the answers: by system, by tag, and in what order systems stand."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from ragstone.kernel.agreement.card import AnswerGroup, Reversal, SystemRanking
from ragstone.kernel.agreement.comparison import GradeComparison
from ragstone.kernel.agreement.pairing import GradePairs
from ragstone.kernel.records import Metadata, split_repeat
from ragstone.kernel.statistics import (
    Clusters,
    Codes,
    Estimate,
    Floats,
    cluster_codes,
    compare_orders,
    exact_matches,
    kappa_estimate,
    mean_estimate,
    rank_estimates,
    usual_kappa,
)

USUAL = ("lang", "language", "subset", "dataset")  # fields that are grouped by without being asked
MOST_GROUPS = 30
UNTOLD = "(not given)"


def by_system(
    comparison: GradeComparison, pairs: GradePairs, *, seed: int, resamples: int
) -> list[AnswerGroup]:
    """Return a group for each system, repeats of its answers with it, in order of first appearance."""
    names = [split_repeat(system)[0] for system in pairs.systems]
    return _groups(_places(names), comparison, pairs, seed=seed, resamples=resamples)


def by_tags(
    comparison: GradeComparison, pairs: GradePairs, wanted: Iterable[str], *, seed: int, resamples: int
) -> dict[str, list[AnswerGroup]]:
    """Return the groups of each tag that has two values or more, the largest first, at most 30 of a tag.

    Tags are fields of the metadata of labels and judgements (columns of their files that are none of ours),
    and what stands in its `tags`. All tags there are grouped by, the usual fields (lang, language, subset,
    dataset) and those wanted. Answers without a value are a group of their own.
    """
    rows = _metadata_of(pairs)
    in_tags = dict.fromkeys(
        tag for row in rows for fields in row if "tags" in fields for tag in _tags(fields)
    )
    groups: dict[str, list[AnswerGroup]] = {}
    for tag in dict.fromkeys([*USUAL, *in_tags, *wanted]):
        places = _places([field_value(row, tag) or UNTOLD for row in rows])
        if len(places) < 2:
            continue
        largest = dict(sorted(places.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_GROUPS])
        groups[tag] = _groups(largest, comparison, pairs, seed=seed, resamples=resamples)
    return groups


def has_field(pairs: GradePairs, name: str) -> bool:
    """Return whether any row of these pairs has a value to group by."""
    return any(field_value(fields, name) for fields in _metadata_of(pairs))


def _metadata_of(pairs: GradePairs) -> list[list[Metadata]]:
    """Return what the rows of each answer say of it, the labels first."""
    return [
        [fields for fields in (*(label.metadata for label in human.labels), row.metadata) if fields]
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
    for at, name in enumerate(names):
        places.setdefault(name, []).append(at)
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
        ranked = rank_estimates(
            comparison.human,
            comparison.judge,
            codes,
            places,
            same_unit=comparison.same_unit,
            seed=seed,
            resamples=resamples,
        )
        measured = {name: ({"Spearman": spearman}, bias) for name, (spearman, bias) in ranked.items()}
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
    """Return a kappa, exact agreement and the bias of one group."""
    human, judge = part.human, part.judge
    kind = usual_kappa(part.categories)
    exact = mean_estimate(exact_matches(human, judge), codes, seed=seed, resamples=resamples)
    kappa = kappa_estimate(human, judge, part.categories, codes, kind=kind, seed=seed, resamples=resamples)
    bias = mean_estimate(judge - human, codes, proportion=False, seed=seed, resamples=resamples)
    return {kind: kappa, "exact agreement": exact}, bias


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
    systems = [split_repeat(system)[0] for system in systems]  # an answer and its repeats are of one
    names = list(dict.fromkeys(systems))
    if len(names) < 2:
        return None
    number = {name: at for at, name in enumerate(names)}
    codes = np.array([number[system] for system in systems])
    orders = compare_orders(human, judge, codes, clusters, seed=seed, resamples=resamples)
    people, judged = orders.first, orders.second
    reversals = [
        Reversal(better=names[pair.better], worse=names[pair.worse], human=pair.first, judge=pair.second)
        for pair in orders.reversals
    ]
    return SystemRanking(
        by_people=[names[at] for at in np.argsort(-people, kind="stable")],
        by_judge=[names[at] for at in np.argsort(-judged, kind="stable")],
        tied_by_people=_tied(people, names),
        tied_by_judge=_tied(judged, names),
        tau=orders.tau,
        n_pairs=len(names) * (len(names) - 1) // 2,
        reversals=sorted(reversals, key=lambda reversal: -reversal.human.value),
        same_best=orders.same_best,
    )


def _tied(means: Floats, names: Sequence[str]) -> list[list[str]]:
    """Return the groups of systems that share their mean, the highest mean first."""
    groups = [np.flatnonzero(means == mean).tolist() for mean in np.unique(means)[::-1]]
    return [[names[at] for at in group] for group in groups if len(group) > 1]
