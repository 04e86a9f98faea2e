"""Real PDFs: `benchmarks/ingest.py` measures them, and here its figures hold."""

import pytest
from benchmarks import ingest

pytestmark = [
    pytest.mark.pack,
    pytest.mark.skipif(not ingest.PDFS.is_dir(), reason=f"the development packs are not at {ingest.PDFS}"),
]


@pytest.mark.parametrize("name", ["jose-00241", "jose-00197"])
def test_an_article_has_the_publisher_s_words_in_order_and_else_only_references(name):
    text = ingest.ours(ingest.PDFS / f"{name}.pdf")
    gold = ingest.words_of((ingest.PDFS / f"{name}.gold.txt").read_text(encoding="utf-8"))
    found = ingest.agreement(gold, text, ingest.parts_of(text))
    assert found.recall >= 0.99
    assert found.elsewhere <= 0.002
    assert found.extra <= 0.15


def test_authors_addresses_and_the_notes_in_the_margin_of_an_article_stand_in_its_metadata():
    metadata = ingest.document(ingest.PDFS / "jose-00197.pdf").metadata
    assert metadata["front_matter"].startswith("Sabrina H. Szeto 1 , Julia Wagemann 2 ,")
    assert metadata["front_matter"].endswith("Meteorological Satellites (EUMETSAT)")
    (note,) = metadata["margin_notes"]
    assert note["page"] == 1
    assert note["text"].startswith("DOI: 10.21105/jose.00197\n\nSoftware\n\n")
    assert note["text"].endswith("International License (CC BY 4.0).")


@pytest.mark.parametrize(
    "name", ["usda-ag-energy-round-up", "fbi-nics-background-checks", "senate-expenditures"]
)
def test_every_row_of_a_table_is_a_line(name):
    found, rows = ingest.table_rows(name, ingest.ours(ingest.PDFS / f"{name}.pdf"))
    assert found == rows


def test_the_check_of_the_tables_sees_a_wrong_number_a_lost_row_and_a_row_that_is_there_once():
    text = ingest.ours(ingest.PDFS / "fbi-nics-background-checks.pdf")
    # A count of Alabama: its row does not add up any more, nor does the column.
    assert ingest.table_rows("fbi", text.replace("18,870", "18,871", 1)) == (54, 56)
    assert ingest.table_rows("fbi", text.replace("Alabama | 18,870", "Alabama 18,870")) == (54, 56)
    usda = "Chicago | 30.50 | unq | 28.00\nChicago | unq | 34.50 | 30.50"
    assert ingest.table_rows("usda", usda) == (2, 31)
    assert ingest.table_rows("usda", usda.replace("34.50", "34.05")) == (1, 31)


def test_arabic_letters_stand_in_their_order():
    text = ingest.ours(ingest.PDFS / "right_to_left_01.pdf")
    # PDFium gives lam-alef as alef-lam: "اإلنتاجية" and "المشكالت".
    assert "تحسين الإنتاجية وحل المشكلات من خلال البرمجة بلغة R" in text
    assert "أيضًا" in text


def test_the_three_columns_of_the_federal_register_are_read_one_after_the_other():
    text = ingest.ours(ingest.PDFS / "federal-register-2020-17221.pdf")
    for passage in (
        "after takeoff from Soekarno-Hatta International Airport",  # page 1, column 3 -> page 2, column 1
        "the FAA also proposes to require operators to conduct an AOA sensor system test",  # pages 2 and 3
        "limit 12 the magnitude of any MCAS command to move the horizontal stabilizer",  # over a column
        "airplanes have non-normal checklists to aid the pilots",  # a hyphen that belongs to the word
    ):
        assert passage in text
    assert "Jkt 250001" not in text
    assert "47700" not in text
