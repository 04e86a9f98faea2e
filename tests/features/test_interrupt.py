"""Ctrl-C, once and twice: in processes of their own."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.features.test_resume import COMMAND, N_ANSWERS, make_project, start
from tests.support.command import TO_FILE, ragstone
from tests.support.fake_openai import running, stats, wait_for

from ragstone.kernel.engine.local import STOP_S
from ragstone.kernel.records import Answer, Context, Judgement, Question
from ragstone.kernel.tables import read_rows, write_rows

pytestmark = pytest.mark.kill

RAGSTONE = [sys.executable, "-m", "ragstone"]
GO_ON = "Finished calls are in the ledger: run the same command again to continue."
HANGS = (
    "--hanging",
    "1.0",
    "--answered",
    "1",
)  # the first call goes alone, and the others when it is answered
STARTS_S = 50.0  # the most that a process takes on a busy machine to begin and to end
# A module named xllamacpp whose model thinks for a minute, in C, where no signal interrupts it.
SLOW_MODEL = """
import ctypes, types
class CommonParams:
    def __init__(self):
        self.model, self.cpuparams, self.cpuparams_batch = (types.SimpleNamespace() for _ in range(3))
class Server:
    def __init__(self, params): pass
    def handle_metrics(self): pass
    def handle_chat_completions(self, body, on_chunk):
        open("generating", "w").close()
        ctypes.CDLL(None).sleep(60)
