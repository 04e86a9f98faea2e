"""`ragstone ingest`, as a user types it."""

import json

import openpyxl
import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in

from ragstone.kernel.records import Document
from ragstone.kernel.tables import read_rows


@pytest.fixture
def docs(folder):
    """A folder `docs` with text, a table, code and pictures."""
    (folder / "docs").mkdir()
    (folder / "docs" / "a.md").write_text("# Wheat\n\nWinter wheat is sown in October.\n")
    (folder / "docs" / "b.txt").write_text("# Wheat\nWinter wheat is sown in October")
    (folder / "docs" / "c.csv").write_text("Nr,Question,Reply\n1,When?,In October.\n")
    for number in range(7):
        (folder / "docs" / f"{number}.py").write_text(f"x = {number}\n")
    return folder


def test_the_summary_counts_formats_languages_skipped_and_duplicates(docs, says):
    ran = ragstone("ingest", "docs")
    assert ran.code == 0
    says(ran.err)
    assert "2 en" in ran.err


def test_the_summary_as_json(docs):
    summary = json.loads(ragstone("ingest", "docs", "--json", "--duplicates", "drop").out)
    assert summary["documents"] == 2
    assert summary["formats"] == {".md": 1, ".csv": 1}
    assert summary["duplicates"] == [{"id": "docs/b.txt", "of": "docs/a.md", "similarity": 1.0}]
    assert (summary["dropped"], len(summary["skipped"]), list(summary["reasons"].values())) == (1, 7, [7])
    assert next(read_rows("documents.jsonl", Document)).metadata == {"duplicates": ["docs/b.txt"]}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("a.pdf", "no documents: every file was skipped, as listed above."),
        (None, "the sources contain no file."),
    ],
)
def test_where_nothing_can_be_read_nothing_is_written_and_that_is_an_error(folder, name, says):
    (folder / "in").mkdir()
    if name:
        (folder / "in" / name).write_text("no PDF")
    for more in ((), ("--json",)):
        ran = ragstone("ingest", "in", *more)
        assert (ran.code, says in ran.err, (folder / "documents.jsonl").exists()) == (2, True, False)
    assert json.loads(ran.out)["output"] is None


def test_patterns_columns_tables_and_limits(docs):
    ragstone("ingest", "docs", "--glob", "*.py", "-o", "code.jsonl", "--processes", 2)
    assert [row.metadata for row in read_rows("code.jsonl", Document)] == [{"code": "python"}] * 7
    columns = ("--column", "text=Question", "--column", "text=Reply", "--column", "id=Nr")
    ragstone("ingest", "docs/c.csv", *columns, "-o", "faq.jsonl")
    (row,) = read_rows("faq.jsonl", Document)
    assert (row.id, row.text) == ("1", "Question: When?\nReply: In October.")
    ragstone("ingest", "docs/c.csv", "--tables", "whole", "-o", "table.jsonl")
    assert next(read_rows("table.jsonl", Document)).text == "Nr | Question | Reply\n1 | When? | In October."
    (docs / "large.txt").write_text("x" * 1_000_001)
    assert "more than 1 MB" in ragstone("ingest", "large.txt", "--max-file-mb", 1, "-o", "l.jsonl").err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("docs", "--column", "body=x"), "write FIELD=COLUMN"),
        (("docs", "--column", "text"), "write FIELD=COLUMN"),
        (("docs", "--glob", "*.rs"), "no file matches the pattern '*.rs'"),
        (("docs/*.rs",), "no file matches this pattern"),
    ],
)
def test_wrong_use_is_met_with_what_to_do(docs, arguments, says):
    ran = ragstone("ingest", *arguments)
    assert (ran.code, says in ran.err) == (2, True)


def test_settings_of_a_run_read_documents_in_the_same_way(docs):
    from ragstone.kernel.config import load_settings
    from ragstone.kernel.stages.corpus import load_corpus

    (docs / "ragstone.toml").write_text(
        '[documents]\npaths = ["docs"]\nglob = ["*.csv", "*.md", "*.txt"]\n'
        'columns = { text = "Reply" }\nduplicates = "drop"\n'
    )
    corpus = load_corpus(load_settings(docs / "ragstone.toml"))
    assert [one.text[-11:] for one in corpus.documents] == ["n October.\n", "In October."]
    assert [one.id for one in corpus.duplicates] == ["docs/b.txt"]


@pytest.mark.long
def test_an_excel_file_is_ingested(folder, says):
    book = openpyxl.Workbook()
    for row in (["crop", "answer"], ["maize", "Sow in May."], ["rice", "Flood it."]):
        book.active.append(row)
    book.save(folder / "crops.xlsx")
    for more in ((), ("--processes", 1)):
        ran = ragstone("ingest", "crops.xlsx", "--force", *more)
        assert ran.code == 0
        says(sentence_in(ran.err, "2 documents in"))
        texts = [one.text for one in read_rows("documents.jsonl", Document)]
        assert texts == ["Sow in May.", "Flood it."]
