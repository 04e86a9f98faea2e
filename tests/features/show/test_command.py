"""`ragstone show`, and `run.row`: a row whole, as its page has it."""

import json

import msgspec
import pytest
from tests.support.command import ragstone as command
from tests.support.rich_row import ANSWERS, QUESTIONS, SYSTEMS, write_rich_run

import ragstone
from ragstone.kernel.judging import summarise
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.stages.notes import judgements_alone
from ragstone.kernel.tables import write_rows

FIRST = "q 1/a"
SCREEN = 25


@pytest.fixture
def rich(tmp_path, monkeypatch):
    (tmp_path / "ragstone.toml").write_text('[run]\nname = "mine"\n')
    monkeypatch.chdir(tmp_path)
    write_rich_run(tmp_path)
    return "runs/rich"


def test_the_verdicts_come_first_and_a_screen_holds_it(rich, says):
    ran = command("show", rich, FIRST)
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0] == QUESTIONS[0].question
    assert [line.split()[0] for line in lines[3:6]] == list(SYSTEMS)
    assert len(lines) <= SCREEN
    says(ran.out)


def test_all_of_it_has_the_contexts_the_conversation_and_the_calls(rich, says):
    ran = command("show", rich, FIRST, "--all", "--system", "bm25")
    for words in (
        "Contexts given to agent",
        "Call: answer of bm25",
        "soil_map",
        "12 mm is of cotton. #wrong number",
    ):
        assert words in ran.out
    says(ran.out)


def test_a_long_row_fits_a_screen_and_names_what_it_leaves_out(rich, tmp_path, says):
    words = {
        f"a system with a long name, and with its number at the end, {at}": f"word{at} " * 3_000
        for at in range(12)
    }
    long = [msgspec.structs.replace(ANSWERS[2], system=name, answer=text) for name, text in words.items()]
    write_rows(tmp_path / rich / "answers.jsonl", long, Answer, force=True)
    lines = command("show", rich, FIRST).out.splitlines()
    assert len(lines) <= SCREEN
    says(lines[-3])
    says(lines[-1])


def test_the_worst_of_a_judge_whose_lowest_score_is_the_best_is_its_highest(rich, tmp_path):
    scores = dict(zip(SYSTEMS, (0.1, 0.9, 0.4), strict=True))
    rows = [
        Judgement(
            question_id=FIRST,
            system=system,
            judge="toxicity",
            metric="toxicity",
            model="m",
            prompt_version=1,
            status="scored",
            score=score,
            scale=(0, 1),
            rationale=f"it is {score}",
        )
        for system, score in scores.items()
    ]
    summary = judgements_alone("rich", summarise(rows), [])
    write_rows(tmp_path / rich / "judgements.jsonl", rows, Judgement, force=True)
    (tmp_path / rich / "summary.json").write_bytes(msgspec.json.encode(summary))
    reasons = [line for line in command("show", rich, FIRST, "--all").out.splitlines() if ": it is " in line]
    assert [line.rsplit(" ", 1)[1] for line in reasons] == ["0.9", "0.4", "0.1"]


def test_json_is_the_value_of_python(rich):
    ran = command("show", rich, FIRST, "--json")
    row = ragstone.read_run(rich).row(FIRST, labels="labels/sheet.jsonl")
    given = json.loads(ran.out)
    ours = json.loads(msgspec.json.encode(row))
    for value in (given, ours):
        for label in value["labels"]:
            label["source"] = ""  # the queue of the project, and the name of the file
    assert given == ours
    assert "calls" not in given
    calls = json.loads(command("show", rich, FIRST, "--json", "--all").out)["calls"]
    assert [call["systems"] for call in calls] == [[system] for system in SYSTEMS]


def test_a_row_in_python(rich):
    row = ragstone.read_run(rich).row(FIRST, system="bm25", labels="labels/sheet.jsonl", calls=True)
    assert row.question == QUESTIONS[0].question
    assert [answer.answer for answer in row.answers] == list(SYSTEMS.values())
    assert row.references == [QUESTIONS[0].reference]
    worst = next(verdict for verdict in row.verdicts if verdict.system == "bm25" and verdict.judge == "grade")
    assert (worst.score, worst.status, worst.scale, worst.metric) == (2.0, "scored", (1, 5), "correctness")
    assert [each.status for each in row.verdicts if each.score is None] == ["unparsable"]
    assert [each.judge for each in row.verdicts][-3:] == ["containment"] * 3  # calls no model
    assert [label.score for label in row.labels] == [2, 5]
    assert [note.tags for note in row.notes] == [["wrong number"]]
    assert row.differences.against == "bm25"
    assert row.passage(row.answers[0].contexts[0]).document == "water"
    assert len(row.calls) == 3
    assert ragstone.read_run(rich).row("q2").labels == []


@pytest.mark.parametrize(
    "given",
    [["runs/rich", "q1"], ["runs/none", "q1"], ["runs/rich", "q2", "--system", "bm26"]],
    ids=["no such question", "no such run", "no such system"],
)
def test_what_is_not_there_is_said(rich, given, says):
    ran = command("show", *given)
    assert ran.code == 2
    says(ran.err)


def test_of_many_questions_one_is_named_and_not_all(rich, tmp_path, says):
    rows = [QUESTIONS[0], *(msgspec.structs.replace(QUESTIONS[1], id=f"n{at}") for at in range(2_000))]
    write_rows(tmp_path / rich / "questions.jsonl", rows, type(rows[0]), force=True)
    says(command("show", rich, "n-1").err)


def test_labels_that_cannot_be_read_are_told_and_the_row_is_there(rich, tmp_path, says):
    (tmp_path / "labels" / "other.jsonl").write_text("{")
    ran = command("show", rich, FIRST)
    assert ran.code == 0
    assert QUESTIONS[0].question in ran.out
    says(ran.err)
    with pytest.raises(ragstone.RagstoneError, match=r"other\.jsonl"):
        ragstone.read_run(rich).row(FIRST, labels="labels/other.jsonl")
    with pytest.raises(ragstone.RagstoneError, match=r"none\.jsonl") as mistake:
        ragstone.read_run(rich).row(FIRST, labels="labels/none.jsonl")
    says(mistake.value)


def test_an_id_that_begins_like_an_option_can_be_shown(rich, tmp_path, says):
    rows = [msgspec.structs.replace(QUESTIONS[0], id="-7")]
    write_rows(tmp_path / rich / "questions.jsonl", rows, type(rows[0]), force=True)
    lines = command("show", rich, "--", "-7").out.splitlines()
    says(lines[-1])
