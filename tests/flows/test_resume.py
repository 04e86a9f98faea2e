"""Killed and interrupted runs: in processes of their own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.command import TO_FILE
from tests.support.fake_openai import running, stats, wait_for

from ragstone.records import Answer
from ragstone.tables import write_rows

pytestmark = pytest.mark.kill

N_ANSWERS = 60
COMMAND = [sys.executable, "-m", "ragstone", "judge", "answers.jsonl", "--judge", "relevance", *TO_FILE]


def make_project(folder: Path, base_url: str) -> None:
    answers = [
        Answer(question_id=f"q{n}", question=f"What is {n}?", answer=f"{n}.") for n in range(N_ANSWERS)
    ]
    write_rows(folder / "answers.jsonl", answers, Answer)
    (folder / "ragstone.toml").write_text(
        '[judge]\nmodel = "openai/fake"\n'
        f'[models."openai/fake"]\nbase_url = "{base_url}"\nmax_concurrency = 4\n'
    )


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen([*COMMAND, *options], cwd=folder, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=60)
    return process.returncode


def test_killed_and_run_again_no_finished_call_is_repeated_and_the_file_is_the_same(tmp_path):
    with running("--latency", "0.05") as base_url:
        make_project(tmp_path, base_url)
        killed = start(tmp_path)
        wait_for(base_url, "n_requests", N_ANSWERS // 2)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        assert not (tmp_path / "judgements.jsonl").exists()
        assert finish(start(tmp_path)) == 0
        # What was in flight when it was killed (4 at most) had been sent, and no answer had come back; or it
        # had, and was not committed yet.
        n_requests = stats(base_url)["n_requests"]
        assert n_requests <= N_ANSWERS + 8
        assert finish(start(tmp_path, "-o", "again.jsonl")) == 0
        assert stats(base_url)["n_requests"] == n_requests
    assert (tmp_path / "judgements.jsonl").read_bytes() == (tmp_path / "again.jsonl").read_bytes()


def test_an_undisturbed_run_gives_the_same_file_as_a_killed_one(tmp_path):
    disturbed, quiet = tmp_path / "disturbed", tmp_path / "quiet"
    for folder in (disturbed, quiet):
        folder.mkdir()
    with running("--latency", "0.05") as base_url:
        for folder in (disturbed, quiet):
            make_project(folder, base_url)
            (folder / ".ragstone").mkdir()
            (folder / ".ragstone" / "secret").write_text("00" * 32)
        killed = start(disturbed)
        wait_for(base_url, "n_requests", N_ANSWERS // 2)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        assert finish(start(disturbed)) == 0
        assert finish(start(quiet)) == 0
    assert (disturbed / "judgements.jsonl").read_bytes() == (quiet / "judgements.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("number", "ignoring", "code"),
    [(signal.SIGINT, False, 2), (signal.SIGTERM, False, 143), (signal.SIGTERM, True, 143)],
    ids=["ctrl-c", "sigterm", "sigterm-in-the-background"],
)
def test_ctrl_c_and_sigterm_end_with_one_sentence_and_lose_nothing(tmp_path, number, ignoring, code):
    with running("--latency", "0.05") as base_url:
        make_project(tmp_path, base_url)
        before = signal.signal(signal.SIGINT, signal.SIG_IGN if ignoring else signal.default_int_handler)
        stopped = start(tmp_path)  # as a shell starts `ragstone judge ... &`: it ignores Ctrl-C
        signal.signal(signal.SIGINT, before)
        wait_for(base_url, "n_requests", N_ANSWERS // 2)
        os.kill(stopped.pid, number)
        _, said = stopped.communicate(timeout=30)
        assert stopped.returncode == code
        assert said.splitlines()[-1].endswith(
            " of 60 judgements are in judgements.jsonl.partial. "
            "Finished calls are in the ledger: run the same command again to go on."
        )
        assert finish(start(tmp_path)) == 0
        assert stats(base_url)["n_requests"] <= N_ANSWERS + 4
