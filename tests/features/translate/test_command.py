import json
import shutil
from pathlib import Path

import pytest
from tests.support.command import ragstone
from tests.support.phrase_book import from_book
from tests.support.scripts import always, in_turn, say

from ragstone.kernel.records import Document, Question
from ragstone.kernel.tables import read_rows, write_rows

MODEL = ("--by", "openai/fake")
QUESTIONS = [
    Question(id="d0#1", question="Who sowed the wheat in 1998?", lang="en", document_ids=["d0"]),
    Question(id="d0#2", question="When is the maize harvested?", reference="in October", lang="en"),
]
DOCUMENTS = [
    Document(id="d0", text="The wheat was sown by the farmers of the village in 1998.", lang="en"),
]


@pytest.fixture
def rows(project, fake_openai):
    """Questions and their document, and a model that knows them by heart."""
    write_rows(project / "q.jsonl", QUESTIONS, Question)
    write_rows(project / "d.jsonl", DOCUMENTS, Document)
    fake_openai.script = from_book
    return project


def ids(name, kind=Question):
    return [row.id for row in read_rows(name, kind)]


def test_questions_and_documents_get_files_of_their_own(rows, says):
    ran = ragstone(
        "translate", "q.jsonl", "--to", "es", *MODEL, "--documents", "d.jsonl", "-o", "out/es.jsonl"
    )
    assert ran.code == 0
    says(ran.out)
    assert ids("out/es.jsonl") == ids("out/es.all.jsonl") == ["d0#1@es", "d0#2@es"]
    assert ids("out/es.documents.jsonl", Document) == ids("out/es.documents.all.jsonl", Document) == ["d0@es"]
    assert next(read_rows("out/es.jsonl", Question)).document_ids == ["d0@es"]


def test_documents_alone_are_a_file_of_documents(rows):
    assert ragstone("translate", "d.jsonl", "--to", "es", *MODEL).code == 0
    assert ids("translated.jsonl", Document) == ["d0@es"]


def test_the_originals_come_first_if_they_are_wanted(rows):
    ragstone("translate", "q.jsonl", "--to", "es", *MODEL, "--originals")
    assert ids("translated.jsonl") == ["d0#1", "d0#2", "d0#1@es", "d0#2@es"]


def test_what_is_lost_is_told_and_is_exit_code_5_if_that_is_asked(rows, fake_openai, says):
    command = ("translate", "q.jsonl", "--to", "es", *MODEL, "--back", "none")
    fake_openai.script = in_turn(
        from_book, lambda body: say(from_book(body).text.replace("octubre", "noviembre"))
    )
    assert ragstone(*command).code == 0
    write_rows(
        "more.jsonl", [*QUESTIONS, Question(id="x", question="What is not known?", lang="en")], Question
    )
    ran = ragstone("translate", "more.jsonl", *command[2:], "-o", "strict.jsonl", "--strict")
    assert ran.code == 5
    says(ran.out)
    assert ids("strict.jsonl") == ["d0#1@es", "d0#2@es"]
    assert ids("strict.all.jsonl") == ["d0#1@es", "d0#2@es", "x@es"]


def test_the_lowest_chrf_is_an_option(rows, fake_openai, says):
    fake_openai.script = lambda body: (
        from_book(body)
        if "into Spanish" in str(body)
        else say(from_book(body).text.replace("wheat", "bread").replace("harvested", "picked up"))
    )
    command = ("translate", "q.jsonl", "--to", "es", *MODEL)
    says(ragstone(*command, "--chrf", 0.2).out)
    ran = ragstone(*command, "--chrf", 0.95, "--force")
    says(ran.out)


def test_a_limit_takes_the_first_rows_and_their_documents(rows):
    write_rows(
        "more.jsonl",
        [*DOCUMENTS, Document(id="d1", text="A text that no question names.", lang="en")],
        Document,
    )
    ragstone(
        "translate", "q.jsonl", "--to", "es", *MODEL, "--limit", 1, "--documents", "more.jsonl", "--originals"
    )
    assert ids("translated.jsonl") == ["d0#1", "d0#1@es"]
    assert ids("translated.documents.jsonl", Document) == ["d0", "d0@es"]
    ragstone("translate", "more.jsonl", "--to", "es", *MODEL, "--limit", 1, "-o", "one.jsonl")
    assert ids("one.jsonl", Document) == ["d0@es"]


def test_another_language_than_from_is_left_out(rows, says):
    write_rows("two.jsonl", [*QUESTIONS, Question(id="x", question="¿Dónde?", lang="de")], Question)
    ran = ragstone("translate", "two.jsonl", "--from", "en", "--to", "es", *MODEL)
    says(ran.err)
    assert ids("translated.jsonl") == ["d0#1@es", "d0#2@es"]


