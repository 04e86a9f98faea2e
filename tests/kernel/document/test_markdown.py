import pytest
from tests.features.report.test_page import EVIL
from tests.support.surfaces import document, every_block_and_chart

from ragstone.kernel.document.blocks import Cell, Column, Fold, Notes, Paragraph, Table
from ragstone.kernel.document.markdown import render_markdown


def test_tables_folds_and_notes_stand_as_github_knows_them(says):
    columns = [Column("Name", text=True), Column("mean"), Column("narrow", where="terminal")]
    table = Table(columns, [["group"], ["a", Cell("0.5", "0.4 to 0.6", "strong"), ""]], "t")
    said = render_markdown(document(Paragraph("all", "outcome"), Fold("more", [table]), Notes(["a | b"])))
    says(said)


@pytest.mark.parametrize("text", [*EVIL, "[a](http://x.example) @who #1 **bold** | cell"])
def test_text_from_outside_sets_no_markup(text):
    said = render_markdown(every_block_and_chart(text))
    for markup in ("<script", "<img", "<!--", "[a]", "@who", "#1", " **bold**", " | cell"):
        assert markup not in said
    assert said.count("<details>") == render_markdown(every_block_and_chart("a")).count("<details>") == 2
