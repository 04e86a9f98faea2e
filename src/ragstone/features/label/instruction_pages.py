"""The instructions of a queue: their versions, where they leave a gap, and rows that are labelled again."""

import msgspec
from litestar import Response, get, post
from litestar.exceptions import HTTPException
from litestar.params import FromPath, JSONBody

from ragstone.features.agree import gap_lines, gap_rows, spec_gaps
from ragstone.features.label._again import flips_shown
from ragstone.features.label._policies import policy_digest
from ragstone.features.label._queues import GIVEN as GIVEN
from ragstone.features.label._queues import AtQueue, OpenQueue, queues_of
from ragstone.features.label.pages import LABEL, free_queue_name, judgements_of, keep_queue
from ragstone.features.label.queue import queue_again
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Judgement, Label
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
    report = next(iter(spec_gaps(*_graded(app, opened), metric=opened.queue.metric)), None)
    lines = gap_lines(report) if report else None
    texts = {(row.question_id, row.system): row for row in opened.texts}
    return page(
        request,
        "features/label/gaps.html",
        f"Gaps in the instructions of {name}",
        queue=opened.queue,
        lead=lines.lead if lines else "There are no labels yet.",
        gaps=lines.gaps if lines else [],
        texts=texts,
        instructions=opened.versions()[-1].text or "",
        flips=flips_shown(app.part(queues_of), opened),
        free_name=free_queue_name(app, f"{name}-again"),
        label=LABEL,
    )


def _graded(app: AppState, opened: OpenQueue) -> tuple[list[Judgement], list[Label]]:
    """Return the run's judgements, none without the run, and the labels under the instructions that hold."""
    try:
        judgements = judgements_of(app, opened.queue)
    except (HTTPException, DataError):
        judgements = []
    if opened.queue.again_of:
        return judgements, []
    known = {(row.question_id, row.system) for row in opened.texts}
    return judgements, [row for row in opened.labels() if (row.question_id, row.system) in known]


@post("/label/{name:str}/again", sync_to_thread=True, status_code=200, guards=[OWNER])
def label_again(
    request: AnyRequest, app: AtApp, opened: AtQueue, data: JSONBody[AgainForm]
) -> dict[str, str]:
    """Make a queue of rows on which grades differ, for the same people. Raises DataError."""
    if data.n < 1:
        raise DataError(f"{data.n} answers to label again: give 1 or more.")
    report = next(iter(spec_gaps(*_graded(app, opened), metric=opened.queue.metric)), None)
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
