"""Judges that read columns of one's own, and rows without an answer."""

import json

import pytest
from tests.support.command import ragstone as command
from tests.support.scripted_judge import Scripted

import ragstone
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.judging import JudgeContext, judge_answer, parse_judge
from ragstone.kernel.judging.inputs import part_of
from ragstone.kernel.records import Answer

TEXT = """\
name = "tone"
version = 1
kind = "boolean"
inputs = ["answer", "persona", "guidelines"]
scale = [0, 1]
source = "ours"
prompt = "Does {answer} speak to {persona} as {guidelines} say?"
"""


async def judged(tmp_path, **metadata):
    heard = Scripted({"reason": "so it is", "verdict": True})
    judge = parse_judge(TEXT, tmp_path / "tone.toml")
    row = Answer(question_id="q", answer="Hello!", metadata=metadata)
    [judgement] = await judge_answer(judge, row, JudgeContext(ask=heard, model="m", secret=b"s"))
    return judgement, heard


async def test_a_prompt_reads_any_column_of_the_row(tmp_path, says):
    row, heard = await judged(tmp_path, persona="a farmer", guidelines=["be kind", "be short"])
    assert row.status == "scored"
    shown = heard.prompts[0].messages[-1].content
    assert "a farmer" in shown
    says(shown)


async def test_a_row_without_the_column_is_not_applicable_and_says_which(tmp_path, says):
    row, heard = await judged(tmp_path, persona="a farmer")
    assert row.status == "not_applicable"
    says(row.rationale)
    assert heard.prompts == []


def test_a_slip_in_a_known_name_is_no_column(tmp_path):
    wrong = TEXT.replace("guidelines", "context")
    with pytest.raises(ConfigError, match="unknown inputs 'context'"):
        parse_judge(wrong, tmp_path / "tone.toml")


def test_a_field_of_the_row_goes_before_a_column_of_its_name():
    row = Answer(question_id="q", answer="", latency_s=0.0, metadata={"latency_s": 3, "own": {"a": [1]}})
    assert part_of(row, "latency_s") == 0.0
    assert part_of(row, "own") == {"a": [1]}
    assert part_of(row, "answer") == ""
    assert part_of(row, "question") is None


def asks(question):
    return question.endswith("?")


def test_rows_need_no_answer_where_no_judge_reads_one(tmp_path, monkeypatch):
    rows = [{"question": "When?"}, {"question": "Clover"}]
    named = ragstone.judge(rows, judges=[asks])
    assert [(row.status, row.score) for row in named] == [("scored", 1), ("scored", 0)]
    for judges in (["no_refusal"], [asks, "no_refusal"], [lambda row: 1]):
        with pytest.raises((DataError, ConfigError)):
            ragstone.judge(rows, judges=judges)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checks.py").write_text("def asks(question):\n    return question.endswith('?')\n")
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ran = command("judge", "questions.jsonl", "--judge", "checks.py:asks", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["metrics"][0]["estimate"]["value"] == 0.5
