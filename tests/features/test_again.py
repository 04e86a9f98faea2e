"""A finished output and the same command: it is complete, or what is missing and what failed is added."""

from pathlib import Path

import pytest
from tests.support.command import ragstone
from tests.support.fake_retriever import Answered, serving
from tests.support.golden import sentence_in
from tests.support.phrase_book import from_book
from tests.support.scripted_facts import write_facts

from ragstone.kernel.records import Answer, Document, Question
from ragstone.kernel.tables import read_rows, write_rows

QUESTIONS = [Question(id=f"q{n}", question=f"What grows in field {n}?") for n in range(4)]
DOCUMENTS = [Document(id=f"d{n}", text=f"In field {n} grows maize. It is sown in May.") for n in range(3)]
COMMANDS = {
    "ingest": ["ingest", "papers", "-o", "OUT.jsonl"],
    "shards": ["ingest", "papers", "-o", "OUT/"],
    "chunk": ["chunk", "d.jsonl", "-o", "OUT.jsonl"],
    "tag": ["tag", "d.jsonl", "--tags", "tags.toml", "--model", "openai/fake", "-o", "OUT.jsonl"],
    "sample": ["sample", "q.jsonl", "--count", "2", "-o", "OUT.jsonl"],
    "translate": ["translate", "known.jsonl", "--to", "es", "--by", "openai/fake", "-o", "OUT.jsonl"],
    "retrieve": ["retrieve", "--questions", "q.jsonl", "--documents", "d.jsonl", "-o", "OUT.jsonl"],
    "answer": ["answer", "--questions", "q.jsonl", "--model", "openai/fake", "-o", "OUT.csv"],
    "build": ["build", "facts", "d.jsonl", "--model", "openai/fake", "-o", "OUT/facts.jsonl"],
}
OTHERWISE = {
    "ingest": ["--max-file-mb", "9"],
    "shards": ["--max-file-mb", "9"],
    "chunk": ["--size", "9"],
    "tag": ["--topics", "2"],
    "sample": ["--seed", "2"],
    "translate": ["--chrf", "0.1"],
    "retrieve": ["-k", "2"],
    "answer": ["--system", "bare"],
    "build": ["--seed", "2"],
}


@pytest.fixture
def rows(project, fake_openai):
    """Questions, documents, tags, and a model that answers whatever it is asked."""
    write_rows("q.jsonl", QUESTIONS, Question)
    write_rows("known.jsonl", [Question(id="k", question="When is the maize harvested?")], Question)
    write_rows("d.jsonl", DOCUMENTS, Document)
    Path("tags.toml").write_text('[tags.crop]\nmaize = ["corn"]\n')
    Path("papers").mkdir()
    for document in DOCUMENTS:
        Path("papers", f"{document.id}.md").write_text(document.text)
    return project


def written(folder):
    return {
        path: path.read_bytes()
        for path in folder.rglob("OUT*")
        for path in (path.rglob("*") if path.is_dir() else [path])
        if path.is_file()
    }


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_the_same_command_again_makes_no_call_and_leaves_the_files_byte_equal(rows, fake_openai, name, says):
    fake_openai.script = {"translate": from_book, "build": write_facts}.get(name, fake_openai.script)
    assert ragstone(*COMMANDS[name]).code == 0
    before, n_asked = written(rows), fake_openai.n_requests
    assert before
    ran = ragstone(*COMMANDS[name])
    assert (ran.code, written(rows), fake_openai.n_requests) == (0, before, n_asked), ran.err
    says(sentence_in(ran.err, "nothing has changed"))


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_with_other_options_nothing_is_touched_and_nobody_asked(rows, fake_openai, name, says):
    fake_openai.script = {"translate": from_book, "build": write_facts}.get(name, fake_openai.script)
    assert ragstone(*COMMANDS[name]).code == 0
    before, n_asked = written(rows), fake_openai.n_requests
    ran = ragstone(*COMMANDS[name], *OTHERWISE[name])
    assert (ran.code, written(rows), fake_openai.n_requests) == (2, before, n_asked)
    says(ran.err.splitlines()[-1])
    assert ragstone(*COMMANDS[name], *OTHERWISE[name], "--force").code == 0


