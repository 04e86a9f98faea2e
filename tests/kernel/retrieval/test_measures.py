import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from ragstone.kernel.records import Evidence, Question, Ranking, RankingItem
from ragstone.kernel.retrieval.measures import MEASURES, Grades, RelevantHits, gather_hits, hits_in
from ragstone.kernel.retrieval.query_measures import QueryMeasures, measure_queries

RANKING = ["a", "b", "c", "d", "e", "f"]


def find_hits(rankings: list[list[str]], relevant: list[Grades]) -> RelevantHits:
    places = [{document: place for place, document in enumerate(ranking, 1)} for ranking in rankings]
    return gather_hits([hits_in(*pair) for pair in zip(places, relevant, strict=True)], relevant)


def value(name: str, ranking: list[str], relevant: dict[str, int] | set[str], k: int) -> float:
    grades = relevant if isinstance(relevant, dict) else dict.fromkeys(relevant, 1)
    return MEASURES[name](find_hits([ranking], [grades]), k).item()


def test_recall_is_the_share_of_relevant_documents_found():
    # Of b, d and x the first three places hold b, the first six b and d.
    assert value("recall", RANKING, {"b", "d", "x"}, 3) == 1 / 3
    assert value("recall", RANKING, {"b", "d", "x"}, 6) == 2 / 3


def test_precision_is_the_share_of_places_that_hold_relevant_documents():
    assert value("precision", RANKING, {"b", "d", "x"}, 4) == 2 / 4
    assert value("precision", ["b"], {"b"}, 4) == 1 / 4  # three places are empty


def test_hit_is_whether_any_is_found():
    assert value("hit", RANKING, {"b", "d"}, 1) == 0.0
    assert value("hit", RANKING, {"b", "d"}, 2) == 1.0


def test_reciprocal_rank_takes_the_first_relevant():
    assert value("mrr", RANKING, {"d", "b"}, 6) == 1 / 2
    assert value("mrr", RANKING, {"d"}, 3) == 0.0


def test_average_precision_is_the_mean_of_the_precisions_at_the_relevant_places():
    # b in place 2, d in place 4, x nowhere: (1/2 + 2/4 + 0) / 3.
    assert value("map", RANKING, {"b", "d", "x"}, 6) == pytest.approx(1 / 3)
    assert value("map", RANKING, {"b", "d", "x"}, 3) == pytest.approx(1 / 6)


def test_rank_score_falls_evenly_to_nothing():
    scores = [value("rank_score", RANKING, {document}, 5) for document in RANKING]
    assert scores == pytest.approx([1, 0.8, 0.6, 0.4, 0.2, 0])


def test_ndcg_discounts_by_the_logarithm_of_the_place():
    # b in place 2 and d in place 4: 1/log2(3) + 1/log2(5); at best places 1 and 2: 1 + 1/log2(3).
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    assert value("ndcg", RANKING, {"b", "d"}, 5) == pytest.approx(gain / (1 + 1 / math.log2(3)))
    assert value("ndcg", RANKING, {"a", "b", "c"}, 2) == 1.0


def test_ndcg_counts_a_grade_as_gain_and_the_others_do_not():
    # a (grade 1) in place 1, c (grade 3) in place 3: 1 + 3/2; at best 3 in place 1, 1 in place 2.
    graded, flat = {"a": 1, "c": 3, "d": 0, "e": -1}, {"a": 1, "c": 1}
    assert value("ndcg", RANKING, graded, 6) == pytest.approx((1 + 3 / 2) / (3 + 1 / math.log2(3)))
    for name in MEASURES.keys() - {"ndcg"}:
        assert value(name, RANKING, graded, 6) == value(name, RANKING, flat, 6)


relevant_sets = st.sets(st.sampled_from([*RANKING, "x", "y"]), min_size=1)
graded_sets = st.dictionaries(st.sampled_from(RANKING), st.integers(1, 4), min_size=1)


@given(st.permutations(RANKING), graded_sets, st.integers(1, 8))
@settings(deadline=None)
def test_ndcg_agrees_with_scikit_learn(ranking, relevant, k):
    truth = [[float(relevant.get(document, 0)) for document in ranking]]
    scores = [list(range(len(ranking), 0, -1))]
    assert value("ndcg", ranking, relevant, k) == pytest.approx(
        ndcg_score(np.array(truth), np.array(scores), k=k)
    )


