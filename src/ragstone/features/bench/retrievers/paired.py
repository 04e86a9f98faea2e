"""Retrievers measured on the same questions -> which is better, which is worse, and which cannot be told."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import msgspec
import numpy as np

from ragstone.kernel.errors import DataError, nearest
from ragstone.kernel.retrieval.query_measures import QueryMeasures
from ragstone.kernel.statistics import Estimate, Floats
from ragstone.kernel.statistics.families import ALPHA
from ragstone.kernel.statistics.paired import Test, Verdict, paired_tests


class PairedComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One retriever against another, by one measure, on the same questions.

    n: the questions; n_left_out: those that some retriever of the family was not measured on. difference:
    mean of `first` minus mean of `second`, with its paired interval, which knows of no other comparison.
    p: of the test, two-sided; p_holm: after Holm's correction over the `family` of comparisons made together.
    verdict: on `first`: better or worse where p_holm <= alpha, else cannot tell, which is not "equal".
    n_changed: questions on which the two differ; None in files of older versions.
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
    n_changed: int | None = None


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
        raise DataError(f"{against!r} is not one of the retrievers. {nearest(against, names)}")
    base = names.index(against)
    return [(at, base) for at in range(len(names)) if at != base]


def _same_questions(queries: Mapping[str, QueryMeasures], measure: str) -> tuple[Floats, list[str], int]:
    """Return values (questions, retrievers), each question's document, and how many are left out."""
    for name, measured in queries.items():
        if measure not in measured.values:
            raise DataError(f"{name} was not measured by {measure!r}. {nearest(measure, measured.values)}")
    every = [measured.values[measure] for measured in queries.values()]
    common = [question for question in every[0] if all(question in values for values in every)]
    if not common:
        raise DataError(f"no question has {measure} for all retrievers: compare them on the same questions.")
    rows = np.array([[values[question] for values in every] for question in common])
    documents = next(iter(queries.values())).documents
    return rows, [documents[question] for question in common], len(set().union(*every)) - len(common)
