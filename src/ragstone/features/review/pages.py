"""The pages of reviews, and what their scripts ask: to decide, take back, mark words, check an edit."""

import re
from typing import Literal
from urllib.parse import urlencode

import msgspec
from litestar import Response, get, post
from litestar.exceptions import ClientException
from litestar.params import FromPath, FromQuery, JSONBody
from msgspec import UNSET

from ragstone.features.review._certified import review_numbers
from ragstone.features.review._marking import LONGEST, DocumentPart, at_words, marked, show, to_points
from ragstone.features.review._reviews import (
    A_PAGE,
    FROM,
    STATES,
    AtReview,
    OpenReview,
    ReviewFilter,
    chosen_items,
    critics_of,
    line_of,
    neighbours,
    next_open,
    opened_review,
    shown_spans,
    tags_of,
    view_of,
)
from ragstone.features.review._sets import sets_of
from ragstone.features.review._warnings import warnings_of
from ragstone.features.review.applying import ReviewedQuestion, quote
from ragstone.features.review.decisions import (
    FIELDS,
    Decision,
    Quoted,
    Values,
    digest_of,
    replaced,
    values_of,
)
from ragstone.kernel.dataset.candidate import REJECTIONS, Reason
from ragstone.kernel.dataset.evidence import find_evidence
from ragstone.kernel.document.room import MOST_A_TEXT
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Evidence, Question, references
from ragstone.kernel.serve.frame import ANNOTATOR, OWNER, ROOT, AtPerson, page, person_of
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AtApp


@get("/review", sync_to_thread=True)
def review_sets(request: AnyRequest, app: AtApp) -> Response[str]:
    """Give the sets that can be reviewed."""
    return page(request, "features/review/review_sets.html", "Review", sets=app.part(sets_of).to_review())


