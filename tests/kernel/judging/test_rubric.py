import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.scripted_judge import Scripted

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import JudgeContext, judge_answer, judge_names, load_judge, parse_judge
from ragstone.kernel.judging.rubric import Criterion, RubricJudge, criteria_text, grade_texts
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.llm.schema import ReplyError
from ragstone.kernel.records import Answer, Usage

ANSWER = Answer(
    question_id="q1", question="When?", reference="early in the season", answer="Early.", system="mine"
)
REPLY = {
    "correctness_reason": "It agrees.",
    "correctness_score": 3,
    "completeness_reason": "The season is missing.",
    "completeness_score": 2,
    "readability_reason": "Short and clear.",
    "readability_score": 3,
}
CLARITY = {
    name: value
    for criterion, grade in {"intent": 2, "topic": 3, "entity": 3, "attributes": 2}.items()
    for name, value in ((f"{criterion}_reason", f"why {criterion}"), (f"{criterion}_score", grade))
}
ONE = """
name = "tone"
version = 1
kind = "rubric"
inputs = ["answer"]
scale = [0, 2]
source = "ours"
prompt = "How polite is {answer}?"

[[criteria]]
name = "politeness"
description = "does it turn to the reader?"
grades = ["no.", "somewhat.", "yes."]
"""


def context(*replies):
    return JudgeContext(ask=Scripted(*replies), model="openai/test", secret=b"secret")


async def test_the_score_is_the_weighted_mean_and_each_criterion_has_a_row_of_its_own(says):
    rows = await judge_answer(load_judge("rubric"), ANSWER, context(REPLY))
    # .6 x 3 + .2 x 2 + .2 x 3 = 1.8 + 0.4 + 0.6 = 2.8
    assert [(row.metric, row.score, row.status) for row in rows] == [
        ("rubric", 2.8, "scored"),
        ("correctness", 3.0, "scored"),
        ("completeness", 2.0, "scored"),
        ("readability", 3.0, "scored"),
    ]
    says("\n".join([row.rationale for row in rows]))
    assert [row.usage for row in rows] == [Usage(input=10, output=5), None, None, None]
    assert {row.scale for row in rows} == {(0, 3)}


async def test_only_the_ratio_of_the_weights_counts():
    judge = load_judge("rubric")
    tenfold = [
        msgspec.structs.replace(criterion, weight=criterion.weight * 10) for criterion in judge.criteria
    ]
    assert [criterion.weight for criterion in tenfold] == [6, 2, 2]
    judge = msgspec.structs.replace(judge, criteria=tenfold)
    [row, *_] = await judge_answer(judge, ANSWER, context(REPLY))
    assert row.score == 2.8


async def test_a_mean_of_a_half_is_rounded_up_and_said_to_be(says):
    [row, *parts] = await judge_answer(load_judge("prompt_clarity@criteria=all"), ANSWER, context(CLARITY))
    # (2 + 3 + 3 + 2) / 4 = 2.5, up to 3; Python's round would give 2
    assert (row.score, row.metric) == (3.0, "prompt_clarity")
    says(row.rationale)
    assert [part.score for part in parts] == [2, 3, 3, 2]


async def test_clarity_is_the_rounded_mean_of_three_criteria_unless_the_fourth_is_asked_for():
    judge = load_judge("prompt_clarity")
    three = {key: value for key, value in CLARITY.items() if not key.startswith("attributes")}
    [row, *parts] = await judge_answer(judge, ANSWER, context(three))
    # (2 + 3 + 3) / 3 = 2.67, up to 3
    assert (row.score, [part.metric for part in parts]) == (3.0, ["intent", "topic", "entity"])
    assert "attributes" not in judge.instructions()
    assert load_judge("prompt_clarity@criteria=all").metrics == [*judge.metrics, "attributes"]


