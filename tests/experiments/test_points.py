import pytest

from ragstone.errors import DataError
from ragstone.experiments.blame import is_right
from ragstone.flows.blame.points import points_of, second_by_people
from ragstone.judging import MetricSummary
from ragstone.records import Answer, Judgement, Label, Question

LEAD = MetricSummary(
    system="s",
    judge="grade",
    metric="correctness",
    model="m",
    prompt_version=1,
    scale=(1, 5),
    estimate=None,
    n_rows=0,
    statuses={},
)


def judgement(name, score, *, system="s", status="scored"):
    return Judgement(
        question_id=name,
        system=system,
        judge="grade",
        metric="correctness",
        status=status,
        model="m",
        prompt_version=1,
        score=score,
        scale=(1, 5),
    )


def answer(name, **more):
    return Answer(question_id=name, system="s", answer="a", **more)


def points(judgements, *, questions=None, refused=None, second=None, answers=None):
    answers = answers or [answer(row.question_id) for row in judgements]
    return points_of(LEAD, answers, judgements, questions or {}, refused or {}, second or {})


def test_a_point_is_lost_below_the_middle_of_the_scale_and_kept_in_it():
    found = points(
        [judgement("a", 2.9), judgement("b", 3.0), judgement("c", 5.0)]
    )  # the middle of 1 to 5 is 3
    assert [point.lost for point in found.counted] == [True, False, False]
    assert (is_right(0.5, None), is_right(0.49, None)) == (True, False)


def test_rows_without_a_score_are_left_out_by_their_status():
    rows = [
        judgement("a", 5.0),
        judgement("b", None, status="timeout"),
        judgement("c", None, status="refused"),
    ]
    found = points(rows, answers=[*map(answer, "abcd")])
    assert [point.question_id for point in found.counted] == ["a"]
    assert found.left_out == {"timeout": 1, "refused": 1, "not judged": 1}


def test_an_unanswerable_question_is_kept_by_a_refusal_whatever_the_judge_scored():
    questions = {name: Question(id=name, question="?", answerable=False) for name in "abcd"}
    rows = [judgement("a", 5.0), judgement("b", 5.0)]
    answers = [
        answer("a"),
        answer("b"),
        answer("c"),
        Answer(question_id="d", system="s", answer="", error="x"),
    ]
    found = points(rows, questions=questions, refused={"a": True, "b": False}, answers=answers)
    assert [(point.lost, point.answerable) for point in found.counted] == [(False, False), (True, False)]
    assert found.left_out == {"not judged": 1, "app_error": 1}


def test_answers_of_other_systems_are_not_this_ones_points():
    rows = [judgement("a", 5.0), judgement("a", 1.0, system="other")]
    assert [point.lost for point in points(rows, answers=[answer("a")]).counted] == [False]


def test_a_point_is_doubted_where_the_second_opinion_differs():
    rows = [
        judgement("a", 5.0),
        judgement("b", 5.0),
        judgement("c", 1.0),
        judgement("d", 1.0),
        judgement("e", 1.0),
    ]
    found = points(rows, second={"a": True, "b": False, "c": True, "d": False})
    assert [point.doubted for point in found.counted] == [False, True, True, False, False]


def test_labels_of_0_and_1_say_no_and_yes_and_others_are_grades_of_the_judges_scale():
    rows = [judgement("a", 5.0), judgement("b", 1.0)]
    binary = [Label(question_id="a", system="s", score=1), Label(question_id="b", system="s", score=0)]
    assert second_by_people(binary, rows, LEAD) == {"a": True, "b": False}
    graded = [Label(question_id="a", system="s", score=2), Label(question_id="b", system="s", score=4)]
    assert second_by_people(graded, rows, LEAD) == {"a": False, "b": True}


def test_a_grade_that_is_not_on_the_scale_is_refused():
    labels = [Label(question_id="a", system="s", score=7), Label(question_id="b", system="s", score=0)]
    with pytest.raises(DataError, match="a label says 0, and grade grades from 1 to 5"):
        second_by_people(labels, [judgement("a", 5.0)], LEAD)


def test_of_several_people_the_median_counts_and_a_tie_says_nothing():
    rows = [judgement("a", 5.0), judgement("b", 5.0)]
    labels = [
        Label(question_id=name, system="s", score=score, annotator=who)
        for name, scores in (("a", (1, 1, 0)), ("b", (1, 0)))
        for who, score in zip("xyz", scores, strict=False)
    ]
    assert second_by_people(labels, rows, LEAD) == {"a": True}


def test_labels_of_other_answers_or_of_another_metric_are_refused():
    rows = [judgement("a", 5.0)]
    for label in (
        Label(question_id="z", system="s", score=1),
        Label(question_id="a", system="s", score=1, metric="tone"),
    ):
        with pytest.raises(DataError, match="none of the labels is of an answer of this run"):
            second_by_people([label], rows, LEAD)
