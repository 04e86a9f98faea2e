"""`ragstone bench judges`: as a user types it."""

import json

import pytest
from tests.support.command import ragstone
from tests.support.known_judges import JUDGE, judging, labelled_sheet
from tests.support.scripts import fail


def write_grid(folder, fake, n=80):
    """Write n labelled answers, a judge, and settings with two models, one of them much better."""
    labelled_sheet(folder / "labelled.jsonl", n)
    (folder / "mine.toml").write_text(JUDGE.replace("NAME", "mine"))
    (folder / "ragstone.toml").write_text(
        '[bench.judges]\nsheet = "labelled.jsonl"\njudges = ["mine.toml"]\nshots = [0]\n'
        'models = ["openai/good", "openai/poor"]\n' + fake.toml("openai/good") + fake.toml("openai/poor")
    )
    fake.script = judging({"good": 0.03, "poor": 0.5})
    return folder


@pytest.fixture
def grid(folder, fake_openai):
    return write_grid(folder, fake_openai)


@pytest.mark.long
def test_bench_is_shown_and_its_report_named(grid, says):
    ran = ragstone("bench", "judges", "--all")
    assert ran.code == 0, ran.err
    says("\n".join(ran.out.splitlines()[:6]))
    assert "runs/run-judges/report.html" in ran.err
    assert (grid / "runs/run-judges/report.html").is_file()
    assert "160 made" in ran.out
    again = ragstone("bench", "judges").out
    says(next(line for line in again.splitlines() if line.startswith("Calls:")))


def test_bench_as_json_is_one_document(grid):
    ran = ragstone("bench", "judges", "--json", "--limit", 40, "--seed", 3)
    found = json.loads(ran.out)
    assert found["counts"]["answers"] == 40
    assert found["choice"]["best"] == "mine@shots=0 · openai/good"
    assert found["calls"]["made"] == 80


@pytest.mark.long
def test_judgements_without_a_score_end_with_five_if_strict(grid, fake_openai):
    good = judging({"good": 0.03, "poor": 0.5})
    fake_openai.script = lambda body: fail(400, "cannot") if "case 7 is" in str(body) else good(body)
    assert ragstone("bench", "judges").code == 0
    assert ragstone("bench", "judges", "--strict").code == 5


@pytest.mark.long
def test_deadline_that_cuts_calls_off_ends_with_four(grid, fake_openai):
    fake_openai.latency_s = 30
    ran = ragstone("bench", "judges", "--deadline", "1s")
    assert ran.code == 4
    assert "containment agrees best" in ran.out or "always" in ran.out


def test_offline_only_baselines_are_measured(grid, fake_openai, says):
    ran = ragstone("bench", "judges", "--offline", "--all")
    assert (ran.code, fake_openai.n_requests) == (0, 0)
    says("\n".join(ran.out.splitlines()[:6]))


def test_wrong_use_is_told_in_one_message(grid, says):
    (grid / "ragstone.toml").write_text("[bench.judges]\njudges = []\n")
    ran = ragstone("bench", "judges", "--all")
    assert (ran.code, ran.out) == (2, "")
    says(ran.err)
    (grid / "ragstone.toml").write_text("[bench.judges]\nrepeat = 2\n")
    assert "unknown key 'repeat'" in ragstone("bench", "judges").err
    (grid / "ragstone.toml").write_text("[bench.judges]\nmapping = { 0 = 2 }\n")
    assert ragstone("bench", "judges").code == 2
    assert "budget" in ragstone("bench", "judges", "--budget", "much").err
