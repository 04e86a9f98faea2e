"""`--column` and `--worksheet`: every command that reads rows takes them in anybody's columns."""

import inspect
import json
from importlib import import_module
from pathlib import Path

import pytest
from tests.features.bench.answerers.test_command import write_grid as write_answerers
from tests.features.bench.judges.test_command import write_grid as write_judges
from tests.features.bench.languages.test_study import write_study
from tests.features.bench.retrievers.test_grid import write_grid as write_retrievers
from tests.support.command import ragstone
from tests.support.judged_drafts import project as write_draft
from tests.support.plain_rows import judgement_row

from ragstone.cli.app import COMMANDS
from ragstone.kernel.records import Answer, Document, Judgement, Label, Question
from ragstone.kernel.tables import write_rows

NAME = "Spalte 7"  # no name that is near a field


def rename(path, field):
    """Give the column of a field a name that nobody can guess."""
    rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
    assert any(field in row for row in rows)
    text = "\n".join(json.dumps({NAME if key == field else key: row[key] for key in row}) for row in rows)
    Path(path).write_text(text + "\n")


def write_plain(folder, fake):
    """Questions, documents, answers, judgements and labels, and an application in a module."""
    ids = range(3)
    write_rows("q.jsonl", [Question(id=f"q{n}", question=f"What is {n}?", lang="en") for n in ids], Question)
    write_rows("d.jsonl", [Document(id=f"d{n}", text=f"It is {n}. It grows.") for n in ids], Document)
    answers = [
        Answer(question_id=f"q{n}", question="What?", answer=f"It is {n}.", reference="1", system="s")
        for n in ids
    ]
    write_rows("a.jsonl", answers, Answer)
    judged = [judgement_row(question_id=f"q{n}", metric="m", score=n % 2) for n in ids]
    write_rows("j.jsonl", judged, Judgement)
    labels = [Label(question_id=f"q{n}", system="s", metric="m", score=n % 2) for n in ids]
    write_rows("l.jsonl", labels, Label)
    Path("beside_columns.py").write_text("def ask(question):\n    return question.upper()\n")
    Path("ragstone.toml").write_text(
        '[questions]\npath = "q.jsonl"\n[documents]\npaths = ["d.jsonl"]\n'
        '[judge]\njudges = ["max_words@expect=50"]\n'
        '[answer]\nsystem = "beside_columns:ask"\n' + fake.toml()
    )


MODEL = ("--model", "openai/fake", "--forecast")
PLAIN = {
    "run": ("q.jsonl", "question", ["run"]),
    "answer": ("q.jsonl", "question", ["answer"]),
    "retrieve": ("q.jsonl", "question", ["retrieve"]),
    "judge": ("a.jsonl", "answer", ["judge", "a.jsonl", "--judge", "containment"]),
    "judges test": ("a.jsonl", "answer", ["judges", "test", "containment", "a.jsonl"]),
    "agree": ("j.jsonl", "score", ["agree", "j.jsonl", "l.jsonl"]),
    "label": ("j.jsonl", "score", ["label", "j.jsonl", "-n", "2"]),
    "chunk": ("d.jsonl", "text", ["chunk", "d.jsonl"]),
    "tag": ("d.jsonl", "text", ["tag", "d.jsonl", "--topics", "2"]),
    "translate": ("q.jsonl", "question", ["translate", "q.jsonl", "--to", "es", *MODEL]),
    "build": ("d.jsonl", "text", ["build", "questions", "d.jsonl", *MODEL]),
    "attack": ("a.jsonl", "answer", ["attack", "--judge", "faithfulness", "--sheet", "a.jsonl", *MODEL]),
}
GRIDS = {
    "bench judges": (write_judges, "labelled.jsonl", "answer", ["bench", "judges"]),
    "bench retrievers": (write_retrievers, "questions.jsonl", "question", ["bench", "retrievers"]),
    "bench answerers": (write_answerers, "questions.jsonl", "question", ["bench", "answerers"]),
    "bench languages": (write_study, "questions.jsonl", "question", ["bench", "languages"]),
    "judges develop": (
        write_draft,
        "labelled.jsonl",
        "answer",
        ["judges", "develop", "judges/mine.toml", "--labels", "labelled.jsonl"],
    ),
}
TABLE = {name: (write_plain, *row) for name, row in PLAIN.items()}
TABLE |= {name: (*row[:-1], [*row[-1], "--forecast"]) for name, row in GRIDS.items()}


@pytest.mark.long
@pytest.mark.parametrize("name", TABLE)
def test_a_command_that_reads_rows_takes_a_column_for_a_field(folder, fake_openai, name):
    write, file, field, command = TABLE[name]
    write(folder, fake_openai)
    rename(file, field)
    before = ragstone(*command)
    assert before.code == 2, before.out
    assert file in before.err
    ran = ragstone(*command, "--column", f"{field}={NAME}")
    assert ran.code == 0, ran.err


@pytest.mark.parametrize("name", TABLE)
def test_a_column_that_is_in_no_file_is_refused_before_anything_is_done(folder, fake_openai, name, says):
    write, _, field, command = TABLE[name]
    write(folder, fake_openai)
    ran = ragstone(*command, "--column", f"{field}={NAME}")
    assert ran.code == 2
    says(ran.err)
    assert fake_openai.n_requests == 0


def test_the_text_of_documents_may_stand_in_any_column_too(folder, fake_openai):
    write_plain(folder, fake_openai)
    rename("d.jsonl", "text")
    command = ["ask", "What grows?", "--system", "extractive"]
    assert f"{NAME}: It is 0." in ragstone(*command).out  # a row as it stands
    ran = ragstone(*command, "--column", f"text={NAME}")
    assert (ran.code, "It is 0. It grows." in ran.out, NAME in ran.out) == (0, True, False)


def test_a_run_read_in_other_columns_is_another_run(folder, fake_openai, says):
    write_plain(folder, fake_openai)
    rename("q.jsonl", "question")
    assert ragstone("run", "--column", f"question={NAME}").code == 0
    assert ragstone("run", "--column", f"question={NAME}").code == 0
    Path("q.jsonl").write_text(Path("q.jsonl").read_text().replace(NAME, "question"))
    ran = ragstone("run")
    assert ran.code == 2
    says(ran.err.splitlines()[-1])


# They read runs of ours, settings, the ledger or nothing; `new` writes settings for rows that others read.
READ_NO_ROWS = [
    "demo",
    "explain",
    "new",
    "doctor",
    "models",
    "blame",
    "report",
    "modes",
    "data.diff",
    "export",
    "serve",
    "assistant",
]
READ_NO_ROWS += [
    "ledger",
    "note",
    "people",
    "try",
    "judges.list",
    "judges.show",
    "judges.new",
    "mcp",
    "schema",
    "show",
]


def commands():
    for name, place in COMMANDS.items():
        inner = place[1] if isinstance(place, tuple) else {}
        yield from ((f"{name}.{each}", one) for each, one in inner.items())
        if not inner:
            yield name, place


@pytest.mark.parametrize(("name", "place"), [one for one in commands() if one[0] not in READ_NO_ROWS])
def test_every_command_that_reads_rows_has_the_options(name, place):
    module, _, function = place.partition(":")
    options = inspect.signature(getattr(import_module(f"ragstone.{module}"), function)).parameters
    assert "column" in options
    assert "worksheet" in options or name == "ingest"  # which reads every sheet as documents
