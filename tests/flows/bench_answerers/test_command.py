"""`ragstone bench answerers`: as a user types it."""

import json

import pytest
from tests.support.answering_models import case_files, reading
from tests.support.command import ragstone

SETTINGS = """
[documents]
paths = ["documents.jsonl"]
[questions]
path = "questions.jsonl"
[judge]
judges = ["containment", "context_overlap", "no_refusal"]
[bench.answerers]
models = ["openai/good", "openai/poor"]
conditions = ["gold", "none"]
"""


@pytest.fixture
def grid(folder, fake_openai):
    """A folder with ten cases and two models, one of which refuses whatever it is shown."""
    case_files(folder, 10)
    (folder / "ragstone.toml").write_text(
        SETTINGS + fake_openai.toml("openai/good") + fake_openai.toml("openai/poor")
    )
    fake_openai.script = reading(blind={"poor": set(range(10))})
    return folder


def test_bench_is_shown_and_its_report_named(grid):
    ran = ragstone("bench", "answerers")
    assert ran.code == 0, ran.err
    assert "gold: good has the highest correctness 1.00" in ran.out
    assert "What do the passages add to what the model knows by itself?" in ran.out
    assert "runs/run-answerers/report.html" in ran.err
    assert (grid / "runs/run-answerers/report.html").is_file()
    assert "40 made" in ran.out
    assert "40 from the ledger" in ragstone("bench", "answerers").out


def test_bench_as_json_is_one_document(grid):
    ran = ragstone("bench", "answerers", "--json", "--limit", 4, "--seed", 3)
    found = json.loads(ran.out)
    assert found["board"]["n_questions"] == 4
    assert found["board"]["standings"][0]["cell"]["name"] == "good · gold"
    assert found["calls"]["made"] == 16


def test_another_seed_asks_for_force(grid):
    assert ragstone("bench", "answerers").code == 0
    refused = ragstone("bench", "answerers", "--seed", 4)
    assert (refused.code, "--force" in refused.err) == (2, True)
    assert ragstone("bench", "answerers", "--seed", 4, "--force").code == 0


def test_forecast_asks_nobody(grid, fake_openai):
    ran = ragstone("bench", "answerers", "--forecast")
    assert (ran.code, fake_openai.n_requests) == (0, 0)
    assert "about 40 calls" in ran.out
    assert not (grid / "runs").exists()


def test_budget_ends_with_four_and_failures_with_five_if_strict(grid, fake_openai):
    assert ragstone("bench", "answerers", "--budget", "15calls").code == 4
    fake_openai.models = {"good"}
    ran = ragstone("bench", "answerers", "--force")
    assert (ran.code, "was not measured" in ran.out) == (0, True)
    assert ragstone("bench", "answerers", "--strict").code == 5


def test_deadline_that_cuts_everything_off_ends_with_four_and_a_page(grid, fake_openai):
    fake_openai.latency_s = 30
    ran = ragstone("bench", "answerers", "--deadline", "1s")
    assert ran.code == 4
    assert "gold: no answer has a score of correctness." in ran.out
    assert "good · gold: without a score: correct: 10 timed out" in ran.out
    assert (grid / "runs/run-answerers/report.html").is_file()


def test_offline_uses_the_ledger(grid, fake_openai):
    assert ragstone("bench", "answerers").code == 0
    n_requests = fake_openai.n_requests
    assert ragstone("bench", "answerers", "--offline").code == 0
    assert fake_openai.n_requests == n_requests


def test_wrong_use_is_told_in_one_message(grid):
    def told(table):
        (grid / "ragstone.toml").write_text(SETTINGS.partition("[bench")[0] + table)
        ran = ragstone("bench", "answerers")
        assert (ran.code, ran.out) == (2, "")
        return ran.err

    assert "at least one model" in told("[bench.answerers]\n")
    assert "Did you mean 'gold'" in told('[bench.answerers]\nconditions = ["golden"]\n')
    assert "unknown key 'model'" in told('[bench.answerers]\nmodel = "openai/good"\n')
    assert "no system 'mine'" in told('[bench.answerers]\nsystems = ["mine"]\n')
    assert "budget" in ragstone("bench", "answerers", "--budget", "much").err


def test_a_folder_that_cannot_be_made_is_said_before_anything_is_asked(grid, fake_openai):
    (grid / "runs").write_text("")
    ran = ragstone("bench", "answerers")
    assert (ran.code, "runs/run-answerers: the folder cannot be made" in ran.err) == (2, True), ran.err
    assert fake_openai.n_requests == 0
