import json
import re

import pytest
from tests.support.scripted_judge import Scripted

from ragstone.kernel.judging import JudgeContext, judge_answer, judge_names, load_judge
from ragstone.kernel.judging.examples import example_reply
from ragstone.kernel.judging.fields import Example
from ragstone.kernel.judging.inputs import gather_inputs
from ragstone.kernel.judging.one_call import OneCallJudge, one_call_prompt
from ragstone.kernel.judging.render import reply_type
from ragstone.kernel.llm.schema import validate
from ragstone.kernel.records import Answer

ANSWER = Answer(question_id="q", question="When?", reference="early", answer="Early.")


def prompt_of(judge, answer=ANSWER, secret=b"s"):
    return one_call_prompt(judge, gather_inputs(judge, answer), secret)


def with_examples(name, *examples):
    import msgspec

    return msgspec.structs.replace(load_judge(name), examples=list(examples))


def test_shots_says_how_many_examples_are_shown():
    for shots, n_shown in ((0, 0), (1, 1), (4, 4)):
        system = prompt_of(load_judge(f"rubric@shots={shots}")).messages[0].content
        assert system.count("Reply: {") == n_shown
    assert "Examples" not in prompt_of(load_judge("rubric")).messages[0].content  # shots = 0 in its file


def test_without_shots_all_examples_are_shown():
    examples = [Example(expected=n, reason="r", question="Q?", reference="R", answer="A") for n in (0, 100)]
    assert prompt_of(with_examples("correctness", *examples)).messages[0].content.count("Reply: {") == 2


def test_examples_stand_in_the_fixed_part_and_hold_no_code_of_a_row():
    judge = load_judge("rubric@shots=4")
    other = Answer(question_id="q2", question="Why?", reference="x", answer="y")
    first, second = prompt_of(judge), prompt_of(judge, other)
    assert first.messages[0] == second.messages[0]
    assert first.nonce not in first.messages[0].content


@pytest.mark.parametrize(
    ("name", "expected", "shown"),
    [
        ("correctness", 40, {"reason": "r", "score": 40}),
        ("relevance", True, {"reason": "r", "verdict": True}),
        ("answered", "refused", {"reason": "r", "label": "refused"}),
    ],
)
def test_the_reply_of_an_example_has_the_form_of_a_real_one(name, expected, shown):
    example = Example(expected=expected, reason="r", question="Q?", reference="R", answer="A")
    judge = with_examples(name, example)
    found = re.search(r"^Reply: (.*)$", prompt_of(judge).messages[0].content, re.MULTILINE)
    assert json.loads(found[1]) == {"nonce": "example-1", **shown}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in judge_names()
        if isinstance(load_judge(name), OneCallJudge) and load_judge(name).examples
    ],
)
@pytest.mark.parametrize("scale", ["", "0-1", "1-5", "0-100"])
def test_shipped_examples_are_replies_that_would_be_accepted(name, scale):
    judge = load_judge(name)
    if scale and judge.kind == "rubric":
        judge = load_judge(f"{name}@scale={scale}")
    for example in judge.examples:
        reply = json.loads(example_reply(judge.reply_of(example.expected, example.reason), "example-1"))
        validate(reply, reply_type("R", judge.reply_fields()), "example-1")


def test_an_example_has_the_inputs_of_a_row():
    example = Example(
        expected=1, reason="r", question="Q?", reference=["a", "b"], answer="A", contexts=["one", "two"]
    )
    inputs = gather_inputs(load_judge("faithfulness"), example.as_answer())
    assert inputs == {"question": "Q?", "answer": "A", "contexts": "[1] one\n\n[2] two"}


async def test_a_question_that_is_shown_is_marked_as_tuned_on_in_every_row():
    judge = load_judge("rubric@shots=1")
    shown = Answer(question_id="q", question=judge.examples[0].question, reference="x", answer="y")
    reply = {
        k: v
        for name in ("correctness", "completeness", "readability")
        for k, v in ((f"{name}_reason", "x"), (f"{name}_score", 1))
    }
    rows = await judge_answer(judge, shown, JudgeContext(ask=Scripted(reply), secret=b"s"))
    assert [row.metadata for row in rows] == [{"tuned": True}] * 4
