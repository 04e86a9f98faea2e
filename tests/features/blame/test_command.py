"""`ragstone blame`: what it prints, its forecast, its exit codes."""

import json

import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in

RUN = "runs/planted"


@pytest.fixture(autouse=True)
def _in_the_project(project, folder):
    """The command runs in the folder of the finished run."""


def test_components_causes_and_their_evidence_are_printed(folder):
    ran = ragstone("blame", RUN)
    assert ran.code == 0
    for said in (
        "where the lost points went",
        "retriever",
        "not retrieved (",
        "second opinion: second",
        "% of",
    ):
        assert said in ran.out
    assert "Forecast: about" in ran.err
    assert f"Report: {RUN}/report.html" in ran.err


def test_a_forecast_alone_asks_nobody(folder, fake_openai, says):
    n_requests = fake_openai.n_requests
    ran = ragstone("blame", RUN, "--forecast")
    assert (ran.code, fake_openai.n_requests) == (0, n_requests)
    says(sentence_in(ran.out, "This is a"))
    assert not (folder / RUN / "blame.json").exists()


def test_json_holds_what_blame_json_holds_and_the_calls(folder):
    told = json.loads(ragstone("blame", RUN, "--json").out)
    kept = json.loads((folder / RUN / "blame.json").read_text())
    assert told.pop("calls")["made"] > 0
    assert told == kept


def test_second_opinion_and_judge_are_chosen_on_the_command_line(folder):
    ran = ragstone("blame", RUN, "--second", "containment", "--judge", "lead")
    assert "second opinion: containment" in " ".join(ran.out.split())
    wrong = ragstone("blame", RUN, "--judge", "leed")
    assert (wrong.code, "Did you mean" in wrong.err or "lead" in wrong.err) == (2, True)


def test_labels_take_the_place_of_the_second_judge_that_is_declared(folder):
    rows = [json.loads(line) for line in (folder / RUN / "answers.jsonl").read_text().splitlines()]
    labels = [{"question_id": row["question_id"], "system": row["system"], "score": 1} for row in rows]
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels))
    ran = ragstone("blame", RUN, "--labels", "labels.jsonl")
    assert (ran.code, "second opinion: people" in ran.out) == (0, True)


def test_a_model_and_a_second_model_are_chosen_on_the_command_line(folder, fake_openai):
    more = fake_openai.toml("openai/other")
    (folder / "ragstone.toml").write_text((folder / "ragstone.toml").read_text() + more)
    args = ("--model", "openai/other", "--second", "lead.toml", "--second-model", "openai/other", "--json")
    told = json.loads(ragstone("blame", RUN, *args).out)
    assert told["models"]["answers again"] == told["models"]["second judge"] == "openai/other"


def test_settings_elsewhere_are_named_by_config(folder, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    ran = ragstone("blame", folder / RUN, "--config", folder / "ragstone.toml")
    assert (ran.code, "second opinion: second" in ran.out) == (0, True)


@pytest.mark.long
def test_the_budget_ends_it_with_4_and_rows_without_a_score_with_5_if_that_is_asked(folder):
    assert ragstone("blame", RUN, "--budget", "3calls").code == 4
    assert ragstone("blame", RUN, "--strict").code == 0
    rows = [json.loads(line) for line in (folder / RUN / "judgements.jsonl").read_text().splitlines()]
    first = next(row for row in rows if row["judge"] == "lead" and row["status"] == "scored")
    del first["score"]
    first["status"] = "timeout"
    (folder / RUN / "judgements.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert ragstone("blame", RUN).code == 0
    assert ragstone("blame", RUN, "--strict").code == 5


@pytest.mark.long
def test_a_deadline_and_offline_are_heard(folder, says):
    ran = ragstone("blame", RUN, "--offline")
    says(sentence_in(ran.out, "could not be asked"))
    says(sentence_in(ran.out, "The second opinion"))
    assert ragstone("blame", RUN, "--offline", "--strict").code == 5
    assert ragstone("blame", RUN, "--deadline", "soon").code == 2
    assert ragstone("blame", RUN, "--deadline", "10m", "--yes").code == 0
    assert ragstone("blame", RUN, "--offline").code == 0


@pytest.mark.parametrize("given", ["nowhere", "."])
def test_a_folder_that_is_no_run_is_told(folder, given, says):
    ran = ragstone("blame", given)
    assert ran.code == 2
    says(ran.err)
