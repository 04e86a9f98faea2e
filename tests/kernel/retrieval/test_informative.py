"""Whether scores tell relevant passages from others: worked by hand, and against a count of all pairs."""

import numpy as np
import pytest

from ragstone.kernel.records import Evidence, Question, Ranking, RankingItem
from ragstone.kernel.retrieval.informative import score_quality
from ragstone.kernel.retrieval.query_measures import measure_queries

QUESTIONS = [Question(id=f"q{n}", question="?", document_ids=[f"d{n}"]) for n in range(40)]


def quality(rows: list[list[tuple[str, float]]], questions: list[Question] = QUESTIONS):
    rankings = [
        Ranking(
            question_id=question.id,
            retriever="r",
            items=[RankingItem(document_id=name, score=score) for name, score in items],
        )
        for question, items in zip(questions, rows, strict=False)
    ]
    return score_quality(rankings, questions, measure_queries(rankings, questions))


def test_worked_by_hand(says):
    # Relevant at 3 and 1, others at 2, 2 and 0: 3 is above all three, 1 above one: 4 of 6 pairs.
    found = quality([[("d0", 3.0), ("x", 2.0)], [("y", 2.0), ("d1", 1.0), ("z", 0.0)]])
    assert (found.n_questions, found.n_passages, found.n_relevant) == (2, 5, 2)
    assert found.auc is not None
    assert found.auc.value == pytest.approx(4 / 6)
    assert found.cutoff is None  # two questions show nothing
    says(found.why)
    assert sum(one.relevant.n for one in found.bins) == 5


def test_a_cut_off_with_what_it_keeps_and_drops():
    # Each of 40 questions has its document at 5 or 4, another passage at 4 and two at 1.
    rows = [[(f"d{n}", 5.0 - n % 2), ("x", 4.0), ("y", 1.0), ("z", 1.0)] for n in range(40)]
    found = quality(rows)
    cut = found.cutoff
    assert cut is not None
    assert (cut.score, cut.recall.value, cut.passages, cut.dropped.value) == (4.0, 1.0, 4.0, 2.0)
    assert (cut.precision.value, cut.precision_before.value) == (0.5, 0.25)
    assert (cut.n_emptied, cut.n_lost) == (0, 0)
    assert [(one.low, one.high, one.relevant.value, one.relevant.n) for one in found.bins] == [
        (1.0, 1.0, 0.0, 80),
        (4.0, 4.0, 1 / 3, 60),
        (5.0, 5.0, 1.0, 20),
    ]


def test_one_relevant_passage_in_twenty_may_be_lost_and_is_counted():
    # 40 relevant ones at 10, but two at 1: 38 of 40 stay, and two questions are left without any passage.
    rows = [[(f"d{n}", 10.0 if n > 1 else 1.0), ("x", 0.5)] for n in range(40)]
    cut = quality(rows).cutoff
    assert cut is not None
    assert (cut.score, cut.recall.value, cut.n_emptied, cut.n_lost) == (10.0, 0.95, 2, 2)


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ([("d0", 1.0), ("x", 1.0)], "all scores are the same"),
        ([("d0", 2.0)], "every passage is relevant"),
        ([("x", 2.0), ("y", 1.0)], "no passage is relevant"),
        ([], "nothing was found"),
    ],
)
def test_what_cannot_be_told_is_none_and_says_why(items, why):
    found = quality([items])
    assert (found.auc, found.cutoff, found.bins, found.why) == (None, None, [], why)


def test_auc_is_the_share_of_all_pairs_counted_one_by_one():
    rng = np.random.default_rng(7)
    rows = [
        [(f"d{n}" if at == n % 4 else f"x{at}", float(rng.integers(0, 9))) for at in range(4)]
        for n in range(40)
    ]
    yes = [score for n, items in enumerate(rows) for name, score in items if name == f"d{n}"]
    no = [score for n, items in enumerate(rows) for name, score in items if name != f"d{n}"]
    pairs = sum((one > other) + 0.5 * (one == other) for one in yes for other in no)
    found = quality(rows)
    assert found.auc is not None
    assert found.auc.value == pytest.approx(pairs / (len(yes) * len(no)))


def test_a_passage_of_the_right_document_without_evidence_is_not_relevant():
    question = Question(id="q0", question="?", evidence=[Evidence(document_id="d0", start=5, end=9)])
    items = [
        RankingItem(document_id="d0", score=2.0, start=0, end=6),
        RankingItem(document_id="d0", score=1.0, start=9, end=20),
    ]
    rankings = [Ranking(question_id="q0", retriever="r", items=items)]
    queries = measure_queries(rankings, [question])
    found = score_quality(rankings, [question], queries)
    assert (found.n_relevant, found.auc and found.auc.value) == (1, 1.0)
    assert score_quality(rankings, [question], queries, unplaced={"q0"}).why == (
        "the evidence has no certain place in its documents"
    )


def test_a_question_that_is_not_measured_is_not_one_for_which_nothing_was_found():
    unanswerable = [Question(id="q0", question="?", answerable=False)]
    assert quality([[("x", 2.0), ("y", 1.0)]], unanswerable).why == "no question was measured"


@pytest.mark.parametrize("n_documents", [1, 9, 10])
def test_scores_that_never_err_show_something_from_ten_documents_on(n_documents):
    questions = [Question(id=f"q{n}", question="?", document_ids=[f"d{n % n_documents}"]) for n in range(40)]
    found = quality([[(f"d{n % n_documents}", 2.0), ("x", 1.0)] for n in range(40)], questions)
    assert found.auc is not None
    assert (found.auc.value, found.auc.low) == (1.0, None)
    assert (found.cutoff is not None) is (n_documents >= 10)


def test_scores_that_err_on_questions_of_one_document_show_nothing():
    # One document has no interval: 39 of 40 are right, but they are not 40 independent questions.
    questions = [Question(id=f"q{n}", question="?", document_ids=["d"]) for n in range(40)]
    found = quality([[("d", 2.0 if n else 0.0), ("x", 1.0)] for n in range(40)], questions)
    assert found.auc is not None
    assert (found.auc.low, found.cutoff) == (None, None)
    assert found.why == "it is not shown that relevant passages have higher scores"
