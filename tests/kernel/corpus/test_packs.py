"""Real files: what is read from them holds up against the gold text beside them."""

import re
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from ragstone.kernel.corpus.chunking import chunk_documents
from ragstone.kernel.corpus.file import IngestOptions
from ragstone.kernel.corpus.ingest import read_corpus
from ragstone.kernel.records import Document
from ragstone.kernel.tables import read_rows

PACKS = Path(__file__).parents[4] / "shared" / "data"

pytestmark = [
    pytest.mark.pack,
    pytest.mark.skipif(not PACKS.is_dir(), reason=f"the development packs are not at {PACKS}"),
]


@pytest.mark.parametrize("name", ["jose-00197", "jose-00241"])
def test_a_journal_article_s_words_are_in_the_text_of_its_pdf(name):
    (document,) = read_corpus([PACKS / "pdfs" / f"{name}.pdf"]).documents
    gold = Counter((PACKS / "pdfs" / f"{name}.gold.txt").read_text(encoding="utf-8").split())
    found = gold & Counter(document.text.split())
    assert found.total() / gold.total() > 0.93


def test_every_pdf_of_the_pack_is_read_and_cut_exactly():
    corpus = read_corpus([PACKS / "pdfs"])
    pdfs = [document for document in corpus.documents if document.id.endswith(".pdf")]
    assert len(pdfs) == 12
    for document in pdfs:
        assert document.metadata is not None
        starts = document.metadata["page_starts"]
        assert starts == sorted(starts)
        assert starts[-1] <= len(document.text)
    chunks = list(chunk_documents(pdfs))
    texts = {document.id: document.text for document in pdfs}
    assert all(chunk.text == texts[chunk.document_id][chunk.start : chunk.end] for chunk in chunks)


def test_tables_and_pages_of_other_formats_are_read():
    corpus = read_corpus([PACKS / "ingest_formats"])
    by_id = {document.id: document for document in corpus.documents}
    for kind in ("comma", "pipe", "semicolon", "tab"):
        assert by_id[f"ingest_formats/csv/csv-{kind}.csv#1"].text.startswith(
            "Index: 1\nCustomer Id: DD37Cf93aecA6Dc"
        )
    page = by_id["ingest_formats/html/html_rich_table_cells.html"]
    assert page.title == "Rich Table Cells in HTML"
    assert "Mallard | Ponds, lakes, rivers | Quack" in page.text
    assert corpus.skipped == []
    assert by_id["ingest_formats/csv/csv-inconsistent-header.csv#1"].text == "1: a\n2: b\n3: c\ncolumn 4: d"


# What docling writes and nobody reads on the page: images, the targets of links, numbers of HTML's lists.
NOT_SHOWN = re.compile(r"<!-- image -->|\]\([^)]*\)|^\s*\d+\.(?= )|(?<=[| ])\d\. ", re.MULTILINE)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", NOT_SHOWN.sub(" ", text))


def in_order(reference: list[str], found: list[str]) -> float:
    """Return the share of the reference's words that stand in the text in the same order."""
    blocks = SequenceMatcher(None, reference, found, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(reference)


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("docx/docx_lists.docx", 0.99),
        ("docx/docx_rich_cells.docx", 0.95),
        ("docx/lorem_ipsum.docx", 1),
        ("docx/word_sample.docx", 0.99),
        ("docx/word_tables.docx", 0.9),
        ("html/example_01.html", 0.95),
        ("html/example_03.html", 0.99),
        ("html/example_08.html", 0.99),
        ("html/formatting.html", 0.9),
        ("html/html_code_snippets.html", 0.98),
        ("html/html_rich_table_cells.html", 0.93),
    ],
)
def test_the_words_of_a_reference_conversion_are_recovered_in_order(name, least):
    file = PACKS / "ingest_formats" / name
    (document,) = read_corpus([file]).documents
    reference = words(file.with_name(file.name + ".md").read_text(encoding="utf-8"))
    assert in_order(reference, words(document.text)) >= least


@pytest.mark.parametrize(
    "kind", ["comma", "pipe", "semicolon", "tab", "comma-in-cell", "inconsistent-header"]
)
def test_a_csv_file_as_a_whole_is_the_table_of_the_reference(kind):
    file = PACKS / "ingest_formats" / "csv" / f"csv-{kind}.csv"
    (document,) = read_corpus([file], IngestOptions(tables="whole")).documents
    lines = file.with_name(file.name + ".md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").replace("&#124;", "|").replace("\t", " ").split(" | ") for line in lines]
    if kind == "inconsistent-header":
        rows[0][3:] = ["column 4"]
    del rows[1]
    assert [line.split(" | ") for line in document.text.splitlines()] == rows


def test_the_bank_s_questions_are_read_by_row_with_the_columns_chosen():
    file = PACKS / "bankfaq" / "BankFAQs.csv"
    options = IngestOptions(columns={"text": "Answer", "title": "Question"})
    documents = read_corpus([file], options).documents
    pack = list(read_rows(PACKS / "bankfaq" / "documents.jsonl", Document))
    assert len(documents) == len(pack) == 1764
    assert {one.metadata["Class"] for one in documents} == {one.metadata["section"] for one in pack}
    same = sum(one.text.split() == other.text.split() for one, other in zip(documents, pack, strict=True))
    assert same == 1764
