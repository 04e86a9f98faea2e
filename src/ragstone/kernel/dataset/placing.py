"""Evidence of documents that may have changed -> where it stands now, or that this is not certain."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from ragstone.kernel.dataset.certificate import DIGITS, digest
from ragstone.kernel.errors import checks_arguments, plural, takes_rows
from ragstone.kernel.records import Document, Evidence, Question, references

SOURCES = "evidence_sources"  # in a question's metadata
BESIDE = 32  # characters that are remembered on either side of evidence
NEAR = 200  # characters: a place of words that stand at several counts if no other is so near the old one
SHOWN = 3  # ids in a note
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

    def notes(self) -> list[str]:
        """Return what to know of evidence whose documents have changed, or of which nobody can tell."""
        notes = []
        if self.n_changed:
            differ = "differs" if self.n_changed == 1 else "differ"
            note = (
                f"{self.n_changed} of {self.n_documents} documents that hold evidence {differ} from those "
                "that the questions were made from."
            )
            if self.moved:
                note += (
                    f" Evidence of {plural(len(self.moved), 'question')} was found again at another place."
                )
            if self.unplaced:
                n_more = len(self.unplaced) - SHOWN
                more = f" and {n_more} more" if n_more > 0 else ""
                note += (
                    f" That of {plural(len(self.unplaced), 'question')} no longer has a certain place, so "
                    f"measures by characters leave {'it' if len(self.unplaced) == 1 else 'them'} out: "
                    f"{', '.join(sorted(self.unplaced)[:SHOWN])}{more}."
                )
            notes.append(note)
        if self.n_unknown:
            notes.append(
                f"It is unknown whether the evidence of {plural(self.n_unknown, 'question')} is still in its "
                "place: checking that takes the documents, and questions that carry the words of their "
                "evidence, as those of `ragstone build` do. If a document has changed, measures by "
                "characters are too low."
            )
        return notes


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
    texts = {document.id: document.text for document in documents}
    # References are evidence, copied, where most questions have one of the evidence's length.
    alike = [
        all(_of_length(question, span) for span in question.evidence)
        for question in questions
        if question.evidence
    ]
    by_reference = 2 * sum(alike) > len(alike)
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
        sought = quote.strip()
        return _EvidenceWords("", sought, "", "") if len(sought) == span.end - span.start else None
    if not by_reference:
        return None
    texts = _of_length(question, span)
    here = [sought for sought in texts if text is not None and text.startswith(sought, span.start)]
    return next((_EvidenceWords("", sought, "", "") for sought in (*here, *texts)), None)


def _source_of(sources: object, span: Evidence) -> _EvidenceWords | None:
    """Return what is remembered of a span; None where it is of another one, or was written by hand."""
    try:
        known = msgspec.convert(sources, list[EvidenceSource])
    except msgspec.ValidationError:
        return None
    for source in known:
        if (source.document_id, source.start, source.end) == (span.document_id, span.start, span.end):
            before = min(span.start, BESIDE)
            text, end = source.text or "", before + span.end - span.start
            return _EvidenceWords(text[:before], text[before:end], text[end:], source.digest)
    return None


def _chosen(start: int, places: Sequence[int], shifts: set[int]) -> int | None:
    if start in places:
        return start
    near = [at for at in places if (at - start in shifts if shifts else abs(at - start) <= NEAR)]
    only = places if len(places) == 1 else near
    return only[0] if len(only) == 1 else None


def _find_words(known: _EvidenceWords, text: str) -> list[int]:
    """Return where the words stand, with as much of what stood beside them as still does."""
    before, quoted, after, was = known
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
