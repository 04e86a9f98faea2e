"""Embedders from the command line: what doctor says of them, and a budget that stops them."""

import json

import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in

from ragstone.kernel.records import Document, Question
from ragstone.kernel.tables import write_rows


def rows(project):
    write_rows(
        project / "documents.jsonl", [Document(id=f"d{n}", text=f"word{n}") for n in range(100)], Document
    )
    questions = [Question(id="q", question="which is word7?", document_ids=["d7"])]
    write_rows(project / "questions.jsonl", questions, Question)
    with (project / "ragstone.toml").open("a") as file:
        file.write('\n[retrieve]\nretriever = "dense"\nembedder = "openai/fake"\n')


def test_a_budget_that_stops_the_embedding_ends_with_4_and_the_next_run_goes_on(project, fake_openai, says):
    rows(project)
    files = ("--questions", "questions.jsonl", "--documents", "documents.jsonl")
    ran = ragstone("retrieve", *files, "--budget", "1calls")
    assert ran.code == 4
    says(sentence_in(ran.err, "embedded and stored"))
    assert ragstone("retrieve", *files).code == 0
    assert set(fake_openai.embedded.values()) == {1}
    assert ragstone("retrieve", *files, "--offline", "--force").code == 0


@pytest.mark.model
def test_doctor_tries_the_embedders_that_are_named(project, fake_openai):
    rows(project)
    with (project / "ragstone.toml").open("a") as file:
        file.write('[retrievers]\nother = { kind = "dense", embedder = "openai/none" }\n')
        file.write('[models."openai/none"]\nbase_url = "http://127.0.0.1:1"\n')
    ran = ragstone("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(ran.out)}
    assert checks["embedder openai/fake"]["ok"]
    assert checks["embedder openai/fake"]["detail"].startswith("64 numbers per text")
    assert "127.0.0.1:1 cannot be reached" in checks["embedder openai/none"]["detail"]
    assert ran.code == 2
