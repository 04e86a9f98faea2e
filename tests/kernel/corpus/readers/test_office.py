from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.corpus.readers._outline import PAGE, OutlineBlock, lay_out, outline_notes
from ragstone.kernel.corpus.readers.pdf._headings import _NUMBERING

BLOCKS = st.builds(
    OutlineBlock,
    st.text(alphabet=f"ab {PAGE}", max_size=6),
    st.integers(0, 2),
    st.sampled_from(["", "list", "row"]),
)


@given(st.lists(BLOCKS))
def test_pages_and_headings_lie_where_their_text_is(blocks):
    outline = lay_out(blocks)
    assert PAGE not in outline.text
    assert len(outline.page_starts) == sum(block.text.count(PAGE) for block in blocks)
    assert outline.page_starts == sorted(outline.page_starts)
    assert all(0 <= start <= len(outline.text) for start in outline.page_starts)
    assert all(outline.text[one["start"] :].split()[0] == one["title"].split()[0] for one in outline.headings)


def test_lines_of_a_kind_stand_together_and_a_page_begins_with_its_first_text():
    blocks = [
        OutlineBlock(PAGE),
        OutlineBlock("A", 1),
        OutlineBlock("x", 0, "list"),
        OutlineBlock("y", 0, "list"),
        OutlineBlock(PAGE),
        OutlineBlock("B", 1),
    ]
    outline = lay_out(blocks)
    assert outline.text == "A\n\nx\ny\n\nB"
    assert outline_notes(outline) == {
        "headings": [{"start": 0, "level": 1, "title": "A"}, {"start": 8, "level": 1, "title": "B"}],
        "page_starts": [0, 8],
    }
    assert outline_notes(lay_out([OutlineBlock("x")])) == {}


def test_a_title_of_nothing_but_digits_ends():
    # A pattern that backtracks tries 2^30 partitions of such a bookmark.
    assert _NUMBERING.sub("", "x" * 30 + "!") == "x" * 30 + "!"
    assert _NUMBERING.sub("", "IV.2. On soils") == "On soils"
