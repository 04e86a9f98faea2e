import json

import msgspec
import pytest
from tests.support.golden import check_prompt
from tests.support.scripted_judge import Scripted

from ragstone.kernel.judging import JudgeContext, load_judge
from ragstone.kernel.judging.fields import Example
from ragstone.kernel.judging.together import can_join, joined, judge_together, together_prompt
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Answer, Usage

ANSWER = Answer(
    question_id="q1", question="When?", reference="early in the season", answer="Early.", system="mine"
)
JUDGES = [load_judge(name) for name in ("correctness", "rubric", "relevance", "answered")]
REPLY = {
    "correctness_reason": "The one point.",
    "correctness_score": 100,
    **{
        f"rubric_{name}_{field}": value
        for name in ("correctness", "completeness", "readability")
        for field, value in (("reason", f"why {name}"), ("score", 2))
    },
    "relevance_reason": "A time.",
    "relevance_verdict": True,
    "answered_reason": "It states a time.",
    "answered_label": "answered",
}


def context(*replies):
    return JudgeContext(ask=Scripted(*replies), model="openai/test", secret=b"secret")


async def test_one_call_gives_the_rows_of_every_judge_under_names_of_their_own(says):
    asked = context(REPLY)
    rows = await judge_together(JUDGES, ANSWER, asked)
    assert [(row.judge, row.metric, row.score) for row in rows] == [
        ("correctness@together", "correctness", 100.0),
        ("rubric@together", "rubric", 2.0),
        ("rubric@together", "correctness", 2.0),
        ("rubric@together", "completeness", 2.0),
        ("rubric@together", "readability", 2.0),
        ("relevance@together", "relevance", 1.0),
        ("answered@together", "answered", 1.0),
    ]
    says("\n".join([row.rationale for row in rows][-2:]))
    assert rows[-1].label == "answered"
    assert len(asked.ask.prompts) == 1


async def test_tokens_and_cost_stand_in_the_first_row_alone():
    rows = await judge_together(JUDGES, ANSWER, context(REPLY))
    assert [row.usage for row in rows] == [Usage(input=10, output=5), *[None] * 6]
    assert [row.cost_usd for row in rows] == [0.5, *[None] * 6]


async def test_an_input_that_one_judge_lacks_fails_that_judge_alone(says):
    answer = msgspec.structs.replace(ANSWER, reference=None)
    asked = context({k: v for k, v in REPLY.items() if k.startswith(("relevance", "answered"))})
    rows = await judge_together(JUDGES, answer, asked)
    assert [row.status for row in rows] == ["not_applicable"] * 5 + ["scored"] * 2
    says(rows[0].rationale)
    assert [row.usage for row in rows] == [None] * 5 + [Usage(input=10, output=5), None]
    assert "# correctness" not in asked.ask.prompts[0].messages[0].content


async def test_nobody_is_asked_where_no_judge_has_its_inputs_or_the_system_failed():
    bare = Answer(question_id="q", answer="Early.")
    broken = Answer(question_id="q", answer="", question="When?", error="HTTP 500")
    for answer, status in ((bare, "not_applicable"), (broken, "app_error")):
        rows = await judge_together(JUDGES, answer, context())
        assert {row.status for row in rows} == {status}
        assert len(rows) == 7


async def test_a_failed_call_fails_all_that_were_in_it_and_is_paid_once():
    failure = CallFailed("unparsable", "no JSON", raw="hm", usage=Usage(input=7, output=3))
    rows = await judge_together(JUDGES, ANSWER, context(failure))
    assert {(row.status, row.score, row.error) for row in rows} == {("unparsable", None, "no JSON")}
    assert [row.usage for row in rows] == [Usage(input=7, output=3), *[None] * 6]


def test_only_judges_of_one_reasoned_call_can_join():
    joins = {
        name: can_join(load_judge(name))
        for name in (
            "correctness",
            "rubric@scale=0-10",
            "relevance",
            "answered",
            "faithfulness",
            "containment",
            "relevance@token",
            "relevance@temperature=0.5,samples=3",
            "relevance@temperature=0.5",
        )
    }
    assert [name for name, can in joins.items() if can] == [
        "correctness",
        "rubric@scale=0-10",
        "relevance",
        "answered",
    ]
    long = msgspec.structs.replace(load_judge("relevance"), inputs=["contexts"])
    assert not can_join(long)


async def test_a_judge_that_cannot_join_is_a_mistake_of_the_caller(says):
    with pytest.raises(ValueError) as error:
        await judge_together([load_judge("faithfulness")], ANSWER, context())
    says(error.value)


async def test_fields_of_judges_whose_names_run_into_each_other_are_kept_apart():
    # `rubric` has the field rubric_correctness_score; a judge `rubric_correctness` would have it too.
    percentage = msgspec.structs.replace(load_judge("correctness"), name="rubric_correctness")
    judges = [load_judge("rubric"), percentage]
    reply = {
        "judge1_rubric_correctness_reason": "a",
        "judge1_rubric_correctness_score": 1,
        "judge1_rubric_completeness_reason": "b",
        "judge1_rubric_completeness_score": 1,
        "judge1_rubric_readability_reason": "c",
        "judge1_rubric_readability_score": 1,
        "judge2_rubric_correctness_reason": "d",
        "judge2_rubric_correctness_score": 90,
    }
    rows = await judge_together(judges, ANSWER, context(reply))
    assert [row.score for row in rows] == [1, 1, 1, 1, 90]


def test_the_fixed_part_comes_first_and_each_text_once():
    first = together_prompt(joined(JUDGES), ANSWER, b"s")
    other = Answer(question_id="q2", question="Why?", reference="x", answer="y")
    second = together_prompt(joined(JUDGES), other, b"s")
    assert first.messages[0] == second.messages[0]
    assert first.nonce != second.nonce
    assert first.messages[1].content.count("early in the season") == 1


def test_examples_stand_in_the_section_of_their_judge_with_its_fields(says):
    example = Example(expected=40, reason="r", question="Q?", reference="R", answer="A")
    judge = msgspec.structs.replace(load_judge("correctness"), examples=[example])
    prompt = together_prompt(joined([judge, load_judge("relevance")]), ANSWER, b"s")
    section = prompt.messages[0].content.partition("# correctness")[2].partition("# relevance")[0]
    says(section)


def test_a_joined_prompt_reads_as_it_did():
    prompt = together_prompt(joined([load_judge("correctness"), load_judge("rubric")]), ANSWER, b"s")
    check_prompt("together", prompt.messages)


async def test_the_rows_can_be_written_as_files():
    rows = await judge_together(JUDGES, ANSWER, context(REPLY))
    assert json.loads(msgspec.json.encode(rows[0]))["judge"] == "correctness@together"
