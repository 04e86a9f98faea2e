"""A lost point whose question is stale: named so, never the retriever's, and said only where it is so."""

import json

import msgspec
import pytest
from tests.features.blame.test_causes import REFUSED, RIGHT, WRONG, because, cause
from tests.kernel.dataset.test_stale import MILL, OTHER, asked
from tests.support.blamed_rows import SYSTEM
from tests.support.golden import sentence_in

import ragstone
from ragstone.features.blame._causes import PointFacts, find_cause
from ragstone.features.blame._points import CountedPoint
from ragstone.features.blame._stale_sentence_table import STALE_LOST
from ragstone.kernel.config import load_settings
from ragstone.kernel.records import Answer, Context, Document, Question
from ragstone.kernel.runs.blamed import BlameSummary, read_causes
from ragstone.kernel.sentences import say
from ragstone.kernel.tables import write_rows

REASON = "Document mill now says “1850”; the evidence was “1843”."


@pytest.mark.parametrize("found", [True, False, None])
@pytest.mark.parametrize("answer", [WRONG, REFUSED])
def test_stale_evidence_goes_before_all_that_an_answer_tells(found, answer):
    for more in ({}, {"gold": RIGHT}, {"gold": WRONG, "reference": False}):
        assert cause(stale=REASON, found=found, answer=answer, **more) == ("stale evidence", "dataset")
    assert because(stale=REASON) == REASON


@pytest.mark.parametrize("answer", [WRONG, REFUSED])
def test_where_the_evidence_is_unclear_nobody_is_charged_unless_the_right_passages_gave_the_answer(answer):
    told = ("cannot tell", "cannot tell")
    for found in (False, None):
        assert cause(unclear=REASON, found=found, answer=answer) == told
        assert cause(unclear=REASON, found=found, answer=answer, gold=WRONG) == told
    assert because(unclear=REASON, found=False).startswith(REASON)
    assert cause(unclear=REASON, found=False, answer=answer, gold=RIGHT)[1] == "retriever"
    assert cause(unclear=REASON, found=True, answer=answer)[1] == "model + prompt"
    assert cause(found=False, answer=answer)[1] == "retriever"


def test_a_point_that_is_kept_is_not_stale_though_its_question_is():
    kept = CountedPoint(question_id="q", lost=False, second=False)
    facts = PointFacts(point=kept, answer=RIGHT, relevant=["mill"], stale=REASON)
    assert find_cause(facts, "s").component == "judge"


def test_the_sentence_is_said_where_a_lost_point_is_stale_and_nowhere_else(says):
    assert say(SYSTEM, STALE_LOST) == ""
    for n in (1, 3):
        says(say(msgspec.structs.replace(SYSTEM, causes={**SYSTEM.causes, "stale evidence": n}), STALE_LOST))


CHANGED = MILL.replace("1843", "1850").replace("wheel turned", "wheel often turned")
QUESTIONS = [
    asked("1843", name="year"),
    asked("30 villages", name="bread", reference="30 villages"),
    asked("12 times", name="wheel", reference="12 times", document="old"),
]


def run_on(folder, documents):
    """A run of a sheet in which each answer is wrong, and was made from a document about something else."""
    contexts = [Context(text=OTHER, document_id="barley")]
    rows = [Answer(question_id=row.id, answer="Nobody knows why.", contexts=contexts) for row in QUESTIONS]
    write_rows(folder / "questions.jsonl", QUESTIONS, Question, force=True)
    write_rows(folder / "sheet.jsonl", rows, Answer, force=True)
    write_rows(
        folder / "documents.jsonl", [*documents, Document(id="barley", text=OTHER)], Document, force=True
    )
    (folder / "ragstone.toml").write_text(
        '[run]\nname = "r"\n[documents]\npaths = ["documents.jsonl"]\n[questions]\npath = "questions.jsonl"\n'
        '[answer]\nsheet = "sheet.jsonl"\n[judge]\njudges = ["match"]\n'
    )
    settings = load_settings(folder / "ragstone.toml")
    summary = ragstone.run(settings)
    blamed = ragstone.blame(folder / "runs" / "r", settings=settings)
    causes = {name: rows[0] for name, rows in read_causes(folder / "runs" / "r").items()}
    return summary, blamed, causes


def test_blame_names_what_is_stale_charges_the_retriever_with_the_rest_and_the_run_says_how_many(
    tmp_path, says
):
    summary, blamed, causes = run_on(
        tmp_path, [Document(id="mill", text=CHANGED), Document(id="new", text=CHANGED)]
    )
    assert {name: (row.cause, row.component) for name, row in causes.items()} == {
        "year": ("stale evidence", "dataset"),
        "bread": ("not retrieved", "retriever"),
        "wheel": ("not retrieved", "retriever"),  # found again in the document that is there
    }
    says(causes["year"].because)
    assert summary.stale == {"year": "answer changed"}
    assert summary.blame[0].missed_wrong == 2
    says([note for note in summary.notes if "stale" in note])
    page = BlameSummary(**{name: getattr(blamed, name) for name in BlameSummary.__struct_fields__})
    assert page.systems[0].causes["stale evidence"] == 1
    prices = {price.change: (price.gained, price.n) for price in page.systems[0].prices}
    # Right documents do not bring back a question whose evidence they do not hold; a new set may.
    assert prices == {
        "document retrieved": (2, 2),
        "contexts read": (0, 2),
        "right documents, all read": (2, 2),
        "references mended": (1, 3),
    }
    shown = (tmp_path / "runs" / "r" / "report.html").read_text()
    says(sentence_in(" ".join(shown.split()), "stale questions"))


def test_in_the_documents_of_the_set_nothing_is_stale_and_no_word_is_said_of_it(tmp_path):
    summary, blamed, causes = run_on(
        tmp_path, [Document(id="mill", text=MILL), Document(id="old", text=MILL)]
    )
    assert {row.cause for row in causes.values()} == {"not retrieved"}
    assert summary.stale is msgspec.UNSET
    folder = tmp_path / "runs" / "r"
    assert "stale" not in json.loads((folder / "summary.json").read_text())
    assert not any("stale" in note for note in [*summary.notes, *blamed.notes, *blamed.systems[0].notes])
    assert "stale questions" not in (folder / "report.html").read_text()


def test_two_runs_that_are_compared_say_which_questions_are_stale_in_one(tmp_path, says):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    run_on(tmp_path / "a", [Document(id="mill", text=MILL), Document(id="old", text=MILL)])
    run_on(tmp_path / "b", [Document(id="mill", text=CHANGED), Document(id="old", text=MILL)])
    places = {name: tmp_path / name / "runs" / "r" for name in "ab"}
    [note] = [note for note in ragstone.compare(places["a"], places["b"]).notes if "stale" in note]
    says(note)
    (tmp_path / "c").mkdir()
    run_on(tmp_path / "c", [Document(id="mill", text=MILL), Document(id="old", text=MILL)])
    same = ragstone.compare(places["a"], tmp_path / "c" / "runs" / "r").notes
    assert not any("stale" in note for note in same)
