"""The list of queues, and making one from a run."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from litestar import Response, get, post
from litestar.exceptions import NotFoundException
from litestar.params import FromQuery, JSONBody

from ragstone.agreement.queueing.choosing import Choice, Way, way_of
from ragstone.agreement.queueing.marking import Progress, Skip, progress_of
from ragstone.agreement.queueing.queue import (
    Material,
    Plan,
    Queue,
    Reference,
    judges_in,
    make_queue,
    write_queue,
)
from ragstone.errors import ConfigError, DataError
from ragstone.judging.judge import Judge
from ragstone.judging.variant import load_judge
from ragstone.records import Answer, Document, Judgement, Label, Question
from ragstone.tables import read_rows
from ragstone.web.workbench.desk import AtWorkbench, Workbench
from ragstone.web.workbench.frame import ROOT, page
from ragstone.web.workbench.labelling.opening import broken_queues, folder_of, queues_of
from ragstone.web.workbench.person import AnyRequest, Person, person_of
from ragstone.web.workbench.rows.files import rows_file
from ragstone.web.workbench.runs import RunEntry, find_run, runs_of

LABEL = f"{ROOT}/label"
NEW = "new"
WAY_WORDS: dict[Way, str] = {
    "stratified": "at random, spread over systems and scores",
    "random": "at random",
    "ppi": "where a label narrows the corrected mean most",
    "uncertain": "mostly those the judge is unsure of",
    "disagreement": "mostly those on which judges differ",
}


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A queue in the list. mine: labelled and all of whoever looks, None if none is theirs."""

    name: str
    metric: str
    source: str
    way: str
    n_annotators: int
    progress: Progress
    mine: tuple[int, int] | None


class QueueForm(msgspec.Struct, frozen=True, kw_only=True):
    """What the form of a new queue sends. judge: `judge|metric`. scale: as `1-5`, "" for the judge's."""

    name: str
    run: str
    judge: str
    by: str
    n: int
    scale: str = ""
    annotators: str = ""
    overlap: float = 0.0
    each: int = 2
    reference: Reference = "folded"
    instructions: str = ""
    stratum: str = ""
    seed: int = 0


class Made(msgspec.Struct, frozen=True):
    """Where the new queue stands."""

    go: str


