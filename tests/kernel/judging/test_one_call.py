import msgspec
import pytest

from ragstone.kernel.judging import judge_names, load_judge
from ragstone.kernel.judging.inputs import gather_inputs
from ragstone.kernel.judging.one_call import OneCallJudge, one_call_prompt
from ragstone.kernel.llm.schema import schema_of
from ragstone.kernel.records import Answer, Context

NAMES = [name for name in judge_names() if isinstance(load_judge(name), OneCallJudge)]
ANSWER = Answer(
    question_id="q", question="When?", reference="early", answer="Early.", contexts=[Context(text="Early.")]
)


def prompt_of(name):
    judge = load_judge(name)
    return one_call_prompt(judge, gather_inputs(judge, ANSWER), b"s")


@pytest.mark.parametrize("name", NAMES)
def test_every_score_of_a_reply_has_its_reason_right_before_it(name):
    names = [field.name for field in load_judge(name).reply_fields()]
    assert [field.endswith("reason") for field in names] == [True, False] * (len(names) // 2)


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_is_closed_and_begins_with_the_nonce(name):
    schema = schema_of(prompt_of(name).reply, True)
    assert schema["additionalProperties"] is False
    assert next(iter(schema["properties"])) == "nonce"
    assert schema["required"] == list(schema["properties"])


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_one_judge_share_one_type_of_reply(name):
    assert prompt_of(name).reply is prompt_of(name).reply  # schemas are made once for each type


def test_a_judge_is_asked_at_its_temperature():
    assert prompt_of("relevance").temperature is None  # that of the model's settings, else 0
    assert prompt_of("relevance@temperature=0.5").temperature == 0.5


def test_a_label_of_a_score_is_the_label_that_was_said():
    judge = msgspec.structs.replace(load_judge("answered"), labels={"yes": 1, "maybe": 1, "no": 0})
    finding = judge.finding_of({"reason": " x ", "label": "maybe"})
    assert (finding.label, finding.score, finding.rationale) == ("maybe", 1, "x")


def test_a_reason_of_nothing_is_none():
    assert load_judge("correctness").finding_of({"reason": " ", "score": 5}).rationale is None
