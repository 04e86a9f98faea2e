"""A folder to work in, with an endpoint that answers."""

from pathlib import Path

import pytest
from tests.support.fake_openai import FakeOpenAI

from ragstone.records import Answer, Context, Label
from ragstone.tables import write_rows


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the command runs in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def project(folder: Path, fake_openai: FakeOpenAI) -> Path:
    """A folder with settings that name the endpoint, a sheet of six answers and their labels."""
    (folder / "ragstone.toml").write_text(fake_openai.toml())
    answers = [
        Answer(
            question_id=f"q{n}",
            system="mine",
            question=f"What is {n}?",
            reference=f"number {n}",
            answer=f"It is number {n if n % 2 else n + 1}.",
            contexts=[Context(text=f"{n} is number {n}.", document_id=f"d{n}")],
        )
        for n in range(6)
    ]
    write_rows(folder / "answers.jsonl", answers, Answer)
    labels = [Label(question_id=f"q{n}", system="mine", metric="correctness", score=n % 2) for n in range(6)]
    write_rows(folder / "labels.jsonl", labels, Label)
    return folder
