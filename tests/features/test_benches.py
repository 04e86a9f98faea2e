"""What holds of every bench, as a user types it."""

from functools import partial

import pytest
from tests.features.bench.answerers.test_command import write_grid as write_answerers
from tests.features.bench.judges.test_command import write_grid as write_judges
from tests.features.bench.languages.test_study import write_study
from tests.features.bench.retrievers.test_grid import write_grid as write_retrievers
from tests.support.command import ragstone

WRITTEN = {
    "answerers": write_answerers,
    "judges": partial(write_judges, n=40),
    "retrievers": write_retrievers,
    "languages": write_study,
}


@pytest.fixture
def bench(folder, fake_openai, kind):
    """A folder with what the bench of this kind needs."""
    return WRITTEN[kind](folder, fake_openai)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["answerers", "judges", "retrievers"])
def test_another_seed_asks_for_force(bench, kind):
    assert ragstone("bench", kind).code == 0
    refused = ragstone("bench", kind, "--seed", 4)
    assert (refused.code, "--force" in refused.err) == (2, True)
    assert ragstone("bench", kind, "--seed", 4, "--force").code == 0


@pytest.mark.parametrize(("kind", "n_calls"), [("answerers", 40), ("judges", 80)])
def test_forecast_asks_nobody(bench, kind, n_calls, fake_openai):
    ran = ragstone("bench", kind, "--forecast")
    assert (ran.code, fake_openai.n_requests) == (0, 0)
    assert f"about {n_calls} calls" in ran.out
    assert not (bench / "runs").exists()


@pytest.mark.long
@pytest.mark.parametrize(("kind", "budget"), [("answerers", "15calls"), ("judges", "50calls")])
def test_budget_ends_with_four_and_failures_with_five_if_strict(bench, kind, budget, fake_openai):
    assert ragstone("bench", kind, "--budget", budget).code == 4
    fake_openai.models = {"good"}
    ran = ragstone("bench", kind, "--force")
    assert (ran.code, "was not measured" in ran.out) == (0, True)
    assert ragstone("bench", kind, "--strict").code == 5


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_folder_that_cannot_be_made_is_said_before_anything_is_asked(bench, kind, fake_openai, says):
    (bench / "runs").write_text("")
    ran = ragstone("bench", kind)
    assert ran.code == 2
    says(ran.err.splitlines()[-1])
    assert fake_openai.n_requests == 0


def test_nor_is_anything_asked_where_the_folder_of_a_run_cannot_be_made(folder, fake_openai, says):
    write_retrievers(folder, fake_openai)
    with (folder / "ragstone.toml").open("a") as file:
        file.write('[answer]\nmodel = "openai/fake"\n[judge]\njudges = ["containment"]\n')
    (folder / "runs").write_text("")
    ran = ragstone("run")
    assert ran.code == 2
    says(ran.err.splitlines()[-1])
    assert fake_openai.n_requests == 0
