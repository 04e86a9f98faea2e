import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from ragstone.retrieval.measures import MEASURES, Grades, Hits, gather_hits, hits_in

RANKING = ["a", "b", "c", "d", "e", "f"]


def find_hits(rankings: list[list[str]], relevant: list[Grades]) -> Hits:
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
def test_a_question_without_relevant_documents_is_the_caller_s_to_count(grades):
    with pytest.raises(ValueError, match="leave the question out and count it"):
        find_hits([RANKING], [grades])
