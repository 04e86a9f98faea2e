"""`ragstone bench`: as a user types it."""

import json
import re

import pytest
from tests.features.bench.languages.test_study import write_study
from tests.features.bench.retrievers.test_grid import write_grid
from tests.support.command import ragstone


@pytest.fixture
def grid(folder, fake_openai):
    """A folder with eight documents and questions, and BM25 over two chunkers."""
    return write_grid(folder, fake_openai)


@pytest.fixture
def languages(folder, fake_openai):
    """A folder with six documents and questions in two languages."""
    return write_study(folder, fake_openai)


def with_rerankers(grid, *names):
    """Write the settings anew, with these rerankers."""
    text = (grid / "ragstone.toml").read_text()
    (grid / "ragstone.toml").write_text(text.replace("k = [1, 3]", f"k = [1]\nrerankers = {list(names)}"))


def test_leaderboard_is_shown_and_its_report_named(grid):
    ran = ragstone("bench", "retrievers")
    assert ran.code == 0
    assert "whole · bm25" in ran.out
    assert "= best?" in ran.out
    assert "Ordered by span_recall@1" in ran.out
    assert "runs/run-retrievers/report.html" in ran.err
    assert (grid / "runs/run-retrievers/report.html").is_file()


def test_leaderboard_as_json_is_one_document(grid):
    ran = ragstone("bench", "retrievers", "--json", "--limit", 4, "--seed", 3)
    found = json.loads(ran.out)
    assert found["leaderboard"]["measure"] == "span_recall@1"
    assert found["counts"]["questions"] == 4


def test_measure_and_batch_size_of_the_command_go_before_the_file(grid):
    ran = ragstone("bench", "retrievers", "--measure", "rank_score", "--batch-size", 3, "--json")
    board = json.loads(ran.out)["leaderboard"]
    assert board["measure"] == "rank_score@1"
    for row in board["standings"]:
        assert list(row["batches"]) == ["00000_00003", "00003_00003", "00006_00002"]
        assert all("rank_score@1" in one["measures"] for one in row["batches"].values())
    assert 'data-chart="batches-0-0"' in (grid / "runs/run-retrievers/report.html").read_text()


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--measure", "rank", "rank_score"),
        ("--batch-size", "0", "batch-size"),
        ("--batch-size", "x", "batch-size"),
    ],
)
def test_measure_that_is_none_and_batch_without_questions_are_refused(grid, option, value, told):
    ran = ragstone("bench", "retrievers", option, value)
    assert ran.code == 2
    assert told in ran.err


def test_configuration_that_fails_ends_with_five_only_if_strict(grid):
    with_rerankers(grid, "none", "openai/nobody")
    ran = ragstone("bench", "retrievers")
    assert ran.code == 0
    assert "was not measured" in ran.out
    assert ragstone("bench", "retrievers", "--strict").code == 5


def test_budget_that_cuts_rerankers_off_ends_with_four(grid):
    with_rerankers(grid, "openai/fake")
    assert ragstone("bench", "retrievers", "--budget", "1calls").code == 4


def test_offline_a_reranker_that_was_never_asked_is_told(grid):
    with_rerankers(grid, "none", "openai/fake")
    ran = ragstone("bench", "retrievers", "--offline", "--all")
    assert ran.code in (0, 4)
    assert "rankings have a note" in ran.out or "was not measured" in ran.out


def test_study_is_shown_and_its_report_named(languages, says):
    ran = ragstone("bench", "languages", "--all")
    assert ran.code == 0
    says("\n".join(ran.out.splitlines()[:8]))
    assert "runs/run-languages/report.html" in ran.err


def test_study_with_a_model_as_json(languages, fake_openai):
    ran = ragstone("bench", "languages", "--model", fake_openai.model, "--limit", 3, "--json")
    found = json.loads(ran.out)
    assert found["questions"] == {"en": 3, "es": 3}
    assert {one["lang"] for one in found["accuracy"]} == {"en", "es", "all languages"}


def test_budget_of_a_study_ends_with_four_and_failures_with_five_if_strict(languages, fake_openai):
    ran = ragstone("bench", "languages", "--model", fake_openai.model, "--budget", "2calls", "--all")
    assert ran.code == 4
    assert "not scored" in ran.out


def test_wrong_use_is_told_in_one_message(folder, says):
    (folder / "ragstone.toml").write_text("[bench.retrievers]\nretrievers = []\n")
    ran = ragstone("bench", "retrievers")
    assert (ran.code, ran.out) == (2, "")
    says(ran.err)
    (folder / "ragstone.toml").write_text("[bench.retrievers]\nretreivers = []\n")
    assert "unknown key 'retreivers'" in ragstone("bench", "retrievers").err
    assert "retrievers" in ragstone("bench", "--help").out


def test_forecast_of_a_grid_asks_nobody(grid, fake_openai):
    with_rerankers(grid, "openai/fake")
    ran = ragstone("bench", "retrievers", "--forecast")
    assert (ran.code, fake_openai.n_requests) == (0, 0)
    assert "about 16 calls" in ran.out  # eight questions by each of two chunkers
    assert not (grid / "runs").exists()
    ragstone("bench", "retrievers", "--yes")
    assert fake_openai.n_requests >= 16


def test_forecast_of_a_grid_without_a_model_has_nothing_to_ask(grid):
    assert "nothing to ask" in ragstone("bench", "retrievers", "--forecast").out


def test_forecast_of_a_study_asks_nobody(languages, fake_openai):
    ran = ragstone("bench", "languages", "--model", fake_openai.model, "--forecast")
    assert (ran.code, fake_openai.n_requests) == (0, 0)
    assert not (languages / "runs").exists()
    n_told = int(re.search(r"about (\d+) calls", ran.out)[1])
    ragstone("bench", "languages", "--model", fake_openai.model, "--yes")
    assert n_told == fake_openai.n_requests
    assert "nothing to ask" in ragstone("bench", "languages", "--forecast").out


@pytest.mark.parametrize("kind", ["retrievers", "languages"])
def test_budget_that_is_none_is_told_before_anything_is_read(folder, kind):
    ran = ragstone("bench", kind, "--budget", "much")
    assert ran.code == 2
    assert "budget" in ran.err


@pytest.mark.long
def test_deadline_cuts_the_answers_of_a_study_off(languages, fake_openai):
    fake_openai.latency_s = 2.0
    ran = ragstone("bench", "languages", "--model", fake_openai.model, "--deadline", "1s")
    assert ran.code == 4


def test_starter_has_a_bench_to_begin_with(folder, says):
    assert ragstone("new", "mine").code == 0
    ran = ragstone("bench", "retrievers", "--config", "mine/ragstone.toml", "--all")
    assert ran.code == 0
    says("\n".join(ran.out.splitlines()[:5]))
    assert (folder / "mine/runs/starter-retrievers/report.html").is_file()
