"""The rankings of two runs -> rank measures of the questions that both ranked, paired, and tested."""

from collections.abc import Mapping, Sequence

import numpy as np

from ragstone.features.compare._spent import means_of
from ragstone.features.compare.matching import JudgedRun
from ragstone.features.compare.values import RankComparison
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Question
from ragstone.kernel.retrieval.query_measures import QueryMeasures, measure_cut
from ragstone.kernel.retrieval.relevance import relevant_documents
from ragstone.kernel.statistics import Estimate, Floats
from ragstone.kernel.statistics.families import as_family, difference_and_test
from ragstone.kernel.statistics.paired import PairedTest

MEASURES = ("hit@1", "recall@{k}", "ndcg@{k}", "mrr", "span_recall@{k}")
"""Few, so that the correction for their number leaves each some power."""


def compare_retrieval(
    a: JudgedRun, b: JudgedRun, ids: Sequence[str], *, seed: int
) -> tuple[list[RankComparison], list[str]]:
    """Return the rank measures of the compared questions in both, and why there are none or what to mind.

    Both are measured on as many places as the one with fewer has; where their numbers differ, recall is
    measured on all places too, for that is what the answers were made from. Holm's correction is over these
    measures, apart from those of the judges.
    """
    if not (a.rankings and b.rankings):
        lacking = [side.name for side in (a, b) if not side.rankings]
        return [], [f"Retrieval is not compared: {lacking[0]} holds no rankings."] * (len(lacking) == 1)
    try:
        measured = _measured(a, b, set(ids))
    except DataError as mistake:
        return [], [f"Retrieval is not compared: {mistake}"]
    rows = [(name, _values(*pair), pair) for name, pair in measured.items()]
    rows = [row for row in rows if len(row[1][1])]
    if not rows:
        return [], ["Retrieval is not compared: no question of both runs names its documents."]
    tests = [difference_and_test(values, documents, seed=seed) for _, (documents, values), _ in rows]
    compared = [
        _told(name, queries, means_of(values, documents, seed=seed), test)
        for (name, (documents, values), queries), test in zip(rows, as_family(tests), strict=True)
    ]
    return compared, _relabelled(a.questions, b.questions, ids)


Pair = tuple[tuple[QueryMeasures, str], tuple[QueryMeasures, str]]
"""The measures of each question in A and in B, with the name of the one that is compared."""


def _measured(a: JudgedRun, b: JudgedRun, wanted: set[str]) -> dict[str, Pair]:
    """Return what is compared, by the name it is shown under."""
    depths = [max(len(row.items) for row in side.rankings) for side in (a, b)]
    k = min(depths)
    if not k:
        raise DataError("all rankings of a run are empty.")
    ours, theirs = (_of(side, wanted, k) for side in (a, b))
    names = [name.format(k=k) for name in MEASURES]
    pairs: dict[str, Pair] = {
        name: ((ours, name), (theirs, name))
        for name in dict.fromkeys(names)
        if name in ours.values and name in theirs.values
    }
    if depths[0] != depths[1]:
        whole = [
            (_of(side, wanted, depth), f"recall@{depth}") for side, depth in zip((a, b), depths, strict=True)
        ]
        pairs[f"{whole[0][1]} → {whole[1][1]}"] = (whole[0], whole[1])
    return pairs


def _of(side: JudgedRun, wanted: set[str], k: int) -> QueryMeasures:
    return measure_cut(
        [row for row in side.rankings if row.question_id in wanted],
        [row for row in side.questions if row.id in wanted],
        k,
        side.same,
        side.lengths,
        ks=(1,),
    )


def _values(first: tuple[QueryMeasures, str], other: tuple[QueryMeasures, str]) -> tuple[list[str], Floats]:
    """Return the document of each question that both have a value of, and the values: (n, 2)."""
    ours, theirs = (queries.values.get(name, {}) for queries, name in (first, other))
    ids = [name for name in ours if name in theirs]
    values = [(ours[name], theirs[name]) for name in ids]
    return [first[0].documents[name] for name in ids], np.array(values, dtype=np.float64)


def _told(name: str, queries: Pair, means: tuple[Estimate, Estimate], test: PairedTest) -> RankComparison:
    return RankComparison(
        measure=name,
        retriever_a=queries[0][0].retriever,
        retriever_b=queries[1][0].retriever,
        n=means[0].n,
        a=means[0],
        b=means[1],
        difference=test.difference,
        test=test.test,
        p=test.p,
        p_holm=test.p_holm,
        family=test.family,
        verdict=test.verdict,
        n_changed=test.n_changed,
    )


def _relabelled(ours: Sequence[Question], theirs: Sequence[Question], ids: Sequence[str]) -> list[str]:
    """Return that questions name other documents in the other run, if any do."""
    named: list[Mapping[str, frozenset[str]]] = [
        {row.id: frozenset(relevant_documents(row)) for row in side} for side in (ours, theirs)
    ]
    n = sum(named[0].get(name) != named[1].get(name) for name in ids)
    if not n:
        return []
    which = "1 question names" if n == 1 else f"{n:,} questions name"
    return [
        (
            f"{which} other documents in A than in B: each run's retrieval is measured against the documents "
            "that its own questions name."
        )
    ]
