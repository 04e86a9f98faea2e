"""Evidence -> what it said when its question was made, and where the same characters stand now."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from ragstone.kernel.dataset.certificate import DIGITS, digest
from ragstone.kernel.records import Evidence, Question, references

SOURCES = "evidence_sources"  # in a question's metadata
BESIDE = 32  # characters that are remembered on either side of evidence
NEAR = 200  # characters: a place of words that stand at several counts if no other is so near the old one
ENOUGH = 24  # characters that are known again without what stood beside them


State = Literal[
    "unchanged",
    "moved",
    "edited",
    "answer changed",
    "evidence changed",
    "evidence gone",
    "document gone",
    "unclear",
    "unknown",
]
STALE: tuple[State, ...] = ("answer changed", "evidence changed", "evidence gone", "document gone")
"""States of evidence that no longer says what it said when its question was written."""


class EvidenceSource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A span of evidence as it was when its question was made.

    digest: of the whole document. text: the evidence with up to BESIDE characters before it and as many
    behind it; None of evidence that is its whole document, which the digest alone describes. sentence: the
    sentences that the evidence is in, from `sentence_start` of the document on; absent where `text` has them.
    """

    document_id: str
    start: int
    end: int
    digest: str
    text: str | None = None
    sentence: str | None = None
    sentence_start: int | None = None


class EvidenceWords(NamedTuple):
    """The characters of evidence, what stood beside them, and the digest; empty where nobody knows.

    sentence: what stood around them, where that is more; offset: where in it they begin.
    """

    before: str
    words: str
    after: str
    digest: str
    sentence: str = ""
    offset: int = 0


class PlacedSpan(NamedTuple):
    """A span to be placed: of which question, which of its evidence, and what it said."""

    question: int
    at: int
    start: int
    known: EvidenceWords


class LocatedSpans(NamedTuple):
    """Spans by document, and where the same characters stand there now: (question, at) -> start, or None.

    unknown: questions with evidence that nobody can place. lost: spans whose document is not there.
    """

    spans: Mapping[str, list[PlacedSpan]]
    starts: Mapping[tuple[int, int], int | None]
    unknown: set[int]
    lost: list[tuple[str, PlacedSpan]]
    n_changed: int


def document_digest(text: str) -> str:
    """Return the first 16 digits of the SHA-256 of a document's text."""
    return digest(text.encode("utf-8", "surrogatepass"))[:DIGITS]


def locate_spans(questions: Sequence[Question], texts: Mapping[str, str]) -> LocatedSpans:
    """Return where the evidence of questions stands in these documents, by the same characters alone."""
    # References are evidence, copied, where most questions have one of the evidence's length.
    alike = [
        all(_of_length(question, span) for span in question.evidence)
        for question in questions
        if question.evidence
    ]
    by_reference = 2 * sum(alike) > len(alike)
    spans: dict[str, list[PlacedSpan]] = defaultdict(list)
    unknown: set[int] = set()
    lost: list[tuple[str, PlacedSpan]] = []
    for n, question in enumerate(questions):
        for at, span in enumerate(question.evidence or ()):
            known = _known(question, span, texts.get(span.document_id), by_reference)
            if known is not None and span.document_id in texts:
                spans[span.document_id].append(PlacedSpan(n, at, span.start, known))
            elif span.document_id in texts or not texts:
                unknown.add(n)
            else:
                empty = EvidenceWords("", "", "", "")
                lost.append((span.document_id, PlacedSpan(n, at, span.start, known or empty)))
    starts: dict[tuple[int, int], int | None] = {}
    changed = 0
    for name, of_document in spans.items():
        now = document_digest(texts[name])
        possible = [
            [span.start] if span.known.digest == now else _find_words(span.known, texts[name])
            for span in of_document
        ]
        shifts = {
            places[0] - span.start
            for span, places in zip(of_document, possible, strict=True)
            if len(places) == 1
        }
        places = [
            _chosen(span.start, places, shifts) for span, places in zip(of_document, possible, strict=True)
        ]
        starts |= {(span.question, span.at): start for span, start in zip(of_document, places, strict=True)}
        pairs = zip(of_document, places, strict=True)
        changed += any(span.known.digest not in ("", now) or start != span.start for span, start in pairs)
    return LocatedSpans(spans, starts, unknown, lost, changed)


def _of_length(question: Question, span: Evidence) -> list[str]:
    return [text for text in references(question) if len(text) == span.end - span.start]


def _known(question: Question, span: Evidence, text: str | None, by_reference: bool) -> EvidenceWords | None:
    """Return what the evidence said when the question was made, None where it does not tell."""
    notes = question.metadata or {}
    if SOURCES in notes:
        return _source_of(notes[SOURCES], span)
    quote = notes.get("quote")
    if (
        isinstance(quote, str)
        and notes.get("evidence_found") == "exact"
        and len(question.evidence or ()) == 1
    ):
        sought = quote.strip()
        return EvidenceWords("", sought, "", "") if len(sought) == span.end - span.start else None
    if not by_reference:
        return None
    texts = _of_length(question, span)
    here = [sought for sought in texts if text is not None and text.startswith(sought, span.start)]
    return next((EvidenceWords("", sought, "", "") for sought in (*here, *texts)), None)


def _source_of(sources: object, span: Evidence) -> EvidenceWords | None:
    """Return what is remembered of a span; None where it is of another one, or was written by hand."""
    try:
        known = msgspec.convert(sources, list[EvidenceSource])
    except msgspec.ValidationError:
        return None
    for source in known:
        if (source.document_id, source.start, source.end) == (span.document_id, span.start, span.end):
            before = min(span.start, BESIDE)
            text, end = source.text or "", before + span.end - span.start
            words = EvidenceWords(text[:before], text[before:end], text[end:], source.digest)
            offset = span.start - (source.sentence_start or 0)
            if source.sentence is None or not source.sentence.startswith(words.words, max(0, offset)):
                return words
            return words._replace(sentence=source.sentence, offset=offset)
    return None


def _chosen(start: int, places: Sequence[int], shifts: set[int]) -> int | None:
    if start in places:
        return start
    near = [at for at in places if (at - start in shifts if shifts else abs(at - start) <= NEAR)]
    only = places if len(places) == 1 else near
    return only[0] if len(only) == 1 else None


def _find_words(known: EvidenceWords, text: str) -> list[int]:
    """Return where the words stand, with as much of what stood beside them as still does."""
    before, quoted, after, was = known[:4]
    for first, last in ((before, after), (before, ""), ("", after), ("", "")) if quoted else ():
        sought = f"{first}{quoted}{last}"
        if not was or (first, last) == (before, after) or len(sought) >= ENOUGH:
            places = _occurrences(sought, text)
            if places:
                return [at + len(first) for at in places]
    return []


def _occurrences(sought: str, text: str) -> list[int]:
    places = []
    at = text.find(sought)
    while at != -1:
        places.append(at)
        at = text.find(sought, at + 1)
    return places
