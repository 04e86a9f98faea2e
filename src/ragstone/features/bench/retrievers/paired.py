"""Retrievers measured on the same questions -> which is better, which is worse, and which cannot be told."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeVar

import msgspec
import numpy as np

from ragstone.features.bench.answerers.values import CellTest
from ragstone.features.bench.judges.values import CellComparison
from ragstone.kernel.errors import DataError, nearest
from ragstone.kernel.retrieval.evaluate import QueryMeasures
from ragstone.kernel.statistics import Estimate, Floats, holm, negated
from ragstone.kernel.statistics.paired import PairedTest, Test, Verdict, paired_tests

ALPHA = 0.05


class PairedComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One retriever against another, by one measure, on the same questions.

    n: the questions; n_left_out: those that some retriever of the family was not measured on. difference:
    mean of `first` minus mean of `second`, with its paired interval, which knows of no other comparison.
    p: of the test, two-sided; p_holm: after Holm's correction over the `family` of comparisons made together.
    verdict: on `first`: better or worse where p_holm <= alpha, else cannot tell, which is not "equal".
    """

    first: str
    second: str
    measure: str
    n: int
    n_left_out: int
    difference: Estimate
    test: Test
    p: float
    p_holm: float
    family: int
    verdict: Verdict


class Leaders(msgspec.Struct, frozen=True, kw_only=True):
    """The best of several retrievers by one measure, and those that cannot be told from it.

    means: name -> mean on the questions that all were measured on, best first. comparisons: the best
    (`first`) against each other one, in the order of `means`; p_holm is corrected over all pairs of
    retrievers, because the best was chosen by the same numbers. indistinguishable: those whose comparison
    with the best cannot tell, in the order of `means`.
    """

    measure: str
    best: str
    means: dict[str, float]
    indistinguishable: list[str]
    comparisons: list[PairedComparison]


def compare_rankings(
    queries: Mapping[str, QueryMeasures],
    measure: str,
    *,
    against: str | None = None,
    alpha: float = ALPHA,
    seed: int = 0,
) -> list[PairedComparison]:
    """Return each pair of retrievers compared by one measure, in the order of `queries`.

    queries: name -> measures of its questions, at least two; the names are the caller's, for one retriever
    may be there with several chunkers. Only questions that all were measured on count. against: compare all
    others with this one alone, as with a baseline: fewer comparisons, so smaller differences can be told.

    The test is McNemar's (exact) if all values are 0 or 1 and no two questions share a document; else a
    permutation test that flips the signs of differences, all questions of a document at once. Intervals are
    paired bootstraps, also by document. Raises DataError for fewer than two retrievers, an unknown measure
    or name, or if no question was measured for all.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha}: the chance of a false finding that is accepted, between 0 and 1")
    names = list(queries)
    pairs = _family(names, against)
    values, documents, n_left_out = _same_questions(queries, measure)
    tests = paired_tests(values, pairs, documents, alpha=alpha, seed=seed)
    return [
        PairedComparison(
            first=names[first],
            second=names[second],
            measure=measure,
            n=len(values),
            n_left_out=n_left_out,
            **msgspec.structs.asdict(test),
        )
        for (first, second), test in zip(pairs, tests, strict=True)
    ]


def best_and_indistinguishable(
    queries: Mapping[str, QueryMeasures], measure: str, *, alpha: float = ALPHA, seed: int = 0
) -> Leaders:
    """Return the retriever with the highest mean, and which others cannot be told from it.

    Of equal means the first in `queries` is the best. Arguments and errors as of compare_rankings; a single
    retriever is the best of one.
    """
    if not queries:
        raise DataError("there is nothing to compare: give at least one retriever's measures.")
    values, _, _ = _same_questions(queries, measure)
    of_name = dict(zip(queries, values.mean(axis=0).tolist(), strict=True))
    means = dict(sorted(of_name.items(), key=lambda item: -item[1]))
    # Best first: the first comparisons are then those with the best.
    best_first = {name: queries[name] for name in means}
    pairs = compare_rankings(best_first, measure, alpha=alpha, seed=seed) if len(means) > 1 else []
    comparisons = pairs[: len(means) - 1]
    return Leaders(
        measure=measure,
        best=next(iter(means)),
        means=means,
        indistinguishable=[row.second for row in comparisons if row.verdict == "cannot tell"],
        comparisons=comparisons,
    )


def _family(names: Sequence[str], against: str | None) -> list[tuple[int, int]]:
    if len(names) < 2:
        raise DataError("there is nothing to compare: give the measures of at least two retrievers.")
    if against is None:
        return list(combinations(range(len(names)), 2))
    if against not in names:
        raise DataError(f"{against!r} is none of the retrievers. {nearest(against, names)}")
    base = names.index(against)
    return [(at, base) for at in range(len(names)) if at != base]


def _same_questions(queries: Mapping[str, QueryMeasures], measure: str) -> tuple[Floats, list[str], int]:
    """Return values (questions, retrievers), each question's document, and how many are left out."""
    for name, one in queries.items():
        if measure not in one.values:
            raise DataError(f"{name} was not measured by {measure!r}. {nearest(measure, one.values)}")
    every = [one.values[measure] for one in queries.values()]
    common = [question for question in every[0] if all(question in values for values in every)]
    if not common:
        raise DataError(f"no question has {measure} of all retrievers: compare them on the same questions.")
    rows = np.array([[values[question] for values in every] for question in common])
    documents = next(iter(queries.values())).documents
    return rows, [documents[question] for question in common], len(set().union(*every)) - len(common)


