"""`ragstone answer --system`, `ragstone run` with `[answer] system`, and what `ragstone doctor` says."""

import json
import socket

import pytest
from tests.support.command import ragstone
from tests.support.fake_retriever import Answered, serving
from tests.support.golden import sentence_in

from ragstone.kernel.records import Answer, Question
from ragstone.kernel.tables import read_rows, write_rows


@pytest.fixture
def fake():
    with serving() as server:
        server.script = lambda asked: {"answer": f"It is {asked.body['question']}"}
        yield server


@pytest.fixture
def project(folder, fake):
    """A folder with questions, an application behind HTTP, and one in a module beside ragstone.toml."""
    questions = [Question(id=f"q{n}", question=f"number {n}", reference=f"number {n}") for n in range(3)]
    write_rows(folder / "questions.jsonl", questions, Question)
    (folder / "beside_it.py").write_text("def ask(question):\n    return {'answer': question.upper()}\n")
    (folder / "ragstone.toml").write_text(
        f"""
[questions]
path = "questions.jsonl"
[answer]
system = "mine"
[judge]
judges = ["containment"]
[systems]
mine = {{ kind = "http", url = "{fake.url}" }}
inhouse = {{ kind = "python", call = "beside_it:ask" }}
"""
    )
    return folder


def answers(path="answers.jsonl"):
    return [(row.system, row.answer, row.error) for row in read_rows(path, Answer)]


def test_a_run_asks_the_application_that_the_settings_name(project):
    ran = ragstone("run", "--json")
    assert ran.code == 0
    summary = json.loads(ran.out)
    assert summary["metrics"][0]["system"] == "mine"
    assert summary["metrics"][0]["estimate"]["value"] == 1.0
    assert "3 calls" in ran.err


def test_answer_takes_a_system_a_function_or_a_prompt(project, fake_openai):
    assert ragstone("answer").code == 0
    assert answers()[0] == ("mine", "It is number 0", None)
    assert ragstone("answer", "--system", "inhouse", "--force").code == 0
    assert answers()[0] == ("inhouse", "NUMBER 0", None)
    assert ragstone("answer", "--system", "beside_it:ask", "--force").code == 0
    assert answers()[0] == ("beside_it:ask", "NUMBER 0", None)
    with (project / "ragstone.toml").open("a") as file:
        file.write(fake_openai.toml())
    assert ragstone("answer", "--system", "bare", "--model", "openai/fake", "--force").code == 0
    assert answers()[0][0] == "none/bare/fake"


def test_an_unknown_system_is_met_with_all_that_may_be_meant(project, says):
    ran = ragstone("answer", "--system", "inhose")
    assert ran.code == 2
    assert "unknown system 'inhose'" in ran.err
    says(ran.err)


def test_failed_answers_are_told_and_a_run_of_them_ends_well(project, fake, says):
    fake.script = lambda asked: Answered(200, b"<html>")
    ran = ragstone("answer")
    assert ran.code == 5  # not one was answered
    says(sentence_in(ran.err, "3 answers in"))
    says(sentence_in(ran.err, "3 answers failed"))
    ran = ragstone("run")
    assert ran.code == 5  # and none was scored
    assert "3 application failures" in ran.err + ran.out
    assert ragstone("run", "--force", "--strict").code == 5


def test_answers_from_the_ledger_are_told_with_how_to_ask_anew(project, says):
    ragstone("answer")
    ran = ragstone("answer", "--force", "--offline")
    words = " ".join(ran.err.split())
    says(sentence_in(ran.err, "are from the"))
    assert "[systems.mine]" in words


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('mine = { kind = "http", url = "http://127.0.0.1:9/" }', "cannot be reached"),
        ('mine = { kind = "python", call = "no_such_module:ask" }', "No module named 'no_such_module'"),
        ('mine = { kind = "python", call = "beside_it:asks" }', "has no 'asks'"),
        ('mine = { kind = "sheet", path = "none.jsonl" }', "no such file"),
        ('mine = { kind = "htp", url = "http://127.0.0.1:9/" }', "unknown kind 'htp'. Did you mean 'http'"),
        ('mine = { kind = "http", url = "http://a.org", anser = "$.a" }', "Did you mean 'answer'"),
    ],
)
def test_what_cannot_be_asked_ends_at_once_with_the_reason(project, toml, message):
    head = '[questions]\npath = "questions.jsonl"\n[answer]\nsystem = "mine"\n[systems]\n'
    (project / "ragstone.toml").write_text(head + toml)
    ran = ragstone("answer")
    assert ran.code == 2
    assert message in " ".join(ran.err.split())


def test_a_forecast_is_shown_and_asks_nobody(project, fake):
    ran = ragstone("answer", "--forecast", "--json")
    assert json.loads(ran.out)["calls"] == 3
    assert fake.asked == []


@pytest.mark.model
def test_doctor_looks_at_systems_and_asks_them_nothing(project, fake):
    ran = ragstone("doctor", "--json")
    found = {check["name"]: check for check in json.loads(ran.out)}
    assert ran.code == 0
    assert "can be reached; nothing was sent" in found["system mine"]["detail"]
    assert "it receives the question's text" in found["system inhouse"]["detail"]
    assert fake.asked == []


@pytest.mark.model
def test_doctor_says_what_is_wrong_with_a_system(project, fake_openai, monkeypatch):
    with socket.socket() as taken:  # bound and not listening: nobody else gets it
        taken.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}/ask"
        (project / "ragstone.toml").write_text(
            f"""
[systems]
gone = {{ kind = "http", url = "{nobody}" }}
keyless = {{ kind = "http", url = "{fake_openai.base_url}", api_key_env = "NO_SUCH_KEY" }}
nowhere = {{ kind = "http", url = "localhost/ask" }}
chat = {{ kind = "chat", model = "openai/fake" }}
lost = {{ kind = "python", call = "beside_it:lost" }}
rag = {{ kind = "rag", prompt = "bare" }}
modelled = {{ kind = "rag", model = "openai/fake", prompt = "bare" }}
sheet = {{ kind = "sheet", path = "questions.jsonl" }}
{fake_openai.toml()}"""
        )
        ran = ragstone("doctor", "--json")
    found = {check["name"]: check for check in json.loads(ran.out)}
    wrong = {
        "gone": "cannot be reached",
        "keyless": "no key. Set the environment variable NO_SUCH_KEY",
        "nowhere": "is not an address",
        "lost": "has no 'lost'",
        "rag": "no model",
        "sheet": "no column holds the answer",
    }
    for name, message in wrong.items():
        assert not found[f"system {name}"]["ok"]
        assert message in found[f"system {name}"]["detail"]
    assert "nothing was sent" in found["system chat"]["detail"]
    assert "bare (version 1), answered by openai/fake" in found["system modelled"]["detail"]
    assert fake_openai.n_requests == 0
    assert ran.code == 2
