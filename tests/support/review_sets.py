"""A project with a set under review, and a client of its workbench."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient
from tests.features.review.rows import DOCUMENTS, QUESTIONS
from tests.support.workbench import create_workbench, opened

from ragstone.features.review.decisions import log_path, read_decisions
from ragstone.kernel.config import Settings
from ragstone.kernel.config.serving import Role
from ragstone.kernel.records import Document, Question
from ragstone.kernel.serve.frame import Person
from ragstone.kernel.tables import write_rows
from ragstone.workbench import guard


def write_set(folder: Path, questions=QUESTIONS, documents=DOCUMENTS) -> Path:
    """Write a set as a build does: the accepted, all of them, the documents; return the accepted's file."""
    folder.mkdir(parents=True, exist_ok=True)
    accepted = [one for one in questions if not (one.metadata or {}).get("lost")]
    path = folder / "questions.jsonl"
    write_rows(path, accepted, Question, force=True)
    write_rows(folder / "questions.all.jsonl", questions, Question, force=True)
    if documents:
        write_rows(folder / "documents.jsonl", documents, Document, force=True)
    return path


class Reviewer:
    """Somebody at the page of a set."""

    def __init__(self, client: TestClient[Litestar], path: Path, set_id: str, name: str) -> None:
        self.client = client
        self.path = path
        self.base = f"/workbench/review/{set_id}"
        self.name = name
        self.n = 0

    def get(self, rest: str = "", **query: object):
        """Return what an address gives."""
        return self.client.get(self.base + rest, params=query, headers={"Accept": "text/html"})

    def post(self, rest: str, **body: object):
        """Return what a call gives."""
        return self.client.post(f"{self.base}/{rest}", json=body, headers={"Accept": "application/json"})

    def stands(self, question: str) -> str:
        """Return the last decision's id, as the page has it."""
        return str(self.post("stands", question_id=question).json()["stands"])

    def decide(self, question: str, decision: str, **more: object):
        """Return what the decision gives, sent as the page does that was just loaded."""
        self.n += 1
        body = {"id": f"decision-{self.name}-{self.n}", "stands": self.stands(question), **more}
        return self.post("decide", question_id=question, decision=decision, **body)

    def log(self):
        """Return the decisions on the disk."""
        return read_decisions(log_path(self.path))


@contextlib.contextmanager
def reviewing(folder: Path, role: Role = "owner", name: str = "ana", **given: object) -> Iterator[Reviewer]:
    """Give a reviewer of a set in a project, with this role and name."""
    path = folder / "questions" / "questions.jsonl"
    if not path.exists():
        write_set(path.parent, **given)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard, "Person", lambda _name, _role: Person(name, role))
        app = create_workbench(Settings(root=str(folder)))
    with opened(app) as client:
        listed = client.get("/workbench/review").text
        yield Reviewer(
            client, path, listed.split("/workbench/review/")[1].split('"')[0], name if name.isalnum() else "x"
        )
