"""A stretch of text -> spans no longer than a size: by the recursive boundaries, by length, from units."""

import unicodedata
from collections.abc import Iterator, Sequence

from ragstone.kernel.corpus.sentences import Span

_JOINED = frozenset("\u200d\ufe0e\ufe0f")  # joiner and variation selectors, as in emoji
MOST_AT_ONCE = 500_000  # characters that the splitter gets: on some texts its time grows with their square
MOST_MARKS = 16  # how far a cut moves for the sake of a character that carries marks


def split_recursively(
    text: str, span: Span, size: int, overlap: int, *, markdown: bool = False
) -> Iterator[Span]:
    """Yield spans within `span`, none longer than `size`, that end at the highest boundary that fits.

    Boundaries: blank lines, lines, sentences, words, user-perceived characters (UAX 29), so every script
    has them; in Markdown its headings and blocks first. White space around a span is left out.
    """
    from semantic_text_splitter import MarkdownSplitter, TextSplitter

    splitter = (MarkdownSplitter if markdown else TextSplitter)(size, overlap)
    for begin, end in _blocks(text, span):
        for start, piece in splitter.chunk_indices(text[begin:end]):
            # Python counts more characters as blank than the splitter (U+001C to U+001F).
            if piece.strip():
                yield begin + start, begin + start + len(piece)


def _blocks(text: str, span: Span) -> Iterator[Span]:
    """Yield a span in blocks of at most MOST_AT_ONCE characters, each to a blank line if it holds one."""
    begin, last = span
    while last - begin > MOST_AT_ONCE:
        most = begin + MOST_AT_ONCE
        end = text.rfind("\n\n", begin, most) + 2
        end = end if end > begin + 2 else most
        yield begin, end
        begin = end
    yield begin, last


def split_by_length(text: str, size: int, overlap: int) -> Iterator[Span]:
    """Yield spans of `size` characters, each beginning `overlap` characters before the one before it ends.

    A cut moves back to where no character is torn from its marks, if there is such a place near by, and
    then neighbours share less. A blank span is left out.
    """
    start, done = 0, 0
    while start < len(text):
        end = min(start + size, len(text))
        end = next(
            (at for at in range(end, max(end - MOST_MARKS, done), -1) if not _is_joined(text, at)), end
        )
        if not text[start:end].isspace():
            yield start, end
        if end == len(text):
            return
        begin = max(end - overlap, start + 1)
        start, done = next((at for at in range(begin, end) if not _is_joined(text, at)), end), end


def _is_joined(text: str, at: int) -> bool:
    """Say whether the character at a place belongs to the one before it."""
    if at == len(text):
        return False
    after, before = text[at], text[at - 1]
    if after in _JOINED or before == "\u200d" or (before, after) == ("\r", "\n"):
        return True
    return after > "\u02ff" and unicodedata.category(after)[0] == "M"


def pack(text: str, units: Sequence[Span], size: int, overlap: int) -> Iterator[Span]:
    """Yield spans of as many neighbouring units as fit the size; a longer unit is split recursively.

    A span begins with those units at the end of the one before it that are no longer than `overlap`
    together and leave room for a new one.
    """
    fitting = [
        part
        for unit in units
        for part in ([unit] if unit[1] - unit[0] <= size else split_recursively(text, unit, size, 0))
    ]
    first = 0
    while first < len(fitting):
        last = first
        while last + 1 < len(fitting) and fitting[last + 1][1] - fitting[first][0] <= size:
            last += 1
        yield fitting[first][0], fitting[last][1]
        if last + 1 == len(fitting):
            return
        following = last + 1
        while (
            following - 1 > first
            and fitting[last][1] - fitting[following - 1][0] <= overlap
            and fitting[last + 1][1] - fitting[following - 1][0] <= size
        ):
            following -= 1
        first = following
