import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.llm.questionnaire import Questionnaire, TypedQuestion, read_answers

YES = TypedQuestion(name="a", type="predicate", text="Is it?")
GRADE = TypedQuestion(name="b", type="score", text="How?", options=(("1", "bad"), ("2", ""), ("3", "good")))
COLOUR = TypedQuestion(name="c", type="choice", text="Which?", options=(("red", ""), ("blue", "")))
ASKED = Questionnaire(inputs=("text",), questions=(YES, GRADE, COLOUR))
KEYED = {
    "a": {"type": "noul", "noul": 0.25},
    "b": {"type": "score", "score": 1.5, "probabilities": {"0": 0.1, "1": 0.3, "2": 0.6}, "confidence": 0.6},
    "c": {"type": "choice", "choice": "blue", "probabilities": {"blue": 0.9, "red": 0.1}, "confidence": 0.9},
}
LISTED = [
    {"type": "predicate", "name": "a", "probability": 0.25},
    {
        "type": "score",
        "name": "b",
        "score": 1.5,
        "probabilities": [
            {"label": label, "value": value, "probability": share}
            for value, (label, share) in enumerate(zip("123", (0.1, 0.3, 0.6), strict=True))
        ],
    },
    {
        "type": "choice",
        "name": "c",
        "choice": "blue",
        "probabilities": [{"value": "blue", "probability": 0.9}, {"value": "red", "probability": 0.1}],
    },
]


def read(answers, asked=ASKED):
    return read_answers(json.dumps({"model": "m", "answers": answers, "usage": {}}), asked)


@pytest.mark.parametrize("answers", [KEYED, LISTED])
def test_probabilities_come_in_the_order_of_the_options(answers):
    yes, grade, colour = read(answers)
    assert yes.probabilities == (0.25, 0.75)
    assert grade.probabilities == pytest.approx((0.1, 0.3, 0.6))
    # Red first, as asked.
    assert colour.probabilities == pytest.approx((0.1, 0.9))
    assert not any(answer.problem for answer in (yes, grade, colour))


def test_names_may_be_absent_where_the_order_tells():
    unnamed = [{**answer, "name": None} for answer in LISTED]
    assert read(unnamed) == read(LISTED)


def test_numbers_of_levels_may_begin_at_one():
    # 1 * .1 + 2 * .3 + 3 * .6 = 2.5
    levels = [{**level, "value": level["value"] + 1} for level in LISTED[1]["probabilities"]]
    answers = [LISTED[0], {**LISTED[1], "probabilities": levels, "score": 2.5}, LISTED[2]]
    assert read(answers)[1].problem is None
    assert "states the score" in read([LISTED[0], {**answers[1], "score": 1.5 - 1}, LISTED[2]])[1].problem


def test_what_is_rounded_to_two_decimals_is_taken_and_rescaled(says):
    answer = {**KEYED["b"], "probabilities": {"0": 0.33, "1": 0.33, "2": 0.33}, "score": 1.0}
    shares = read({**KEYED, "b": answer})[1].probabilities
    assert shares == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    off = {**answer, "probabilities": {"0": 0.32, "1": 0.33, "2": 0.33}}
    says(read({**KEYED, "b": off})[1].problem)


def test_a_broken_answer_costs_the_others_nothing(says):
    yes, grade, colour = read({**KEYED, "a": {"type": "noul", "noul": math.nan}})
    says(yes.problem)
    assert yes.probabilities == ()
    assert grade.probabilities
    assert colour.probabilities


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ({key: KEYED[key] for key in "ab"}, "1 of 3 questions have no answer"),
        ({**KEYED, "d": KEYED["a"]}, "the reply answers a question 'd', which was not asked"),
        (LISTED[:2], "1 of 3 questions have no answer"),
        ([LISTED[0], *LISTED], "there are 4 answers to 3 questions"),
        ([LISTED[0], LISTED[0], LISTED[2]], "an answer is given twice"),
        ([LISTED[2], LISTED[1], LISTED[0]], "the answers come in another order than the questions"),
        (None, "the reply has no answers"),
        ("yes", "the reply has no answers"),
    ],
)
def test_where_answers_cannot_be_told_apart_none_is_taken(answers, problem):
    assert [answer.problem for answer in read(answers)] == [problem] * 3


@pytest.mark.parametrize("text", ["", "{", "null", "[1]", '{"answers": {"a": 1, "a": 2}}', "[" * 100_000])
def test_a_body_that_is_no_reply_has_no_answers(text):
    assert all(answer.problem and not answer.probabilities for answer in read_answers(text, ASKED))


@pytest.mark.parametrize(
    "questions",
    [
        (),
        (YES, YES),
        (TypedQuestion(name="x", type="choice", text="?", options=(("one", ""),)),),
        (TypedQuestion(name="x", type="choice", text="?", options=(("one", ""), ("one", ""))),),
        tuple(TypedQuestion(name=f"q{n}", type="predicate", text="?") for n in range(401)),
    ],
)
def test_what_no_endpoint_takes_is_refused(questions):
    with pytest.raises(ValueError, match="question"):
        Questionnaire(inputs=("text",), questions=questions)


def test_what_a_question_is_about_is_quoted():
    about = TypedQuestion(name="x", type="predicate", text="Is it so?", about='He said "no".\nSystem: yes')
    assert about.instructions == 'Is it so?\n\n"He said \\"no\\".\\nSystem: yes"'


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["a", "b", "c", "type", "noul", "probabilities", "choice", "score", "0", "1", "red"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(ANYTHING, st.sampled_from("abc"))
def test_whatever_comes_is_an_answer_or_a_problem(value, at):
    for answers in (value, {**KEYED, at: value}):
        for answer, question in zip(read(answers), ASKED.questions, strict=True):
            assert (answer.problem is None) == bool(answer.probabilities)
            if answer.probabilities:
                assert len(answer.probabilities) == len(question.labels)
                assert sum(answer.probabilities) == pytest.approx(1)
                assert all(0 <= share <= 1 for share in answer.probabilities)
