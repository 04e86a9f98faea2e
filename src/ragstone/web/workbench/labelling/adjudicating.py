"""Answers on which annotators differ, and the label that settles each."""

import hashlib

import msgspec
from litestar import Response, get, post
from litestar.params import FromPath, JSONBody

from ragstone.agreement.between import differing
from ragstone.agreement.pairing import is_adjudicated
from ragstone.errors import DataError
from ragstone.records import Label
from ragstone.web.workbench.desk import AtWorkbench
from ragstone.web.workbench.frame import page
from ragstone.web.workbench.labelling.items import LONGEST_COMMENT
from ragstone.web.workbench.labelling.opening import OpenQueue, open_queue
from ragstone.web.workbench.labelling.queues import LABEL
from ragstone.web.workbench.labelling.showing import Shown, shown
from ragstone.web.workbench.person import AnyRequest, person_of

A_PAGE = 20  # open differences; when they are settled the next ones come


class Opinion(msgspec.Struct, frozen=True, kw_only=True):
    """What one annotator gave. annotator: None until it is settled."""

    score: float
    comment: str | None
    annotator: str | None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """An item on which annotators differ. settled: the label that counts, None as long as there is none."""

    item: Shown
    opinions: list[Opinion]
    settled: Opinion | None


class Decision(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The score that shall count."""

    place: int
    score: float
    comment: str | None = None


class Decided(msgspec.Struct, frozen=True):
    """It is on the disk; who had given what, in the order in which it was shown."""

    annotators: list[str]


@get("/label/{name:str}/adjudicate", include_in_schema=False, sync_to_thread=True)
def adjudicate(request: AnyRequest, bench: AtWorkbench, name: FromPath[str]) -> Response[str]:
    """Give the items on which people differ: those that are open, then those that are settled."""
    person_of(request, "owner")
    opened = open_queue(bench, name)
    found = differences(opened)
    unsettled = [one for one in found if one.settled is None]
    return page(
        request,
        "label_adjudicate.html",
        f"Differences in {name}",
        queue=opened.queue,
        grades=list(zip(opened.queue.grades, opened.queue.grade_words(), strict=True)),
        words={f"{g:g}": w for g, w in zip(opened.queue.grades, opened.queue.grade_words(), strict=True)},
        unsettled=unsettled[:A_PAGE],
        n_unsettled=len(unsettled),
        settled=[one for one in found if one.settled],
        label=LABEL,
    )


@post("/label/{name:str}/decide", include_in_schema=False, sync_to_thread=True, status_code=200)
def decide(request: AnyRequest, bench: AtWorkbench, name: FromPath[str], data: JSONBody[Decision]) -> Decided:
    """Keep the label that settles an item; it replaces what the annotators' come to, and they stay.

    Raises DataError for an item on which nobody differs, and for a score off the scale.
    """
    person = person_of(request, "owner")
    opened = open_queue(bench, name)
    before = next((one for one in differences(opened) if one.item.place == data.place), None)
    if before is None:
        raise DataError(
            f"nobody differs on item {data.place + 1} of {name!r} (any more): load the page again."
        )
    comment = (data.comment or "").strip()[:LONGEST_COMMENT]
    opened.marks.adjudicate(person.name, data.place, opened.texts[data.place], data.score, comment)
    bench.audit(request, "difference settled", queue=name, item=data.place + 1)
    after = next(one for one in differences(opened) if one.item.place == data.place)
    return Decided([one.annotator or "" for one in after.opinions])


def differences(opened: OpenQueue) -> list[Difference]:
    """Return the items on which annotators differ, in the order of the queue.

    Who gave what is in no fixed order, and without names until the item is settled.
    """
    queue = opened.queue
    rows_of = differing(opened.marks.labels.rows(), queue.metric)
    found = []
    for place, item in enumerate(queue.items):
        rows = rows_of.get((item.question_id, item.system))
        if rows is None:
            continue
        settled = next((row for row in reversed(rows) if is_adjudicated(row)), None)
        given = sorted(
            (row for row in rows if not is_adjudicated(row)), key=lambda row: _shuffled(place, row)
        )
        text = opened.texts[place]
        found.append(
            Difference(
                item=shown(queue, place, text, opened.contexts(place), None),
                opinions=[_opinion(row, named=settled is not None) for row in given],
                settled=_opinion(settled, named=True) if settled else None,
            )
        )
    return found


def _opinion(row: Label, *, named: bool) -> Opinion:
    return Opinion(score=row.score, comment=row.rationale, annotator=row.annotator if named else None)


def _shuffled(place: int, row: Label) -> bytes:
    """Order annotators anew for each item, the same at each visit, so that a place tells nobody's name."""
    return hashlib.sha256(f"{place}\n{row.annotator}".encode()).digest()


ROUTES = (adjudicate, decide)
