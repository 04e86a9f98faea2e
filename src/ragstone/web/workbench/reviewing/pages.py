"""The pages of a review: the sets, the questions of one, one question, the reviewed set as a file."""

from urllib.parse import urlencode

import msgspec
from litestar import Response, get
from litestar.params import FromPath, FromQuery

from ragstone.dataset.reviewing.certified import review_numbers
from ragstone.dataset.reviewing.decisions import REJECTIONS
from ragstone.web.workbench.desk import AtWorkbench
from ragstone.web.workbench.frame import ROOT, page
from ragstone.web.workbench.person import AnyRequest, person_of
from ragstone.web.workbench.reviewing.opened import Opened, open_review
from ragstone.web.workbench.reviewing.sets import sets_to_review
from ragstone.web.workbench.reviewing.views import (
    A_PAGE,
    FROM,
    STATES,
    Chosen,
    chosen_items,
    critics_of,
    line_of,
    neighbours,
    next_open,
    tags_of,
    view_of,
)


@get("/review", include_in_schema=False, sync_to_thread=True)
def review_sets(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give the sets that can be reviewed."""
    person_of(request)
    return page(request, "review_sets.html", "Review", sets=sets_to_review(bench))


@get("/review/{set_id:str}", include_in_schema=False, sync_to_thread=True)
def review_list(
    request: AnyRequest,
    bench: AtWorkbench,
    set_id: FromPath[str],
    at: FromQuery[int] = 1,
) -> Response[str]:
    """Give the questions of a set, those that were asked for, page by page."""
    person_of(request)
    opened = open_review(bench, set_id)
    chosen = _chosen(request)
    numbers = chosen_items(opened, chosen)
    n_pages = max(1, -(-len(numbers) // A_PAGE))
    at = min(max(1, at), n_pages)
    shown = numbers[(at - 1) * A_PAGE : at * A_PAGE]
    first = next_open(opened, chosen, -1)
    return page(
        request,
        "review.html",
        f"Review of {opened.entry.name}",
        opened=opened,
        chosen=chosen,
        query=msgspec.to_builtins(chosen),
        lines=[(line_of(opened.items[number]), _address(opened, number, chosen)) for number in shown],
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


@get("/review/{set_id:str}/question", include_in_schema=False, sync_to_thread=True)
def review_question(
    request: AnyRequest,
    bench: AtWorkbench,
    set_id: FromPath[str],
    question: FromQuery[str],
) -> Response[str]:
    """Give one question with its documents, what critics said, and what may be done with it."""
    person = person_of(request)
    opened = open_review(bench, set_id)
    chosen = _chosen(request)
    item = opened.item(question)
    number = opened.place[question]
    view = view_of(opened, item)
    before, after = neighbours(chosen_items(opened, chosen), number)
    following = next_open(opened, chosen, number)
    back = f"{ROOT}/review/{set_id}?{chosen.query()}"
    return page(
        request,
        "review_question.html",
        item.question.question,
        opened=opened,
        view=view,
        evidence=msgspec.json.encode(view.quoted).decode(),
        number=number + 1,
        before=None if before is None else _address(opened, before, chosen),
        after=None if after is None else _address(opened, after, chosen),
        following=back if following is None else _address(opened, following, chosen),
        back=back,
        counts=opened.counts(),
        states=STATES,
        rejections=REJECTIONS,
        may_decide=person.may("annotator"),
        may_edit=person.may("owner"),
        base=f"{ROOT}/review/{set_id}",
    )


@get("/review/{set_id:str}/reviewed.jsonl", include_in_schema=False, sync_to_thread=True)
def reviewed_file(request: AnyRequest, bench: AtWorkbench, set_id: FromPath[str]) -> Response[bytes]:
    """Give the reviewed set as JSONL: what people accepted or edited, and what is undecided and was in it."""
    person_of(request)
    opened = open_review(bench, set_id)
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


def _chosen(request: AnyRequest) -> Chosen:
    """Return what an address asks for."""
    query = request.query_params
    return Chosen(**{name: query.get(name, "").strip() for name in Chosen.__struct_fields__})


def _address(opened: Opened, number: int, chosen: Chosen) -> str:
    """Return the address of a question's page, which keeps what was asked for."""
    query = {"question": opened.questions[number].id, **msgspec.to_builtins(chosen)}
    return f"{ROOT}/review/{opened.entry.id}/question?{urlencode(query)}"


ROUTES = (review_sets, review_list, review_question, reviewed_file)
