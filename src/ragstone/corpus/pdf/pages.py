"""A page -> its blocks in reading order, with paragraphs that go over columns in one piece."""

import msgspec

from ragstone.corpus.pdf.columns import read_columns
from ragstone.corpus.pdf.joining import Words, ends_open, join
from ragstone.corpus.pdf.paragraphs import SAME_SIZE, Block, make_blocks
from ragstone.corpus.pdf.rows import clean, make_rows
from ragstone.corpus.pdf.runs import Page
from ragstone.corpus.pdf.tables import drop_line_numbers, mark_tables


class Laid(msgspec.Struct, frozen=True):
    """The blocks of a page, and how many line numbers were left out."""

    blocks: list[Block]
    n_line_numbers: int


def lay_out(page: Page, words: Words, size: float) -> Laid:
    """Return the blocks of a page: columns, then margins, then what stands on its side."""
    blocks: list[Block] = []
    n_line_numbers = 0
    for column in read_columns(page.runs, rtl=page.rtl):
        rows, n = drop_line_numbers(make_rows(page, column.runs))
        n_line_numbers += n
        blocks += make_blocks(mark_tables(rows), words, margin=column.margin)
    turned = [clean(page.text[run.start : run.end]) for run in page.turned]
    if any(turned):
        text = "\n".join(line for line in turned if line)
        blocks.append(Block(text, 0.0, frozenset(), 0, len(turned), True, False, False, True, True))
    return Laid(_over_columns(blocks, words, size), n_line_numbers)


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


def _over_columns(blocks: list[Block], words: Words, size: float) -> list[Block]:
    """Return the blocks with paragraphs joined, what stood in between (a caption, a note) after them."""
    joined: list[Block] = []
    last: int | None = None  # the last block of the text
    for block in blocks:
        if last is not None and is_text(block, size) and goes_on(joined[last], block):
            joined[last] = merged(joined[last], block, words)
            continue
        joined.append(block)
        if is_text(block, size):
            last = len(joined) - 1
    return joined
