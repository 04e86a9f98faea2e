"""Every example of every command's help does what it says in a reader's folder, with a plain install too."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.test_app import ALL, EXAMPLES
from tests.support.examples import place, ready, reply, run_example
from tests.support.fake_openai import FakeOpenAI, serving
from tests.support.reader import ROOT, build, waits

from ragstone.kernel.console import printing
from ragstone.kernel.document.screen import LINES

pytestmark = pytest.mark.docs

WORDS = [words for _, words in EXAMPLES]
DONE = {0, 1, 3}  # a gate that is not passed and "cannot tell" are answers
# What nobody can be asked here, and what needs a server or a person's work in the browser: what is said then.
REFUSED = {
    "compare runs/may runs/june runs/july --by k": "differ in no known setting",  # they are copies of one run
    "compare runs/before runs/after --where": "there is no column 'topic'",  # these questions have no tags
    "export runs/mine --tracking-uri": "no MLflow server answers there",
    "export judgements.jsonl --otlp": "OpenTelemetry collector takes logs over HTTP there",
    "export runs/mine low.csv --view": "There is no view 'low scores'",  # nobody has saved one
    "label judgements.jsonl labels.jsonl --gaps": "no gap to label again",  # grades and comments of few rows
    "label runs/mine --where": "there is no column 'topic'",
    "note runs/mine --remove": "There is no note",
    "note runs/mine q-17": "There is no question",
    "note .ragstone/traces": "no such run folder",  # nothing was sent here
    "judges fit": "Ask for less agreement",  # 30 labels are too few
    "show runs/mine q-17": "There is no question 'q-17'",
    "review questions/questions.jsonl": "Review the set in the workbench",
}
# What is longer than a screen: a document for programs, and a prompt as its model gets it.
LONG = (
    "judges list --json",
    "judges list --all",
    "judges show correctness",
    "ledger show --json",
    "data diff runs/may runs/june --json",
    "schema judge",
)
# Commands whose help needs no example, and the least that they take.
SHORT = ["assistant list", "assistant remove wheat", "people list"]
SHORT += ["people renew ann", "people remove ann", "people role ann reader"]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[FakeOpenAI]:
    with serving() as fake:
        fake.script = reply
        yield fake


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory, endpoint: FakeOpenAI) -> Path:
    """The folder that every example finds."""
    folder = tmp_path_factory.mktemp("reader")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "test")
        build(folder, endpoint.base_url)
    return folder


def refusal(words: str) -> str | None:
    return next((said for start, said in REFUSED.items() if words.startswith(start)), None)


def stopped(words: str, err: str) -> bool:
    """Say whether Ctrl-C came before what waits for it was ready, as on a slow machine."""
    return waits(shlex.split(words)) and err.endswith("run the same command again to continue.\n")


@pytest.mark.parametrize("words", WORDS)
def test_an_example_does_what_it_says(words, reader, endpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
    monkeypatch.setattr(printing, "PIPED_WIDTH", 80)
    folder = shutil.copytree(reader, tmp_path / "reader")
    ran = run_example(place(folder, words), words)
    assert len(ran.out.splitlines()) <= LINES or words in LONG
    if refusal(words):
        assert (ran.code, refusal(words) in ran.err) == (2, True), ran.err
    else:
        assert ran.code in DONE or stopped(words, ran.err), ran.err


def test_after_a_plain_install_every_command_works_or_names_its_extra(reader, endpoint, tmp_path):
    every = [*dict(reversed([(name, words) for name, words in EXAMPLES])).values(), *SHORT]  # one a command
    assert {name for name in ALL if not any(words.startswith(name) for words in every)} == set()
    jobs, copies = [], {}
    for at, words in enumerate(every):
        copy = place(shutil.copytree(reader, tmp_path / str(at)), words)
        copies[words] = copy
        jobs.append((str(copy), ready(copy, words)))
    variables = {**os.environ, "OPENAI_API_KEY": "test", "OPENAI_BASE_URL": endpoint.base_url}
    ended = subprocess.run(
        [sys.executable, "-m", "tests.support.reader"],
        input=json.dumps(jobs), capture_output=True, text=True, cwd=ROOT, env=variables, check=False,
    )  # fmt: skip
    rows = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(rows) == len(every), ended.stderr
    wrong, extras = [], set()
    for words, row in zip(every, rows, strict=True):
        lacks = [line for line in row["err"].splitlines() if "pip install 'ragstone[" in line]
        extras.update(words.split()[0] for _ in lacks)
        known = row["code"] in DONE or lacks or words in SHORT or refusal(words) or stopped(words, row["err"])
        if row["code"] == 99 or not known or "Traceback" in row["err"]:
            wrong.append(f"{words}: exit code {row['code']}\n{row['err'][-1500:]}")
    assert not wrong, "\n".join(wrong)
    assert extras >= {"serve", "people", "assistant"}  # the packages are hidden, indeed
