import re

import pytest
from tests.features.report.test_page import EVIL, Page, without_style_and_script
from tests.support.surfaces import every_block, every_block_and_chart

from ragstone.kernel.document.blocks import Block, Cell, Column, Heading, Notes, Paragraph, Table
from ragstone.kernel.document.html import render_blocks, render_page


def test_page_names_nothing_outside_itself_and_runs_no_script():
    html = render_page(every_block("What is it?"))
    found = Page(html)
    links = [value for name, value in found.attributes if name in ("href", "src")]
    assert all(value.startswith(("#", "data:")) for value in links)
    assert found.tags["script"] == found.tags["img"] == found.tags["form"] == 0
    [policy] = [value for name, value in found.attributes if name == "content" and "default-src" in value]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src" not in policy
    assert not re.search(r"https?://", without_style_and_script(html))
    assert not any(name == "style" for name, _ in found.attributes)


@pytest.mark.parametrize("text", EVIL)
def test_text_from_outside_never_becomes_markup(text):
    plain, hostile = (Page(render_page(every_block_and_chart(words))) for words in ("harmless", text))
    for found in (plain, hostile):
        found.tags.pop("code", None)  # what stands between backticks in a note
    assert hostile.tags == plain.tags
    assert not any(name.startswith("on") for name, _ in hostile.attributes)
    whole = " ".join(text.split())
    assert whole in hostile.text or "`" in text


def test_only_notes_and_prose_read_backticks_as_commands():
    blocks: list[Block] = [Paragraph("Run `a`."), Paragraph("Run `b`.", prose=True), Notes(["Run `c`."])]
    html = render_blocks(blocks)
    assert "Run `a`." in html
    assert "<code>b</code>" in html
    assert "<code>c</code>" in html


def test_page_shows_what_is_for_pages_and_a_heading_begins_a_part():
    html = render_blocks(
        [
            Heading("Board", anchor="board"),
            Paragraph("for both"),
            Paragraph("for pages", where="page"),
            Paragraph("for terminals", where="terminal"),
        ]
    )
    assert re.search(r'<section aria-labelledby="board">\s*<h2 id="board"', html)
    assert "for both" in html
    assert "for pages" in html
    assert "for terminals" not in html


def test_a_row_of_one_cell_heads_the_rows_under_it():
    columns = [Column("n"), Column("Name", text=True), Column("hidden", where="terminal")]
    html = render_blocks([Table(columns, [["group"], ["1", Cell("a", "beside"), "2"]], "t")])
    assert '<th scope="rowgroup" colspan="2" dir="auto">group</th>' in html
    assert re.search(r'<th scope="row" dir="auto">\s*a\s*<br><span class="muted small">beside</span>', html)
    assert "hidden" not in html
