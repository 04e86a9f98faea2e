"""`ragstone judges develop`: run, freeze, look, from the command line."""

import json

import pytest
from tests.support.command import ragstone
from tests.support.judged_drafts import judge_text, project
from tests.support.texts import lines_with, undated


@pytest.fixture
def folder(tmp_path, fake_openai, monkeypatch):
    """A project in the current folder."""
    project(tmp_path, fake_openai)
    monkeypatch.chdir(tmp_path)
    return tmp_path


DEVELOP = ("judges", "develop", "judges/mine.toml", "--labels", "labelled.jsonl")


@pytest.mark.long
def test_a_draft_is_run_frozen_and_looked_at(folder, says):
    first = ragstone(*DEVELOP, "--freeze", "as it came")
    assert first.code == 0, first.err
    says(" ".join(first.out.split()))
    says(lines_with(first.err, "Frozen"))
    assert "Forecast: about" in first.err
    (folder / "judges" / "mine.toml").write_text(judge_text("careful"))
    second = ragstone(*DEVELOP, "--freeze", "careful", "--all")
    says(lines_with(second.out, "got better", "mine version"))
    assert "kept as judges/mine@v2.toml" in second.err
    look = ragstone(*DEVELOP, "--test")
    says(undated(lines_with(look.err, "Look 1")))
    assert "exact agreement" in look.out
    told = json.loads(ragstone(*DEVELOP, "--test", "--json").out)
    assert told["number"] == 2
    says(undated(told["card"]["notes"][0]))


def test_the_forecast_asks_nobody_and_json_holds_everything(folder, fake_openai):
    forecast = json.loads(ragstone(*DEVELOP, "--forecast", "--json").out)
    assert (fake_openai.n_requests, forecast["from_ledger"]) == (0, 0)
    found = json.loads(ragstone(*DEVELOP, "--json").out)
    assert forecast["calls"] == fake_openai.n_requests == found["n_answers"]
    assert found["before"] is None


def test_against_names_what_a_draft_is_compared_with(folder):
    ran = ragstone(*DEVELOP, "--against", "containment", "--json")
    assert json.loads(ran.out)["before"]["judge"] == "containment"


def test_a_budget_that_is_spent_freezes_nothing(folder):
    ran = ragstone(*DEVELOP, "--budget", "2calls", "--freeze", "x")
    assert ran.code == 4
    assert "Nothing was frozen" in ran.err
    assert [file.name for file in (folder / "judges").glob("*@v*")] == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--test", "--freeze", "x"), "leave out --freeze"),
        (("--map", "1:2"), "write LABEL=SCORE"),
        (("--budget", "many"), "give a number with a unit"),
        (("--against", "corectness"), "correctness"),
    ],
)
def test_wrong_use_is_told(folder, more, message):
    ran = ragstone(*DEVELOP, *more)
    assert (ran.code, message in ran.err) == (2, True), ran.err


def test_labels_on_another_scale_are_mapped_and_scores_cut(folder):
    rows = [json.loads(line) for line in (folder / "labelled.jsonl").read_text().splitlines()]
    (folder / "labelled.jsonl").write_text(
        "".join(json.dumps({**row, "human_label": 1 + 4 * row["human_label"]}) + "\n" for row in rows)
    )
    plain = json.loads(ragstone(*DEVELOP, "--json").out)
    assert "exact agreement" not in plain["after"]["card"]["agreement"]
    mapped = json.loads(ragstone(*DEVELOP, "--map", "1=0", "--map", "5=1", "--json").out)
    assert "exact agreement" in mapped["after"]["card"]["agreement"]


def test_labels_sheet_and_questions_may_be_three_files(folder):
    rows = [json.loads(line) for line in (folder / "labelled.jsonl").read_text().splitlines()]
    files = {"labels": [], "answers": [], "questions": []}
    for at, row in enumerate(rows):
        files["labels"].append({"question_id": f"q{at}", "score": row["human_label"]})
        files["answers"].append({"question_id": f"q{at}", "answer": row["answer"]})
        asked = {"id": f"q{at}", "question": row["question"], "reference": row["reference"]}
        files["questions"].append({**asked, "document_ids": [f"d{at // 10}"]})
    for name, written in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in written))
    develop = (*DEVELOP[:3], "--labels", "labels.jsonl")
    assert "--answers" in ragstone(*develop).err
    bare = json.loads(ragstone(*develop, "--answers", "answers.jsonl", "--json").out)
    assert bare["after"]["card"]["statuses"] == {"not_applicable": bare["n_answers"]}
    ran = ragstone(*develop, "--answers", "answers.jsonl", "--questions", "questions.jsonl", "--json")
    assert json.loads(ran.out)["after"]["card"]["statuses"] == {"scored": json.loads(ran.out)["n_answers"]}


def test_offline_asks_nobody_and_another_model_is_asked_anew(folder, fake_openai):
    found = json.loads(ragstone(*DEVELOP, "--offline", "--json").out)
    assert fake_openai.n_requests == 0
    assert found["after"]["card"]["statuses"] == {"error": found["n_answers"]}
    with (folder / "ragstone.toml").open("a") as file:
        file.write(fake_openai.toml("openai/other"))
    asked = json.loads(ragstone(*DEVELOP, "--model", "openai/other", "--json").out)
    assert asked["after"]["card"]["model"] == "openai/other"
