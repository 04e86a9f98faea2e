"""The screen of an annotator: one item after the other, and every mark kept before it is acknowledged."""

from typing import Literal

import msgspec
from litestar import Response, get, post
from litestar.exceptions import ClientException, ServiceUnavailableException
from litestar.params import FromPath, JSONBody

from ragstone.agreement.queueing.marking import item_for, on_scale
from ragstone.agreement.queueing.queue import Queue
from ragstone.errors import DataError
from ragstone.records import Label
from ragstone.web.workbench.desk import AtWorkbench
from ragstone.web.workbench.frame import page
from ragstone.web.workbench.labelling.opening import OpenQueue, open_queue
from ragstone.web.workbench.labelling.queues import LABEL
from ragstone.web.workbench.labelling.showing import Given, Shown, shown
from ragstone.web.workbench.person import AnyRequest, person_of

LONGEST_COMMENT = 4000
LONGEST_ON_A_KEY = 24  # characters; longer meanings of grades stand in the rubric


class Mine(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody has to label: the places of their items in order, and what they gave, by place."""

    places: list[int]
    given: dict[int, Given]


class Mark(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an annotator did with an item. comment: of a label, or why it was passed over.

    annotator: whose page it was done on; it may reach us after somebody else has logged in there.
    """

    place: int
    annotator: str
    kind: Literal["label", "skip", "withdraw"]
    score: float | None = None
    comment: str | None = None


class Saved(msgspec.Struct, frozen=True):
    """The mark is on the disk."""

    saved: bool = True


@get("/label/{name:str}", include_in_schema=False, sync_to_thread=True)
def labelling(request: AnyRequest, bench: AtWorkbench, name: FromPath[str]) -> Response[str]:
    """Give the screen of an annotator; its script fetches the items."""
    person = person_of(request, "annotator")
    queue = open_queue(bench, name).queue
    words = queue.grade_words()
    return page(
        request,
        "label_item.html",
        f"Label {queue.name}",
        queue=queue,
        grades=list(zip(queue.grades, words, strict=True)),
        is_long=max(map(len, words), default=0) > LONGEST_ON_A_KEY,
        n_mine=len(queue.places_of(person.name)),
        label=LABEL,
    )


@get("/label/{name:str}/mine", include_in_schema=False, sync_to_thread=True)
def mine(request: AnyRequest, bench: AtWorkbench, name: FromPath[str]) -> Mine:
    """Give the places of one's items and what one gave."""
    person = person_of(request, "annotator")
    opened = open_queue(bench, name)
    given = _given(opened, person.name)
    places = opened.queue.places_of(person.name)
    return Mine(places=places, given={place: given[place] for place in places if place in given})


@get("/label/{name:str}/items/{place:int}", include_in_schema=False, sync_to_thread=True)
def item(request: AnyRequest, bench: AtWorkbench, name: FromPath[str], place: FromPath[int]) -> Shown:
    """Give one item, without anything that the judge said or who answered."""
    person = person_of(request, "annotator")
    opened = open_queue(bench, name)
    item_for(opened.queue, person.name, place)
    given = _given(opened, person.name).get(place)
    return shown(opened.queue, place, opened.texts[place], opened.contexts(place), given)


@post("/label/{name:str}/marks", include_in_schema=False, sync_to_thread=True, status_code=200)
def mark(request: AnyRequest, bench: AtWorkbench, name: FromPath[str], data: JSONBody[Mark]) -> Saved:
    """Keep a label or a skip, or take it back. Sent twice, it is kept once.

    Raises DataError for what can never be kept, ServiceUnavailableException while the file cannot be written
    or read: then the page keeps the mark, and sends it again.
    """
    person = person_of(request, "annotator")
    opened = open_queue(bench, name)
    if data.annotator != person.name:
        raise ClientException(
            f"This was labelled by {data.annotator}, and {person.name} is logged in now: nothing was saved.",
            status_code=409,
        )
    item_for(opened.queue, person.name, data.place)
    comment = (data.comment or "").strip()
    if len(comment) > LONGEST_COMMENT:
        raise DataError(
            f"The comment has {len(comment):,} characters: {LONGEST_COMMENT:,} are kept. Shorten it."
        )
    if data.kind == "label":
        if data.score is None:
            raise DataError("A label without a score: nothing was saved. Give one of the scale.")
        on_scale(opened.queue, data.score)
    try:
        _keep(opened, person.name, data, comment)
    except DataError as mistake:
        raise ServiceUnavailableException(str(mistake)) from None
    return Saved()


def _keep(opened: OpenQueue, person: str, done: Mark, comment: str) -> None:
    match done.kind:
        case "label":
            assert done.score is not None
            opened.marks.label(person, done.place, opened.texts[done.place], done.score, comment)
        case "skip":
            opened.marks.skip(person, done.place, comment)
        case "withdraw":
            opened.marks.withdraw(person, done.place)


def _given(opened: OpenQueue, person: str) -> dict[int, Given]:
    """Return what a person gave, by place."""
    own: dict[tuple[str, str], Given] = {}
    for skip in opened.marks.skips.rows():
        if skip.annotator == person:
            own[skip.question_id, skip.system] = Given(comment=skip.reason, skipped=True)
    for label in opened.marks.labels.rows():
        if _is_own(opened.queue, label, person):
            own[label.question_id, label.system] = Given(score=label.score, comment=label.rationale)
    keys = [(one.question_id, one.system) for one in opened.queue.items]
    return {place: own[key] for place, key in enumerate(keys) if key in own}


def _is_own(queue: Queue, label: Label, person: str) -> bool:
    return label.annotator == person and label.metric in (None, queue.metric)


ROUTES = (labelling, mine, item, mark)
