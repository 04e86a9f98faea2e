"""Evidence of documents that may have changed -> where it stands now, or that this is not certain."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from ragstone.kernel.dataset.certifying.certificate import DIGITS, digest
from ragstone.kernel.errors import checks_arguments, takes_rows
from ragstone.kernel.records import Document, Evidence, Question, references

SOURCES = "evidence_sources"  # in a question's metadata
BESIDE = 32  # characters that are remembered on either side of evidence
NEAR = 200  # characters: a place of words that stand at several counts if no other is so near the old one
ENOUGH = 24  # characters that are known again without what stood beside them


class EvidenceSource(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A span of evidence as it was when its question was made.

    digest: of the whole document. text: the evidence with up to BESIDE characters before it and as many
    behind it; None of evidence that is its whole document, which the digest alone describes.
    """

    document_id: str
    start: int
    end: int
    digest: str
    text: str | None = None


class PlacedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Questions with their evidence where it stands now.

    unplaced: ids of questions some of whose evidence has no certain place any more; it is left as it was.
    moved: ids of those whose evidence all has one, and another than before. n_unknown: questions that carry
    nothing to tell whether their documents are the same. n_documents: of the corpus, that evidence is known
    to have stood in; n_changed: of them, those that differ.
    """

    questions: list[Question]
    unplaced: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()
    n_unknown: int = 0
    n_documents: int = 0
    n_changed: int = 0


class _EvidenceWords(NamedTuple):
    """The characters of evidence, what stood beside them, and the digest; empty where nobody knows."""

    before: str
    words: str
    after: str
    digest: str


class _PlacedSpan(NamedTuple):
    """A span to be placed: of which question, which of its evidence, and what it said."""

    question: int
    at: int
    start: int
    known: _EvidenceWords


def document_digest(text: str) -> str:
    """Return the first 16 digits of the SHA-256 of a document's text."""
    return digest(text.encode("utf-8", "surrogatepass"))[:DIGITS]


@checks_arguments
def remember_sources(question: Question, documents: Mapping[str, str]) -> Question:
    """Return the question with what place_evidence needs to know its documents again, in its metadata.

    documents: id -> text. Evidence of other documents is not remembered.
    """
    sources = [
        EvidenceSource(
            document_id=span.document_id,
            start=span.start,
            end=span.end,
            digest=document_digest(text),
            text=None
            if (span.start, span.end) == (0, len(text))
            else text[max(0, span.start - BESIDE) : span.end + BESIDE],
        )
        for span in question.evidence or ()
        if (text := documents.get(span.document_id)) is not None
    ]
    if not sources:
        return question
    metadata = {**(question.metadata or {}), SOURCES: msgspec.to_builtins(sources)}
    return msgspec.structs.replace(question, metadata=metadata)


@takes_rows(questions=Question, documents=Document)
def place_evidence(questions: Sequence[Question], documents: Iterable[Document]) -> PlacedEvidence:
    """Return the questions with their evidence where it stands in these documents.

    What evidence said is taken from remember_sources, else from an exact quotation of `ragstone build`, else
    from a reference of its length, where most questions have one. In a document that has changed a span
    stands where the same characters do, with what stood beside them where that is known: at the old place, at
    the only one, at the one that has moved as far as other evidence of the document did, or at the only one
    within NEAR characters of the old place. All else is unplaced.
    """
    texts = {one.id: one.text for one in documents}
    by_reference = _mostly_references(questions)
    spans: dict[str, list[_PlacedSpan]] = defaultdict(list)
    unknown: set[int] = set()
    for n, question in enumerate(questions):
        for at, span in enumerate(question.evidence or ()):
            known = _known(question, span, texts.get(span.document_id), by_reference)
            if known is not None and span.document_id in texts:
                spans[span.document_id].append(_PlacedSpan(n, at, span.start, known))
            elif span.document_id in texts or not texts:
                unknown.add(n)
    starts: dict[tuple[int, int], int | None] = {}
    changed = 0
    for name, found in spans.items():
        now = document_digest(texts[name])
        places = _places(found, texts[name], now)
        starts |= {(one.question, one.at): place for one, place in zip(found, places, strict=True)}
        pairs = zip(found, places, strict=True)
        changed += any(one.known.digest not in ("", now) or place != one.start for one, place in pairs)
    unplaced = {n for (n, _), start in starts.items() if start is None}
    moved = {
        n
        for (n, at), start in starts.items()
        if n not in unplaced and start != (questions[n].evidence or [])[at].start
    }
    placed = [
        _at(question, [starts.get((n, at)) for at in range(len(question.evidence or ()))])
        if n in moved
        else question
        for n, question in enumerate(questions)
    ]
    return PlacedEvidence(
        questions=placed,
        unplaced=frozenset(questions[n].id for n in unplaced),
        moved=frozenset(questions[n].id for n in moved),
        n_unknown=len(unknown - unplaced),
        n_documents=len(spans),
        n_changed=changed,
    )


