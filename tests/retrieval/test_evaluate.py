import pytest

from ragstone.errors import DataError
from ragstone.records import Document, Question, Ranking, RankingItem
from ragstone.retrieval import evaluate_rankings, measure_queries, missing_documents, ranked_documents


def ranking(question_id: str, *documents: str, retriever: str = "bm25") -> Ranking:
    items = [RankingItem(document_id=name, score=-place) for place, name in enumerate(documents)]
    return Ranking(question_id=question_id, retriever=retriever, items=items)


def question(name: str, *documents: str, answerable: bool | None = None) -> Question:
    return Question(id=name, question="?", document_ids=list(documents) or None, answerable=answerable)


def test_chunks_of_one_document_count_where_the_first_stands():
    assert ranked_documents(ranking("q", "a", "b", "a", "c", "b")) == ["a", "b", "c"]


def test_the_means_are_those_of_the_questions():
    rankings = [ranking("q1", "a", "b", "c"), ranking("q2", "b", "a", "c"), ranking("q3", "c", "b", "x")]
    questions = [question("q1", "a"), question("q2", "c"), question("q3", "z")]
    summary = evaluate_rankings(rankings, questions)
    values = {name: estimate.value for name, estimate in summary.measures.items()}
    # First relevant document in place 1, place 3, absent.
    assert values["recall@1"] == pytest.approx(1 / 3)
    assert values["recall@3"] == values["hit@3"] == pytest.approx(2 / 3)
    assert values["mrr"] == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert values["ndcg@3"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert summary.rank_histogram == {"1": 1, "2": 0, "3": 1, "absent": 1}
    assert (summary.retriever, summary.depth, summary.n_questions) == ("bm25", 3, 3)
    assert all(estimate.n == 3 for estimate in summary.measures.values())


def test_a_k_beyond_the_depth_is_not_reported():
    summary = evaluate_rankings([ranking("q", "a", "b", "c")], [question("q", "a")], ks=(10, 3, 1, 3))
    names = [f"{name}@{k}" for name in ("recall", "precision", "hit", "ndcg") for k in (1, 3)]
    assert list(summary.measures) == [*names, "mrr", "map"]


def test_rank_score_needs_five_places():
    summary = evaluate_rankings([ranking("q", *"abcde")], [question("q", "b")], ks=())
    assert {name: estimate.value for name, estimate in summary.measures.items()} == {
        "mrr": 0.5,
        "map": 0.5,
        "rank_score@5": 0.8,
    }


def test_who_is_left_out_is_counted():
    questions = [
        question("labelled", "a"),
        question("unlabelled"),
        question("unanswerable", "a", answerable=False),
        question("unranked", "a"),
    ]
    rankings = [ranking(name, "a") for name in ("labelled", "unlabelled", "unanswerable")]
    summary = evaluate_rankings(rankings, questions)
    assert summary.n_questions == 1
    assert (summary.n_unlabelled, summary.n_unanswerable, summary.n_unranked) == (1, 1, 1)


def test_nothing_to_measure_gives_no_mean():
    summary = evaluate_rankings([], [question("q", "a")])
    assert (summary.measures, summary.n_questions, summary.n_unranked) == ({}, 0, 1)
    summary = evaluate_rankings([ranking("q", "a")], [question("q")])
    assert (summary.measures, summary.n_unlabelled) == ({}, 1)


def test_an_empty_ranking_found_nothing_and_counts():
    rankings = [ranking("q1"), ranking("q2", "a")]
    summary = evaluate_rankings(rankings, [question("q1", "a"), question("q2", "a")], ks=(1,))
    assert summary.measures["recall@1"].value == 0.5
    assert summary.rank_histogram == {"1": 1, "absent": 1}


def test_questions_on_one_document_widen_the_interval():
    names = [f"q{n}" for n in range(40)]
    rankings = [ranking(name, "x" if n % 8 < 4 else "a", "y") for n, name in enumerate(names)]
    apart = [question(name, "x", f"only-{n}") for n, name in enumerate(names)]
    together = [question(name, "x", f"a{n // 4}") for n, name in enumerate(names)]
    narrow = evaluate_rankings(rankings, apart, ks=(2,)).measures["ndcg@2"]
    wide = evaluate_rankings(rankings, together, ks=(2,)).measures["ndcg@2"]
    assert wide.value == narrow.value
    assert wide.high - wide.low > narrow.high - narrow.low


def test_values_of_each_question_are_kept_for_paired_tests():
    measured = measure_queries(
        [ranking("q2", "b"), ranking("q1", "a")], [question("q1", "a"), question("q2", "a")], ks=(1,)
    )
    assert measured.values["recall@1"] == {"q1": 1.0, "q2": 0.0}
    assert measured.first_ranks == {"q1": 1, "q2": None}


def test_rankings_that_cannot_be_matched_are_errors():
    with pytest.raises(DataError, match="several retrievers"):
        evaluate_rankings([ranking("q", retriever="a"), ranking("q", retriever="b")], [question("q", "a")])
    with pytest.raises(DataError, match="more than one ranking of question 'q'"):
        evaluate_rankings([ranking("q"), ranking("q")], [question("q", "a")])
    with pytest.raises(DataError, match="rankings of question 'q7', but no such question"):
        evaluate_rankings([ranking("q7")], [question("q", "a")])


def test_documents_that_the_corpus_lacks_are_named():
    documents = [Document(id="a", text="x")]
    questions = [question("q1", "a", "b"), question("q2", "a"), question("q3")]
    assert missing_documents(questions, documents) == {"q1": ["b"]}
