"""`--mask` and `[privacy] mask`: no personal data in any request, and all of it in the rows."""

import gzip
import json
import re

import msgspec
import pytest
from tests.support.command import TO_FILE, ragstone
from tests.support.scripts import fit_schema, prompt_of

from ragstone.kernel.config import PrivacySection, Settings
from ragstone.kernel.embedding import open_embedder
from ragstone.kernel.records import Answer, Context, Document, Judgement, Question
from ragstone.kernel.tables import read_rows, write_rows

PLANTED = ("jane.planted@doe.org", "+91 98765 43210", "DE89 3704 0044 0532 0130 00", "Blue Falcon")
TRACES = ("jane.planted", "98765", "0532 0130", "falcon")
TEXT = f"Write to {PLANTED[0]}, call {PLANTED[1]}, pay to IBAN {PLANTED[2]} for {PLANTED[3]}."
MASKED = "Write to [email-1], call [phone-1], pay to IBAN [iban-1] for [masked-1]."
JUDGE = """
name = "contact"
version = 1
kind = "rubric"
inputs = ["question", "answer", "reference", "contexts"]
scale = [0, 1]
source = "own wording"
prompt = "Does {{answer}} to {{question}} say what {{reference}} and {{contexts}} do? jane.planted@doe.org"
[[criteria]]
name = "told"
description = "does it say whom to ask?"
grades = ["no", "yes"]
[[examples]]
question = "Whom do I ask? {0}"
reference = "{0}"
answer = "{0}"
contexts = ["{0}"]
reason = {{ told = "It names jane.planted@doe.org" }}
expected = {{ told = 1 }}
"""


@pytest.fixture
def planted(project, fake_openai):
    """A project whose texts all hold the same personal data, and a model that quotes what it is shown."""

    def quoting(body):
        shown = " ".join(sorted(set(re.findall(r"\[[a-z]+-\d+\]", prompt_of(body)))))
        return fit_schema(body).replace("the texts say so.", shown).replace("A fake answer", shown)

    fake_openai.script = quoting
    with (project / "ragstone.toml").open("a") as file:
        file.write('[sample]\nmask = ["Blue Falcon"]\n')
    (project / "answers.jsonl").unlink()
    write_rows(
        project / "answers.jsonl",
        [
            Answer(
                question_id="q",
                system="mine",
                question=f"Is this right? {TEXT}",
                reference=TEXT,
                answer=TEXT,
                contexts=[Context(text=TEXT, document_id="d")],
            )
        ],
        Answer,
    )
    write_rows(project / "documents.jsonl", [Document(id="d", text=TEXT)], Document)
    write_rows(
        project / "questions.jsonl",
        [Question(id="q", question=TEXT, reference=TEXT, document_ids=["d"])],
        Question,
    )
    return project


def requests(fake_openai):
    return "\n".join(json.dumps(body, ensure_ascii=False) for body in fake_openai.bodies).casefold()


def assert_nothing_left(fake_openai):
    assert fake_openai.n_requests
    for trace in TRACES:
        assert trace not in requests(fake_openai)
    assert not [text for text in fake_openai.embedded if any(trace in text.casefold() for trace in TRACES)]


def test_judges_see_placeholders_and_their_reasons_name_the_values(planted, fake_openai):
    (planted / "contact.toml").write_text(JUDGE.format(TEXT))
    names = ("faithfulness", "relevance", "correctness", "rubric@shots=2", "claims", "contact.toml")
    judges = [part for name in names for part in ("--judge", name)]
    ran = ragstone("judge", "answers.jsonl", *judges, "--model", "openai/fake", "--mask", *TO_FILE)
    assert ran.code == 0, ran.err
    assert_nothing_left(fake_openai)
    assert MASKED.casefold() in requests(fake_openai)
    rows = list(read_rows(planted / "judgements.jsonl", Judgement))
    assert {row.status for row in rows} == {"scored"}
    told = [row for row in rows if PLANTED[0] in msgspec.json.encode(row).decode()]
    assert len(told) >= len(names)
    assert not [row for row in rows if "[email-1]" in msgspec.json.encode(row).decode()]
    kept = b"".join(file.read_bytes() for file in (planted / ".ragstone").iterdir() if file.is_file())
    assert b"planted" not in kept


def test_a_run_of_judgements_keeps_what_was_sent_with_placeholders_and_says_so(planted):
    ran = ragstone("judge", "answers.jsonl", "--judge", "relevance", "--model", "openai/fake", "--mask")
    assert "Models were shown placeholders instead of personal data." in " ".join(ran.out.split())
    calls = gzip.decompress((planted / "runs/answers/calls.jsonl.gz").read_bytes()).decode()
    assert "[email-1]" in calls
    assert PLANTED[0] not in calls


def test_without_it_they_see_the_values(planted, fake_openai):
    ragstone("judge", "answers.jsonl", "--judge", "relevance", "--model", "openai/fake", *TO_FILE)
    assert all(trace in requests(fake_openai) for trace in TRACES)


def test_the_forecast_and_offline_ask_what_the_command_asks(planted, fake_openai):
    command = ("judge", "answers.jsonl", "--judge", "faithfulness", "--model", "openai/fake", "--mask")
    ragstone(*command, "-o", "one.jsonl")
    n_requests = fake_openai.n_requests
    forecast = json.loads(ragstone(*command, "-o", "two.jsonl", "--forecast", "--json").out)
    assert (forecast["calls"], forecast["from_ledger"]) == (0, n_requests)
    assert ragstone(*command, "-o", "two.jsonl", "--offline").code == 0
    assert (planted / "one.jsonl").read_bytes() == (planted / "two.jsonl").read_bytes()


def test_answers_are_made_from_masked_contexts_and_hold_the_values(planted, fake_openai):
    files = ("--questions", "questions.jsonl", "--documents", "documents.jsonl", "-o", "made.jsonl")
    ran = ragstone("answer", *files, "--model", "openai/fake", "--mask")
    assert ran.code == 0, ran.err
    assert_nothing_left(fake_openai)
    (row,) = read_rows(planted / "made.jsonl", Answer)
    assert all(value in row.answer for value in PLANTED)
    assert row.contexts[0].text == TEXT


def test_a_run_that_is_declared_private_sends_nothing_to_models_and_embedders(planted, fake_openai):
    with (planted / "ragstone.toml").open("a") as file:
        file.write(
            '[privacy]\nmask = true\n[run]\nmodel = "openai/fake"\n[documents]\npaths = ["documents.jsonl"]\n'
            '[questions]\npath = "questions.jsonl"\n'
            '[retrieve]\nretriever = "dense"\nembedder = "openai/fake"\n'
            '[judge]\njudges = ["faithfulness", "correctness"]\n'
        )
    ran = ragstone("run")
    assert ran.code == 0, ran.err
    assert_nothing_left(fake_openai)
    assert fake_openai.embedded
    assert PLANTED[0] in (planted / "runs/run/report.html").read_text()


def test_vectors_of_masked_texts_are_not_taken_for_those_of_the_texts(fake_openai, tmp_path):
    plain = fake_openai.settings(root=tmp_path)
    private = msgspec.structs.replace(plain, privacy=PrivacySection(mask=True))
    for settings in (plain, private):
        embedder = open_embedder("openai/fake", tmp_path, settings)
        embedder([TEXT], "passage")
        embedder.close()
    assert len(fake_openai.embedded) == 2


def test_it_is_off_unless_it_is_asked_for():
    assert not Settings().privacy.mask