def _at(question: Question, starts: Sequence[int | None]) -> Question:
    """Return the question with its evidence from these places on; None: where it was."""
    evidence = [
        span
        if start is None
        else msgspec.structs.replace(span, start=start, end=start + span.end - span.start)
        for span, start in zip(question.evidence or (), starts, strict=True)
    ]
    return msgspec.structs.replace(question, evidence=evidence)


def _mostly_references(questions: Sequence[Question]) -> bool:
    """Say whether references are evidence, copied: then most questions have one of the evidence's length."""
    asked = [question for question in questions if question.evidence]
    alike = [all(_of_length(question, span) for span in question.evidence or ()) for question in asked]
    return 2 * sum(alike) > len(alike)


def _of_length(question: Question, span: Evidence) -> list[str]:
    return [text for text in references(question) if len(text) == span.end - span.start]


def _known(question: Question, span: Evidence, text: str | None, by_reference: bool) -> _EvidenceWords | None:
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
        words = quote.strip()
        return _EvidenceWords("", words, "", "") if len(words) == span.end - span.start else None
    if not by_reference:
        return None
    found = _of_length(question, span)
    here = [words for words in found if text is not None and text.startswith(words, span.start)]
    return next((_EvidenceWords("", words, "", "") for words in (*here, *found)), None)


def _source_of(sources: object, span: Evidence) -> _EvidenceWords | None:
    """Return what is remembered of a span; None where it is of another one, or was written by hand."""
    try:
        known = msgspec.convert(sources, list[EvidenceSource])
    except msgspec.ValidationError:
        return None
    for one in known:
        if (one.document_id, one.start, one.end) == (span.document_id, span.start, span.end):
            before = min(span.start, BESIDE)
            text, end = one.text or "", before + span.end - span.start
            return _EvidenceWords(text[:before], text[before:end], text[end:], one.digest)
    return None


def _places(spans: Sequence[_PlacedSpan], text: str, now: str) -> list[int | None]:
    """Return where each span of a document begins; None where that is not certain. now: its digest."""
    possible = [[one.start] if one.known.digest == now else _found(one.known, text) for one in spans]
    shifts = {places[0] - one.start for one, places in zip(spans, possible, strict=True) if len(places) == 1}
    return [_chosen(one.start, places, shifts) for one, places in zip(spans, possible, strict=True)]


def _chosen(start: int, places: Sequence[int], shifts: set[int]) -> int | None:
    if start in places:
        return start
    near = [place for place in places if (place - start in shifts if shifts else abs(place - start) <= NEAR)]
    only = places if len(places) == 1 else near
    return only[0] if len(only) == 1 else None


def _found(known: _EvidenceWords, text: str) -> list[int]:
    """Return where the words stand, with as much of what stood beside them as still does."""
    before, words, after, was = known
    for first, last in ((before, after), (before, ""), ("", after), ("", "")) if words else ():
        sought = f"{first}{words}{last}"
        if not was or (first, last) == (before, after) or len(sought) >= ENOUGH:
            places = _occurrences(sought, text)
            if places:
                return [place + len(first) for place in places]
    return []


def _occurrences(sought: str, text: str) -> list[int]:
    places = []
    place = text.find(sought)
    while place != -1:
        places.append(place)
        place = text.find(sought, place + 1)
    return places
