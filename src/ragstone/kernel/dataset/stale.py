"""Questions and the documents of today -> where the evidence is now, and which questions are stale."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from ragstone.kernel.dataset._realigning import SHOWN, Asked, TextWords, passage_of, realign, rough_seeds
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

FAR = 3  # seeds of a passage, from which on it is looked for in other documents
MOST_DOCUMENTS = 3  # that are aligned with a passage, those with most of its seeds
SHARE = 0.4  # of a passage's seeds that another document must have
SURE = 0.8  # similarity in its own document, from which on evidence is not looked for elsewhere
FOUND: tuple[State, ...] = ("unchanged", "moved", "edited")
UNTOLD = " No words of its evidence are remembered, so it may be there under another id."
GRAVITY: dict[State, int] = {state: rank for rank, state in enumerate((*FOUND, "unknown", "unclear", *STALE))}


class SpanState(NamedTuple):
    """One span of evidence: how it is now, where, and why, in a plain sentence."""

    state: State
    now: Evidence
    because: str = ""
    similarity: float = 1.0


class _Sought(NamedTuple):
    """Evidence, what is known of it, and where the same characters stand in its document, if they do."""

    key: tuple[int, int]
    was: Evidence
    known: EvidenceWords
    asked: Asked
    start: int | None = None


@takes_rows(questions=Question, documents=Document)
def check_evidence(questions: Sequence[Question], documents: Sequence[Document]) -> PlacedEvidence:
    """Return how the evidence of questions is in these documents, and where.

    Beside what place_evidence returns: `states`, and why. Evidence is looked for by its characters, as
    place_evidence does; then by its words and those around it, in its own document and, where it is not
    there, in all others. It is *stale* where what it says has changed (a number, a negation, the reference,
    or words that carry it), where it is nowhere any more, and where no document is there that the question
    names. What cannot be told is `unknown` (nothing is remembered of the evidence, see remember_sources) or
    `unclear` (several places are as likely, or what changed
    is still said elsewhere). Of several spans one that still holds a reference is enough.
    Without documents all is unknown.
    """
    texts = {document.id: document.text for document in documents}
    kept = {name for document in documents for name in dropped_duplicates(document)}
    located = locate_spans(questions, texts)
    words = {name: TextWords(texts[name]) for name in located.spans}
    spans: dict[tuple[int, int], SpanState] = {}
    elsewhere: list[tuple[_Sought, SpanState]] = []

    def sought_of(question: int, at: int, known: EvidenceWords, start: int | None) -> _Sought:
        row = questions[question]
        asked = Asked(row.question, references(row), row.lang)
        return _Sought((question, at), (row.evidence or [])[at], known, asked, start)

    for name, of_document in located.spans.items():
        for span in of_document:
            key = (span.question, span.at)
            one = sought_of(*key, span.known, located.starts[key])
            spans[key] = _in_its_document(one, words[name])
            if one.start is None and span.known.words and spans[key].similarity < SURE:
                elsewhere.append((one, spans[key]))
    lost = [(name, sought_of(s.question, s.at, s.known, None)) for name, s in located.lost]
    renamed = _renamed([one.known for _, one in lost], texts)
    for name, one in lost:
        if name in kept:  # the one that was kept says the same
            spans[one.key] = SpanState("unchanged", one.was)
        elif not one.known.words and one.known.digest in renamed:
            here = msgspec.structs.replace(one.was, document_id=renamed[one.known.digest])
            spans[one.key] = SpanState("moved", here)
        else:
            because = f"Document {name} is not among the documents.{'' if one.known.words else UNTOLD}"
            gone = SpanState("document gone", one.was, because, 0.0)
            spans[one.key] = gone
            elsewhere += [(one, gone)] if one.known.words else []
    spans |= _found_elsewhere(elsewhere, texts)
    return _checked(questions, located, spans, texts, kept)


def _in_its_document(one: _Sought, words: TextWords) -> SpanState:
    """Return the state of evidence whose document is there."""
    name, text, known = one.was.document_id, words.text, one.known
    passage, begin = passage_of(known)
    length = len(known.words) or one.was.end - one.was.start
    if one.start is not None:
        here = Evidence(document_id=name, start=one.start, end=one.start + length)
        same = SpanState("unchanged" if one.start == one.was.start else "moved", here)
        if one.start >= begin and text.startswith(passage, one.start - begin):
            return same
        again = _aligned(one, words, name)
        if again and again.state not in STALE:
            return same
        if again and again.now.start < here.end and here.start < again.now.end:
            return again
        if not _stands_alone(known, text, here):
            return same
        reason = f"Document {name} has the words of the evidence, but nothing of the text around them."
        if again:
            reason = f"{again.because[:-1]}, though the document has its words at another place too."
        return SpanState("unclear", one.was, reason, again.similarity if again else 0.0)
    if not known.words:
        reason = f"Document {name} has changed, and only its digest is known of the evidence."
        return SpanState("unclear", one.was, reason)
    if not known.digest and known.words in text:
        return SpanState("unclear", one.was, f"Document {name} has the words of the evidence several times.")
    gone = f"Document {name} no longer has the evidence “{_differing(known.words, known.words)[0]}”."
    return _aligned(one, words, name) or SpanState("evidence gone", one.was, gone, 0.0)


def _stands_alone(known: EvidenceWords, text: str, here: Evidence) -> bool:
    """Return whether nothing of what stood on either side of evidence stands beside its words here."""
    before, after = known.before, known.after
    is_before = bool(before) and text[: here.start].endswith(before)
    return not is_before and not (after and text.startswith(after, here.end))


def _aligned(one: _Sought, words: TextWords, name: str) -> SpanState | None:
    """Return the state of evidence in a document by its words; None where too few of them are there."""
    again = realign(one.known, words, one.asked)
    if again is None:
        return None
    now = Evidence(document_id=name, start=again.start, end=again.end)
    if again.what is None:
        exact = words.text[again.start : again.end] == one.known.words
        return SpanState("moved" if exact else "edited", now, "", again.similarity)
    was_text, now_text = _differing(again.was, again.now)
    because = f"Document {name} now says “{now_text}”; the evidence was “{was_text}”."
    changed: State = "evidence changed" if again.what == "words" else "answer changed"
    return SpanState(changed, now, because, again.similarity)


def _differing(was: str, now: str) -> tuple[str, str]:
    """Return two passages on one line, cut around the first difference where they are long."""
    was, now = " ".join(was.split()), " ".join(now.split())
    if max(len(was), len(now)) <= SHOWN:
        return was, now
    at = next((n for n, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), 0)
    first = was.rfind(" ", 0, max(0, at - SHOWN // 3) + 1) + 1

    def cut(text: str) -> str:
        piece = text[first : first + SHOWN]
        return ("…" if first else "") + piece.strip() + ("…" if first + SHOWN < len(text) else "")

    return cut(was), cut(now)


def _renamed(known: Sequence[EvidenceWords], texts: Mapping[str, str]) -> dict[str, str]:
    """Return digest -> document, of evidence that is a whole document of which only the digest is known."""
    wanted = {one.digest for one in known if one.digest and not one.words}
    if not wanted:
        return {}
    digests = ((document_digest(text), name) for name, text in reversed([*texts.items()]))
    return {digest: name for digest, name in digests if digest in wanted}


def _found_elsewhere(
    lost: Sequence[tuple[_Sought, SpanState]], texts: Mapping[str, str]
) -> dict[tuple[int, int], SpanState]:
    """Return the states of evidence that another document has now; what is nowhere is left out.

    One span of each document is looked for in all others. Where it is found, the other spans are looked for
    there first, to the letter.
    """
    leading = {one.was.document_id: n for n, (one, _) in reversed([*enumerate(lost)])}
    first = [lost[n] for n in sorted(leading.values())]
    states = _searched(first, texts)
    homes: dict[str, list[str]] = defaultdict(list)
    for one, _ in first:
        if one.key in states:
            homes[one.was.document_id].append(states[one.key].now.document_id)
    rest = []
    for one, otherwise in lost:
        if one.key in states:
            continue
        passage, begin = passage_of(one.known)
        for home in homes[one.was.document_id]:
            at = texts[home].find(passage)
            if at >= 0 and at == texts[home].rfind(passage) and len(passage) > len(one.known.words):
                begins = at + begin
                now = Evidence(document_id=home, start=begins, end=begins + len(one.known.words))
                states[one.key] = SpanState("moved", now)
                break
        else:
            rest.append((one, otherwise))
    return states | _searched(rest, texts)


def _searched(
    lost: Sequence[tuple[_Sought, SpanState]], texts: Mapping[str, str]
) -> dict[tuple[int, int], SpanState]:
    """Return the states of evidence in the documents that have most seeds of it."""
    candidates = _candidates([one for one, _ in lost], texts)
    best: dict[int, SpanState] = {}
    for name in filter(candidates.__contains__, texts):  # in the order of the documents
        words = TextWords(texts[name])
        for n in candidates[name]:
            state = _aligned(lost[n][0], words, name)
            if state and (n not in best or _rank(state) > _rank(best[n])):
                best[n] = state
    # Evidence that was changed in its own document is not traded for changed words of another one, nor for
    # words that are no more like it.
    return {
        lost[n][0].key: state
        for n, state in best.items()
        if lost[n][1].state in ("document gone", "evidence gone")
        or (state.state not in STALE and state.similarity > lost[n][1].similarity)
    }


def _candidates(lost: Sequence[_Sought], texts: Mapping[str, str]) -> dict[str, list[int]]:
    """Return document -> which of the spans it may have, as its seeds tell; their own documents left out."""
    wanted: dict[tuple[str, ...], list[int]] = defaultdict(list)
    own = [rough_seeds(one.known.words) for one in lost]
    passages = [
        seeds if len(seeds) >= FAR else rough_seeds(passage_of(one.known)[0])
        for one, seeds in zip(lost, own, strict=True)
    ]
    for n, seeds in enumerate(passages):
        for seed in seeds if len(seeds) >= FAR else ():
            wanted[seed].append(n)
    shared: dict[int, Counter[str]] = defaultdict(Counter)
    for name, text in texts.items() if wanted else ():
        for seed in wanted.keys() & rough_seeds(text):
            for n in wanted[seed]:
                shared[n][name] += lost[n].was.document_id != name
    candidates: dict[str, list[int]] = defaultdict(list)
    for n, counts in shared.items():
        for name, count in sorted(counts.items(), key=lambda pair: -pair[1])[:MOST_DOCUMENTS]:
            if count >= SHARE * len(passages[n]):
                candidates[name].append(n)
    return candidates


def _rank(state: SpanState) -> tuple[float, bool]:
    return state.similarity, state.state not in STALE


def _checked(
    questions: Sequence[Question],
    located: LocatedSpans,
    spans: Mapping[tuple[int, int], SpanState],
    texts: Mapping[str, str],
    kept: set[str],
) -> PlacedEvidence:
    """Return the questions with their evidence where it is, and the gravest state of each."""
    states: dict[str, State] = {}
    because: dict[str, str] = {}
    rows: list[Question] = []
    moved: set[str] = set()
    unplaced: set[str] = set()
    for n, question in enumerate(questions):
        evidence = question.evidence or []
        of_row = [spans.get((n, at)) or _unknown(span, texts) for at, span in enumerate(evidence)]
        row = _replaced(question, of_row)
        worst = _worst(question, of_row, texts) if of_row else _without_evidence(row, texts, kept)
        if worst is not None:
            states[question.id] = worst.state
            if worst.because:
                because[question.id] = worst.because
        if any(one.state not in (*FOUND, "unknown", "document gone") for one in of_row):
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
    if text is None or span.end <= len(text):
        return SpanState("unknown", span)
    ends = f"has {len(text):,} characters, and its evidence ends at {span.end:,}"
    return SpanState("unclear", span, f"Document {span.document_id} {ends}.")


def _worst(question: Question, of_row: Sequence[SpanState], texts: Mapping[str, str]) -> SpanState:
    """Return the gravest state; of a question that has another span with a reference, none that is stale."""
    found = [one for one in of_row if one.state in FOUND]
    there = [one.now for one in found if one.now.document_id in texts]
    held = [texts[now.document_id][now.start : now.end].casefold() for now in there]
    if any(text.casefold() in passage for passage in held for text in references(question) if text):
        of_row = [one for one in of_row if one.state not in STALE]
    return max(of_row, key=lambda one: GRAVITY[one.state])


def _without_evidence(row: Question, texts: Mapping[str, str], kept: set[str]) -> SpanState | None:
    """Return the state of a question that names documents alone, none of which is there; None of others."""
    named = relevant_documents(row)
    if not texts or not named or any(name in texts or name in kept for name in named):
        return None
    nowhere = Evidence(document_id=named[0], start=0, end=0)
    return SpanState("document gone", nowhere, f"Document {named[0]} is not among the documents.{UNTOLD}")


def _replaced(question: Question, of_row: Sequence[SpanState]) -> Question:
    """Return the question with its evidence, and the documents that it names, where they are now."""
    evidence = question.evidence or []
    settled = [one.state in ("moved", "edited") for one in of_row]
    now = [
        one.now if is_settled else span
        for one, span, is_settled in zip(of_row, evidence, settled, strict=True)
    ]
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
