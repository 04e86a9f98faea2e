"""Questions and the decisions of people -> the reviewed set, and what must be looked at again."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from ragstone.features.build import part_path
from ragstone.features.review.decisions import (
    Decision,
    Outcome,
    Quoted,
    Stack,
    changed_fields,
    digest_of,
    net_change,
    outcome_of,
    rejection_text,
    replaced,
    standing,
    values_of,
)
from ragstone.kernel.dataset.evidence import find_evidence
from ragstone.kernel.dataset.placing import SOURCES, remember_sources
from ragstone.kernel.errors import DataError, plural, takes_rows
from ragstone.kernel.records import Document, Evidence, Metadata, Question
from ragstone.kernel.tables import read_rows

TextOf = Callable[[str], str | None]
"""The text of a document by its id; None where there is no such document."""


def quote(spans: Iterable[Evidence] | None, text_of: TextOf) -> list[Quoted] | None:
    """Return evidence with its words, in order; None where there is none.

    Raises DataError for a document that is not there, and for offsets beyond its text.
    """
    quotes = [
        Quoted(document_id=span.document_id, start=span.start, end=span.end, text=_quoted_text(span, text_of))
        for span in spans or ()
    ]
    return quotes or None


def find_again(quoted: Quoted, text: str) -> Evidence | None:
    """Return where the words stand in a text, which may have changed; None where they do not.

    In this order: where they stood; the nearest place with the same characters; the same words but for
    spacing and marks, as `find_evidence` knows them.
    """
    before = text.rfind(quoted.text, 0, quoted.start + len(quoted.text))
    after = text.find(quoted.text, quoted.start)
    starts = [start for start in (before, after) if start >= 0]
    start = min(starts, key=lambda start: abs(start - quoted.start), default=None)
    if start is not None:
        return _span(quoted, start, start + len(quoted.text))
    match = find_evidence(quoted.text, text)
    if match is None or match.how == "fuzzy":
        return None
    return _span(quoted, match.start, match.end)


def find_all(quoted: Sequence[Quoted], text_of: TextOf) -> tuple[list[Evidence], str | None]:
    """Return where all these words stand now, and None; or nothing, and what is missing, in words."""
    spans: list[Evidence] = []
    for quote in quoted:
        text = text_of(quote.document_id)
        if text is None:
            return [], f"the document {quote.document_id!r} of its evidence is gone"
        again = find_again(quote, text)
        if again is None:
            return [], f"the document {quote.document_id!r} has changed: its evidence is no longer there"
        spans.append(again)
    return spans, None


def _quoted_text(span: Evidence, text_of: TextOf) -> str:
    text = text_of(span.document_id)
    if text is None:
        raise DataError(
            f"there is no document {span.document_id!r}: evidence must be in one of the documents"
        )
    if not 0 <= span.start < span.end <= len(text):
        raise DataError(
            f"evidence [{span.start}:{span.end}] is not part of {span.document_id!r}, which has "
            f"{len(text)} characters. Mark it again."
        )
    return text[span.start : span.end]


def _span(quoted: Quoted, start: int, end: int) -> Evidence:
    return Evidence(document_id=quoted.document_id, start=start, end=end)


REVIEW, LOST = "review", "lost"  # in a question's metadata
SHOWN = 10


class ReviewedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question of a review, as it stands after it.

    given: as it was before anybody decided. question: with edits, and metadata `review`; of a rejected one
    with metadata `lost` too. outcome: None where nobody has decided, or what was decided counts no more, for
    the reason in `look`. lost: why the build had lost it, {step, reason, detail?}. moved: the evidence was
    found at another place of its document. left_out: it is undecided, and only what is decided is wanted.
    """

    given: Question
    question: Question
    stack: Stack
    outcome: Outcome | None
    lost: dict[str, str] | None
    look: str | None = None
    moved: bool = False
    left_out: bool = False

    @property
    def in_set(self) -> bool:
        """Whether it belongs to the reviewed set: people say so, or nobody has decided and it was in it."""
        if self.left_out:
            return False
        return self.lost is None if self.outcome is None else self.outcome != "rejected"


class _Anchored(msgspec.Struct, frozen=True, kw_only=True):
    """A question whose evidence has been looked for: why it must be looked at, whether it has moved."""

    question: Question
    look: str | None = None
    moved: bool = False


