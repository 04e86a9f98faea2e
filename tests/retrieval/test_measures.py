import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from ragstone.retrieval import MEASURES, hit_at_k, ndcg_at_k, rank_score, recall_at_k, reciprocal_rank

RANKING = ["a", "b", "c", "d", "e", "f"]


def test_recall_is_the_share_of_relevant_documents_found():
    # Of b, d and x the first three places hold b, the first six b and d.
    assert recall_at_k(RANKING, {"b", "d", "x"}, 3) == 1 / 3
    assert recall_at_k(RANKING, {"b", "d", "x"}, 6) == 2 / 3


def test_hit_is_whether_any_is_found():
    assert hit_at_k(RANKING, {"b", "d"}, 1) == 0.0
    assert hit_at_k(RANKING, {"b", "d"}, 2) == 1.0


def test_reciprocal_rank_takes_the_first_relevant():
    assert reciprocal_rank(RANKING, {"d", "b"}, 6) == 1 / 2
    assert reciprocal_rank(RANKING, {"d"}, 3) == 0.0


def test_rank_score_falls_evenly_to_nothing():
    assert [rank_score(RANKING, {document}, 5) for document in RANKING] == pytest.approx(
        [1, 0.8, 0.6, 0.4, 0.2, 0]
    )


def test_ndcg_discounts_by_the_logarithm_of_the_place():
    # b in place 2 and d in place 4: 1/log2(3) + 1/log2(5); at best places 1 and 2: 1 + 1/log2(3).
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    assert ndcg_at_k(RANKING, {"b", "d"}, 5) == pytest.approx(gain / (1 + 1 / math.log2(3)))
    assert ndcg_at_k(RANKING, {"a", "b", "c"}, 2) == 1.0


rankings = st.permutations(RANKING)
relevant_sets = st.sets(st.sampled_from([*RANKING, "x", "y"]), min_size=1)


@given(rankings, st.sets(st.sampled_from(RANKING), min_size=1), st.integers(1, 8))
@settings(deadline=None)
def test_ndcg_agrees_with_scikit_learn(ranking, relevant, k):
    truth = [[float(document in relevant) for document in ranking]]
    scores = [list(range(len(ranking), 0, -1))]
    assert ndcg_at_k(ranking, relevant, k) == pytest.approx(
        ndcg_score(np.array(truth), np.array(scores), k=k)
    )


@given(rankings, relevant_sets, st.integers(1, 8), st.sampled_from(sorted(MEASURES)))
@settings(deadline=None)
def test_every_measure_is_in_range_and_zero_only_without_a_hit(ranking, relevant, k, name):
    value = MEASURES[name](ranking, relevant, k)
    assert 0 <= value <= 1
    assert (value > 0) == bool(relevant & set(ranking[:k]))


@given(relevant_sets, st.integers(1, 8), st.sampled_from(sorted(MEASURES)))
@settings(deadline=None)
def test_a_perfect_ranking_scores_one_but_for_recall_it_must_fit(relevant, k, name):
    value = MEASURES[name](sorted(relevant), relevant, k)
    assert value == pytest.approx(min(1.0, k / len(relevant)) if name == "recall" else 1.0)


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_question_without_relevant_documents_is_the_caller_s_to_count(name):
    with pytest.raises(ValueError, match="leave the question out and count it"):
        MEASURES[name](RANKING, set(), 5)
    with pytest.raises(ValueError, match="k is 0"):
        MEASURES[name](RANKING, {"a"}, 0)
