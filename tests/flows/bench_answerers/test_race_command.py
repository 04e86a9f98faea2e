"""`ragstone bench answerers --race`: as a user types it."""

import json

import pytest
from tests.flows.bench_answerers.test_command import SETTINGS
from tests.support.answering_models import case_files, reading
from tests.support.command import ragstone


@pytest.fixture
def grid(folder, fake_openai):
    """A folder with forty cases and two models, one of which refuses whatever it is shown."""
    case_files(folder, 40)
    (folder / "ragstone.toml").write_text(
        SETTINGS + fake_openai.toml("openai/good") + fake_openai.toml("openai/poor")
    )
    fake_openai.script = reading(blind={"poor": set(range(40))})
    return folder


def test_the_flag_makes_it_a_race(grid):
    ran = ragstone("bench", "answerers", "--race")
    assert ran.code == 0, ran.err
    said = " ".join(ran.out.split())
    assert "Race under gold, by correctness: good · gold stands alone after 10 of 40 questions" in said
    assert "poor · gold stopped after 10 questions" in said
    assert "75 % saved" in said


def test_without_it_there_is_none(grid):
    ran = ragstone("bench", "answerers", "--json")
    assert json.loads(ran.out).get("race") is None


def test_the_race_is_in_the_json(grid):
    race = json.loads(ragstone("bench", "answerers", "--race", "--json").out)["race"]
    assert race["standing"] == ["good · gold"]
    assert race["stopped"][0]["after"] == 10
