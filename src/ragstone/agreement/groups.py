"""The judge beside people on parts of the answers: system by system, language by language, tag by tag."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from ragstone.agreement.card import Group
from ragstone.agreement.comparison import Comparison
from ragstone.agreement.estimates import mean_difference, table_totals
from ragstone.agreement.pairing import Pairs
from ragstone.records import Metadata
from ragstone.statistics import (
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
    spearman_columns,
)

USUAL = ("lang", "language", "subset", "dataset")  # fields that are grouped by without being asked
MOST_GROUPS = 30
UNTOLD = "(not given)"


def by_system(comparison: Comparison, pairs: Pairs, *, seed: int, resamples: int) -> list[Group]:
    """Return a group for each system, in order of first appearance."""
    return _groups(_places(pairs.systems), comparison, pairs, seed=seed, resamples=resamples)


def by_tags(
    comparison: Comparison, pairs: Pairs, wanted: Iterable[str], *, seed: int, resamples: int
) -> dict[str, list[Group]]:
    """Return the groups of each tag that has two values or more, the largest first, at most 30 of a tag.

    Tags are fields of the metadata of labels and judgements (columns of their files that are none of ours),
    and what stands in its `tags`. All tags there are grouped by, the usual fields (lang, language, subset,
    dataset) and those wanted. Answers without a value are a group of their own.
    """
    told = _told(pairs)
    in_tags = dict.fromkeys(tag for fields in told for one in fields if "tags" in one for tag in _tags(one))
    found: dict[str, list[Group]] = {}
    for tag in dict.fromkeys([*USUAL, *in_tags, *wanted]):
        places = _places([_value(fields, tag) or UNTOLD for fields in told])
        if len(places) < 2:
            continue
        largest = dict(sorted(places.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_GROUPS])
        found[tag] = _groups(largest, comparison, pairs, seed=seed, resamples=resamples)
    return found


def has_field(pairs: Pairs, name: str) -> bool:
    """Return whether any row of these pairs has a value to group by."""
    return any(_value(fields, name) for fields in _told(pairs))


def _told(pairs: Pairs) -> list[list[Metadata]]:
    """Return what the rows of each answer say of it, the labels first."""
    return [
        [found for found in (*(label.metadata for label in human.labels), row.metadata) if found]
        for human, row in zip(pairs.humans, pairs.rows, strict=True)
    ]


def _tags(metadata: Metadata) -> Metadata:
    inside = metadata.get("tags")
    return inside if isinstance(inside, dict) else {}


def _value(fields: Sequence[Metadata], name: str) -> str | None:
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


Measured = tuple[dict[str, Estimate | None], Estimate | None]
"""What is measured of a group: its measures of agreement by name, and its bias."""


def _groups(
    places: Mapping[str, list[int]], comparison: Comparison, pairs: Pairs, *, seed: int, resamples: int
) -> list[Group]:
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
        Group(
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


def _graded(part: Comparison, codes: Codes, *, seed: int, resamples: int) -> Measured:
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
    parts: Mapping[str, Comparison],
    places: Mapping[str, list[int]],
    codes: Codes,
    *,
    seed: int,
    resamples: int,
) -> dict[str, Measured]:
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