def test_every_measure_agrees_with_trec_eval():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng, n, ks = np.random.default_rng(0), 200, (1, 3, 5, 10, 100)
    names = [f"d{at}" for at in range(300)]
    rankings = [rng.permutation(names)[: rng.integers(1, 101)].tolist() for _ in range(n)]
    qrels = [
        {"d0": 1}
        | dict(zip(rng.permutation(names)[:size].tolist(), rng.integers(-1, 4, size).tolist(), strict=True))
        for size in rng.integers(0, 150, n)
    ]
    qrels = [grades if max(grades.values()) > 0 else {"d0": 1} for grades in qrels]
    cuts = ",".join(map(str, ks))
    asked = {f"{name}.{cuts}" for name in ("recall", "P", "success", "ndcg_cut")} | {"recip_rank", "map"}
    evaluator = pytrec_eval.RelevanceEvaluator({str(at): of for at, of in enumerate(qrels)}, asked)
    run = {
        str(at): {name: -float(place) for place, name in enumerate(ranking)}
        for at, ranking in enumerate(rankings)
    }
    theirs = evaluator.evaluate(run)
    hits = find_hits(rankings, qrels)
    their_names = {"recall": "recall", "precision": "P", "hit": "success", "ndcg": "ndcg_cut"}
    compared = [(name, k, f"{their_names[name]}_{k}") for name in their_names for k in ks]
    for name, k, their_name in [*compared, ("mrr", 100, "recip_rank"), ("map", 100, "map")]:
        expected = [theirs[str(at)][their_name] for at in range(n)]
        assert MEASURES[name](hits, k) == pytest.approx(expected, abs=1e-5), their_name


@given(
    st.lists(st.tuples(st.permutations(RANKING), relevant_sets, st.integers(0, 6)), max_size=5),
    st.integers(1, 8),
    st.sampled_from(sorted(MEASURES)),
)
@settings(deadline=None)
def test_a_question_s_value_does_not_depend_on_the_others(queries, k, name):
    rankings = [ranking[:depth] for ranking, _, depth in queries]
    grades = [dict.fromkeys(relevant, 1) for _, relevant, _ in queries]
    together = MEASURES[name](find_hits(rankings, grades), k).tolist()
    assert together == [value(name, *query, k) for query in zip(rankings, grades, strict=True)]


@given(st.permutations(RANKING), relevant_sets, st.integers(1, 8), st.sampled_from(sorted(MEASURES)))
@settings(deadline=None)
def test_every_measure_is_in_range_and_zero_only_without_a_hit(ranking, relevant, k, name):
    found = value(name, ranking, relevant, k)
    assert 0 <= found <= 1
    assert (found > 0) == bool(relevant & set(ranking[:k]))


@given(relevant_sets, st.integers(1, 8), st.sampled_from(sorted(MEASURES)))
@settings(deadline=None)
def test_a_perfect_ranking_scores_one_where_it_fits(relevant, k, name):
    best = {"recall": min(1.0, k / len(relevant)), "precision": min(1.0, len(relevant) / k)}
    best["map"] = best["recall"]
    assert value(name, sorted(relevant), relevant, k) == pytest.approx(best.get(name, 1.0))


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_k_without_places_is_an_error(name):
    with pytest.raises(ValueError, match="k is 0"):
        value(name, RANKING, {"a"}, 0)


@pytest.mark.parametrize("grades", [{}, {"a": 0, "b": -1}])
def test_a_question_without_relevant_documents_is_the_caller_s_to_count(grades, says):
    with pytest.raises(ValueError) as error:
        find_hits([RANKING], [grades])
    says(error.value)


Place = tuple[str, int | None, int | None]


def asked(*evidence: tuple[str, int, int], name: str = "q") -> Question:
    spans = [Evidence(document_id=document, start=start, end=end) for document, start, end in evidence]
    return Question(id=name, question="?", evidence=spans)


def ranked(*places: Place, name: str = "q") -> Ranking:
    items = [
        RankingItem(document_id=document, start=start, end=end, score=-at)
        for at, (document, start, end) in enumerate(places)
    ]
    return Ranking(question_id=name, retriever="r", items=items)


def values(measured: QueryMeasures, name: str, question: str = "q") -> dict[int, float]:
    return {
        int(label.partition("@")[2]): of[question]
        for label, of in measured.values.items()
        if label.startswith(f"{name}@")
    }


def test_characters_of_the_evidence_are_counted_once():
    # Evidence a[10:30], 20 characters. a[0:20] holds 10 of them in 20 characters; a[15:25] 5 more, together
    # a[0:25]: 15 in 25; b[0:75] nothing in 75 more.
    ranking = ranked(("a", 0, 20), ("a", 15, 25), ("b", 0, 75))
    measured = measure_queries([ranking], [asked(("a", 10, 30))], ks=(1, 2, 3))
    assert values(measured, "span_recall") == pytest.approx({1: 10 / 20, 2: 15 / 20, 3: 15 / 20})
    assert values(measured, "span_precision") == pytest.approx({1: 10 / 20, 2: 15 / 25, 3: 15 / 100})


