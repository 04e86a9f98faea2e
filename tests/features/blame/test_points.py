import pytest
from tests.support.plain_rows import judgement_row, summary_row
from tests.support.planted_faults import FAULTS, LEAD, largest_of, planted_blame

from ragstone.features.blame._points import (
    COMPONENTS,
    WITHOUT_TOOLS,
    CountedPoint,
    Points,
    points_of,
    second_by_people,
    share_out,
)
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Label, Question, Step
from ragstone.kernel.runs.breakdown import is_right
from ragstone.kernel.runs.causes import Caused
from ragstone.kernel.statistics.paired import mcnemar_p

GRADE = summary_row(judge="grade", scale=(1, 5))


def judgement(name, score, *, system="s", status="scored"):
    return judgement_row(
        question_id=name, system=system, judge="grade", status=status, score=score, scale=(1, 5)
    )


def answer(name, **more):
    return Answer(question_id=name, system="s", answer="a", **more)


def points(judgements, *, questions=None, refused=None, second=None, answers=None):
    answers = answers or [answer(row.question_id) for row in judgements]
    return points_of(GRADE, answers, judgements, questions or {}, refused or {}, second or {})


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
    assert second_by_people(binary, rows, GRADE) == {"a": True, "b": False}
    graded = [Label(question_id="a", system="s", score=2), Label(question_id="b", system="s", score=4)]
    assert second_by_people(graded, rows, GRADE) == {"a": False, "b": True}


def test_a_grade_that_is_not_on_the_scale_is_refused(says):
    labels = [Label(question_id="a", system="s", score=7), Label(question_id="b", system="s", score=0)]
    with pytest.raises(DataError) as error:
        second_by_people(labels, [judgement("a", 5.0)], GRADE)
    says(error.value)


def test_of_several_people_the_median_counts_and_a_tie_says_nothing():
    rows = [judgement("a", 5.0), judgement("b", 5.0)]
    labels = [
        Label(question_id=name, system="s", score=score, annotator=who)
        for name, scores in (("a", (1, 1, 0)), ("b", (1, 0)))
        for who, score in zip("xyz", scores, strict=False)
    ]
    assert second_by_people(labels, rows, GRADE) == {"a": True}


def test_labels_of_other_answers_or_of_another_metric_are_refused(says):
    rows = [judgement("a", 5.0)]
    for label in (
        Label(question_id="z", system="s", score=1),
        Label(question_id="a", system="s", score=1, metric="tone"),
    ):
        with pytest.raises(DataError) as error:
            second_by_people([label], rows, GRADE)
        says(error.value)


CAUSE = {
    "dataset": "reference doubtful",
    "retriever": "not retrieved",
    "model + prompt": "invented",
    "judge": "judge doubtful",
    "cannot tell": "cannot tell",
    "tools": "tool failed",
}


def blame(components, *, seconds=None, left_out=None, clusters=None, possible=WITHOUT_TOOLS):
    """components: what each question's point is blamed on, None where it is kept."""
    names = [f"q{at}" for at in range(len(components))]
    counted = [
        CountedPoint(question_id=name, lost=one not in (None, "hidden"), second=seconds and seconds[at])
        for at, (name, one) in enumerate(zip(names, components, strict=True))
    ]
    caused = [
        Caused(question_id=name, system="s", cause=CAUSE[one], component=one, because="x")
        for name, one in zip(names, ["judge" if one == "hidden" else one for one in components], strict=True)
        if one
    ]
    points = Points(lead=LEAD, counted=counted, left_out=left_out or {}, components=possible)
    return share_out(points, caused, clusters or {}, second="other" if seconds else None)


def shares(found):
    return {share.component: share for share in found.shares}


def test_shares_are_of_all_counted_questions_and_add_up_to_the_lost_ones():
    found = blame(["retriever"] * 3 + ["model + prompt"] + ["dataset"] + [None] * 5, left_out={"timeout": 2})
    got = {name: share.n for name, share in shares(found).items()}
    assert got == {"dataset": 1, "retriever": 3, "model + prompt": 1, "judge": 0, "cannot tell": 0}
    assert shares(found)["retriever"].share.value == pytest.approx(
        0.3
    )  # 3 of 10, those left out not among them
    assert (found.n_counted, found.n_lost, found.left_out) == (10, 5, {"timeout": 2})
    assert found.causes == {"not retrieved": 3, "invented": 1, "reference doubtful": 1}


