"""`ragstone ask`: one question, its answer, its passages."""

import json

import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in

import ragstone as api


@pytest.fixture
def documents(folder, fake_openai, monkeypatch):
    """A folder with two documents, and an endpoint that answers."""
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.base_url)
    (folder / "handbook").mkdir()
    (folder / "handbook" / "maize.txt").write_text("Maize is sown in October, after the first rain.")
    (folder / "handbook" / "beans.txt").write_text("Beans are picked in the dry months of winter.")
    return folder / "handbook"


def test_answer_passages_and_time_are_shown(documents, fake_openai, says):
    ran = ragstone("ask", "When is maize sown?", "--documents", documents, "--model", "openai/m")
    assert ran.code == 0
    assert ran.out.index("[1] handbook/maize.txt") > 0
    says(sentence_in(ran.out, "after the first"))
    assert "bm25/strict/m: " in ran.err
    assert "s to answer. Calls: 1 made" in ran.err
    assert fake_openai.n_requests == 1


def test_the_same_question_is_not_paid_for_twice(documents, fake_openai):
    words = ("ask", "When is maize sown?", "--documents", documents, "--model", "openai/m", "--json")
    first, second = json.loads(ragstone(*words).out), json.loads(ragstone(*words).out)
    assert first["answer"] == second["answer"]
    assert fake_openai.n_requests == 1


def test_a_forecast_asks_nothing(documents, fake_openai):
    ran = ragstone("ask", "When?", "--documents", documents, "--model", "openai/m", "--forecast")
    assert (ran.code, fake_openai.n_requests) == (0, 0)
    assert "about 1 call" in ran.out


def test_a_python_function_answers_without_documents(folder, says):
    (folder / "loud_app.py").write_text("def reply(question):\n    return question.upper()\n")
    ran = ragstone("ask", "When?", "--system", "loud_app:reply")
    assert (ran.code, ran.out.strip()) == (0, "WHEN?")
    says(sentence_in(ran.err, "No passages:"))


def test_documents_in_which_nothing_fits_are_not_asked_for_again(documents, says):
    ran = ragstone("ask", "Xyzzy?", "--documents", documents, "--system", "extractive")
    says(sentence_in(ran.err, "No passage"))
    assert "name the documents" not in ran.err


def test_an_application_that_fails_is_said_and_ends_with_5(folder, says):
    (folder / "broken_app.py").write_text("def reply(question):\n    raise ValueError('no index')\n")
    ran = ragstone("ask", "When?", "--system", "broken_app:reply")
    assert ran.code == 5
    says(sentence_in(ran.err, "reply gave"))
    assert "no index" in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["  ", "--model", "openai/m"], "the question is empty"),
        (["When?"], "Name one with --model"),
        (["When?", "--system", "nope"], "unknown system 'nope'"),
        (["When?", "--documents", "missing/", "--model", "openai/m"], "missing"),
        (["When?", "--retriever", "bm52", "--documents", "handbook", "--model", "openai/m"], "bm25"),
    ],
)
def test_wrong_use_says_what_to_change(documents, words, said):
    ran = ragstone("ask", *words)
    assert ran.code == 2
    assert said in ran.err.splitlines()[0]


def test_python_gives_the_row_with_its_seconds(documents):
    asked = api.ask("When is maize sown?", documents=[documents], model="openai/m")
    assert asked.answer.contexts[0].document_id == "handbook/maize.txt"
    assert asked.n_chunks == 2
    assert min(asked.read_s, asked.search_s, asked.answer_s) >= 0
    assert asked.calls.made == 1
