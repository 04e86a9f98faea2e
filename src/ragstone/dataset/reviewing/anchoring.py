"""Evidence with its words -> where these words stand now. Offsets never come to point at other words."""

from collections.abc import Callable, Iterable, Sequence

from ragstone.dataset.evidence import find_evidence
from ragstone.dataset.reviewing.decision import Quoted
from ragstone.errors import DataError
from ragstone.records import Evidence

TextOf = Callable[[str], str | None]
"""The text of a document by its id; None where there is no such document."""


def quote(spans: Iterable[Evidence] | None, text_of: TextOf) -> list[Quoted] | None:
    """Return evidence with its words, in order; None where there is none.

    Raises DataError for a document that is not there, and for offsets beyond its text.
    """
    found = [
        Quoted(document_id=span.document_id, start=span.start, end=span.end, text=_words(span, text_of))
        for span in spans or ()
    ]
    return found or None


def find_again(quoted: Quoted, text: str) -> Evidence | None:
    """Return where the words stand in a text, which may have changed; None where they do not.

    In this order: where they stood; the nearest place with the same characters; the same words but for
    spacing and marks, as `find_evidence` knows them.
    """
    start = quoted.start if text.startswith(quoted.text, quoted.start) else _nearest(quoted, text)
    if start is not None:
        return _span(quoted, start, start + len(quoted.text))
    found = find_evidence(quoted.text, text)
    if found is None or found.how == "fuzzy":
        return None
    return _span(quoted, found.start, found.end)


def find_all(quoted: Sequence[Quoted], text_of: TextOf) -> tuple[list[Evidence], str | None]:
    """Return where all these words stand now, and None; or nothing, and what is missing, in words."""
    found: list[Evidence] = []
    for one in quoted:
        text = text_of(one.document_id)
        if text is None:
            return [], f"the document {one.document_id!r} of its evidence is gone"
        again = find_again(one, text)
        if again is None:
            return [], f"the document {one.document_id!r} has changed: its evidence no longer stands there"
        found.append(again)
    return found, None


def _nearest(quoted: Quoted, text: str) -> int | None:
    before = text.rfind(quoted.text, 0, quoted.start + len(quoted.text))
    after = text.find(quoted.text, quoted.start)
    found = [place for place in (before, after) if place >= 0]
    return min(found, key=lambda place: abs(place - quoted.start), default=None)


def _words(span: Evidence, text_of: TextOf) -> str:
    text = text_of(span.document_id)
    if text is None:
        raise DataError(
            f"there is no document {span.document_id!r}: evidence must stand in one of the documents"
        )
    if not 0 <= span.start < span.end <= len(text):
        raise DataError(
            f"evidence [{span.start}:{span.end}] is no part of {span.document_id!r}, which has {len(text)} "
            "characters. Mark it anew."
        )
    return text[span.start : span.end]


def _span(quoted: Quoted, start: int, end: int) -> Evidence:
    return Evidence(document_id=quoted.document_id, start=start, end=end)