def test_rows_over_the_budget_end_with_exit_code_4(rows):
    assert ragstone("translate", "q.jsonl", "--to", "es", *MODEL, "--budget", "1calls").code == 4


def test_the_summary_as_json(rows):
    summary = json.loads(ragstone("translate", "q.jsonl", "--to", "es", *MODEL, "--json").out)
    assert summary["questions"]["n_translated"] == {"es": 2}
    assert summary["statuses"] == {"scored": 2}


def test_a_forecast_is_shown_and_nothing_written(rows, fake_openai):
    ran = ragstone("translate", "q.jsonl", "--to", "es", *MODEL, "--forecast")
    assert ran.code == 0
    assert "about 4 calls" in ran.out
    assert fake_openai.n_requests == 0
    assert not (rows / "translated.jsonl").exists()


def test_settings_may_say_it_all(rows, fake_openai):
    (rows / "mine.toml").write_text(
        '[translate]\nby = "openai/fake"\nto = ["es"]\nback = "none"\n' + fake_openai.toml()
    )
    assert ragstone("translate", "q.jsonl", "--config", "mine.toml").code == 0
    assert fake_openai.n_requests == 2


def test_a_file_that_exists_stays_and_nothing_is_asked(rows, fake_openai, says):
    (rows / "translated.all.jsonl").write_text("mine\n")
    ran = ragstone("translate", "q.jsonl", "--to", "es", *MODEL)
    assert ran.code == 2
    says(ran.err)
    assert fake_openai.n_requests == 0


def test_a_model_that_talks_is_unparsable_and_told(rows, fake_openai, says):
    fake_openai.script = always("Sure! Here is the translation.")
    ran = ragstone("translate", "q.jsonl", "--to", "es", *MODEL)
    assert ran.code == 2
    says(ran.err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("q.jsonl", *MODEL), "name the target languages: --to hi,es"),
        (("q.jsonl", "--to", "es"), "name the translator: --by"),
        (("q.jsonl", "--to", "es", "--by", "gpt-4o"), "unknown translator 'gpt-4o'"),
        (("q.jsonl", "--to", "es", "--by", "http"), "[translate.http]"),
        (("q.jsonl", "--to", "Spanish", *MODEL), "Did you mean 'es'?"),
        (("q.jsonl", "--to", "en", *MODEL), "nothing to translate into en"),
        (("d.jsonl", "--to", "es", *MODEL, "--documents", "d.jsonl"), "d.jsonl contains documents"),
        (("none.jsonl", "--to", "es", *MODEL), "none.jsonl: no such file"),
    ],
)
def test_a_mistake_is_told_plainly(rows, arguments, message):
    ran = ragstone("translate", *arguments)
    assert ran.code == 2
    assert message in ran.err


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('[translate]\nbye = "x"\n', "mine.toml:2: unknown key 'bye'. Did you mean 'by'?"),
        ("[translate]\n\nchrf = 4\n", "mine.toml:3: "),
        ('[translate.http]\nurl = "http://a"\ntimeout = 3\n', "mine.toml:3: unknown key 'timeout'."),
        ("[translate.http]\ntimeout_s = 3\n", "mine.toml:1: "),
        (
            '[privacy]\nmask = true\n[translate]\nto = ["es"]\nby = "http"\n'
            '[translate.http]\nurl = "http://127.0.0.1:1"\n',
            "[privacy] mask: texts for [translate.http] cannot be masked",
        ),
    ],
)
def test_a_mistake_in_the_settings_is_told_with_its_line(rows, toml, message):
    (rows / "mine.toml").write_text(toml)
    ran = ragstone("translate", "q.jsonl", "--config", "mine.toml")
    assert ran.code == 2
    assert message in ran.err


@pytest.mark.parametrize("output", ["q.jsonl", "d.jsonl"])
def test_what_is_translated_is_never_replaced(rows, output, fake_openai, says):
    before = (rows / output).read_bytes()
    ran = ragstone(
        "translate", "q.jsonl", "--documents", "d.jsonl", "--to", "es", *MODEL, "-o", output, "--force"
    )
    assert ran.code == 2
    says(ran.err)
    assert (rows / output).read_bytes() == before
    assert fake_openai.n_requests == 0


def test_documents_of_the_command_are_paths_from_here_wherever_the_settings_are(rows):
    Path("farm").mkdir()
    shutil.copy("ragstone.toml", "farm")
    ran = ragstone(
        *("translate", "q.jsonl", "--to", "es", *MODEL, "--documents", "d.jsonl"),
        *("--config", "farm/ragstone.toml", "-o", "es.jsonl"),
    )
    assert ran.code == 0, ran.err
    assert ids("es.documents.jsonl", Document) == ["d0@es"]
