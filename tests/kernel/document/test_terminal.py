import pytest
from tests.support.surfaces import document, every_block, shown

from ragstone.kernel.document.blocks import Cell, Column, Listing, Notes, Paragraph, Table


def test_notes_come_last_and_what_was_asked_ends_it(says):
    said = shown(document(Notes(["a note"]), Paragraph("first"))).splitlines()
    says([line.strip() for line in said if line.strip()])


def test_long_lists_are_cut_and_the_rest_is_counted(says):
    said = shown(document(Listing(["a", "b", "c"], most=1)))
    assert "- a" in said
    assert "- b" not in said
    says(said)
    assert "more" not in shown(document(Listing(["a", "b", "c"], most=3)))


def test_columns_have_their_short_heads_and_what_stands_beside_a_column_of_its_own(says):
    columns = [
        Column("Name", text=True, short=""),
        Column("mean", beside="interval"),
        Column("n", where="page"),
    ]
    said = shown(document(Table(columns, [["a", Cell("0.5", "0.4 to 0.6"), "7"]], "t")))
    assert "mean    interval" in said
    says(said)
    assert "Name" not in said
    assert "7" not in said


@pytest.mark.parametrize("words", ["[bold]x[/bold]", "a text of many words " * 9])
def test_text_from_outside_is_no_markup_and_fits_100_columns(words):
    said = shown(every_block(words))
    assert words.split()[0] in said
