"""Words that are marked in a browser -> a span of the document, in code points and of whole characters.

JavaScript counts UTF-16 units: a character beyond U+FFFF, such as an emoji, is two of them, and one here.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Evidence

CONTEXT = 1200  # characters shown before and after the evidence
LONGEST = 20_000  # characters shown at once

_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_SKIN = range(0x1F3FB, 0x1F400)
_FLAG = range(0x1F1E6, 0x1F200)


class MarkedPiece(msgspec.Struct, frozen=True):
    """A stretch of a text. of: the numbers of the spans that it belongs to."""

    text: str
    of: list[int]


class DocumentPart(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a document that is shown: `text[start:end]` of `length` characters, in pieces."""

    document_id: str
    start: int
    end: int
    length: int
    pieces: list[MarkedPiece]


def to_points(text: str, units: int) -> int:
    """Return how many code points the first so many UTF-16 units of a text are.

    One unit of a pair counts as the whole character. Raises DataError beyond the text.
    """
    encoded = text.encode("utf-16-le", "surrogatepass")
    if not 0 <= units <= len(encoded) // 2:
        raise DataError(f"place {units} is beyond the text shown ({len(encoded) // 2} units). Mark it again.")
    return len(encoded[: 2 * units].decode("utf-16-le", "surrogatepass"))


def to_units(text: str, points: int) -> int:
    """Return how many UTF-16 units the first so many code points of a text are."""
    return len(text[:points].encode("utf-16-le", "surrogatepass")) // 2


def marked(text: str, start: int, end: int) -> tuple[int, int]:
    """Return what was marked in a text that is shown, in code points: whole characters, no space around.

    start, end: UTF-16 units of the text. A character takes its combining marks, joiners and variation
    selectors with it. Raises DataError where nothing but white space was marked.
    """
    start, end = min(start, end), max(start, end)
    first, last = to_points(text, start), to_points(text, end)
    if to_units(text, first) > start:  # it began inside a pair
        first -= 1
    while _joined(text, first) and first < last:
        first -= 1
    while _joined(text, last) and first < last:
        last += 1
    while first < last and text[first].isspace():
        first += 1
    while first < last and text[last - 1].isspace():
        last -= 1
    if first == last:
        raise DataError("nothing is marked. Mark the words in the document that hold the answer.")
    return first, last


def window(text: str, spans: Sequence[Evidence]) -> tuple[int, int]:
    """Return the part of a document to show: the evidence with what stands around it, else the beginning."""
    inside = [span for span in spans if 0 <= span.start < span.end <= len(text)]
    if not inside:
        return 0, min(len(text), 2 * CONTEXT)
    start = max(0, min(span.start for span in inside) - CONTEXT)
    end = min(len(text), max(span.end for span in inside) + CONTEXT)
    return at_words(text, start, min(end, start + LONGEST))


def at_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a stretch of a text, a little wider where it would begin or end inside a word."""
    start, end = max(0, start), min(len(text), end)
    for _ in range(40):
        if start > 0 and not text[start - 1].isspace():
            start -= 1
        if end < len(text) and not text[end].isspace():
            end += 1
    while _joined(text, start):
        start -= 1
    while _joined(text, end):
        end += 1
    return start, end


def show(document_id: str, text: str, start: int, end: int, spans: Iterable[Evidence]) -> DocumentPart:
    """Return a part of a document in pieces, each with the numbers of the spans that cover it."""
    start, end = max(0, min(start, len(text))), max(0, min(end, len(text)))
    ranges = list(spans)
    here = [(number, span) for number, span in enumerate(ranges) if span.document_id == document_id]
    cuts = {start, end}
    for _, span in here:
        cuts |= {min(max(at, start), end) for at in (span.start, span.end)}
    places = sorted(cuts)
    pieces = [
        MarkedPiece(text[a:b], [n for n, span in here if span.start <= a and b <= span.end])
        for a, b in pairwise(places)
    ]
    return DocumentPart(document_id=document_id, start=start, end=end, length=len(text), pieces=pieces)


def _joined(text: str, at: int) -> bool:
    """Say whether a place lies inside what a reader takes for one character."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if after in _JOINERS or before == "\u200d" or ord(after) in _SKIN:
        return True
    if (before, after) == ("\r", "\n") or (after > "\u02ff" and unicodedata.category(after)[0] == "M"):
        return True
    if ord(before) in _FLAG and ord(after) in _FLAG:
        run = at
        while run > 0 and ord(text[run - 1]) in _FLAG:
            run -= 1
        return (at - run) % 2 == 1
    return False
