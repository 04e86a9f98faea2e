"""A page -> its blocks in reading order, with paragraphs that go over columns in one piece."""

import msgspec

from ragstone.corpus.pdf.aside import are_publication_notes
from ragstone.corpus.pdf.columns import read_columns
from ragstone.corpus.pdf.joining import Words, ends_open, join
from ragstone.corpus.pdf.paragraphs import SAME_SIZE, Block, joined, make_blocks
from ragstone.corpus.pdf.rows import clean, make_rows
from ragstone.corpus.pdf.runs import Page
from ragstone.corpus.pdf.tables import drop_line_numbers, mark_tables


class Laid(msgspec.Struct, frozen=True):
    """The blocks of a page; left out of them: notes on the publication, and how many line numbers."""

    blocks: list[Block]
    margin_notes: list[str]
    n_line_numbers: int


def lay_out(page: Page, words: Words) -> Laid:
    """Return the blocks of a page: columns, then margins, then what stands on its side."""
    blocks: list[Block] = []
    ends: dict[float, int] = {}  # size -> the last block of that size in the columns before
    notes: list[str] = []
    n_line_numbers = 0
    for column in read_columns(page.runs, rtl=page.rtl):
        rows, n = drop_line_numbers(make_rows(page, column.runs))
        n_line_numbers += n
        found = make_blocks(mark_tables(rows), words, margin=column.margin)
        if column.margin and are_publication_notes(found):
            notes.append(joined(found))
        else:
            _add_column(blocks, ends, found, words)
    turned = [clean(page.text[run.start : run.end]) for run in page.turned]
    if any(turned):
        text = "\n".join(line for line in turned if line)
        blocks.append(Block(text, 0.0, frozenset(), 0, len(turned), True, False, False, True, True))
    return Laid(blocks, notes, n_line_numbers)


def _add_column(blocks: list[Block], ends: dict[float, int], column: list[Block], words: Words) -> None:
    """Add the blocks of a column, the first of each size to the paragraph of that size that it continues.

    What stood in between, a caption or a note, comes after the paragraph.
    """
    begun: set[float] = set()
    last: dict[float, int] = {}
    for block in column:
        size = round(block.size, 1)
        first = size not in begun
        begun.add(size)
        if first and size in ends and goes_on(blocks[ends[size]], block):
            last[size] = ends[size]
            blocks[ends[size]] = merged(blocks[ends[size]], block, words)
        else:
            last[size] = len(blocks)
            blocks.append(block)
    ends.update(last)


def goes_on(before: Block, after: Block) -> bool:
    """Return whether a block is the rest of the paragraph that another one begins."""
    if not before.open or after.tabular or before.margin != after.margin or not _alike(before, after):
        return False
    first = after.text[0]
    if first.islower() or ends_open(before.text):
        return True
    return (
        before.full
        and not after.fresh
        and before.style == after.style == 0
        and before.rows > 1
        and after.rows > 1
    )


def _alike(before: Block, after: Block) -> bool:
    return abs(before.size - after.size) <= SAME_SIZE * before.size


def merged(before: Block, after: Block, words: Words) -> Block:
    """Return a paragraph and its rest as one block."""
    return msgspec.structs.replace(
        before,
        text=join(before.text, after.text, words),
        rows=before.rows + after.rows,
        open=after.open,
        full=after.full,
        style=before.style & after.style,
    )


def is_text(block: Block, size: float) -> bool:
    """Return whether a block is set as the text of a document; captions, notes and titles are not."""
    return not block.margin and not block.tabular and abs(block.size - size) <= SAME_SIZE * size