@get("/review/{set_id:str}", sync_to_thread=True)
def review_list(request: AnyRequest, opened: AtReview, at: FromQuery[int] = 1) -> Response[str]:
    """Give the questions of a set, those that were asked for, page by page."""
    chosen = _chosen(request)
    numbers = chosen_items(opened, chosen)
    n_pages = max(1, -(-len(numbers) // A_PAGE))
    at = min(max(1, at), n_pages)
    on_page = numbers[(at - 1) * A_PAGE : at * A_PAGE]
    first = next_open(opened, chosen, -1)
    return page(
        request,
        "features/review/review.html",
        f"Review of {opened.entry.name}",
        opened=opened,
        chosen=chosen,
        query=list(msgspec.to_builtins(chosen).items()),
        lines=[(line_of(opened.items[number]), _address(opened, number, chosen)) for number in on_page],
        n_found=len(numbers),
        at=at,
        n_pages=n_pages,
        first=None if first is None else _address(opened, first, chosen),
        states=STATES,
        sources=FROM,
        counts=opened.counts(),
        tags=tags_of(opened.questions),
        critics=critics_of(opened.questions),
        numbers=review_numbers(opened.items, opened.threshold),
        rejections=REJECTIONS,
    )


@get("/review/{set_id:str}/question", sync_to_thread=True)
def review_question(
    request: AnyRequest, person: AtPerson, opened: AtReview, set_id: FromPath[str], question: FromQuery[str]
) -> Response[str]:
    """Give one question with its documents, what critics said, and what may be done with it."""
    chosen = _chosen(request)
    item = opened.item(question)
    number = opened.place[question]
    view = view_of(opened, item)
    before, after = neighbours(chosen_items(opened, chosen), number)
    following = next_open(opened, chosen, number)
    back = f"{ROOT}/review/{set_id}?{chosen.query()}"
    evidence = msgspec.json.encode(view["quoted"]).decode()
    edited = [item.question.question, *references(item.question), evidence]
    too_long = max(map(len, edited)) > MOST_A_TEXT  # for the form, which must hold them whole
    return page(
        request,
        "features/review/review_question.html",
        item.question.question,
        opened=opened,
        view=view,
        evidence="[]" if too_long else evidence,
        number=number + 1,
        before=None if before is None else _address(opened, before, chosen),
        after=None if after is None else _address(opened, after, chosen),
        following=back if following is None else _address(opened, following, chosen),
        back=back,
        counts=opened.counts(),
        states=STATES,
        rejections=REJECTIONS,
        may_decide=person.may("annotator"),
        may_edit=person.may("owner") and not too_long,
        too_long=too_long,
        base=f"{ROOT}/review/{set_id}",
    )


@get("/review/{set_id:str}/reviewed.jsonl", sync_to_thread=True)
def reviewed_file(opened: AtReview) -> Response[bytes]:
    """Give the reviewed set as JSONL: what people accepted or edited, and what is undecided and was in it."""
    rows = [msgspec.json.encode(item.question) for item in opened.items if item.in_set]
    return Response(
        b"".join(row + b"\n" for row in rows),
        media_type="application/x-ndjson",
        headers={
            "Content-Disposition": 'attachment; filename="reviewed.jsonl"',
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        },
    )


def _chosen(request: AnyRequest) -> ReviewFilter:
    """Return what an address asks for."""
    query = request.query_params
    return ReviewFilter(**{name: query.get(name, "").strip() for name in ReviewFilter.__struct_fields__})


def _address(opened: OpenReview, number: int, chosen: ReviewFilter) -> str:
    """Return the address of a question's page, which keeps what was asked for."""
    query = {"question": opened.questions[number].id, **msgspec.to_builtins(chosen)}
    return f"{ROOT}/review/{opened.entry.id}/question?{urlencode(query)}"


ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
LONGEST_TEXT = 20_000  # characters of a field that is edited


class QuestionEdit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of a question as an edit wants them; those left alone are absent."""

    question: str | msgspec.UnsetType = UNSET
    reference: str | list[str] | msgspec.UnsetType | None = UNSET
    kind: Literal["open", "true_false", "multi"] | msgspec.UnsetType = UNSET
    answerable: bool | msgspec.UnsetType | None = UNSET
    tags: dict[str, str] | msgspec.UnsetType | None = UNSET
    evidence: list[Quoted] | msgspec.UnsetType | None = UNSET


class Deciding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A decision as the page sends it. stands: the id of the last decision that its reader saw."""

    id: str
    question_id: str
    decision: Literal["accept", "reject", "edit"]
    stands: str
    reason: Reason | None = None
    comment: str | None = None
    change: QuestionEdit | None = None


class Undoing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which decision to take back: the last on a question, or without one the last of whoever asks."""

    id: str
    question_id: str | None = None


class StandingDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What stands for a question, in words, and the id of the last decision."""

    question_id: str
    stands: str
    said: str


class QuestionAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question by its id."""

    question_id: str


class Marking(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was marked in the part `text[start:end]` of a document: UTF-16 units from its beginning, words."""

    document_id: str
    start: int
    end: int
    marked_from: int
    marked_to: int
    words: str


class Seeking(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Words that are to be found in a document."""

    document_id: str
    words: str


class Checking(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question, and how it is to be changed."""

    question_id: str
    change: QuestionEdit


@post("/review/{set_id:str}/decide", sync_to_thread=True)
def decide(request: AnyRequest, app: AtApp, opened: AtReview, data: JSONBody[Deciding]) -> StandingDecision:
    """Keep a decision, and say what stands. 409 where somebody has decided in the meantime."""
    person = person_of(request, needs="owner" if data.decision == "edit" else "annotator")
    item = opened.item(data.question_id)
    fields: dict[str, object] = {}
    if data.decision == "edit":
        now = item.question
        edited, quoted = changed(opened, item, data.change or QuestionEdit())
        names = [name for name in FIELDS if getattr(now, name) != getattr(edited, name)]
        if not names:
            raise ClientException("Nothing was changed. To keep the question as it is, accept it.")
        fields = {"before": values_of(now, names), "after": values_of(edited, names), "evidence": quoted}
    else:
        fields = {"evidence": _whole(opened, item.question)}
    try:
        decision = Decision(
            id=_checked(data.id),
            question_id=data.question_id,
            decision=data.decision,
            person=person.name,
            reason=data.reason,
            comment=(data.comment or "").strip() or None,
            seen=digest_of(item.question),
            **fields,  # type: ignore[arg-type]
        )
    except ValueError as mistake:
        raise ClientException(str(mistake)) from None
    opened.decide(decision, data.stands, person)
    app.audit(request, "review", set=opened.entry.name, question=decision.question_id, did=decision.decision)
    return _standing(opened, data.question_id)


@post("/review/{set_id:str}/undo", sync_to_thread=True, guards=[ANNOTATOR])
def undo(
    request: AnyRequest, app: AtApp, person: AtPerson, opened: AtReview, data: JSONBody[Undoing]
) -> StandingDecision:
    """Take back the last decision on a question, or the last of whoever asks; say what stands."""
    last = opened.last(data.question_id) if data.question_id else opened.last_of(person.name)
    if last is None:
        raise ClientException("There is nothing to undo.")
    decision = Decision(
        id=_checked(data.id),
        question_id=last.question_id,
        decision="undo",
        person=person.name,
        undoes=last.id,
    )
    opened.decide(decision, last.id, person)
    app.audit(request, "review", set=opened.entry.name, question=decision.question_id, did="undo")
    return _standing(opened, last.question_id)


@post("/review/{set_id:str}/stands", sync_to_thread=True)
def stands(opened: AtReview, data: JSONBody[QuestionAsked]) -> StandingDecision:
    """Say what stands for a question now."""
    opened.item(data.question_id)
    return _standing(opened, data.question_id)


@get("/review/{set_id:str}/part", sync_to_thread=True)
def part(
    request: AnyRequest,
    opened: AtReview,
    document: FromQuery[str],
    start: FromQuery[int] = 0,
    end: FromQuery[int] = 2400,
) -> DocumentPart:
    """Give a part of a document in pieces, with evidence marked: `evidence`, a list of spans as JSON."""
    text = _text(opened, document)
    try:
        spans = msgspec.json.decode(request.query_params.get("evidence", "[]"), type=list[Evidence])
    except msgspec.DecodeError as mistake:
        raise ClientException(f"evidence: {mistake}") from None
    start = max(0, start)
    return show(document, text, *at_words(text, start, min(end, start + LONGEST)), spans)


@post("/review/{set_id:str}/mark", sync_to_thread=True, guards=[OWNER])
def mark(opened: AtReview, data: JSONBody[Marking]) -> Quoted:
    """Give what was marked as evidence: of whole characters, offsets in code points, with its words."""
    text = _text(opened, data.document_id)
    if not 0 <= data.start <= data.end <= len(text):
        raise ClientException("This part of the document no longer exists: reload the page.")
    part = text[data.start : data.end]
    if part[to_points(part, data.marked_from) : to_points(part, data.marked_to)] != data.words:
        raise ClientException("The document has changed since it was shown: reload the page.")
    start, end = marked(part, data.marked_from, data.marked_to)
    start, end = start + data.start, end + data.start
    return Quoted(document_id=data.document_id, start=start, end=end, text=text[start:end])


@post("/review/{set_id:str}/find", sync_to_thread=True, guards=[OWNER])
def find(opened: AtReview, data: JSONBody[Seeking]) -> Quoted:
    """Give the place in a document that holds these words, as evidence."""
    text = _text(opened, data.document_id)
    span = find_evidence(data.words[:LONGEST_TEXT], text)
    if span is None:
        raise ClientException("These words are not in the document. Copy them from it.")
    quoted = text[span.start : span.end]
    return Quoted(document_id=data.document_id, start=span.start, end=span.end, text=quoted)


@post("/review/{set_id:str}/check", sync_to_thread=True)
def check(opened: AtReview, data: JSONBody[Checking]) -> dict[str, list[str]]:
    """Say what the checks have against a question as it is being edited."""
    edited, _ = changed(opened, opened.item(data.question_id), data.change)
    return {"warnings": warnings_of(edited, opened.others, opened.text_of)}


def changed(
    opened: OpenReview, item: ReviewedQuestion, change: QuestionEdit
) -> tuple[Question, list[Quoted] | None]:
    """Return a question as an edit wants it, and its evidence with its words.

    Raises DataError for what cannot be: no text, evidence whose words do not stand there, a reference or
    evidence of what no document answers.
    """
    now = item.question
    values = {name: getattr(change, name) for name in FIELDS if name != "evidence"}
    edited = replaced(now, Values(**values))
    quoted: list[Quoted] | None
    if change.evidence is UNSET:
        quoted = _whole(opened, now)
    else:
        quoted = _verified(opened, change.evidence or [])
        edited = replaced(edited, Values(evidence=[span.span() for span in quoted or ()] or None))
    if not edited.question.strip():
        raise DataError("The question is empty. To leave it out of the set, reject it.")
    texts = [
        edited.question,
        *([edited.reference] if isinstance(edited.reference, str) else edited.reference or []),
    ]
    if max(map(len, texts)) > LONGEST_TEXT:
        raise DataError(f"A text is longer than {LONGEST_TEXT:,} characters.")
    if edited.answerable is False and (edited.reference or edited.evidence):
        raise DataError(
            "A question that no document answers has no reference and no evidence. Remove them, or mark "
            "the question as answerable."
        )
    return edited, quoted


def _verified(opened: OpenReview, quoted: list[Quoted]) -> list[Quoted] | None:
    """Return evidence that has been looked up: its words stand where it says. Raises DataError."""
    unique = {(span.document_id, span.start, span.end): span for span in quoted}
    spans = [unique[key].span() for key in sorted(unique)]
    if spans and opened.text_of is None:
        raise DataError("There are no documents, so evidence cannot be marked.")
    spans_now = quote(spans, opened.text_of) if opened.text_of else None
    for span in spans_now or ():
        if unique[span.document_id, span.start, span.end].text != span.text:
            raise DataError(
                f"The document {span.document_id} has changed, and its text is different there. Mark the "
                "evidence again."
            )
    return spans_now


def _whole(opened: OpenReview, question: Question) -> list[Quoted] | None:
    """Return the evidence with its words as it was shown; None where there is none, or not all can be."""
    quoted, wrong = shown_spans(opened, question)
    return None if wrong else quoted or None


def _text(opened: OpenReview, document_id: str) -> str:
    if opened.documents is None:
        raise ClientException("There are no documents with this set.")
    text = opened.documents.text_of(document_id)
    if text is None:
        raise ClientException(f"There is no document {document_id!r}. Check the id in the documents' file.")
    return text


def _standing(opened: OpenReview, question_id: str) -> StandingDecision:
    last = opened.last(question_id)
    sentence = opened.told(question_id) if last else "undecided"
    return StandingDecision(question_id=question_id, stands=last.id if last else "", said=sentence)


def _checked(name: str) -> str:
    if not ID.fullmatch(name):
        raise ClientException("A decision's id has 8 to 64 letters, digits, - or _.")
    return name


ROUTES = (
    *(review_sets, review_list, review_question, reviewed_file),
    *(decide, undo, stands, part, mark, find, check),
)
GIVEN = {"opened": opened_review}