async def test_a_variant_grades_by_the_criteria_that_it_names_and_shows_examples_of_these():
    judge = load_judge("rubric@shots=2,criteria=correctness+readability")
    assert judge.name == "rubric@shots=2,criteria=correctness+readability"
    assert "completeness" not in judge.instructions()
    reply = {
        f"{name}_{key}": value
        for name in ("correctness", "readability")
        for key, value in (("reason", "x"), ("score", 1 if name == "correctness" else 3))
    }
    [row, *parts] = await judge_answer(judge, ANSWER, context(reply))
    # (.6 x 1 + .2 x 3) / .8 = 1.5
    assert (row.score, len(parts)) == (1.5, 2)
    [alone] = await judge_answer(
        load_judge("rubric@criteria=correctness"),
        ANSWER,
        context({"correctness_reason": "x", "correctness_score": 2}),
    )
    assert (alone.metric, alone.score) == ("rubric", 2.0)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('optional = ["politenes"]', "not a criterion. Did you mean 'politeness'?"),
        ('optional = ["politeness"]', "every criterion is optional"),
    ],
)
def test_optional_criteria_that_cannot_be_are_refused(line, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        parse_judge(ONE.replace("scale = [0, 2]", f"scale = [0, 2]\n{line}"), Path("tone.toml"))


@pytest.mark.parametrize("name", judge_names())
def test_examples_of_a_shipped_rubric_show_every_grade_of_every_criterion(name):
    judge = load_judge(name)
    if not isinstance(judge, RubricJudge) or not judge.examples:
        return
    low, high = judge.ends
    for criterion in judge.asked:
        shown = {example.expected[criterion.name] for example in judge.examples}
        assert shown == {*range(low, high + 1)}, criterion.name


async def test_a_half_that_floats_miss_is_a_half():
    # (.1 x 1 + .2 x 1 + .3 x 2) / .6 = .9 / .6 = 1.5, which is 1.4999999999999998 in floats
    text = ONE.replace("scale = [0, 2]", 'scale = [0, 2]\naggregate = "rounded_mean"')
    names = {"politeness": 0.1, "warmth": 0.2, "care": 0.3}
    one = ONE[ONE.index("[[criteria]]") :]
    more = [one.replace("politeness", name) + f"weight = {weight}\n" for name, weight in names.items()]
    judge = parse_judge(text[: text.index("[[criteria]]")] + "\n".join(more), Path("tone.toml"))
    grades = zip(names, (1, 1, 2), strict=True)
    reply = {k: v for name, grade in grades for k, v in ((f"{name}_reason", "x"), (f"{name}_score", grade))}
    [row, *_] = await judge_answer(judge, ANSWER, context(reply))
    assert row.score == 2.0


async def test_a_rubric_of_one_criterion_has_one_row_with_its_reason():
    judge = parse_judge(ONE, Path("tone.toml"))
    reply = {"politeness_reason": "It says please.", "politeness_score": 2}
    [row] = await judge_answer(judge, ANSWER, context(reply))
    assert (row.metric, row.score, row.rationale) == ("tone", 2.0, "It says please.")


@pytest.mark.parametrize("grade", [4, -1, 2.5, "3", None])
async def test_a_grade_off_the_scale_is_refused(grade):
    with pytest.raises(ReplyError):
        await judge_answer(load_judge("rubric"), ANSWER, context({**REPLY, "completeness_score": grade}))


async def test_a_missing_criterion_is_refused():
    with pytest.raises(ReplyError):
        await judge_answer(
            load_judge("rubric"), ANSWER, context({k: v for k, v in REPLY.items() if "completeness" not in k})
        )


async def test_a_failed_call_fails_every_criterion_and_scores_none():
    rows = await judge_answer(load_judge("rubric"), ANSWER, context(CallFailed("unparsable", "no JSON")))
    assert [(row.metric, row.status, row.score) for row in rows] == [
        (metric, "unparsable", None) for metric in ("rubric", "correctness", "completeness", "readability")
    ]


def test_a_variant_of_the_scale_changes_the_schema_and_the_places_of_the_grades():
    def places(name):
        judge = load_judge(name)
        return list(grade_texts(judge.criteria[0], *map(int, judge.scale)))

    assert places("rubric") == [0, 1, 2, 3]
    assert places("rubric@scale=0-1") == [0, 1]  # 0, 1/3, 2/3, 1
    assert places("rubric@scale=1-5") == [1, 2, 4, 5]  # 1, 2 1/3, 3 2/3, 5
    assert places("rubric@scale=0-10") == [0, 3, 7, 10]
    assert places("rubric@scale=0-100") == [0, 33, 67, 100]


def test_grades_that_fall_on_one_number_are_joined_and_gaps_are_told():
    assert "Or: " in criteria_text(load_judge("rubric@scale=0-1"))
    assert "cases between" in criteria_text(load_judge("rubric@scale=0-10"))
    plain = criteria_text(load_judge("rubric"))
    assert "Or: " not in plain
    assert "cases between" not in plain


@given(st.integers(2, 9), st.integers(-20, 20), st.integers(1, 120))
def test_every_grade_is_shown_in_order_from_end_to_end(n_grades, low, width):
    grades = [f"grade {n}" for n in range(n_grades)]
    found = grade_texts(Criterion(name="c", description="d", grades=grades), low, low + width)
    assert [text for texts in found.values() for text in texts] == grades
    assert list(found) == sorted(found)
    assert (min(found), max(found)) == (low, low + width)