@takes_rows(questions=Question, documents=Document)
def apply_review(
    questions: Iterable[Question], decisions: Iterable[Decision], documents: Iterable[Document] | None = None
) -> list[Question]:
    """Return the reviewed set: what people accepted or edited, and what was in the set and is undecided.

    questions: those of the set, and any that the build has lost (`metadata.lost`), which people may have
    accepted all the same. documents: where evidence is looked for; without them it is taken as it was
    written. Each question says in `metadata.review` what was decided and by whom; one whose text is not what
    was decided on, or whose evidence no longer stands in its document, is left undecided, without that
    evidence, and says why under `look`. The same questions and decisions give the same set, and applied to
    that set the same again. Raises DataError for a decision that cannot be applied.
    """
    texts = None if documents is None else {document.id: document.text for document in documents}
    items = review_items(questions, decisions, None if texts is None else texts.get)
    return [item.question for item in items if item.in_set]


def review_items(
    questions: Iterable[Question], decisions: Iterable[Decision], text_of: TextOf | None = None
) -> list[ReviewedQuestion]:
    """Return every question with what became of it, in the order given. See `apply_review`."""
    rows = list(questions)
    stacks = standing(decisions)
    _check_known(stacks, rows)
    return [review_item(row, stacks.get(row.id, ()), text_of) for row in rows]


def review_item(question: Question, stack: Stack, text_of: TextOf | None = None) -> ReviewedQuestion:
    """Return what these decisions make of a question."""
    original, lost = unreviewed(question)
    if not stack:
        return ReviewedQuestion(given=original, question=original, stack=stack, outcome=None, lost=lost)
    edited = _edited(original, stack)
    if isinstance(edited, str):
        anchored = _Anchored(question=original, look=edited)
    else:
        anchored = _anchored(edited, original, stack, text_of)
        if outcome_of(stack) == "rejected":  # it stays so, whatever became of its evidence
            anchored = msgspec.structs.replace(anchored, look=None)
    look, now, moved = anchored.look, anchored.question, anchored.moved
    outcome = None if look else outcome_of(stack)
    if now.evidence != original.evidence and SOURCES in (now.metadata or {}) and text_of is not None:
        texts = {span.document_id: text_of(span.document_id) for span in now.evidence or ()}
        now = remember_sources(now, {name: text for name, text in texts.items() if text is not None})
    metadata = {**(now.metadata or {}), **_noted(stack, outcome, lost, look, moved)}
    if outcome is not None and outcome != "rejected":
        metadata.pop(LOST, None)
    return ReviewedQuestion(
        given=original,
        question=msgspec.structs.replace(now, metadata=metadata),
        stack=stack,
        outcome=outcome,
        lost=lost,
        look=look,
        moved=moved,
    )


def left_out(item: ReviewedQuestion) -> ReviewedQuestion:
    """Return an undecided question as one that is not in the set, and says so."""
    lost = {"step": REVIEW, "reason": "undecided"}
    metadata = {**(item.question.metadata or {}), LOST: lost}
    question = msgspec.structs.replace(item.question, metadata=metadata)
    return msgspec.structs.replace(item, question=question, left_out=True)


def unreviewed(question: Question) -> tuple[Question, dict[str, str] | None]:
    """Return a question without what a review said of it, and why the build had lost it, if it had."""
    metadata: Metadata = dict(question.metadata or {})
    review, lost = metadata.pop(REVIEW, None), metadata.get(LOST)
    if isinstance(lost, dict) and lost.get("step") == REVIEW:
        lost = None
        del metadata[LOST]
    if isinstance(review, dict) and isinstance(review.get("rescued"), dict):
        lost = metadata[LOST] = review["rescued"]
    if review is None and metadata == (question.metadata or {}):
        return question, lost
    return msgspec.structs.replace(question, metadata=metadata or None), lost


def documents_after(question: Question, evidence: Sequence[Evidence] | None) -> list[str] | None:
    """Return a question's documents when its evidence becomes this: documents of the old evidence leave."""
    held = {span.document_id for span in question.evidence or ()}
    others = [name for name in question.document_ids or () if name not in held]
    return list(dict.fromkeys([*(span.document_id for span in evidence or ()), *others])) or None


def _check_known(stacks: dict[str, Stack], rows: Sequence[Question]) -> None:
    """Check that what people want in the set is there; a rejected question that is gone may stay so."""
    known = {row.id for row in rows}
    missing = [
        name for name, stack in stacks.items() if name not in known and outcome_of(stack) != "rejected"
    ]
    if missing:
        names = ", ".join(map(repr, missing[:SHOWN]))
        raise DataError(
            f"the review accepts {plural(len(missing), 'question')} that this file lacks: {names}. Is it "
            "the review of another file? Questions that critics rejected are in the file whose name "
            "ends in `.all`: keep it next to the questions."
        )