def test_evidence_may_stand_in_several_documents_and_overlap():
    # a[0:10] and a[5:20] are 20 characters, b[0:20] 20 more; a[0:10] brings 10, b[10:40] 10 of its 30.
    question = asked(("a", 0, 10), ("a", 5, 20), ("b", 0, 20))
    measured = measure_queries([ranked(("a", 0, 10), ("b", 10, 40))], [question], ks=(1, 2))
    assert values(measured, "span_recall") == pytest.approx({1: 10 / 40, 2: 20 / 40})
    assert values(measured, "span_precision") == pytest.approx({1: 1.0, 2: 20 / 40})


def test_the_documents_of_the_evidence_are_relevant_where_no_others_are_named():
    measured = measure_queries([ranked(("b", 0, 5), ("a", 0, 5))], [asked(("a", 0, 5))], ks=(1, 2))
    assert values(measured, "recall") == {1: 0.0, 2: 1.0}
    assert (measured.n_unlabelled, measured.documents) == (0, {"q": "a"})


def test_items_without_a_place_are_their_whole_document_if_its_length_is_known():
    ranking, question = ranked(("a", None, None)), asked(("a", 10, 20))
    unknown = measure_queries([ranking], [question], ks=(1,))
    assert (values(unknown, "span_recall"), unknown.n_unplaced) == ({}, 1)
    assert values(unknown, "recall") == {1: 1.0}
    known = measure_queries([ranking], [question], ks=(1,), lengths={"a": 40})
    assert (values(known, "span_recall"), known.n_unplaced) == ({1: 1.0}, 0)
    assert values(known, "span_precision") == {1: 10 / 40}


@pytest.mark.parametrize("evidence", [("a", 5, 5), ("a", -1, 5), ("a", 5, 50)])
def test_evidence_that_cannot_be_leaves_the_question_out_and_counts_it(evidence):
    rankings = [ranked(("a", 0, 20)), ranked(("a", 0, 20), name="good")]
    questions = [asked(evidence), asked(("a", 0, 10), name="good")]
    measured = measure_queries(rankings, questions, ks=(1,), lengths={"a": 20})
    assert (measured.values["span_recall@1"], measured.n_unplaced) == ({"good": 1.0}, 1)
    assert set(measured.values["recall@1"]) == {"q", "good"}


@pytest.mark.parametrize("place", [("a", 5, 3), ("a", -2, 3), ("a", 5, None), ("a", None, 5)])
def test_an_item_with_an_impossible_or_half_a_place_leaves_the_question_out(place):
    measured = measure_queries([ranked(place)], [asked(("a", 0, 10))], ks=(1,))
    assert (values(measured, "span_recall"), measured.n_unplaced) == ({}, 1)


def test_only_the_first_items_need_a_place():
    ranking = ranked(("a", 0, 5), ("a", None, None))
    measured = measure_queries([ranking], [asked(("a", 0, 10))], ks=(1,))
    assert (values(measured, "span_recall"), measured.n_unplaced) == ({1: 0.5}, 0)


def test_an_empty_ranking_brings_nothing():
    rankings = [ranked(), ranked(("a", 0, 10), name="other")]
    measured = measure_queries(rankings, [asked(("a", 0, 10)), asked(("a", 0, 10), name="other")], ks=(1,))
    assert measured.values["span_recall@1"] == measured.values["span_precision@1"] == {"q": 0.0, "other": 1.0}


def test_questions_without_evidence_have_no_value():
    questions = [asked(("a", 0, 10)), Question(id="plain", question="?", document_ids=["a"])]
    measured = measure_queries([ranked(("a", 0, 10)), ranked(("a", 0, 10), name="plain")], questions, ks=(1,))
    assert set(measured.values["span_recall@1"]) == {"q"}
    assert set(measured.values["recall@1"]) == {"q", "plain"}


spans = st.tuples(st.sampled_from("ab"), st.integers(0, 12), st.integers(0, 6)).map(
    lambda span: (span[0], span[1], span[1] + span[2])
)
evidence_lists = st.lists(spans.filter(lambda span: span[1] < span[2]), min_size=1, max_size=4)


@given(st.lists(st.tuples(evidence_lists, st.lists(spans, max_size=6)), min_size=1, max_size=4))
@settings(deadline=None)
def test_every_value_is_that_of_counting_characters_one_by_one(queries):
    names = [f"q{at}" for at in range(len(queries))]
    questions = [asked(*evidence, name=name) for name, (evidence, _) in zip(names, queries, strict=True)]
    rankings = [ranked(*items, name=name) for name, (_, items) in zip(names, queries, strict=True)]
    measured = measure_queries(rankings, questions, ks=range(1, 7))
    for name, (evidence, items) in zip(names, queries, strict=True):
        wanted = {(document, at) for document, start, end in evidence for at in range(start, end)}
        for k, recall in values(measured, "span_recall", name).items():
            found = {(document, at) for document, start, end in items[:k] for at in range(start, end)}
            assert recall == pytest.approx(len(wanted & found) / len(wanted))
            precision = measured.values[f"span_precision@{k}"][name]
            assert precision == pytest.approx(len(wanted & found) / len(found) if found else 0.0)