TestedT = TypeVar("TestedT", PairedTest, PairedComparison, CellTest, CellComparison)
OPPOSITE: dict[Verdict, Verdict] = {"better": "worse", "worse": "better", "cannot tell": "cannot tell"}


def exchanged(test: TestedT) -> TestedT:
    """Return what a test says with its two sides exchanged; their names are the caller's to exchange."""
    return msgspec.structs.replace(test, difference=negated(test.difference), verdict=OPPOSITE[test.verdict])


def as_family(tests: Sequence[TestedT]) -> list[TestedT]:
    """Return the tests with Holm's correction over all of them, and what each then says."""
    corrected = []
    for test, p_holm in zip(tests, holm([test.p for test in tests]).tolist() if tests else [], strict=True):
        better: Verdict = "better" if test.difference.value > 0 else "worse"
        verdict = better if p_holm <= ALPHA else "cannot tell"
        corrected.append(msgspec.structs.replace(test, p_holm=p_holm, family=len(tests), verdict=verdict))
    return corrected


def difference_and_test(values: Floats, clusters: Sequence[str], *, seed: int) -> PairedTest:
    """Return the test of the second column against the first: difference, p-value, verdict on the second.

    values: (n, 2), at least one row; clusters: as of paired_tests. Depends neither on the order of the rows
    nor on what clusters are called, and with the columns exchanged it is the same with the other sign.
    """
    straight, turned = _in_order(values, clusters), _in_order(values[:, ::-1], clusters)
    first, second = values.sum(axis=0)
    # Resamples follow the order of the columns: whichever is asked for, the same one of the two is drawn.
    is_turned = first < second if first != second else turned < straight
    in_order = turned if is_turned else straight
    ordered = np.array([row for group in in_order for row in group])
    codes = [at for at, group in enumerate(in_order) for _ in group]
    test = paired_tests(ordered, [(0, 1)], codes, alpha=ALPHA, seed=seed)[0]
    if straight == turned:
        return _symmetric(test)
    return test if is_turned else exchanged(test)


def _in_order(values: Floats, clusters: Sequence[str]) -> list[list[tuple[float, ...]]]:
    """Return the rows of each cluster, sorted, and the clusters by their rows."""
    groups: dict[str, list[tuple[float, ...]]] = {}
    for cluster, row in zip(clusters, values.tolist(), strict=True):
        groups.setdefault(cluster, []).append(tuple(row))
    return sorted(sorted(group) for group in groups.values())


def _symmetric(test: PairedTest) -> PairedTest:
    """Return the test of columns that are the same when exchanged: their interval lies around 0."""
    found = test.difference
    if found.low is None or found.high is None:
        return test
    half = max(-found.low, found.high)
    difference = msgspec.structs.replace(found, value=0.0, low=-half, high=half)
    return msgspec.structs.replace(test, difference=difference)
