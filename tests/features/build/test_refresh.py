"""`ragstone build refresh`: a set with its evidence where it is now, stale questions apart, nothing lost."""

import json

import msgspec
import pytest
from tests.kernel.dataset.test_stale import MILL, OTHER, WHOLE, asked
from tests.support.command import ragstone

import ragstone as api
from ragstone.kernel.dataset.placing import SOURCES
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Chunk, Document, Question
from ragstone.kernel.tables import read_rows, write_rows

BEFORE = [
    asked("1843", name="year"),
    asked("12 times", name="wheel", reference="12"),
    asked(WHOLE, name="all"),
]
AFTER = [
    Document(id="mill", text=f"News. {MILL.replace('12 times', '15 times')}"),
    Document(id="b", text=OTHER),
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_rows("questions.jsonl", BEFORE, Question)
    write_rows("documents.jsonl", AFTER, Document)
    return tmp_path


def test_moved_evidence_is_placed_anew_and_stale_questions_are_set_aside(files, says):
    done = ragstone("build", "refresh", "questions.jsonl", "documents.jsonl", "-o", "new/questions.jsonl")
    assert done.code == 0
    says(done.out + done.err)
    rows = list(read_rows("new/questions.jsonl", Question))
    assert [(row.id, row.metadata["refresh"]["state"]) for row in rows] == [
        ("year", "moved"),
        ("all", "moved"),
    ]
    span = rows[0].evidence[0]
    assert AFTER[0].text[span.start : span.end] == "1843"
    assert rows[0].metadata["refresh"]["from"] == [msgspec.to_builtins(BEFORE[0].evidence[0])]
    [stale] = read_rows("new/questions.stale.jsonl", Question)
    assert (stale.id, stale.evidence, stale.metadata["refresh"]["state"]) == (
        "wheel",
        BEFORE[1].evidence,
        "answer changed",
    )
    assert len(list(read_rows("questions.jsonl", Question))) == 3


def test_refreshed_again_a_set_stays_the_same_to_the_byte(files):
    ragstone("build", "refresh", "questions.jsonl", "documents.jsonl", "-o", "new/a.jsonl")
    again = ragstone("build", "refresh", "new/a.jsonl", "documents.jsonl", "-o", "new/b.jsonl", "--json")
    assert (files / "new/a.jsonl").read_bytes() == (files / "new/b.jsonl").read_bytes()
    summary = json.loads(again.out)
    assert (summary["states"], summary["rows"], summary["set_aside"]) == ({"unchanged": 2}, [], 0)
    assert summary["from_digest"] == summary["questions_digest"]
    assert not (files / "new/b.stale.jsonl").exists()


def test_an_older_file_of_stale_questions_is_left_and_named_where_none_is_stale_now(files, says):
    ragstone("build", "refresh", "questions.jsonl", "documents.jsonl", "-o", "new/a.jsonl")
    work = files / "new/a.stale.jsonl"
    before = work.read_bytes()
    mended = [*read_rows("new/a.jsonl", Question)]
    write_rows("mended.jsonl", mended, Question)
    refused = ragstone("build", "refresh", "mended.jsonl", "documents.jsonl", "-o", "new/a.jsonl")
    assert refused.code == 2
    done = ragstone("build", "refresh", "mended.jsonl", "documents.jsonl", "-o", "new/a.jsonl", "--force")
    assert (done.code, work.read_bytes()) == (0, before)
    says(done.err)
    fresh = ragstone("build", "refresh", "mended.jsonl", "documents.jsonl", "-o", "new/c.jsonl")
    assert "was there before" not in fresh.err


def test_strict_says_by_its_exit_code_that_questions_are_stale(files):
    assert ragstone("build", "refresh", "questions.jsonl", "documents.jsonl", "--strict").code == 5


def test_a_set_that_remembers_nothing_is_remembered_from_now_on():
    bare = asked(WHOLE, remembered=False, reference="in other words")
    made = api.refresh_questions([bare], [Document(id="mill", text=MILL)])
    assert (made.summary.remembered, made.summary.states) == (1, {"unknown": 1})
    assert made.questions[0].metadata[SOURCES][0]["document_id"] == "mill"
    changed = Document(id="mill", text=MILL.replace("1843 by Jonas Weber", "1850 by Anna Klein"))
    assert api.refresh_questions(made.questions, [changed]).stale[0].id == "q"


def test_a_document_that_changed_elsewhere_is_remembered_as_it_is_now():
    edited = Document(id="mill", text=MILL.replace("30 villages", "31 villages"))
    [row] = api.refresh_questions([BEFORE[0]], [edited]).questions
    assert row.evidence == BEFORE[0].evidence
    assert row.metadata[SOURCES][0]["digest"] != BEFORE[0].metadata[SOURCES][0]["digest"]
    assert api.refresh_questions([row], [edited]).questions == [row]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("questions.jsonl", "none.jsonl"), "none.jsonl"),
        (("questions.jsonl", "documents.jsonl", "-o", "questions.jsonl"), "is an input of this command"),
        (("empty.jsonl", "documents.jsonl"), "the file is empty"),
        (("twice.jsonl", "documents.jsonl"), "year"),
        (("questions.jsonl", "chunks.jsonl"), "whole documents"),
        (("plain.jsonl", "documents.jsonl"), "nothing to refresh"),
    ],
    ids=["missing", "in place", "empty", "duplicate ids", "chunks", "no evidence"],
)
def test_bad_input_gets_one_sentence_and_changes_no_file(files, arguments, said):
    (files / "empty.jsonl").write_text("")
    row = (files / "questions.jsonl").read_text().splitlines()[0]
    (files / "twice.jsonl").write_text(f"{row}\n{row}\n")
    (files / "plain.jsonl").write_text('{"id": "q", "question": "Why?"}\n')
    write_rows("chunks.jsonl", [Chunk(id="c", document_id="mill", text="It.", start=0, end=3)], Chunk)
    before = {path.name: path.read_bytes() for path in files.glob("*.jsonl")}
    done = ragstone("build", "refresh", *arguments)
    assert done.code == 2
    assert said in done.err
    assert {path.name: path.read_bytes() for path in files.glob("*.jsonl")} == before


def test_an_older_output_is_not_replaced_without_being_told(files):
    (files / "new.jsonl").write_text("mine\n")
    assert ragstone("build", "refresh", "questions.jsonl", "documents.jsonl", "-o", "new.jsonl").code == 2
    assert (files / "new.jsonl").read_text() == "mine\n"


def test_documents_in_another_encoding_are_read_as_elsewhere(files):
    folder = files / "docs"
    folder.mkdir()
    (folder / "mill.txt").write_bytes("Die Mühle wurde 1843 gebaut.".encode("cp1252"))
    done = ragstone("build", "refresh", "questions.jsonl", "docs", "-o", "new.jsonl", "--json")
    assert done.code == 0
    assert json.loads(done.out)["n_documents"] == 1


def test_from_python_rows_without_evidence_are_refused():
    with pytest.raises(DataError, match="nothing to refresh"):
        api.refresh_questions([Question(id="q", question="Why?")], AFTER)
