"""`ragstone import`: the options, what is said, the exit codes."""

import json

import openpyxl
import pytest
from tests.support.command import ragstone

from ragstone import Question, read_rows

CSV = """Nr;Frage;Antwort;Thema
1;Wann wird Weizen gesät?;Im Oktober.;Getreide
2;;Vier.;
3;wann wird Weizen gesät;Ja.;Mais
"""
COLUMNS = ("--column", "id=Nr", "--column", "question=Frage", "--column", "reference=Antwort")


@pytest.fixture
def sheet(folder):
    (folder / "q.csv").write_text(CSV)
    return folder


def test_a_sheet_becomes_questions_and_everything_is_said(sheet, says):
    ran = ragstone("import", "q.csv", *COLUMNS, "--column", "tags.topic=Thema", "-o", "set")
    assert ran.code == 0
    assert [one.id for one in read_rows("set/questions.jsonl", Question)] == ["1", "3"]
    says(ran.err.splitlines())


def test_the_summary_is_json_on_request(sheet):
    ran = ragstone("import", "q.csv", *COLUMNS, "--json")
    told = json.loads(ran.out)
    assert (told["n_questions"], told["n_skipped"], told["output"]) == (2, 1, ["imported/questions.jsonl"])
    assert told["remarks"][0]["places"] == ["q.csv:3"]
    assert ran.err == ""


def test_strict_fails_where_a_row_was_skipped(sheet):
    assert ragstone("import", "q.csv", *COLUMNS, "--strict").code == 5
    assert ragstone("import", "q.csv", *COLUMNS, "--strict", "--limit", 1, "--force").code == 0
    assert len(list(read_rows("imported/questions.jsonl", Question))) == 1


def test_repeats_are_dropped_on_request(sheet, says):
    ran = ragstone("import", "q.csv", *COLUMNS, "--drop-repeats")
    assert [one.id for one in read_rows("imported/questions.jsonl", Question)] == ["1"]
    assert "left out." in ran.err
    says(ran.err)


def test_a_form_is_chosen_and_a_split(sheet):
    ran = ragstone("import", "q.csv", *COLUMNS, "--format", "faq")
    assert "  documents: 2" in ran.err
    (sheet / "beir" / "qrels").mkdir(parents=True)
    (sheet / "beir" / "queries.jsonl").write_text('{"_id": "1", "text": "a"}\n{"_id": "2", "text": "b"}\n')
    for n, split in enumerate(("dev", "test"), 1):
        (sheet / "beir" / "qrels" / f"{split}.tsv").write_text(f"{n}\td\t1\n")
    assert ragstone("import", "beir", "--split", "dev", "-o", "set").code == 0
    assert [one.id for one in read_rows("set/questions.jsonl", Question)] == ["1"]


def test_documents_that_are_not_there_are_told(sheet, says):
    (sheet / "d.jsonl").write_text('{"id": "d", "text": "Text."}\n')
    (sheet / "qrels").write_text("1 0 d 1\n1 0 e 1\n")
    ran = ragstone("import", "q.csv", "d.jsonl", "qrels", "--column", "question=Frage", "--column", "id=Nr")
    says(ran.err)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("nothing.csv",), "nothing.csv: no such file"),
        (("q.csv", "--format", "squda"), "there is no format 'squda'. Did you mean 'squad'"),
        (("q.csv", "--column", "question=Farge"), "it has no column 'Farge' to read question from"),
        (("q.csv", "--split", "test"), "--split is for folders in BEIR's form"),
        (("q.csv", "q.csv", *COLUMNS, "--column", "id=Frage"), "id is read from 'Nr' already"),
    ],
)
def test_wrong_use_is_told_without_a_traceback(sheet, options, message):
    ran = ragstone("import", *options)
    assert ran.code == 2
    assert message in ran.err
    assert not (sheet / "imported" / "questions.jsonl").exists()


@pytest.mark.parametrize("name", ["questions.jsonl", "documents.jsonl", "qrels.txt"])
def test_a_source_is_never_replaced_or_removed(folder, name, says):
    (folder / name).write_text('{"question": "When is wheat sown?", "answer": "In October."}\n')
    ran = ragstone("import", name, "-o", ".", "--force")
    assert ran.code == 2
    says(ran.err)
    assert (folder / name).exists()


def test_of_several_worksheets_one_is_taken_or_named(folder):
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["written by", "on"])
    book.active.append(["me", "Monday"])
    for title, name in (("May", "Question"), ("June", "Question")):
        sheet = book.create_sheet(title)
        sheet.append([name, "Answer"])
        sheet.append([f"When is {title}?", "soon"])
    book.save("two.xlsx")
    refused = ragstone("import", "two.xlsx")
    told = "two.xlsx: it has 3 worksheets. Name one of them: --worksheet May. They are: 'Notes', 'May',"
    assert (refused.code, refused.err.splitlines()[0]) == (2, f"ragstone: {told} 'June'.")
    assert refused.err.splitlines()[2].endswith("--worksheet May")  # the command, ready to paste
    assert ragstone("import", "two.xlsx", "--worksheet", "june").code == 0
    assert [row.question for row in read_rows("imported/questions.jsonl", Question)] == ["When is June?"]
    assert "no worksheet 'July'" in ragstone("import", "two.xlsx", "--worksheet", "July", "--force").err
    del book["June"]
    book["May"]["A1"] = "Frage"
    book.save("one.xlsx")
    ran = ragstone("import", "one.xlsx", "-o", "one", "--column", "question=Frage")
    assert ran.code == 0, ran.err
    assert [row.question for row in read_rows("one/questions.jsonl", Question)] == ["When is May?"]
