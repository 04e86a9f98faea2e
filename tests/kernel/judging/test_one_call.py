from pathlib import Path

import msgspec
import pytest

from ragstone.kernel.engine.digests import digest_of
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import judge_names, load_judge, parse_judge
from ragstone.kernel.judging.group import group_judges
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


STATED = """
name = "m"
version = 1
kind = "boolean"
inputs = ["answer"]
scale = [0, 1]
source = "own"
statement = "It is late."
prompt = "Does {statement} hold of {answer}?"
"""


def test_a_statement_of_the_file_is_fenced_and_part_of_the_judge():
    judge = parse_judge(STATED, Path("m.toml"))
    assert gather_inputs(judge, ANSWER) == {"statement": "It is late.", "answer": "Early."}
    assert not judge.can_join()
    plain = parse_judge(
        STATED.replace('statement = "It is late."\n', "").replace("{statement}", "it"), Path("m.toml")
    )
    assert "statement" not in plain.every_key()  # so that digests of judges without one stay
    assert plain.can_join()
    other = parse_judge(STATED.replace("late", "early"), Path("m.toml"))
    assert digest_of(other) != digest_of(judge)
    assert len(group_judges([judge, other], one_call=True)) == 2
    assert len(group_judges([judge, other], one_call=True, by_questions=True)) == 2


@pytest.mark.parametrize(
    ("change", "to"),
    [("{statement}", "this"), ('["answer"]', '["answer", "statement"]'), ('"It is late."', '""')],
)
def test_a_statement_that_the_prompt_does_not_show_is_refused(change, to, says):
    with pytest.raises(ConfigError) as problem:
        parse_judge(STATED.replace(change, to), Path("m.toml"))
    says(problem.value)


@pytest.mark.parametrize("name", ["Имя", "a b", "1a", "имя\u200b", "ﬁ"])
def test_a_name_has_small_letters_of_any_script(name):
    assert parse_judge(STATED.replace('"m"', '"имя_हिन्दी2"'), Path("m.toml")).name == "имя_हिन्दी2"
    with pytest.raises(ConfigError, match="lower-case letters"):
        parse_judge(STATED.replace('"m"', f'"{name}"'), Path("m.toml"))