def test_without_a_second_opinion_the_judges_share_is_not_measured_and_not_nought():
    assert shares(blame(["retriever", None]))["judge"].share is None


def test_labels_of_a_part_give_the_judge_a_denominator_of_its_own():
    # Four labelled questions, on one of which people disagree: 1 of 4, and not 1 of 8.
    found = blame(["judge", *["retriever"] * 2, *[None] * 5], seconds=[True, False, True, True, *[None] * 4])
    judge = shares(found)["judge"]
    assert (judge.n, judge.share.n, judge.share.value) == (1, 4, 0.25)
    assert shares(found)["retriever"].share.n == 8
    assert found.n_second == 4


def test_hidden_points_are_the_judges_and_are_counted_apart():
    found = blame(["hidden", "retriever", None], seconds=[False, False, True])
    assert (found.n_lost, found.n_hidden, shares(found)["judge"].n) == (1, 1, 1)


def test_the_largest_is_called_so_only_beyond_chance():
    clear, unclear = (
        blame(["retriever"] * 20 + ["dataset"] * 2 + [None] * 10),
        blame(["retriever"] * 3 + ["dataset"] * 2),
    )
    assert (clear.largest.first, clear.largest.second, clear.largest.verdict) == (
        "retriever",
        "dataset",
        "largest",
    )
    # 20 against 2, exact; three pairs of components without the judge, of which this is not the smallest p:
    # retriever against model + prompt has 20 against 0. Holm: 2 times the second smallest.
    assert clear.largest.p_holm == pytest.approx(2 * mcnemar_p(20, 2))
    assert unclear.largest.verdict == "cannot tell"


def test_points_that_nobody_could_assign_may_all_be_the_second_components():
    told = ["retriever"] * 20 + ["dataset"] * 2 + [None] * 10
    assert blame(told).largest.verdict == "largest"
    assert blame([*told, *["cannot tell"] * 15]).largest.verdict == "cannot tell"


def test_the_judge_is_compared_on_the_questions_with_a_second_opinion_alone():
    found = blame(["judge"] * 12 + ["retriever"] * 8, seconds=[True] * 12 + [None] * 8)
    assert (found.largest.first, found.largest.n) == ("judge", 12)


def test_questions_of_one_document_are_one_piece_of_evidence():
    components = ["retriever"] * 20 + [None] * 20
    apart = blame(components).largest
    together = blame(components, clusters={f"q{at}": f"d{at // 20}" for at in range(40)}).largest
    assert apart.verdict == "largest"
    assert together.verdict == "cannot tell"


def test_where_nothing_is_lost_there_is_no_largest():
    found = blame([None] * 5)
    assert found.largest is None
    assert found.causes == {}


def test_every_component_has_its_share_in_one_order():
    assert [share.component for share in blame(["judge"]).shares] == list(WITHOUT_TOOLS)
    assert [share.component for share in blame(["judge"], possible=COMPONENTS).shares] == list(COMPONENTS)


def test_the_tools_may_answer_for_a_point_where_an_answer_carries_steps():
    rows, steps = [judgement("a", 1.0), judgement("b", 1.0)], [Step(tool="weather")]
    assert points(rows).components == WITHOUT_TOOLS
    assert points(rows, answers=[answer("a"), answer("b", steps=steps)]).components == COMPONENTS
    found = blame(["tools"] * 9 + ["retriever"], possible=COMPONENTS)
    assert (found.largest.first, shares(found)["tools"].share.value) == ("tools", 0.9)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_blamed_on_its_component(fault):
    # 200 trials of each: benchmarks/blame.py.
    rates, right = FAULTS[fault]
    assert [largest_of(planted_blame(rates, seed)) for seed in range(3)] == [right] * 3