@pytest.fixture
def shaky():
    """An application behind HTTP that fails for the questions in `down`."""
    with serving() as server:
        server.down = {"1", "2"}
        server.script = lambda asked: (
            Answered(500, b"no room")
            if asked.body["question"].strip("?")[-1] in server.down
            else {"answer": asked.body["question"].upper()}
        )
        yield server


@pytest.fixture
def sheet(rows, shaky):
    Path("ragstone.toml").write_text(
        f'[answer]\nsystem = "mine"\n[systems]\nmine = {{ kind = "http", url = "{shaky.url}" }}\n'
    )
    Path("answers.jsonl").unlink()
    return rows


def failed():
    return [row.question_id for row in read_rows("answers.jsonl", Answer) if row.error]


def test_what_has_failed_is_asked_again_and_what_is_new_is_added(sheet, shaky, says):
    ran = ragstone("answer", "--questions", "q.jsonl", "--limit", 3)
    assert (ran.code, failed()) == (0, ["q1", "q2"])
    says(sentence_in(ran.err, "failed, and leave"))
    says(sentence_in(ran.err, "When that is"))
    shaky.down = {"2"}
    ran = ragstone("answer", "--questions", "q.jsonl", "--limit", 3)
    assert (ran.code, failed()) == (0, ["q2"])
    says(sentence_in(ran.err, "answers.jsonl existed"))
    shaky.down, before = set(), len(shaky.asked)
    ran = ragstone("answer", "--questions", "q.jsonl")
    assert (ran.code, failed()) == (0, [])
    says(sentence_in(ran.err, "answers.jsonl existed"))
    assert len(shaky.asked) - before == 2  # q2, which had failed, and q3, which is new


def test_no_row_is_lost_and_no_work_of_a_person(sheet, shaky, says):
    shaky.down = set()
    assert ragstone("answer", "--questions", "q.jsonl").code == 0
    before = Path("answers.jsonl").read_bytes()
    ran = ragstone("answer", "--questions", "q.jsonl", "--limit", 2)
    assert (ran.code, Path("answers.jsonl").read_bytes()) == (2, before)
    says(ran.err.splitlines()[-1])
    Path("answers.jsonl").write_bytes(before.replace(b"WHAT", b"what"))
    ran = ragstone("answer", "--questions", "q.jsonl")
    assert ran.code == 2
    says(ran.err.splitlines()[-1])
    assert b"what" in Path("answers.jsonl").read_bytes()


def test_settings_that_decide_the_answers_count_and_others_do_not(sheet, shaky, says):
    shaky.down = set()
    assert ragstone("answer", "--questions", "q.jsonl").code == 0
    with Path("ragstone.toml").open("a") as file:
        file.write('[judge]\njudges = ["grounding"]\n')
    assert ragstone("answer", "--questions", "q.jsonl").code == 0
    with Path("ragstone.toml").open("a") as file:
        file.write("[retrieve]\nk = 2\n")
    ran = ragstone("answer", "--questions", "q.jsonl")
    assert ran.code == 2
    says(ran.err.splitlines()[-1])


def test_a_file_of_another_command_or_of_nobody_known_is_not_touched(rows, says):
    assert ragstone("chunk", "d.jsonl", "-o", "OUT.jsonl").code == 0
    ran = ragstone("ingest", "papers", "-o", "OUT.jsonl")
    assert ran.code == 2
    says(ran.err.splitlines()[-1])
    Path("OUT.jsonl").unlink()
    write_rows("OUT.jsonl", DOCUMENTS, Document)
    ran = ragstone("chunk", "d.jsonl", "-o", "other.jsonl")
    assert ran.code == 0
    ran = ragstone("ingest", "papers", "-o", "d.jsonl")
    assert ran.code == 2
    says(ran.err.splitlines()[-1])


def test_only_showing_a_forecast_records_nothing(rows):
    command = ("answer", "--questions", "q.jsonl", "--model", "openai/fake", "-o", "OUT.jsonl")
    assert ragstone(*command).code == 0
    ran = ragstone(*command, "--forecast")
    assert (ran.code, "complete" in ran.err) == (0, False)
