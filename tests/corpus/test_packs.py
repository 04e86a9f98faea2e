"""Real files: what is read from them holds up against the gold text beside them."""

from collections import Counter
from pathlib import Path

import pytest

from ragstone.corpus import chunk_documents, read_corpus

PACKS = Path(__file__).parents[3] / "shared" / "data"

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
    reasons = Counter(one.reason for one in corpus.skipped)
    assert reasons["files that end in '.docx' cannot be read"] == 5
    assert reasons["line 2 has more cells than the header: quote cells that hold commas"] == 1
