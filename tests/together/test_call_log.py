"""The calls of a run beside its rows: what was asked for answers and for judgements."""

import pytest
from tests.support.scripts import always

import ragstone
from ragstone.features.new.starter import copy_starter
from ragstone.kernel.config import load_settings
from ragstone.kernel.runs.asked import CALLS_FILE, read_asked


@pytest.fixture
def settings(tmp_path, fake_openai):
    """The starter, with the endpoint that answers."""
    copy_starter(tmp_path, "openai/fake")
    with (tmp_path / "ragstone.toml").open("a") as file:
        file.write("\n" + fake_openai.toml())
    return load_settings(tmp_path / "ragstone.toml")


@pytest.mark.long
def test_a_run_keeps_what_was_asked_for_answers_and_for_judgements(settings, tmp_path):
    summary = ragstone.run(settings)
    folder = tmp_path / "runs" / "starter"
    asked = list(read_asked(folder))
    answers = [one for one in asked if not one.judges]
    assert len(answers) == summary.counts["answers"]
    assert {judge for one in asked for judge in one.judges} == {
        metric.judge for metric in summary.metrics if metric.model != "none"
    }
    assert all(one.messages[-1].role == "assistant" and one.systems for one in asked)
    first = (folder / CALLS_FILE).read_bytes()
    assert ragstone.run(settings).calls.made == 0
    assert (folder / CALLS_FILE).read_bytes() == first  # from the ledger it is the same
    assert first[4:8] == bytes(4)  # no time in the header


def test_a_reply_that_no_judge_could_read_is_kept_word_for_word(settings, tmp_path, fake_openai):
    fake_openai.script = always("Who knows? <b>&")
    ragstone.run(settings)
    folder = tmp_path / "runs" / "starter"
    [first, *_] = [one for one in read_asked(folder) if one.judges == ["correctness"]]
    assert [one.content for one in first.messages if one.role == "assistant"] == ["Who knows? <b>&"] * 2
