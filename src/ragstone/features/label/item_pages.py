"""The screen of an annotator: one item after the other, blind; and the items on which annotators differ."""

import hashlib
from typing import Literal

import msgspec
from litestar import Response, get, post
from litestar.exceptions import ClientException, ServiceUnavailableException
from litestar.params import FromPath, JSONBody

from ragstone.features.label._annotators import differing
from ragstone.features.label._marking import item_for, on_scale
from ragstone.features.label._queues import GIVEN as GIVEN
from ragstone.features.label._queues import AtQueue, ItemShown, OpenQueue, OwnMark, item_text, shown
from ragstone.features.label.pages import LABEL
from ragstone.kernel.agreement.pairing import is_adjudicated
from ragstone.kernel.document.room import PageRoom, length_on_page
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Label
from ragstone.kernel.serve.frame import ANNOTATOR, OWNER, AtPerson, page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AtApp

LONGEST_COMMENT = 4000
LONGEST_ON_A_KEY = 24  # characters; longer meanings of grades stand in the rubric


class Mine(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody has to label: the places of their items in order, and what they gave, by place."""

    places: list[int]
    given: dict[int, OwnMark]


class ItemMark(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an annotator did with an item. comment: of a label, or why it was passed over.

    annotator: whose page it was done on; it may reach us after somebody else has logged in there. policy: of
    the instructions that were read there; None for those that hold now.
    """

    place: int
    annotator: str
    kind: Literal["label", "skip", "withdraw"]
    score: float | None = None
    comment: str | None = None
    policy: str | None = None


@get("/label/{name:str}", sync_to_thread=True, guards=[ANNOTATOR])
def labelling(request: AnyRequest, person: AtPerson, opened: AtQueue) -> Response[str]:
    """Give the screen of an annotator; its script fetches the items."""
    queue = opened.queue
    names = queue.grade_words()
    version = opened.versions()[-1]
    return page(
        request,
        "features/label/item.html",
        f"Label {queue.name}",
        queue=queue,
        grades=list(zip(queue.grades, names, strict=True)),
        is_long=max(map(len, names), default=0) > LONGEST_ON_A_KEY,
        n_mine=len(queue.places_of(person.name)),
        instructions=version.text,
        policy=version.policy,
        n_again=sum(row.annotator == person.name for row in opened.earlier()),
        label=LABEL,
    )


@get("/label/{name:str}/mine", sync_to_thread=True, guards=[ANNOTATOR])
def mine(person: AtPerson, opened: AtQueue) -> Mine:
    """Give the places of one's items and what one gave."""
    own = marks_of(opened, person.name)
    places = opened.queue.places_of(person.name)
    return Mine(places=places, given={place: own[place] for place in places if place in own})


@get("/label/{name:str}/items/{place:int}", sync_to_thread=True, guards=[ANNOTATOR])
def item(person: AtPerson, opened: AtQueue, place: FromPath[int]) -> ItemShown:
    """Give one item, without anything that the judge said or who answered."""
    item_for(opened.queue, person.name, place)
    mark = marks_of(opened, person.name).get(place)
    return shown(opened.queue, place, opened.texts[place], opened.contexts(place), mark)


@get("/label/{name:str}/items/{place:int}/text", sync_to_thread=True, guards=[ANNOTATOR])
def whole_item(person: AtPerson, opened: AtQueue, place: FromPath[int]) -> Response[bytes]:
    """Give the texts of one item whole, as plain text, and nothing that `item` does not give."""
    item_for(opened.queue, person.name, place)
    text = item_text(opened.queue, opened.texts[place])
    return Response(text.encode("utf-8", "replace"), media_type="text/plain")


@post("/label/{name:str}/marks", sync_to_thread=True, status_code=200, guards=[ANNOTATOR])
def mark(person: AtPerson, opened: AtQueue, data: JSONBody[ItemMark]) -> dict[str, bool]:
    """Keep a label or a skip, or take it back. Sent twice, it is kept once.

    A label is of the instructions that its annotator read; `changed` says that others hold by now. Raises
    DataError for what can never be kept, ServiceUnavailableException while the file cannot be written or
    read: then the page keeps the mark, and sends it again.
    """
    if data.annotator != person.name:
        raise ClientException(
            f"{data.annotator} labelled this, but {person.name} is logged in now: nothing was saved.",
            status_code=409,
        )
    item_for(opened.queue, person.name, data.place)
    comment = (data.comment or "").strip()
    if len(comment) > LONGEST_COMMENT:
        raise DataError(
            f"The comment has {len(comment):,} characters; the limit is {LONGEST_COMMENT:,}. Shorten it."
        )
    if data.kind == "label":
        if data.score is None:
            raise DataError("The label has no score: nothing was saved. Give a score on the scale.")
        on_scale(opened.queue, data.score)
    known = [version.policy for version in opened.versions()]
    policy = data.policy or known[-1]
    if policy not in known:
        raise DataError(f"Queue {opened.queue.name!r} has no instructions {policy!r}. Reload the page.")
    try:
        _keep(opened, person.name, data, comment, policy)
    except DataError as mistake:
        raise ServiceUnavailableException(str(mistake)) from None
    return {"saved": True} if policy == known[-1] else {"saved": True, "changed": True}


def _keep(opened: OpenQueue, person: str, done: ItemMark, comment: str, policy: str | None) -> None:
    match done.kind:
        case "label":
            assert done.score is not None
            opened.marks.label(
                person, done.place, opened.texts[done.place], done.score, comment, policy=policy
            )
        case "skip":
            opened.marks.skip(person, done.place, comment, policy=policy)
        case "withdraw":
            opened.marks.withdraw(person, done.place, policy=policy)


def marks_of(opened: OpenQueue, person: str) -> dict[int, OwnMark]:
    """Return what a person gave under the instructions that hold, by place."""
    own: dict[tuple[str, str], OwnMark] = {}
    for skip in opened.marks.skips.rows():
        if skip.annotator == person:
            own[skip.question_id, skip.system] = OwnMark(comment=skip.reason, skipped=True)
    for label in opened.labels():
        if label.annotator == person and label.metric in (None, opened.queue.metric):
            own[label.question_id, label.system] = OwnMark(score=label.score, comment=label.rationale)
    keys = [(item.question_id, item.system) for item in opened.queue.items]
    return {at: own[key] for at, key in enumerate(keys) if key in own}


A_PAGE = 20  # open differences; when they are settled the next ones come


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What one annotator gave. annotator: None until it is settled."""

    score: float
    comment: str | None
    annotator: str | None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """An item on which annotators differ. settled: the label that counts, None as long as there is none."""

    item: ItemShown
    opinions: list[Opinion]
    settled: Opinion | None


class Settling(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The score that shall count."""

    place: int
    score: float
    comment: str | None = None


@get("/label/{name:str}/adjudicate", sync_to_thread=True, guards=[OWNER])
def adjudicate(request: AnyRequest, opened: AtQueue, name: FromPath[str]) -> Response[str]:
    """Give the items on which people differ: those that are open, then those that are settled."""
    items = differences(opened)
    unsettled = [item for item in items if item.settled is None]
    return page(
        request,
        "features/label/adjudicate.html",
        f"Differences in {name}",
        queue=opened.queue,
        grades=list(zip(opened.queue.grades, opened.queue.grade_words(), strict=True)),
        words={f"{g:g}": w for g, w in zip(opened.queue.grades, opened.queue.grade_words(), strict=True)},
        unsettled=unsettled[:A_PAGE],
        n_unsettled=len(unsettled),
        settled=[item for item in items if item.settled],
        label=LABEL,
        as_json=lambda value: msgspec.json.encode(value).decode(),
    )


@post("/label/{name:str}/decide", sync_to_thread=True, status_code=200, guards=[OWNER])
def decide(
    request: AnyRequest,
    app: AtApp,
    person: AtPerson,
    opened: AtQueue,
    name: FromPath[str],
    data: JSONBody[Settling],
) -> dict[str, list[str]]:
    """Keep the label that settles an item; it replaces what the annotators' come to, and they stay.

    Raises DataError for an item on which nobody differs, and for a score off the scale.
    """
    before = next(
        (difference for difference in differences(opened) if difference.item.place == data.place), None
    )
    if before is None:
        raise DataError(f"item {data.place + 1} of {name!r} no longer has differing labels: reload the page.")
    comment = (data.comment or "").strip()[:LONGEST_COMMENT]
    policy = opened.versions()[-1].policy
    opened.marks.adjudicate(
        person.name, data.place, opened.texts[data.place], data.score, comment, policy=policy
    )
    app.audit(request, "difference settled", queue=name, item=data.place + 1)
    after = next(difference for difference in differences(opened) if difference.item.place == data.place)
    return {"annotators": [difference.annotator or "" for difference in after.opinions]}


def differences(opened: OpenQueue) -> list[Difference]:
    """Return the items on which annotators differ, in the order of the queue.

    Who gave what is in no fixed order, and without names until the item is settled.
    """
    queue = opened.queue
    rows_of = differing(opened.labels(), queue.metric)
    items = []
    room = PageRoom(lambda text: length_on_page(msgspec.json.encode(text).decode()))  # JSON in an attribute
    for at, item in enumerate(queue.items):
        rows = rows_of.get((item.question_id, item.system))
        if rows is None:
            continue
        settled = next((row for row in reversed(rows) if is_adjudicated(row)), None)
        # In another order for each item, the same at each visit, so that a place tells nobody's name.
        opinions = sorted(
            (row for row in rows if not is_adjudicated(row)),
            key=lambda row: hashlib.sha256(f"{at}\n{row.annotator}".encode()).digest(),
        )
        text = opened.texts[at]
        items.append(
            Difference(
                item=shown(queue, at, text, opened.contexts(at), None, room),
                opinions=[_opinion(row, named=settled is not None) for row in opinions],
                settled=_opinion(settled, named=True) if settled else None,
            )
        )
    return items


def _opinion(row: Label, *, named: bool) -> Opinion:
    return Opinion(score=row.score, comment=row.rationale, annotator=row.annotator if named else None)


ROUTES = (labelling, mine, item, whole_item, mark, adjudicate, decide)
