import math

import pytest
from tests.kernel.retrieval.ranked import question, ranking, tied_ranking

from ragstone.kernel.retrieval.query_measures import measure_queries, ranked_documents


def test_chunks_of_one_document_count_where_the_first_stands():
    assert ranked_documents(ranking("q", "a", "b", "a", "c", "b")) == ["a", "b", "c"]


def test_a_depth_that_was_asked_for_counts_though_all_rankings_are_shorter():
    rankings, questions = [ranking("q", "b", "a")], [question("q", "a")]
    asked = measure_queries(rankings, questions, ks=(1, 5, 10), depth=5)
    assert (asked.depth, asked.values["recall@5"], asked.values["precision@5"]) == (5, {"q": 1.0}, {"q": 0.2})
    assert "recall@10" not in asked.values
    assert measure_queries(rankings, questions, depth=1).depth == 2


def test_values_of_each_question_are_kept_for_paired_tests():
    measured = measure_queries(
        [ranking("q2", "b"), ranking("q1", "a")], [question("q1", "a"), question("q2", "a")], ks=(1,)
    )
    assert measured.values["recall@1"] == {"q1": 1.0, "q2": 0.0}
    assert measured.first_ranks == {"q1": 1, "q2": None}


def test_documents_of_different_grades_tie_too():
    rankings, questions = [tied_ranking(("a", 1.0), ("x", 1.0))], [question("q")]
    assert measure_queries(rankings, questions, qrels={"q": {"a": 1, "x": 2}}).n_tied == 1
    assert measure_queries(rankings, questions, qrels={"q": {"a": 2, "x": 2}}).n_tied == 0


def test_qrels_take_the_place_of_what_questions_name():
    questions = [question("q1", "z"), question("q2", "a"), question("q3", "a")]
    rankings = [ranking("q1", "a", "b"), ranking("q2", "a"), ranking("q3", "a")]
    qrels = {"q1": {"a": 1, "b": 3}, "q2": {"a": 0}, "unknown": {"a": 1}}
    measured = measure_queries(rankings, questions, ks=(1, 2), qrels=qrels)
    assert measured.values["recall@1"] == {"q1": 0.5}
    # Grade 1 in place 1, grade 3 in place 2; at best the other way round.
    assert measured.values["ndcg@2"]["q1"] == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))
    assert measured.n_unlabelled == 2


def test_the_places_that_the_rank_score_counts_can_be_set():
    rankings, questions = [ranking("q", "x", "a")], [question("q", "a")]
    measured = measure_queries(rankings, questions, ks=(), rank_score_k=2)
    assert measured.values["rank_score@2"] == {"q": 0.5}
    assert "rank_score@5" not in measured.values
