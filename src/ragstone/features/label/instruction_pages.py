"""The instructions of a queue: their versions, where they leave a gap, and rows that are labelled again."""

import msgspec
from litestar import Response, get, post
from litestar.exceptions import HTTPException
from litestar.params import FromPath, JSONBody

from ragstone.features.agree import (
    SpecGaps,
    gap_evidence,
    gap_name,
    gaps_lead,
    row_grades,
    spec_gaps,
)
from ragstone.features.label._again import flips_shown
from ragstone.features.label._policies import policy_digest
from ragstone.features.label._queues import GIVEN as GIVEN
from ragstone.features.label._queues import AtQueue, OpenQueue, queues_of
from ragstone.features.label.labelling import gap_rows
from ragstone.features.label.pages import LABEL, free_queue_name, judgements_of, keep_queue
from ragstone.features.label.queue import queue_again
from ragstone.kernel.errors import DataError
from ragstone.kernel.serve.frame import OWNER, page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AppState, AtApp


@get("/label/{name:str}/instructions", sync_to_thread=True)
def instructions(request: AnyRequest, opened: AtQueue) -> Response[str]:
    """Give the versions of a queue's instructions, the one that holds first, with the labels under each."""
    versions = opened.versions()
    return page(
        request,
        "features/label/instructions.html",
        f"Instructions of {opened.queue.name}",
        queue=opened.queue,
        versions=[*enumerate(zip(versions, opened.counts(), strict=True), 1)][::-1],
        label=LABEL,
    )


class InstructionsForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The new text of a queue's instructions."""

    instructions: str


@post("/label/{name:str}/instructions", sync_to_thread=True, status_code=200, guards=[OWNER])
def change_instructions(
    request: AnyRequest, app: AtApp, opened: AtQueue, name: FromPath[str], data: JSONBody[InstructionsForm]
) -> dict[str, str]:
    """Make a text the instructions of a queue; earlier labels keep theirs. Raises DataError."""
    if opened.change(data.instructions):
        app.audit(request, "instructions changed", queue=name, policy=policy_digest(data.instructions))
    return {"go": f"{LABEL}/{name}/progress"}


class AgainForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be labelled again: so many of the rows of gaps, in a queue of this name, under this text."""

    name: str
    instructions: str
    n: int = 10


@get("/label/{name:str}/gaps", sync_to_thread=True, guards=[OWNER])
def gaps(request: AnyRequest, app: AtApp, opened: AtQueue, name: FromPath[str]) -> Response[str]:
    """Give the rows on which grades differ for the same stated reason."""
    report = _gaps_of(app, opened)
    texts = {(row.question_id, row.system): row for row in opened.texts}
    return page(
        request,
        "features/label/gaps.html",
        f"Gaps in the instructions of {name}",
        queue=opened.queue,
        lead=gaps_lead(report) if report else "There are no labels yet.",
        gaps=[
            (gap_name(gap), gap_evidence(gap, report), [(row, row_grades(row)) for row in gap.rows])
            for gap in (report.gaps if report else [])
            if report
        ],
        texts=texts,
        instructions=opened.versions()[-1].text or "",
        flips=flips_shown(app.part(queues_of), opened),
        free_name=free_queue_name(app, f"{name}-again"),
        label=LABEL,
    )


def _gaps_of(app: AppState, opened: OpenQueue) -> SpecGaps | None:
    """Return the gaps of the labels under the instructions that hold; without the run, of people alone."""
    try:
        judgements = judgements_of(app, opened.queue)
    except (HTTPException, DataError):
        judgements = []
    known = {(row.question_id, row.system) for row in opened.texts}
    labels = [row for row in opened.labels() if (row.question_id, row.system) in known]
    if opened.queue.again_of:
        labels = []
    return next(iter(spec_gaps(judgements, labels, metric=opened.queue.metric)), None)


@post("/label/{name:str}/again", sync_to_thread=True, status_code=200, guards=[OWNER])
def label_again(
    request: AnyRequest, app: AtApp, opened: AtQueue, data: JSONBody[AgainForm]
) -> dict[str, str]:
    """Make a queue of rows on which grades differ, for the same people. Raises DataError."""
    if data.n < 1:
        raise DataError(f"{data.n} answers to label again: give 1 or more.")
    report = _gaps_of(app, opened)
    rows = gap_rows(report, data.n) if report else []
    if not rows:
        raise DataError("There is no gap, so no row needs another label. Reload the page to see why.")
    keys = [(row.question_id, row.system) for row in rows]
    policy = opened.versions()[-1].policy
    queue = queue_again(opened.queue, data.name.strip(), keys, opened.labels(), data.instructions, policy)
    texts = {(row.question_id, row.system): row for row in opened.texts}
    keep_queue(app, queue, [texts[key] for key in keys])
    app.audit(request, "queue made", queue=queue.name, run=queue.source, by="gaps", items=len(queue.items))
    return {"go": f"{LABEL}/{queue.name}/progress"}


ROUTES = (instructions, change_instructions, gaps, label_again)
