"""The judge beside people on parts of the answers: system by system, language by language, tag by tag."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec
import numpy as np

from ragstone.agreement.card import Group
from ragstone.agreement.comparison import Comparison
from ragstone.agreement.estimates import table_totals
from ragstone.agreement.pairing import Pairs
from ragstone.records import Metadata
from ragstone.statistics import (
    Estimate,
    bootstrap_estimates,
    cluster_codes,
    cluster_totals,
    correlation_columns,
    exact_matches,
    kappa_of_cells,
    mean_estimate,
    nominal,
    quadratic,
)

USUAL = ("lang", "language", "subset", "dataset")  # fields that are grouped by without being asked
MOST_GROUPS = 30
UNTOLD = "(not given)"


def by_system(comparison: Comparison, pairs: Pairs, *, seed: int, resamples: int) -> list[Group]:
    """Return a group for each system, in order of first appearance."""
    return [
        _group(name, comparison, pairs, at, seed=seed, resamples=resamples)
        for name, at in _places(pairs.systems).items()
    ]


def by_tags(
    comparison: Comparison, pairs: Pairs, wanted: Iterable[str], *, seed: int, resamples: int
) -> dict[str, list[Group]]:
    """Return the groups of each tag that has two values or more, the largest first, at most 30 of a tag.

    Tags are fields of the metadata of labels and judgements (columns of their files that are none of ours),
    and what stands in its `tags`. All tags there are grouped by, the usual fields (lang, language, subset,
    dataset) and those wanted. Answers without a value are a group of their own.
    """
    told = [_tags(pairs, place) for place in range(len(pairs.keys))]
    in_tags = dict.fromkeys(chain.from_iterable(found.tags for found in told))
    found: dict[str, list[Group]] = {}
    for tag in dict.fromkeys([*USUAL, *in_tags, *wanted]):
        values = [one.value(tag) for one in told]
        places = _places([value or UNTOLD for value in values])
        if len(set(values)) < 2:
            continue
        largest = sorted(places.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_GROUPS]
        found[tag] = [
            _group(name, comparison, pairs, at, seed=seed, resamples=resamples) for name, at in largest
        ]
    return found


def has_field(pairs: Pairs, name: str) -> bool:
    """Return whether any row of these pairs has a value to group by."""
    return any(_tags(pairs, place).value(name) is not None for place in range(len(pairs.keys)))


class _Told(msgspec.Struct, frozen=True):
    """What the rows of an answer say of it, the label's metadata first."""

    fields: list[Metadata]
    tags: Metadata

    def value(self, name: str) -> str | None:
        given = (metadata.get(name) for metadata in (self.tags, *self.fields))
        return next((_text(value) for value in given if isinstance(value, str | int | float)), None)


def _tags(pairs: Pairs, place: int) -> _Told:
    fields = list(_metadata(pairs, place))
    tags: Metadata = {}
    for metadata in reversed(fields):
        inside = metadata.get("tags")
        if isinstance(inside, Mapping):
            tags |= inside
    return _Told(fields, tags)


def _metadata(pairs: Pairs, place: int) -> Iterator[Metadata]:
    for label in pairs.humans[place].labels:
        if label.metadata:
            yield label.metadata
    judged = pairs.rows[place].metadata
    if judged:
        yield judged


def _text(value: str | float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _places(names: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    return places


def _group(
    name: str, comparison: Comparison, pairs: Pairs, at: list[int], *, seed: int, resamples: int
) -> Group:
    judge, human = comparison.judge[at], comparison.human[at]
    clusters = [pairs.clusters[place] for place in at]
    part = msgspec.structs.replace(comparison, human=human, judge=judge, raw=comparison.raw[at])
    agreement = _agreement(part, clusters, seed=seed, resamples=resamples)
    bias = None
    if comparison.same_unit:
        bias = mean_estimate(judge - human, clusters, seed=seed, resamples=resamples)
    return Group(
        name=name,
        n=len(at),
        agreement={measure: estimate for measure, estimate in agreement.items() if estimate},
        judge=float(np.mean(judge)),
        human=float(np.mean(human)),
        bias=bias,
    )


def _agreement(
    part: Comparison, clusters: Sequence[str], *, seed: int, resamples: int
) -> dict[str, Estimate | None]:
    """Return the one or two measures that a table of groups has room for."""
    human, judge, categories = part.human, part.judge, part.categories
    if not categories:
        columns, statistics = correlation_columns(human, judge)
        totals = cluster_totals(columns, cluster_codes(clusters, len(human)))
        statistics = {"Spearman": statistics["Spearman"]}
        return bootstrap_estimates(totals, statistics, len(human), seed=seed, resamples=resamples)
    exact = mean_estimate(exact_matches(human, judge), clusters, seed=seed, resamples=resamples)
    name, weights = ("quadratic kappa", quadratic) if len(categories) > 2 else ("kappa", nominal)
    kappa = bootstrap_estimates(
        table_totals(human, judge, categories, clusters),
        {name: kappa_of_cells(categories, weights)},
        len(human),
        seed=seed,
        resamples=resamples,
    )
    return {"exact agreement": exact, **kappa}