"""


def interrupt(process: subprocess.Popen[str]) -> tuple[str, float]:
    """Press Ctrl-C; return the last line on standard error and how long the end took."""
    pressed = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    return said.strip().rpartition("\n")[2], time.monotonic() - pressed


def partial(path: Path, row_type: type) -> list[Any]:
    """Return the rows of a partial file."""
    whole = path.with_name(f"part-{path.name}")
    shutil.copy(path.with_name(f"{path.name}.partial"), whole)
    return list(read_rows(whole, row_type))


def command(folder: Path, *arguments: object, path: Path | None = None) -> subprocess.Popen[str]:
    env = os.environ | ({"PYTHONPATH": str(path)} if path else {})
    words = [str(argument) for argument in arguments]
    return subprocess.Popen([*RAGSTONE, *words], cwd=folder, stderr=subprocess.PIPE, text=True, env=env)


def test_once_finishes_what_is_in_flight_and_keeps_it_in_the_partial_file(tmp_path, monkeypatch):
    with running("--latency", "0.1") as base_url:
        make_project(tmp_path, base_url)
        stopped = start(tmp_path)
        wait_for(base_url, "n_requests", N_ANSWERS // 3)
        said, _ = interrupt(stopped)
        n_asked = stats(base_url)["n_requests"]
        assert stats(base_url)["n_answered"] == n_asked < N_ANSWERS
        rows = partial(tmp_path / "judgements.jsonl", Judgement)
        found = f"{n_asked} of 60 judgements are in judgements.jsonl.partial"
        assert said == f"ragstone: stopped. {found}. {GO_ON}"
        assert stopped.returncode == 2
        assert [row.question_id for row in rows] == [f"q{n}" for n in range(n_asked)]
        assert {row.status for row in rows} == {"scored"}
        assert not (tmp_path / "judgements.jsonl").exists()
        monkeypatch.chdir(tmp_path)
        assert ragstone(*COMMAND).code == 0
        assert stats(base_url)["n_requests"] == N_ANSWERS
        assert not (tmp_path / "judgements.jsonl.partial").exists()
    assert [row.question_id for row in read_rows(tmp_path / "judgements.jsonl", Judgement)][:n_asked] == [
        row.question_id for row in rows
    ]


def test_a_row_that_needs_another_call_is_left_out(tmp_path):
    with running("--latency", "0.5") as base_url:
        make_project(tmp_path, base_url)
        contexts = [Context(text="A text.")]
        answers = [
            Answer(question_id=f"q{n}", question="What is it?", answer=f"It is maize {n}.", contexts=contexts)
            for n in range(N_ANSWERS)
        ]
        write_rows(tmp_path / "answers.jsonl", answers, Answer, force=True)
        stopped = command(tmp_path, "judge", "answers.jsonl", "--judge", "faithfulness", *TO_FILE)
        wait_for(base_url, "n_requests", 1)
        said, _ = interrupt(stopped)
        assert said.startswith("ragstone: stopped. 0 of 60 judgements ")
        assert stats(base_url)["n_requests"] == stats(base_url)["n_answered"] <= 4


def test_an_endpoint_that_hangs_is_not_waited_for(tmp_path):
    with running(*HANGS) as base_url:
        make_project(tmp_path, base_url)
        stopped = start(tmp_path)
        wait_for(base_url, "in_flight", 4)
        said, took_s = interrupt(stopped)
    assert said == f"ragstone: stopped. 1 of 60 judgements are in judgements.jsonl.partial. {GO_ON}"
    assert stopped.returncode == 2
    assert took_s < STOP_S + STARTS_S


def test_twice_stops_at_once(tmp_path):
    with running(*HANGS) as base_url:
        make_project(tmp_path, base_url)
        stopped = start(tmp_path)
        wait_for(base_url, "in_flight", 4)
        os.kill(stopped.pid, signal.SIGINT)
        time.sleep(0.3)
        said, took_s = interrupt(stopped)
    assert said == f"ragstone: stopped. {GO_ON}"
    assert stopped.returncode == 2
    assert took_s < STOP_S / 2
    assert not (tmp_path / "judgements.jsonl").exists()


def test_answer_stops_like_judge(tmp_path, monkeypatch):
    with running("--latency", "0.1") as base_url:
        make_project(tmp_path, base_url)
        questions = [Question(id=f"q{n}", question=f"What is {n}?") for n in range(N_ANSWERS)]
        write_rows(tmp_path / "questions.jsonl", questions, Question)
        arguments = ("answer", "--questions", "questions.jsonl", "--model", "openai/fake", "-o", "new.jsonl")
        stopped = command(tmp_path, *arguments)
        wait_for(base_url, "n_requests", N_ANSWERS // 3)
        said, _ = interrupt(stopped)
        n_rows = len(partial(tmp_path / "new.jsonl", Answer))
        assert said == f"ragstone: stopped. {n_rows} of 60 answers are in new.jsonl.partial. {GO_ON}"
        assert stopped.returncode == 2
        assert n_rows == stats(base_url)["n_answered"]
        assert not (tmp_path / "new.jsonl").exists()
        monkeypatch.chdir(tmp_path)
        assert ragstone(*arguments).code == 0
        assert stats(base_url)["n_requests"] == N_ANSWERS


def test_run_stops_like_judge_and_is_taken_up_again(tmp_path, monkeypatch):
    with running("--latency", "0.1") as base_url:
        make_project(tmp_path, base_url)
        settings = (tmp_path / "ragstone.toml").read_text()
        (tmp_path / "ragstone.toml").write_text(
            '[answer]\nsheet = "answers.jsonl"\n'
            + settings.replace("[judge]", '[judge]\njudges = ["containment", "relevance"]')
        )
        stopped = command(tmp_path, "run")
        wait_for(base_url, "n_requests", N_ANSWERS // 3)
        said, _ = interrupt(stopped)
        [folder] = (tmp_path / "runs").iterdir()
        n_rows = len(partial(folder / "judgements.jsonl", Judgement))
        assert f" {n_rows} of 120 judgements are in " in said
        assert said.endswith(GO_ON)
        assert stopped.returncode == 2
        assert n_rows == N_ANSWERS + stats(base_url)["n_answered"]
        assert not (folder / "summary.json").exists()
        monkeypatch.chdir(tmp_path)
        assert ragstone("run").code == 0
        assert stats(base_url)["n_requests"] == N_ANSWERS
        assert (folder / "summary.json").exists()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_partial_file_can_be_read_in_every_format(tmp_path, ending):
    with running("--latency", "0.1") as base_url:
        make_project(tmp_path, base_url)
        stopped = start(tmp_path, "-o", f"out.{ending}")
        wait_for(base_url, "n_requests", N_ANSWERS // 3)
        interrupt(stopped)
        n_answered = stats(base_url)["n_answered"]
    assert len(partial(tmp_path / f"out.{ending}", Judgement)) == n_answered


def test_a_model_that_is_generating_in_this_process_is_not_waited_for(tmp_path):
    make_project(tmp_path, "http://127.0.0.1:9/v1")
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    (tmp_path / "stand-in").mkdir()
    (tmp_path / "stand-in" / "xllamacpp.py").write_text(SLOW_MODEL)
    judge = ("judge", "answers.jsonl", "--judge", "relevance", "--model", "llamacpp/m.gguf", *TO_FILE)
    stopped = command(tmp_path, *judge, path=tmp_path / "stand-in")
    for _ in range(3000):
        if (tmp_path / "generating").exists():
            break
        time.sleep(0.02)
    said, took_s = interrupt(stopped)
    assert said == f"ragstone: stopped. 0 of 60 judgements are in judgements.jsonl.partial. {GO_ON}"
    assert stopped.returncode == 2
    assert took_s < STOP_S + STARTS_S


IN_A_NOTEBOOK = """
import asyncio, ragstone

async def cell():
    ragstone.judge(ragstone.read_rows("answers.jsonl", ragstone.Answer), judges=["relevance"])

loop = asyncio.new_event_loop()
try:
    loop.run_until_complete(cell())
except KeyboardInterrupt:
    raise SystemExit(17)
"""


def test_in_a_notebook_it_is_a_keyboard_interrupt_and_the_work_ends(tmp_path):
    with running("--latency", "0.1") as base_url:
        make_project(tmp_path, base_url)
        cell = [sys.executable, "-c", IN_A_NOTEBOOK]
        stopped = subprocess.Popen(cell, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        wait_for(base_url, "n_requests", N_ANSWERS // 3)
        said, _ = interrupt(stopped)
        assert (stopped.returncode, said) == (17, "")
        assert stats(base_url)["n_answered"] == stats(base_url)["n_requests"] < N_ANSWERS
