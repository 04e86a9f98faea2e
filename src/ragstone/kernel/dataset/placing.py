"""Evidence of documents that may have changed -> where it stands now, or that this is not certain."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.dataset._spans import BESIDE as BESIDE
from ragstone.kernel.dataset._spans import SOURCES as SOURCES
from ragstone.kernel.dataset._spans import STALE, EvidenceSource, State, document_digest, locate_spans
from ragstone.kernel.errors import checks_arguments, plural, takes_rows
from ragstone.kernel.records import Document, Evidence, Question

SHOWN = 3  # ids in a note
AROUND = 400  # characters: of a longer sentence only so much is remembered on either side


class PlacedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Questions with their evidence where it stands now.

    unplaced: ids of questions some of whose evidence has no certain place any more; it is left as it was.
    moved: ids of those whose evidence all has one, and another than before. n_unknown: questions that carry
    nothing to tell whether their documents are the same. n_documents: of the corpus, that evidence is known
    to have stood in; n_changed: of them, those that differ. states: question id -> the gravest state of its
    evidence, as check_evidence finds it; because: why, in a sentence, of those that are stale or unclear.
    """

    questions: list[Question]
    unplaced: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()
    n_unknown: int = 0
    n_documents: int = 0
    n_changed: int = 0
    states: dict[str, State] = {}
    because: dict[str, str] = {}

    @property
    def stale(self) -> dict[str, State]:
        """Question id -> state, of the questions whose evidence is stale."""
        return {name: state for name, state in self.states.items() if state in STALE}

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
        # Documents that are not there are named elsewhere, see missing_documents.
        stale = {name: state for name, state in self.stale.items() if state != "document gone"}
        if stale:
            counts = Counter[str](stale.values())
            kinds = ", ".join(f"{state}: {counts[state]:,}" for state in STALE if counts[state])
            more = f" and {len(stale) - SHOWN:,} more" if len(stale) > SHOWN else ""
            notes.append(
                f"{len(stale):,} of {plural(len(self.questions), 'question')} "
                f"{'is' if len(stale) == 1 else 'are'} stale ({kinds}): their evidence was not found "
                f"in the documents as it was, so a correct answer may score as wrong: "
                f"{', '.join(sorted(stale)[:SHOWN])}{more}. `ragstone build refresh` lists what to mend."
            )
        if self.n_unknown:
            notes.append(
                f"It is unknown whether the evidence of {plural(self.n_unknown, 'question')} is still in its "
                "place: checking that takes the documents, and questions that carry the words of their "
                "evidence, as those of `ragstone build` do. If a document has changed, measures by "
                "characters are too low."
            )
        return notes


@checks_arguments
def remember_sources(question: Question, documents: Mapping[str, str]) -> Question:
    """Return the question with what place_evidence needs to know its documents again, in its metadata.

    documents: id -> text. Evidence of other documents is not remembered.
    """
    sources = [
        _source(span, text, question.lang)
        for span in question.evidence or ()
        if (text := documents.get(span.document_id)) is not None
    ]
    if not sources:
        return question
    metadata = {**(question.metadata or {}), SOURCES: msgspec.to_builtins(sources)}
    return msgspec.structs.replace(question, metadata=metadata)


def _source(span: Evidence, text: str, lang: str | None) -> EvidenceSource:
    """Return what is remembered of a span: its characters, what stood beside them, and its sentences."""
    first, last = max(0, span.start - BESIDE), min(len(text), span.end + BESIDE)
    whole = (span.start, span.end) == (0, len(text))
    start, end = (first, last) if whole else _sentences_around(span, text, lang)
    start, end = min(start, first), max(end, last)
    beyond = start < first or end > last
    return EvidenceSource(
        document_id=span.document_id,
        start=span.start,
        end=span.end,
        digest=document_digest(text),
        text=None if whole else text[first:last],
        sentence=text[start:end] if beyond else None,
        sentence_start=start if beyond else None,
    )


def _sentences_around(span: Evidence, text: str, lang: str | None) -> tuple[int, int]:
    """Return where the sentences begin and end that evidence is in, at most AROUND characters from it."""
    low, high = max(0, span.start - AROUND), min(len(text), span.end + AROUND)
    spans = sentence_spans(text[low:high], lang)
    inside = [(low + a, low + b) for a, b in spans if low + a < span.end and span.start < low + b]
    return (min(span.start, inside[0][0]), max(span.end, inside[-1][1])) if inside else (span.start, span.end)


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
    located = locate_spans(questions, texts)
    starts = located.starts
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
        n_unknown=len(located.unknown - unplaced),
        n_documents=len(located.spans),
        n_changed=located.n_changed,
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
