"""Questions and the documents of today -> where the evidence is now, and which questions are stale."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from ragstone.kernel.dataset._realigning import (
    SHOWN,
    Asked,
    Realigned,
    TextWords,
    passage_of,
    realign,
    seeds_of,
)
from ragstone.kernel.dataset._spans import (
    STALE,
    EvidenceWords,
    LocatedSpans,
    State,
    document_digest,
    locate_spans,
)
from ragstone.kernel.dataset.placing import PlacedEvidence
from ragstone.kernel.errors import takes_rows
from ragstone.kernel.records import Document, Evidence, Question, references
from ragstone.kernel.retrieval.relevance import dropped_duplicates, relevant_documents

FAR = 5  # words of a passage, from which on it is looked for in other documents
MOST_DOCUMENTS = 3  # that are aligned with a passage, those with most of its seeds
SHARE = 0.4  # of a passage's seeds that another document must have
SURE = 0.8  # similarity in its own document, from which on evidence is not looked for elsewhere
UNPLACED = ("unclear", "answer changed", "evidence changed", "evidence gone")
GRAVITY = {
    state: rank for rank, state in enumerate(("unchanged", "moved", "edited", "unknown", "unclear", *STALE))
}


class SpanState(NamedTuple):
    """One span of evidence: how it is now, where, and why, in a plain sentence."""

    state: State
    now: Evidence
    because: str = ""
    similarity: float = 1.0


@takes_rows(questions=Question, documents=Document)
def check_evidence(questions: Sequence[Question], documents: Sequence[Document]) -> PlacedEvidence:
    """Return how the evidence of questions is in these documents, and where.

        Beside what place_evidence returns: `states`, and why. Evidence is looked for by its characters as place_evidence does; then, by its words and those around it,
        in its own document and, where it is not there, in all others. It is *stale* where what it says has
        changed (a number, a negation, the reference, or words that carry it), where it is nowhere any more, and
    where no document is there that the question names. What cannot be told is `unknown` (nothing is
        remembered of the evidence, see remember_sources) or `unclear` (several places are as likely). Of several
        spans one that still holds a reference is enough. Without documents all is unknown.
    """
    texts = {document.id: document.text for document in documents}
    located = locate_spans(questions, texts)
    kept_by = {name: document.id for document in documents for name in dropped_duplicates(document)}
    words: dict[str, TextWords] = {}

    def words_of(name: str) -> TextWords:
        if name not in words:
            words[name] = TextWords(texts[name])
        return words[name]

    spans: dict[tuple[int, int], SpanState] = {}
    elsewhere: list[_Sought] = []
    for name, of_document in located.spans.items():
        for span in of_document:
            key = (span.question, span.at)
            asked, was = _asked(questions[span.question]), (questions[span.question].evidence or [])[span.at]
            start = located.starts[key]
            length = len(span.known.words) or was.end - was.start
            state = None
            if start is not None and _same_passage(span.known, texts[name], start):
                state = SpanState(
                    "unchanged" if start == was.start else "moved",
                    Evidence(document_id=name, start=start, end=start + length),
                )
            elif not span.known.words:
                state = SpanState(
                    "unclear",
                    was,
                    f"Document {name} has changed, and nothing else of this evidence is known.",
                )
            else:
                again = realign(span.known, words_of(name), asked)
                if start is None and not span.known.digest and span.known.words in texts[name]:
                    reason = f"Document {name} has the words of its evidence in several places."
                    spans[key] = SpanState("unclear", was, reason)
                    continue
                state = _state(was, name, start, span.known.words, again)
                if start is None and (again is None or again.similarity < SURE):
                    elsewhere.append(_Sought(key, was, span.known, asked, state))
            spans[key] = state
    whole = {span.known.digest for _, span in located.lost if span.known.digest and not span.known.words}
    renamed = {document_digest(text): name for name, text in reversed(texts.items())} if whole else {}
    for name, span in located.lost:
        was = (questions[span.question].evidence or [])[span.at]
        key = (span.question, span.at)
        if name in kept_by:
            spans[key] = SpanState("unchanged", was)  # that one says the same
            continue
        if not span.known.words and span.known.digest in renamed:
            to = renamed[span.known.digest]
            spans[key] = SpanState("moved", Evidence(document_id=to, start=was.start, end=was.end))
            continue
        gone = SpanState("document gone", was, f"Document {name} is not among the documents.")
        spans[key] = gone
        if span.known.words:
            elsewhere.append(_Sought(key, was, span.known, _asked(questions[span.question]), gone))
    if elsewhere:
        spans |= _found_elsewhere(elsewhere, texts, words_of)
    return _checked(questions, located, spans, texts, kept_by)


class _Sought(NamedTuple):
    """Evidence that is looked for in all documents, and how it is if it is in none."""

    key: tuple[int, int]
    was: Evidence
    known: EvidenceWords
    asked: Asked
    otherwise: SpanState


def _asked(question: Question) -> Asked:
    return Asked(question.question, references(question), question.lang)


def _same_passage(known: EvidenceWords, text: str, start: int) -> bool:
    """Say whether all that is known of evidence still stands around a place, to the letter."""
    passage, begin = passage_of(known)
    return text.startswith(passage, start - begin) if start >= begin else not passage


def _state(was: Evidence, name: str, start: int | None, words: str, again: Realigned | None) -> SpanState:
    """Return the state of evidence in its own document. start: of the same characters, None for none."""
    if start is not None:
        here = Evidence(document_id=name, start=start, end=start + len(words))
        if again is not None and again.what is not None and again.start <= start < again.end + len(words):
            return SpanState(_changed(again), here, _because(again, name), again.similarity)
        return SpanState("unchanged" if start == was.start else "moved", here)
    if again is None:
        reason = f"Document {name} no longer has the evidence “{_differing(words, words)[0]}”."
        return SpanState("evidence gone", was, reason, 0.0)
    now = Evidence(document_id=name, start=again.start, end=again.end)
    if again.what is None:
        return SpanState("edited", now, "", again.similarity)
    return SpanState(_changed(again), now, _because(again, name), again.similarity)


def _changed(again: Realigned) -> State:
    return "evidence changed" if again.what == "words" else "answer changed"


def _because(again: Realigned, name: str) -> str:
    was, now = _differing(again.was, again.now)
    return f"Document {name} now says “{now}”; the evidence was “{was}”."


def _differing(was: str, now: str) -> tuple[str, str]:
    """Return two passages on one line, cut around the first difference where they are long."""
    was, now = " ".join(was.split()), " ".join(now.split())
    if max(len(was), len(now)) <= SHOWN:
        return was, now
    at = next((n for n, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), 0)
    first = max(0, at - SHOWN // 3)
    first = was.rfind(" ", 0, first + 1) + 1 if first else 0

    def cut(text: str) -> str:
        piece = text[first : first + SHOWN]
        return ("…" if first else "") + piece.strip() + ("…" if first + SHOWN < len(text) else "")

    return cut(was), cut(now)


def _found_elsewhere(
    sought: Sequence[_Sought], texts: Mapping[str, str], words_of: Callable[[str], TextWords]
) -> dict[tuple[int, int], SpanState]:
    """Return the states of evidence that another document has now; of the rest as they were."""
    wanted: dict[tuple[str, ...], set[int]] = defaultdict(set)
    n_seeds: list[int] = []
    for n, one in enumerate(sought):
        tokens = TextWords(passage_of(one.known)[0]).tokens
        seeds = set(seeds_of(tokens)) if len(tokens) >= FAR else set()
        n_seeds.append(len(seeds))
        for seed in seeds:
            wanted[seed].add(n)
    shared: dict[int, Counter[str]] = defaultdict(Counter)
    for name, text in texts.items() if wanted else ():
        for seed in wanted.keys() & set(seeds_of(TextWords(text).tokens)):
            for n in wanted[seed]:
                shared[n][name] += 1
    states = {}
    for n, one in enumerate(sought):
        best: tuple[float, SpanState] | None = None
        for name, count in sorted(shared[n].items(), key=lambda pair: -pair[1])[:MOST_DOCUMENTS]:
            again = realign(one.known, words_of(name), one.asked) if count >= SHARE * n_seeds[n] else None
            if again is None or (name == one.was.document_id):
                continue
            if again.what is None:
                exact = texts[name][again.start : again.end] == one.known.words
                now = Evidence(document_id=name, start=again.start, end=again.end)
                state = SpanState("moved" if exact else "edited", now, "", again.similarity)
            else:
                now = Evidence(document_id=name, start=again.start, end=again.end)
                state = SpanState(_changed(again), now, _because(again, name), again.similarity)
            rank = again.similarity - (again.what is not None)
            if best is None or rank > best[0]:
                best = rank, state
        # Changed evidence of a document that is still there is not traded for changed evidence of another.
        if best is not None and (
            best[1].state not in STALE or one.otherwise.state in ("document gone", "evidence gone")
        ):
            states[one.key] = best[1]
    return states


def _checked(
    questions: Sequence[Question],
    located: LocatedSpans,
    spans: Mapping[tuple[int, int], SpanState],
    texts: Mapping[str, str],
    kept_by: Mapping[str, str],
) -> PlacedEvidence:
    states: dict[str, State] = {}
    because: dict[str, str] = {}
    rows: list[Question] = []
    moved: set[str] = set()
    unplaced: set[str] = set()
    for n, question in enumerate(questions):
        evidence = question.evidence or []
        of_row = [spans.get((n, at)) or _unknown(span, texts) for at, span in enumerate(evidence)]
        row = question
        if of_row:
            worst = max(of_row, key=lambda one: GRAVITY[one.state])
            if worst.state in STALE and _still_held(question, of_row, texts):
                worst = next(one for one in of_row if one.state not in STALE)
            states[question.id] = worst.state
            if worst.because:
                because[question.id] = worst.because
            row = _replaced(question, of_row)
        named = relevant_documents(row)
        if texts and named and not evidence and not any(name in texts or name in kept_by for name in named):
            states[question.id] = "document gone"
            because[question.id] = f"Document {named[0]} is not among the documents."
        if any(one.state in UNPLACED for one in of_row):
            unplaced.add(question.id)
        elif row.evidence != question.evidence:
            moved.add(question.id)
        rows.append(row)
    return PlacedEvidence(
        questions=rows,
        unplaced=frozenset(unplaced),
        moved=frozenset(moved),
        n_unknown=sum(state == "unknown" for state in states.values()),
        n_documents=len(located.spans),
        n_changed=located.n_changed,
        states=states,
        because=because,
    )


def _unknown(span: Evidence, texts: Mapping[str, str]) -> SpanState:
    text = texts.get(span.document_id)
    if text is not None and span.end > len(text):
        reason = f"Document {span.document_id} has {len(text):,} characters, and the evidence ends at {span.end:,}."
        return SpanState("evidence gone", span, reason)
    return SpanState("unknown", span)


def _still_held(question: Question, of_row: Sequence[SpanState], texts: Mapping[str, str]) -> bool:
    """Say whether another span of a question is as it was and holds a reference."""
    held = [
        texts[one.now.document_id][one.now.start : one.now.end].casefold()
        for one in of_row
        if one.state in ("unchanged", "moved", "edited")
    ]
    return any(text.casefold() in passage for passage in held for text in references(question) if text)


def _replaced(question: Question, of_row: Sequence[SpanState]) -> Question:
    """Return the question with its evidence, and the documents that it names, where they are now."""
    evidence = question.evidence or []
    settled = ("moved", "edited")
    now = [one.now if one.state in settled else span for one, span in zip(of_row, evidence, strict=True)]
    if now == evidence:
        return question
    left = {span.document_id for span in now}
    renamed = {
        span.document_id: new.document_id
        for span, new in zip(evidence, now, strict=True)
        if span.document_id not in left
    }
    named = question.document_ids and list(
        dict.fromkeys(renamed.get(name, name) for name in question.document_ids)
    )
    return msgspec.structs.replace(question, evidence=now, document_ids=named)
