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


def write_grid(folder, fake, n=10):
    """Write n cases and settings with two models, one of which refuses whatever it is shown."""
    case_files(folder, n)
    (folder / "ragstone.toml").write_text(SETTINGS + fake.toml("openai/good") + fake.toml("openai/poor"))
    fake.script = reading(blind={"poor": set(range(n))})
    return folder


@pytest.fixture
def grid(folder, fake_openai):
    return write_grid(folder, fake_openai)


def test_bench_is_shown_and_its_report_named(grid, says):
    ran = ragstone("bench", "answerers")
    assert ran.code == 0, ran.err
    says("\n".join(ran.out.splitlines()[:6]))
    assert "runs/run-answerers/report.html" in ran.err
    assert (grid / "runs/run-answerers/report.html").is_file()
    assert "40 made" in ran.out
    again = ragstone("bench", "answerers").out
    says(next(line for line in again.splitlines() if line.startswith("Calls:")))


def test_bench_as_json_is_one_document(grid):
    ran = ragstone("bench", "answerers", "--json", "--limit", 4, "--seed", 3)
    found = json.loads(ran.out)
    assert found["board"]["n_questions"] == 4
    assert found["board"]["standings"][0]["cell"]["name"] == "good · gold"
    assert found["calls"]["made"] == 16


def test_deadline_that_cuts_everything_off_ends_with_four_and_a_page(grid, fake_openai, says):
    fake_openai.latency_s = 30
    ran = ragstone("bench", "answerers", "--deadline", "1s")
    assert ran.code == 4
    says("\n".join(line for line in ran.out.splitlines() if "score" in line and ": " in line))
    assert (grid / "runs/run-answerers/report.html").is_file()


def test_wrong_use_is_told_in_one_message(grid, says):
    def told(table):
        (grid / "ragstone.toml").write_text(SETTINGS.partition("[bench")[0] + table)
        ran = ragstone("bench", "answerers")
        assert (ran.code, ran.out) == (2, "")
        return ran.err

    says(told("[bench.answerers]\n"))
    says(told('[bench.answerers]\nconditions = ["golden"]\n'))
    says(told('[bench.answerers]\nmodel = "openai/good"\n'))
    says(told('[bench.answerers]\nsystems = ["mine"]\n'))
    assert "budget" in ragstone("bench", "answerers", "--budget", "much").err