@get("/label", include_in_schema=False, sync_to_thread=True)
def queues(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give the list of queues, with how far each has come."""
    person = person_of(request)
    listed = [
        _listed(opened.queue, opened.marks.labels.rows(), opened.marks.skips.rows(), person)
        for opened in queues_of(bench)
    ]
    return page(
        request,
        "label_queues.html",
        "Label",
        queues=listed,
        wrong=broken_queues(bench),
        label=LABEL,
        may_make=person.may("owner"),
        may_label=person.may("annotator"),
    )


def _listed(queue: Queue, labels: Sequence[Label], skips: Sequence[Skip], person: Person) -> Listed:
    places = queue.places_of(person.name)
    own = {(row.question_id, row.system) for row in labels if row.annotator == person.name}
    n_own = sum((queue.items[at].question_id, queue.items[at].system) in own for at in places)
    return Listed(
        name=queue.name,
        metric=queue.metric,
        source=queue.source.partition("/")[2],
        way=WAY_WORDS[queue.choice.by],
        n_annotators=len(queue.annotators),
        progress=progress_of(queue, labels, skips),
        mine=(n_own, len(places)) if places else None,
    )


@get("/label/new", include_in_schema=False, sync_to_thread=True)
def new_queue(request: AnyRequest, bench: AtWorkbench, run: FromQuery[str] = "") -> Response[str]:
    """Give the form of a new queue: first of which run, then the rest."""
    person = person_of(request, "owner")
    judges = judges_in(_judgements(bench, run)) if run else []
    return page(
        request,
        "label_new.html",
        "A new queue",
        run=run,
        runs=[entry for entry in runs_of(bench) if _has_rows(entry)],
        judges=judges,
        ways=WAY_WORDS,
        label=LABEL,
        name=_free_name(bench, run),
        annotator=person.name,
    )


def _has_rows(entry: RunEntry) -> bool:
    return all(rows_file(entry.folder, kind) for kind in ("judgements", "answers"))


def _free_name(bench: Workbench, run: str) -> str:
    base = "".join(
        sign if sign.isascii() and sign.isalnum() else "-" for sign in run.partition("/")[2]
    ).strip("-")
    base = base[:50] or "queue"
    taken = {path.stem for path in folder_of(bench).glob("*.json")}
    taken |= {path.stem for path in bench.labels.glob("*.jsonl")}
    return next(
        name for n in range(1, len(taken) + 2) if (name := base if n == 1 else f"{base}-{n}") not in taken
    )


@post("/label/new", include_in_schema=False, sync_to_thread=True, status_code=200)
def make(request: AnyRequest, bench: AtWorkbench, data: JSONBody[QueueForm]) -> Made:
    """Make a queue from a run. Raises DataError with what keeps it from being made."""
    person_of(request, "owner")
    judge, _, metric = data.judge.rpartition("|")
    if data.n < 1:
        raise DataError(f"{data.n} answers to label: give 1 or more.")
    if data.seed < 0:
        raise DataError(f"The seed {data.seed}: give 0 or more.")
    if data.name == NEW:
        raise DataError(f"A queue cannot be called {NEW!r}: its page has that address. Give another name.")
    strata = ("system", *([data.stratum.strip()] if data.stratum.strip() else []), "score")
    plan = Plan(
        name=data.name.strip(),
        choice=Choice(
            by=way_of(data.by), n=data.n, metric=metric, judge=judge, strata=strata, seed=data.seed
        ),
        scale=_scale(data.scale),
        annotators=[name.strip() for name in data.annotators.split(",") if name.strip()],
        overlap=data.overlap,
        each=data.each,
        reference=data.reference,
        instructions=data.instructions.strip() or None,
    )
    queue, texts = make_queue(plan, _material(bench, data.run, judge, metric))
    if (there := bench.labels / f"{queue.name}.jsonl").exists():
        raise DataError(
            f"{there} exists: labels of this queue would be mixed with those. Give the queue another name."
        )
    write_queue(folder_of(bench), queue, texts)
    bench.audit(request, "queue made", queue=queue.name, run=data.run, by=data.by, items=len(queue.items))
    return Made(go=f"{LABEL}/{queue.name}/progress")


def _scale(text: str) -> tuple[float, float] | None:
    """Return a scale written as `1-5` or `0-100`, None for nothing. Raises DataError."""
    if not text.strip():
        return None
    low, _, high = text.strip().rpartition("-")
    try:
        return (float(low), float(high))
    except ValueError:
        raise DataError(
            f"{text!r} is no scale: write the lowest score, a dash, the highest, e.g. 1-5."
        ) from None


def _judgements(bench: Workbench, run: str) -> list[Judgement]:
    path = rows_file(find_run(bench, run), "judgements")
    if path is None:
        raise NotFoundException(f"The run {run!r} has no judgements to choose answers by: judge it first.")
    return list(read_rows(path, Judgement))


def _material(bench: Workbench, run: str, judge: str, metric: str) -> Material:
    folder = find_run(bench, run)
    answers, questions = rows_file(folder, "answers"), rows_file(folder, "questions")
    if answers is None:
        raise DataError(f"The run {run!r} has no answers to read. Judge an answer sheet, or `ragstone run`.")
    asked = {row.id: row for row in read_rows(questions, Question)} if questions else {}
    return Material(
        source=run,
        judgements=_judgements(bench, run),
        answers=list(read_rows(answers, Answer)),
        questions=asked,
        labels=_labels_of(bench, run, metric),
        evidence=_evidence(folder, asked.values()),
        judge=_judge(bench, judge),
    )


def _labels_of(bench: Workbench, run: str, metric: str) -> list[Label]:
    """Return the labels of other queues of this run and metric; of one annotator's twice the last counts."""
    found: dict[tuple[str, str, str | None], Label] = {}
    for opened in queues_of(bench):
        if (opened.queue.source, opened.queue.metric) == (run, metric):
            for row in opened.marks.labels.rows():
                found[row.question_id, row.system, row.annotator] = row
    return list(found.values())


def _evidence(folder: Path, questions: Iterable[Question]) -> dict[str, list[str]]:
    """Return the passages of the documents that the questions name, by question id."""
    path = rows_file(folder, "documents")
    wanted: dict[str, list[tuple[str, int, int]]] = {}
    for question in questions:
        for span in question.evidence or []:
            wanted.setdefault(span.document_id, []).append((question.id, span.start, span.end))
    found: dict[str, list[str]] = {}
    for document in read_rows(path, Document) if path and wanted else ():
        for question_id, start, end in wanted.get(document.id, ()):
            found.setdefault(question_id, []).append(document.text[start:end])
    return found


def _judge(bench: Workbench, name: str) -> Judge | None:
    """Return the judge of this name: among those of the settings, else of the library; None for neither."""
    own = [one for one in bench.settings.judge.judges if Path(one).stem == name]
    for known in [*(bench.settings.named(one) for one in own), name]:
        try:
            return load_judge(known)
        except ConfigError:
            continue
    return None


ROUTES = (queues, new_queue, make)
