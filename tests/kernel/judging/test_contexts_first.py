"""Layout `contexts_first`: what prompts share, what a verdict is bound to, what is asked when and refused."""

import msgspec
import pytest
from tests.support.golden import check_prompt
from tests.support.scripted_judge import Scripted

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge
from ragstone.kernel.judging.contexts_first import contexts_first_prompt
from ragstone.kernel.judging.fields import Example
from ragstone.kernel.judging.inputs import gather_inputs
from ragstone.kernel.judging.together import can_join
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Answer, Context

LAYOUT = "@layout=contexts_first"
CONTEXTS = [Context(text="Sown in April."), Context(text="25 cm apart.")]
ROW = Answer(
    question_id="q", question="When?", answer="In April.", reference="April", contexts=CONTEXTS, system="mine"
)
FILE = """name = "supported"
version = 1
kind = "boolean"
inputs = ["question", "answer", "contexts"]
scale = [0, 1]
source = "own"
prompt = "Is {answer}, the reply to {question}, supported by {contexts}?"
"""


@pytest.fixture
def supported(tmp_path):
    path = tmp_path / "supported.toml"
    path.write_text(FILE)
    return load_judge(f"{path}{LAYOUT}")


def context(*replies, **fields):
    return JudgeContext(ask=Scripted(*replies), model="openai/test", secret=b"secret", **fields)


def prompt_of(judge, row=ROW, *, shares_rows=True, secret=b"secret"):
    given = JudgeContext(ask=Scripted(), model="m", secret=secret, shares_rows=shares_rows)
    return contexts_first_prompt(judge, row, gather_inputs(judge, row), given)


def test_the_prompt(supported):
    check_prompt("supported-contexts-first", prompt_of(supported).messages)


def test_all_judges_of_a_row_send_the_same_bytes_up_to_the_last_text_that_both_read(supported):
    names = ("context_sufficiency", "correctness", "answered", "relevance", "bias")
    first, *others = [prompt_of(supported), *(prompt_of(load_judge(f"{name}{LAYOUT}")) for name in names)]
    for other in others:
        assert (first.messages[0], first.schema) == (other.messages[0], other.schema)
        assert first.form is other.form
    body = first.messages[1].content
    sufficiency, correctness = others[:2]
    ends = sufficiency.shared
    assert len(ends) == 2
    assert sufficiency.messages[1].content[: ends[1]] == body[: ends[1]]  # contexts and question
    assert body[first.shared[1] - 2 :].startswith("\n\nThe texts above")  # all that it reads is shared
    assert "April" not in correctness.messages[1].content[: correctness.shared[1]].replace("In April.", "")


def test_the_code_of_the_tags_is_of_the_row_and_that_of_the_verdict_of_the_judge(supported):
    answered = load_judge(f"answered{LAYOUT}")
    codes = {
        prompt.messages[1].content.partition(">")[0].split()[1]
        for prompt in map(prompt_of, (supported, answered))
    }
    assert len(codes) == 1
    nonces = {prompt_of(judge).nonce for judge in (supported, answered)}
    assert len(nonces) == 2
    assert not codes & nonces
    for change in (
        {"answer": "In May."},
        {"question": "Where?"},
        {"reference": "May"},
        {"contexts": CONTEXTS[:1]},
    ):
        row = msgspec.structs.replace(ROW, **change)
        assert prompt_of(answered, row).messages[1].content.partition(">")[0].split()[1] not in codes
    assert prompt_of(supported, secret=b"another").nonce not in nonces


def test_no_text_from_outside_comes_after_the_code_of_the_verdict_or_holds_it(supported):
    body = prompt_of(supported).messages[1].content
    nonce = prompt_of(supported).nonce
    assert body.count(nonce) == 1
    assert body.endswith(f'The code is "{nonce}".')
    last = max(body.rfind(text.text) for text in CONTEXTS)
    assert max(last, body.rfind("In April.")) < body.index("The texts above")


async def test_a_verdict_is_read_as_the_judges_own(supported):
    (row,) = await judge_answer(supported, ROW, context({"reason": "It is.", "verdict": "true"}))
    assert (row.status, row.score, row.rationale) == ("scored", 1.0, "It is.")
    assert row.judge == f"supported{LAYOUT}"
    percent = load_judge(f"correctness{LAYOUT}")
    (row,) = await judge_answer(percent, ROW, context({"reason": "Half.", "verdict": "50"}))
    assert row.score == 50.0
    label = load_judge(f"answered{LAYOUT}")
    (row,) = await judge_answer(label, ROW, context({"reason": "It does.", "verdict": "answered"}))
    assert (row.score, row.label) == (1.0, "answered")
    graded = load_judge("rubric@criteria=readability,layout=contexts_first")
    (row,) = await judge_answer(graded, ROW, context({"reason": "Clear.", "verdict": "3"}))
    assert (row.score, row.metric) == (3.0, "rubric")


@pytest.mark.parametrize(
    "reply",
    [
        {"reason": "x", "verdict": "maybe"},
        {"reason": "x", "verdict": "True"},
        {"reason": "x", "verdict": True},
        {"reason": "x", "verdict": "true", "nonce": "0000000000"},
    ],
)
def test_a_verdict_that_was_not_offered_or_has_another_code_is_none(supported, reply):
    from ragstone.kernel.llm.schema import ReplyError, parse_reply

    prompt = prompt_of(supported)
    whole = msgspec.json.encode({"nonce": prompt.nonce} | reply).decode()
    with pytest.raises(ReplyError):
        parse_reply(whole, prompt.reply, prompt.nonce)


def test_an_example_has_the_reply_of_the_layout(supported):
    example = Example(question="When?", answer="May", contexts=["April"], expected=False, reason="No.")
    body = prompt_of(msgspec.structs.replace(supported, examples=[example])).messages[1].content
    assert '"verdict": "false"' in body
    assert body.index("example-1") > body.index("The texts above")


def test_what_is_shared_is_marked_only_where_several_judges_share_it(supported):
    assert prompt_of(supported, shares_rows=False).shared == ()
    alone, several = prompt_of(supported, shares_rows=False), prompt_of(supported)
    assert alone.messages == several.messages


@pytest.mark.parametrize(
    "name",
    [
        "faithfulness",
        "containment",
        "task_done",
        "same_answer",
        "rubric",
    ],
)
def test_a_judge_that_cannot_be_asked_so_is_refused(says, name):
    with pytest.raises(ConfigError) as caught:
        load_judge(f"{name}{LAYOUT}")
    says(caught.value)


def test_another_layout_is_refused(says):
    with pytest.raises(ConfigError) as caught:
        load_judge("answered@layout=question_first")
    says(caught.value)


def test_its_file_may_say_so_too_and_it_is_never_asked_in_one_call_with_others(tmp_path, supported):
    path = tmp_path / "own.toml"
    path.write_text(FILE + 'layout = "contexts_first"\n')
    judge = load_judge(path)
    assert (judge.layout, judge.shares_prefix) == ("contexts_first", True)
    assert not can_join(judge)
    assert prompt_of(judge).messages[0] == prompt_of(supported).messages[0]


def test_a_judge_without_it_has_the_digest_that_it_had():
    assert "layout" not in load_judge("answered").every_key()
    assert load_judge(f"answered{LAYOUT}").every_key()["layout"] == "contexts_first"


async def test_a_failed_call_is_the_rows_status(supported):
    (row,) = await judge_answer(supported, ROW, context(CallFailed("refused", "no")))
    assert (row.status, row.score) == ("refused", None)
