"""`ragstone judges learn`, from the command line; and killed while it learns."""

import json
import re
import signal
import subprocess

import pytest
from tests.support.command import ragstone, started
from tests.support.fake_openai import let_go, serving_as, stats, wait_for
from tests.support.judged_drafts import JUDGE
from tests.support.learned_judges import labelled_cases, learning_project
from tests.support.texts import lines_with

LEARN = ("judges", "learn", "judges/mine.toml", "--labels", "labelled.jsonl")


@pytest.fixture
def folder(tmp_path, fake_openai, monkeypatch):
    """A project in the current folder whose judge measures of words can mend."""
    learning_project(tmp_path, fake_openai, contained=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
def test_the_table_the_verdict_and_the_new_file_are_told(folder, says):
    ran = ragstone(*LEARN, "--try", "calibration", "--try", "stack")
    assert ran.code == 0, ran.err
    told = " ".join(ran.out.split())
    says(told)
    assert re.search(r"stack without a model 1\.00 \+0\.\d\d .* 0 nothing chosen", told)
    says(lines_with(ran.err, "Use it"))
    assert "Forecast: about" in ran.err


@pytest.mark.long
def test_json_holds_everything_and_the_file_judges_like_any_other(folder, says):
    ran = ragstone(*LEARN, "--try", "stack", "--json")
    found = json.loads(ran.out)
    assert (found["new_version"], found["chosen"]) == (2, "stack without a model")
    assert {one["state"] for one in found["candidates"]} == {"measured"}
    assert 'kind      = "stack"' in found["candidates"][0]["text"]
    judged = ragstone("judge", "labelled.jsonl", "--judge", "judges/mine.toml", "-o", "out.jsonl")
    assert judged.code == 0, judged.err
    says(lines_with(judged.err, "Judgements in"))


def test_a_budget_that_ends_is_exit_code_4(folder, says):
    ran = ragstone(*LEARN, "--try", "examples", "--budget", "90calls")
    assert ran.code == 4
    says(" ".join(ran.out.split()))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--try", "stak"), "unknown way to learn 'stak'"),
        (("--yes-from", "nan"), "yes from nan: give a number"),
        (("--threshold", "7"), "threshold 7 of judge 'mine': its scale is 0 to 1"),
        (("--map", "1:2"), "write LABEL=SCORE"),
        (("corectness",), "correctness"),
        (("--proposer", "nobody/x", "--try", "prompt"), "nobody/x"),
    ],
)
def test_mistakes_are_told_in_a_sentence(folder, more, message):
    ran = ragstone(*LEARN, *more)
    assert ran.code == 2, ran.out
    assert message in " ".join(ran.err.split())
    assert "Traceback" not in ran.err


@pytest.mark.kill
def test_killed_while_it_learns_nothing_is_paid_twice_and_the_file_is_the_same(tmp_path):
    """Two projects learn the same; one is killed in between, and run again."""
    texts = {}
    for name in ("killed", "whole"):
        folder = tmp_path / name
        (folder / "judges").mkdir(parents=True)
        (folder / "judges" / "mine.toml").write_text(JUDGE.replace("WORDS", ""))
        labelled_cases(folder / "labelled.jsonl")
        script = "tests.support.learned_judges:CURED_BY_PROMPT"
        gate = ["--gate", "120"] if name == "killed" else []
        with serving_as("--script", script, *gate) as base_url:
            (folder / "ragstone.toml").write_text(
                '[judge]\nmodel = "openai/fake"\n'
                f'[models."openai/fake"]\nbase_url = "{base_url}"\nmax_concurrency = 4\n'
            )
            command = [*LEARN, "--try", "examples", "--try", "prompt", "--yes"]
            if name == "killed":
                with started(*command, cwd=folder) as process:
                    wait_for(base_url, "n_requests", 120, process)
                    process.send_signal(signal.SIGKILL)
                    process.communicate()
                let_go(base_url)
                assert not (folder / "judges" / "mine@v2.toml").exists()
            with started(*command, cwd=folder, stdout=subprocess.DEVNULL) as again:
                _, said = again.communicate()
            assert again.returncode == 0, said
            # What was in flight when it was killed, 4 at most, may have been sent and not come back.
            assert stats(base_url)["n_asked_again"] <= 4
        text = (folder / "judges" / "mine.toml").read_text()
        texts[name] = re.sub(r"version (\d) \([^)]*\)", r"version \1", text)
    assert texts["killed"] == texts["whole"]
    assert "taken strictly" in texts["killed"]
