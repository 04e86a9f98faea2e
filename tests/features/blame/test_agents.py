"""Blame of an agent's answer sheet: causes, shares, report, and rows that cannot be read."""

import json

import pytest
from tests.support.command import ragstone as command
from tests.support.golden import sentence_in

import ragstone
from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.blamed import read_causes

TOML = """[run]
name = "agent"
[questions]
path = "questions.jsonl"
[answer]
sheet = "sheet.jsonl"
[judge]
judges = ["coverage"]
"""
NEEDED = {"tool": "weather", "arguments": {"place": "Nakuru"}}
DRY = {**NEEDED, "arguments": {"place": "Nakuru", "days": 1}, "result": "Nakuru tomorrow: dry, 14.8 °C."}
TIMEOUT = {**NEEDED, "error": "timeout"}
NAIROBI = {"tool": "weather", "arguments": {"place": "Nairobi"}, "result": "Nairobi tomorrow: dry, 16 °C."}
CROPS = {"tool": "crops", "arguments": {"crop": "tea"}, "result": "tea: roots 1.5 m"}
RIGHT, WRONG = "It will be dry, at 14.8 °C.", "I could not find that."
# What was done and said, the cause with the expected steps in the row, and the one without.
ROWS = {
    "sound": ([DRY], RIGHT, None, None),
    "failed once": ([TIMEOUT, DRY], RIGHT, None, None),
    "other tool": ([CROPS], WRONG, "wrong tool", "cannot tell"),
    "no tool": ([], WRONG, "wrong tool", "cannot tell"),
    "other place": ([NAIROBI], "It will be 16 °C.", "wrong arguments", "cannot tell"),
    "timeout": ([TIMEOUT], WRONG, "tool failed", "tool failed"),
    "timeout, then another": ([TIMEOUT, CROPS], WRONG, "tool failed", "tool failed"),
    "unheard": ([TIMEOUT, DRY], WRONG, "right result ignored", "right result ignored"),
    "empty": ([{**NEEDED, "result": ""}], WRONG, "cannot tell", "cannot tell"),
}


@pytest.fixture
def agent(tmp_path, monkeypatch):
    """A function that makes a finished run of these rows and returns its folder."""
    monkeypatch.chdir(tmp_path)

    def make(expected=None, rows=ROWS):
        asked = {"question": "What will the weather be?", "reference": "dry, 14.8 °C"}
        extra = {} if expected is None else {"expected_steps": expected}
        questions = [{"id": name, **asked, **extra} for name in rows]
        sheet = [{"question_id": n, "answer": said, "steps": did} for n, (did, said, *_) in rows.items()]
        for file, lines in (("questions", questions), ("sheet", sheet)):
            (tmp_path / f"{file}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (tmp_path / "ragstone.toml").write_text(TOML)
        ragstone.run(ragstone.load_settings(tmp_path / "ragstone.toml"), force=True)
        return tmp_path / "runs" / "agent"

    return make


@pytest.mark.parametrize(("expected", "column"), [([NEEDED], 2), (None, 3)])
def test_each_lost_point_of_an_agent_has_its_cause(agent, expected, column):
    folder = agent(expected)
    [system] = ragstone.blame(folder).systems
    found = {name: rows[0].cause for name, rows in read_causes(folder).items()}
    assert found == {name: row[column] for name, row in ROWS.items() if row[column]}
    assert next(share.n for share in system.shares if share.component == "tools") == 2
    assert any("do not say which steps are expected" in note for note in system.notes) is (expected is None)


def test_the_evidence_names_the_call_and_what_it_brought(agent, says):
    folder = agent([NEEDED])
    ragstone.blame(folder)
    said = {name: rows[0].because for name, rows in read_causes(folder).items()}
    says(said["other place"])
    says(said["unheard"])


def test_terminal_and_page_show_the_tools_and_the_causes(agent, says):
    folder = agent([NEEDED])
    out = " ".join(command("blame", "runs/agent", "--all").out.split())
    for said in ("tools ███", "tool failed (2 points)", "wrong arguments (1 point)", "called crops("):
        assert said in out
    page = (folder / "report.html").read_text(encoding="utf-8")
    says(sentence_in(page, "Tools: a call"))
    says(sentence_in(page, "answer has steps"))
    says(sentence_in(page, "not called for"))
    assert "right result ignored" in page


def test_blame_of_a_sheet_without_steps_knows_no_tools(agent):
    folder = agent(rows={"plain": (None, WRONG), "other": (None, RIGHT)})
    [system] = ragstone.blame(folder).systems
    assert "tools" not in [share.component for share in system.shares]


@pytest.mark.parametrize(
    ("expected", "says"),
    [
        ("weather(Nakuru)", "expected_steps must be a list of calls"),
        ([{"arguments": {"place": "Nakuru"}}], "names no tool"),
        (7, "expected_steps must be a list of calls"),
    ],
)
def test_expected_steps_of_another_form_are_refused_by_name(agent, expected, says):
    folder = agent(expected)
    with pytest.raises(DataError, match=f"expected steps of 9 questions cannot be read.*\n  sound: .*{says}"):
        ragstone.blame(folder)
    assert not (folder / "blame.json").exists()


def test_rows_without_steps_may_have_anything_in_such_columns(agent):
    rows = {"plain": (None, WRONG), "other": (None, RIGHT)}
    [system] = ragstone.blame(agent("weather(Nakuru)", rows)).systems
    assert system.n_lost == 1
