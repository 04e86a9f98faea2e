"""`ragstone modes`: what it prints, its forecast, its queue, its exit codes."""

import json

import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in
from tests.support.moded_run import RUN, fill_labels, tell_modes, write_moded_run


@pytest.fixture(autouse=True)
def run_folder(folder):
    return write_moded_run(folder)


def test_from_a_run_to_a_mode_that_people_have_checked(folder, says):
    found = ragstone("modes", RUN)
    assert found.code == 0
    assert len(found.out.splitlines()) <= 25
    says(found.out)
    drawn = ragstone("modes", RUN, "--queue", "refusals", "-n", "40")
    says(drawn.err)
    fill_labels(folder / "to-label.jsonl")
    counted = ragstone("modes", RUN, "to-label.jsonl")
    says(counted.out)
    assert ragstone("modes", RUN, "--queue", "refusals").code == 2  # the file is there
    assert ragstone("modes", RUN, "--queue", "refusals", "--force").code == 0


def test_json_is_what_the_file_holds_and_a_queue_is_its_rows(folder):
    told = json.loads(ragstone("modes", RUN, "--json").out)
    told.pop("calls")
    assert told == json.loads((folder / RUN / "modes.json").read_text())
    rows = json.loads(ragstone("modes", RUN, "--queue", "refusals", "-n", "3", "--json").out)
    assert [row["metric"] for row in rows] == ["refusals"] * 3


@pytest.mark.long
def test_a_forecast_alone_asks_nobody_and_writes_nothing(folder, fake_openai, says):
    tell_modes(fake_openai)
    (folder / "ragstone.toml").write_text(fake_openai.toml())
    ran = ragstone("modes", RUN, "--model", fake_openai.model, "--forecast")
    assert (ran.code, fake_openai.n_requests) == (0, 0)
    says(sentence_in(ran.out, "This is a"))
    assert not (folder / "modes").exists()
    asked = ragstone("modes", RUN, "--model", fake_openai.model, "--yes")
    assert asked.code == 0
    made = int(ran.out.split("about ")[1].split(" calls")[0].replace(",", ""))
    assert 0 < fake_openai.n_requests <= made


@pytest.mark.long
def test_offline_the_ledger_alone_answers(folder, fake_openai):
    tell_modes(fake_openai)
    (folder / "ragstone.toml").write_text(fake_openai.toml())
    assert ragstone("modes", RUN, "--model", fake_openai.model, "--yes").code == 0
    n_requests = fake_openai.n_requests
    again = ragstone("modes", RUN, "--model", fake_openai.model, "--offline", "--json")
    assert (again.code, fake_openai.n_requests) == (0, n_requests)
    assert {mode["name"]: mode["n_yes"] for mode in json.loads(again.out)["modes"]}["another_crop"] == 12


@pytest.mark.parametrize(
    "words",
    [
        ["nowhere"],
        [RUN, "--queue", "refusals"],
        [RUN, "--queue", "refusals", "--propose"],
        [RUN, "-o", "x.jsonl"],
        [RUN, "--judge", "correctnes"],
        [RUN, "labels.jsonl"],
    ],
)
def test_wrong_use_says_what_to_change(words, says):
    ran = ragstone("modes", *words)
    assert ran.code == 2
    says(ran.err)
