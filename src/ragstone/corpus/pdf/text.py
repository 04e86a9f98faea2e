"""The blocks of all pages -> one text, and where in it each page and each block begins."""

from itertools import pairwise

import msgspec

from ragstone.corpus.pdf.headings import Placed
from ragstone.corpus.pdf.joining import Words, join
from ragstone.corpus.pdf.pages import goes_on, is_text
from ragstone.corpus.pdf.paragraphs import BETWEEN_BLOCKS, Block


class Text(msgspec.Struct, frozen=True):
    """A document's text; page_starts: the offset of each page's first character; blocks: in its order."""

    text: str
    page_starts: list[int]
    blocks: list[Placed]


def write_text(pages: list[list[Block]], words: Words, size: float) -> Text:
    """Return the text of the pages, a paragraph that goes over a page's end in one piece.

    A page without blocks has an empty text between two blank lines. size: that of the document's text.
    """
    pages = [list(blocks) for blocks in pages]
    goes_over: list[bool] = []
    for before, after in pairwise(pages):
        held = bool(goes_over) and goes_over[-1]
        goes_over.append(_brought_together(before, after, size, held=held))
    pieces: list[str] = []
    starts: list[int] = []
    placed: list[Placed] = []
    length = 0
    for number, blocks in enumerate(pages):
        rest = blocks
        if number and goes_over[number - 1]:
            begun = pieces.pop()
            whole = join(begun, blocks[0].text, words)
            pieces.append(whole)
            length += len(whole) - len(begun)
            starts.append(length - len(blocks[0].text))
            rest = blocks[1:]
        elif number:
            pieces.append(BETWEEN_BLOCKS)
            length += len(BETWEEN_BLOCKS)
        if len(starts) == number:
            starts.append(length)
        for place, block in enumerate(rest):
            if place or rest is not blocks:
                pieces.append(BETWEEN_BLOCKS)
                length += len(BETWEEN_BLOCKS)
            placed.append(Placed(number, length, block))
            pieces.append(block.text)
            length += len(block.text)
    # What is left of hyphens at line ends, once all lines are joined, becomes as long a one.
    whole = "".join(pieces).replace("\ufffe", "-").replace("\u00ad", "-")
    return Text(whole, starts, placed)


def _brought_together(before: list[Block], after: list[Block], size: float, *, held: bool) -> bool:
    """Return whether a paragraph goes from one page to the next, with its ends moved to where they meet.

    What stands below its beginning (notes, captions) comes to stand before it, what stands above its rest
    after it. held: the first block is the rest of one on the page before, and has to stay the first.
    """
    last = next((n for n in range(len(before) - 1, -1, -1) if is_text(before[n], size)), None)
    first = next((n for n, block in enumerate(after) if is_text(block, size)), None)
    if last is None or first is None or not goes_on(before[last], after[first]):
        return False
    if held and last == 0 and len(before) > 1:
        return False
    before.append(before.pop(last))
    after.insert(0, after.pop(first))
    return True
