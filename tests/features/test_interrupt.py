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
from tests.features.test_resume import COMMAND, N_ANSWERS, make_project
from tests.support.command import TO_FILE, ragstone, started
from tests.support.fake_openai import let_go, serving_as, stats, wait_for

from ragstone.kernel.records import Answer, Context, Judgement, Question
from ragstone.kernel.tables import read_rows, write_rows

pytestmark = pytest.mark.kill

GO_ON = "Finished calls are in the ledger: run the same command again to continue."
N_BEFORE = N_ANSWERS // 3
# The calls after those wait until Ctrl-C was pressed, however long that takes on a busy machine.
GATED = ("--latency", "0.1", "--gate", str(N_BEFORE))
N_IN_FLIGHT = 4
# The first call goes alone, and the others when it is answered.
HANGS = ("--hanging", "1.0", "--answered", "1")
# A module named xllamacpp whose model thinks for an hour, in C, where no signal interrupts it.
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
        ctypes.CDLL(None).sleep(3600)
"""


def press(process: subprocess.Popen[str]) -> str:
    """Press Ctrl-C; return the last line on standard error."""
    os.kill(process.pid, signal.SIGINT)
    return last_line(process)


def press_in_flight(process: subprocess.Popen[str], base_url: str) -> str:
    """Press Ctrl-C while calls wait at the gate, and let them go; return the last line on standard error."""
    wait_for(base_url, "n_requests", N_BEFORE + N_IN_FLIGHT, process)
    os.kill(process.pid, signal.SIGINT)
    let_go(base_url)
    return last_line(process)


def last_line(process: subprocess.Popen[str]) -> str:
    _, said = process.communicate()
    return said.strip().rpartition("\n")[2]


def partial(path: Path, row_type: type) -> list[Any]:
    """Return the rows of a partial file."""
    whole = path.with_name(f"part-{path.name}")
    shutil.copy(path.with_name(f"{path.name}.partial"), whole)
    return list(read_rows(whole, row_type))


def test_once_finishes_what_is_in_flight_and_keeps_it_in_the_partial_file(tmp_path, monkeypatch):
    with serving_as(*GATED) as base_url:
        make_project(tmp_path, base_url)
        with started(*COMMAND, cwd=tmp_path) as stopped:
            said = press_in_flight(stopped, base_url)
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
    with serving_as("--latency", "1", "--gate", "0") as base_url:  # a second in which Ctrl-C is heard
        make_project(tmp_path, base_url)
        contexts = [Context(text="A text.")]
        answers = [
            Answer(question_id=f"q{n}", question="What is it?", answer=f"It is maize {n}.", contexts=contexts)
            for n in range(N_ANSWERS)
        ]
        write_rows(tmp_path / "answers.jsonl", answers, Answer, force=True)
        words = ("judge", "answers.jsonl", "--judge", "faithfulness", *TO_FILE)
        with started(*words, cwd=tmp_path) as stopped:
            wait_for(base_url, "n_requests", 1, stopped)
            os.kill(stopped.pid, signal.SIGINT)
            let_go(base_url)
            said = last_line(stopped)
        assert said.startswith("ragstone: stopped. 0 of 60 judgements ")
        assert stats(base_url)["n_requests"] == stats(base_url)["n_answered"] <= 4


def test_an_endpoint_that_hangs_is_not_waited_for(tmp_path):
    with serving_as(*HANGS) as base_url:
        make_project(tmp_path, base_url)
        with started(*COMMAND, cwd=tmp_path) as stopped:
            wait_for(base_url, "in_flight", N_IN_FLIGHT, stopped)
            said = press(stopped)
        assert stats(base_url)["n_answered"] == 1
    assert said == f"ragstone: stopped. 1 of 60 judgements are in judgements.jsonl.partial. {GO_ON}"
    assert stopped.returncode == 2


# `ragstone`, which waits for calls in flight as long as they take.
PATIENT = """
from ragstone.kernel.engine.local import map_in_order
map_in_order.__kwdefaults__["stop_s"] = 3600
import runpy
runpy.run_module("ragstone", run_name="__main__")
"""


def test_twice_stops_at_once(tmp_path):
    with serving_as(*HANGS) as base_url:
        make_project(tmp_path, base_url)
        words = [sys.executable, "-c", PATIENT, *COMMAND]
        with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as stopped:
            try:
                wait_for(base_url, "in_flight", N_IN_FLIGHT, stopped)
                os.kill(stopped.pid, signal.SIGINT)
                time.sleep(1)  # two at once are one
                said = press(stopped)
            finally:
                stopped.kill()
        assert stats(base_url)["n_answered"] == 1
    assert said == f"ragstone: stopped. {GO_ON}"
    assert stopped.returncode == 2
    assert not (tmp_path / "judgements.jsonl").exists()


def test_answer_stops_like_judge(tmp_path, monkeypatch):
    with serving_as(*GATED) as base_url:
        make_project(tmp_path, base_url)
        questions = [Question(id=f"q{n}", question=f"What is {n}?") for n in range(N_ANSWERS)]
        write_rows(tmp_path / "questions.jsonl", questions, Question)
        arguments = ("answer", "--questions", "questions.jsonl", "--model", "openai/fake", "-o", "new.jsonl")
        with started(*arguments, cwd=tmp_path) as stopped:
            said = press_in_flight(stopped, base_url)
        n_rows = len(partial(tmp_path / "new.jsonl", Answer))
        assert said == f"ragstone: stopped. {n_rows} of 60 answers are in new.jsonl.partial. {GO_ON}"
        assert stopped.returncode == 2
        assert n_rows == stats(base_url)["n_answered"]
        assert not (tmp_path / "new.jsonl").exists()
        monkeypatch.chdir(tmp_path)
        assert ragstone(*arguments).code == 0
        assert stats(base_url)["n_requests"] == N_ANSWERS


def test_run_stops_like_judge_and_is_taken_up_again(tmp_path, monkeypatch):
    with serving_as(*GATED) as base_url:
        make_project(tmp_path, base_url)
        settings = (tmp_path / "ragstone.toml").read_text()
        (tmp_path / "ragstone.toml").write_text(
            '[answer]\nsheet = "answers.jsonl"\n'
            + settings.replace("[judge]", '[judge]\njudges = ["containment", "relevance"]')
        )
        with started("run", cwd=tmp_path) as stopped:
            said = press_in_flight(stopped, base_url)
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
    with serving_as(*GATED) as base_url:
        make_project(tmp_path, base_url)
        with started(*COMMAND, "-o", f"out.{ending}", cwd=tmp_path) as stopped:
            press_in_flight(stopped, base_url)
        n_answered = stats(base_url)["n_answered"]
    assert len(partial(tmp_path / f"out.{ending}", Judgement)) == n_answered


def test_a_model_that_is_generating_in_this_process_is_not_waited_for(tmp_path):
    make_project(tmp_path, "http://127.0.0.1:9/v1")
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    (tmp_path / "stand-in").mkdir()
    (tmp_path / "stand-in" / "xllamacpp.py").write_text(SLOW_MODEL)
    judge = ("judge", "answers.jsonl", "--judge", "relevance", "--model", "llamacpp/m.gguf", *TO_FILE)
    env = os.environ | {"PYTHONPATH": str(tmp_path / "stand-in")}
    with started(*judge, cwd=tmp_path, env=env) as stopped:
        for _ in range(3000):
            if (tmp_path / "generating").exists():
                break
            time.sleep(0.02)
        said = press(stopped)
    assert said == f"ragstone: stopped. 0 of 60 judgements were finished. {GO_ON}"
    assert stopped.returncode == 2


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
    with serving_as(*GATED) as base_url:
        make_project(tmp_path, base_url)
        cell = [sys.executable, "-c", IN_A_NOTEBOOK]
        with subprocess.Popen(cell, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as stopped:
            try:
                said = press_in_flight(stopped, base_url)
            finally:
                stopped.kill()
        assert (stopped.returncode, said) == (17, "")
        assert stats(base_url)["n_answered"] == stats(base_url)["n_requests"] < N_ANSWERS