def _edited(original: Question, stack: Stack) -> Question | str:
    """Return the question with its edits; or why they cannot be made, in words."""
    before, after = net_change(stack)
    texts = [name for name in after.given() if name != "evidence"]  # which may move with its document
    for name in texts:
        if getattr(original, name) not in (getattr(before, name), getattr(after, name)):
            return f"its {name} is not what was edited: the file has changed since"
    reverted = replaced(original, values_of(before, texts))
    seen = next((decision.seen for decision in stack if decision.seen), None)
    if seen is not None and digest_of(reverted) != seen:
        return "its text is not what was decided on: the file has changed since"
    edited = replaced(original, values_of(after, texts))
    if isinstance(after.evidence, list | None):
        ids = documents_after(original, after.evidence)
        edited = msgspec.structs.replace(edited, evidence=after.evidence, document_ids=ids)
    if edited.answerable is False and original.answerable is not False:
        edited = msgspec.structs.replace(edited, document_ids=None)
    return edited


def _anchored(question: Question, original: Question, stack: Stack, text_of: TextOf | None) -> _Anchored:
    """Return the question with its evidence where its words stand now."""
    quoted = quoted_of(stack)
    before, after = net_change(stack)
    spans = [quote.span() for quote in quoted or ()] or None
    located, missing = (spans, None) if text_of is None else find_all(quoted or (), text_of)
    if missing is not None:
        return _Anchored(question=msgspec.structs.replace(question, evidence=None), look=missing)
    expected = [located or None, spans]
    if "evidence" in after.given():
        expected.append(before.evidence or None)
    elif quoted is None:  # none was shown
        return _Anchored(question=question)
    if (original.evidence or None) not in expected:
        return _Anchored(
            question=original, look="its evidence is not what was decided on: the file has changed since"
        )
    now = msgspec.structs.replace(question, evidence=located or None)
    return _Anchored(question=now, moved=(located or None) != spans)


def quoted_of(stack: Stack) -> list[Quoted] | None:
    """Return the evidence as people saw it last; None where it was removed, or never shown."""
    for decision in reversed(stack):
        if decision.evidence or (decision.after is not None and "evidence" in decision.after.given()):
            return decision.evidence
    return None


def _noted(
    stack: Stack, outcome: Outcome | None, lost: dict[str, str] | None, look: str | None, moved: bool
) -> Metadata:
    """Return what the row says of the review, in its metadata."""
    review: Metadata = {"by": list(dict.fromkeys(decision.person for decision in stack))}
    if look is not None:
        return {REVIEW: {"look": look, **review}}
    review = {"decision": outcome, **review}
    if changed_fields(stack):
        review["changed"] = changed_fields(stack)
    if moved:
        review["moved"] = True
    if outcome != "rejected":
        return {REVIEW: {**review, "rescued": lost} if lost else review}
    why = {"step": REVIEW, "reason": "rejected", "detail": rejection_text(stack[-1])}
    return {REVIEW: review, LOST: lost or why}


def read_whole(questions: Path) -> list[Question]:
    """Return the questions of a file, and the lost ones of the file beside it whose name ends in `.all`.

    Raises DataError as read_rows does.
    """
    every = part_path(questions, "all")
    return whole(read_rows(questions, Question), read_rows(every, Question) if every.exists() else ())


def whole(accepted: Iterable[Question], every: Iterable[Question]) -> list[Question]:
    """Return the lost among `every` and the accepted, in the order of `every`; what it lacks comes last.

    A question of `every` that is neither lost nor accepted was taken out of the set by somebody, and stays
    out. Raises DataError for an id that is both accepted and lost.
    """
    left = {row.id: row for row in accepted}
    joined: list[Question] = []
    for row in every:
        _, lost = unreviewed(row)
        rejected = (row.metadata or {}).get("lost") is not None
        if row.id in left:
            if rejected and unreviewed(left[row.id])[1] is None:
                raise DataError(
                    f"question {row.id!r} is accepted in one file and lost in the other: are they "
                    "from one build?"
                )
            joined.append(left.pop(row.id))
        elif rejected or lost is not None:
            joined.append(row)
    return [*joined, *left.values()]
