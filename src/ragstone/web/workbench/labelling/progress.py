"""How far a queue has come, how well its annotators agree, how sure its mean is; labels in and out."""

import tempfile
from pathlib import Path

import msgspec
from litestar import Response, get, post
from litestar.exceptions import HTTPException, NotFoundException
from litestar.params import FromPath, FromQuery, JSONBody

from ragstone.agreement.between import annotator_agreement
from ragstone.agreement.corrected import FEW_LABELS
from ragstone.agreement.queueing.marking import Reach, fitted, progress_of, reach_of
from ragstone.errors import DataError, RagstoneError
from ragstone.records import Label
from ragstone.report.corrected import halving, labelled_share
from ragstone.tables import read_rows, write_rows
from ragstone.tables.reading import READERS
from ragstone.web.workbench.desk import AtWorkbench, Workbench
from ragstone.web.workbench.frame import page
from ragstone.web.workbench.labelling.opening import OpenQueue, judgements_of, open_queue
from ragstone.web.workbench.labelling.queues import LABEL, WAY_WORDS
from ragstone.web.workbench.person import AnyRequest, Person, person_of

WITHIN = 0.05  # of the scale: half of an interval that most decisions can live with
FORMS = {"jsonl": "application/x-ndjson", "csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


class Import(msgspec.Struct, frozen=True, kw_only=True):
    """A file of labels as text. file: its name, whose ending tells the format. annotator: of rows without
    one."""

    file: str
    text: str
    annotator: str


class Taken(msgspec.Struct, frozen=True):
    """How many labels of a file were new or changed one that was there."""

    n_labels: int
    n_new: int


@get("/label/{name:str}/progress", include_in_schema=False, sync_to_thread=True)
def progress(
    request: AnyRequest, bench: AtWorkbench, name: FromPath[str], within: FromQuery[float | None] = None
) -> Response[str]:
    """Give the progress of a queue. within: how near the mean shall be known, in the unit of the labels."""
    person = person_of(request)
    opened = open_queue(bench, name)
    queue, labels = opened.queue, opened.marks.labels.rows()
    low, high = queue.scale
    target = within if within and within > 0 else WITHIN * (high - low)
    is_blind = _is_blind(opened, person)
    reach, wrong = ([], None) if is_blind else _reach(bench, opened, labels, target)
    return page(
        request,
        "label_progress.html",
        f"Progress of {queue.name}",
        queue=queue,
        way=WAY_WORDS[queue.choice.by],
        progress=progress_of(queue, labels, opened.marks.skips.rows()),
        agreement=annotator_agreement(labels, queue.metric, queue.grades),
        reach=reach,
        halving=halving,
        labelled_share=labelled_share,
        wrong=wrong,
        is_blind=is_blind,
        within=target,
        few=FEW_LABELS,
        label=LABEL,
        forms=FORMS,
    )


def _is_blind(opened: OpenQueue, person: Person) -> bool:
    """Return whether somebody still has items to label, so that judge and systems must not be shown yet."""
    if person.role != "annotator":
        return False
    own = {
        (row.question_id, row.system) for row in opened.marks.labels.rows() if row.annotator == person.name
    }
    items = [opened.queue.items[place] for place in opened.queue.places_of(person.name)]
    return any((one.question_id, one.system) not in own for one in items)


def _reach(
    bench: Workbench, opened: OpenQueue, labels: list[Label], target: float
) -> tuple[list[Reach], str | None]:
    """Return the means so far; else none, and why."""
    if not labels:
        return [], None
    try:
        return reach_of(opened.queue, judgements_of(bench, opened.queue), labels, target), None
    except HTTPException as mistake:
        return [], mistake.detail
    except RagstoneError as mistake:
        return [], str(mistake)


@get("/label/{name:str}/export/{form:str}", include_in_schema=False, sync_to_thread=True)
def export(
    request: AnyRequest, bench: AtWorkbench, name: FromPath[str], form: FromPath[str]
) -> Response[bytes]:
    """Give the labels as a file: jsonl, csv or parquet, with annotators and comments."""
    person_of(request, "owner")
    opened = open_queue(bench, name)
    if form not in FORMS:
        raise NotFoundException(f"Labels are to be had as {', '.join(FORMS)}.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.{form}"
        write_rows(path, opened.marks.labels.rows(), Label)
        content = path.read_bytes()
    headers = {"Content-Disposition": f'attachment; filename="{name}-labels.{form}"'}
    return Response(content, media_type=FORMS[form], headers=headers)


@post("/label/{name:str}/import", include_in_schema=False, sync_to_thread=True, status_code=200)
def take_in(request: AnyRequest, bench: AtWorkbench, name: FromPath[str], data: JSONBody[Import]) -> Taken:
    """Take in labels of another tool: all of them, or none where one does not fit. Raises DataError."""
    person = person_of(request, "owner")
    opened = open_queue(bench, name)
    ending = Path(data.file).suffix.lower()
    if ending not in READERS:
        raise DataError(f"{data.file[:100]!r}: its ending is none of {', '.join(READERS)}.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{ending}"
        path.write_text(data.text, encoding="utf-8")
        try:
            rows = fitted(
                opened.queue, opened.texts, read_rows(path, Label), data.annotator.strip() or person.name
            )
        except RagstoneError as mistake:
            raise type(mistake)(str(mistake).replace(str(path), data.file)) from None
    n_new = opened.marks.labels.put(rows)
    bench.audit(request, "labels imported", queue=name, file=data.file[:100], labels=len(rows), new=n_new)
    return Taken(len(rows), n_new)


ROUTES = (progress, export, take_in)
