"""`ragstone blame`: what it prints, its forecast, its exit codes."""

import json

import pytest
from tests.support.command import ragstone
from tests.support.planted_faults import FAULTS
from tests.support.planted_run import plant_run

MISSED = FAULTS["a retriever that drops the document of 30 % of the questions"][0]
RUN = "runs/planted"


@pytest.fixture
def project(folder, fake_openai):
    """A folder with a finished run of 30 questions."""
    plant_run(folder, fake_openai, MISSED, seed=1, n=30)
    assert ragstone("run").code == 0
    return folder


def test_components_causes_and_their_evidence_are_printed(project):
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


def test_a_forecast_alone_asks_nobody(project, fake_openai):
    n_requests = fake_openai.n_requests
    ran = ragstone("blame", RUN, "--forecast")
    assert (ran.code, fake_openai.n_requests) == (0, n_requests)
    assert "At most" in ran.out
    assert not (project / RUN / "blame.json").exists()


def test_json_holds_what_blame_json_holds_and_the_calls(project):
    told = json.loads(ragstone("blame", RUN, "--json").out)
    kept = json.loads((project / RUN / "blame.json").read_text())
    assert told.pop("calls")["made"] > 0
    assert told == kept


def test_second_opinion_and_judge_are_chosen_on_the_command_line(project):
    ran = ragstone("blame", RUN, "--second", "containment", "--judge", "lead")
    assert "second opinion: containment" in " ".join(ran.out.split())
    wrong = ragstone("blame", RUN, "--judge", "leed")
    assert (wrong.code, "Did you mean" in wrong.err or "lead" in wrong.err) == (2, True)


def test_labels_take_the_place_of_the_second_judge_that_is_declared(project):
    rows = [json.loads(line) for line in (project / RUN / "answers.jsonl").read_text().splitlines()]
    labels = [{"question_id": row["question_id"], "system": row["system"], "score": 1} for row in rows]
    (project / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels))
    ran = ragstone("blame", RUN, "--labels", "labels.jsonl")
    assert (ran.code, "second opinion: people" in ran.out) == (0, True)


def test_a_model_and_a_second_model_are_chosen_on_the_command_line(project, fake_openai):
    more = fake_openai.toml("openai/other")
    (project / "ragstone.toml").write_text((project / "ragstone.toml").read_text() + more)
    args = ("--model", "openai/other", "--second", "lead.toml", "--second-model", "openai/other", "--json")
    told = json.loads(ragstone("blame", RUN, *args).out)
    assert told["models"]["answers again"] == told["models"]["second judge"] == "openai/other"


def test_settings_elsewhere_are_named_by_config(project, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    ran = ragstone("blame", project / RUN, "--config", project / "ragstone.toml")
    assert (ran.code, "second opinion: second" in ran.out) == (0, True)


def test_the_budget_ends_it_with_4_and_rows_without_a_score_with_5_if_that_is_asked(project):
    assert ragstone("blame", RUN, "--budget", "3calls").code == 4
    assert ragstone("blame", RUN, "--strict").code == 0
    rows = [json.loads(line) for line in (project / RUN / "judgements.jsonl").read_text().splitlines()]
    first = next(row for row in rows if row["judge"] == "lead" and row["status"] == "scored")
    del first["score"]
    first["status"] = "timeout"
    (project / RUN / "judgements.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert ragstone("blame", RUN).code == 0
    assert ragstone("blame", RUN, "--strict").code == 5


def test_a_deadline_and_offline_are_heard(project):
    ran = ragstone("blame", RUN, "--offline")
    said = " ".join(ran.out.split())
    assert "could not be asked again" in said
    assert "The second opinion has no verdict" in said
    assert ragstone("blame", RUN, "--offline", "--strict").code == 5
    assert ragstone("blame", RUN, "--deadline", "soon").code == 2
    assert ragstone("blame", RUN, "--deadline", "10m", "--yes").code == 0
    assert ragstone("blame", RUN, "--offline").code == 0


@pytest.mark.parametrize("given", ["nowhere", "."])
def test_a_folder_that_is_no_run_is_told(project, given):
    ran = ragstone("blame", given)
    assert (ran.code, "summary.json" in ran.err or "no such run folder" in ran.err) == (2, True)
