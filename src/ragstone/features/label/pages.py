"""The queues of a workbench: their list, making one from a run, how far each has come, labels in and out."""

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec
from litestar import Response, get, post
from litestar.exceptions import HTTPException, NotFoundException
from litestar.params import FromPath, FromQuery, JSONBody

from ragstone.features.agree import card_document, halving, labelled_share, sequential_sentences, title
from ragstone.features.label._again import flips_shown
from ragstone.features.label._annotators import annotator_agreement
from ragstone.features.label._choosing import NO_SAMPLE, AnswerDraw, Way, way_of
from ragstone.features.label._marking import (
    RESAMPLES,
    LabelledMean,
    MeanReach,
    Progress,
    fitted,
    labelled_means,
    progress_of,
    reach_of,
)
from ragstone.features.label._policies import as_markdown, policy_digest
from ragstone.features.label._queues import GIVEN as GIVEN
from ragstone.features.label._queues import AtQueue, OpenQueue, queues_of
from ragstone.features.label.queue import (
    Material,
    Plan,
    Queue,
    Reference,
    judges_in,
    make_queue,
    write_queue,
)
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.corrected_mean import FEW_LABELS
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.agreement.policies import policy_of
from ragstone.kernel.agreement.sequential import SequentialAgreement, sequential_agreement
from ragstone.kernel.config.python_function import names_function
from ragstone.kernel.decimals import scale_text
from ragstone.kernel.document.html import render_blocks
from ragstone.kernel.errors import ConfigError, DataError, RagstoneError
from ragstone.kernel.judging.judge import Judge
from ragstone.kernel.judging.variant import load_judge
from ragstone.kernel.records import NO_MODEL, Answer, Document, Judgement, Label, Question
from ragstone.kernel.runs.notes import read_notes
from ragstone.kernel.runs.summary import chosen_in
from ragstone.kernel.serve.frame import OWNER, ROOT, AtPerson, Person, page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.rows.files import rows_file
from ragstone.kernel.serve.runs import free_name
from ragstone.kernel.serve.state import AppState, AtApp
from ragstone.kernel.tables import read_rows, write_rows
from ragstone.kernel.tables.formats import READERS


def judgements_of(app: AppState, queue: Queue) -> list[Judgement]:
    """Return what the queue's judge said of all answers of its run.

    Raises NotFoundException or DataError where the run is gone, or has no judgements.
    """
    path = rows_file(app.runs.find(queue.source), "judgements")
    if path is None:
        raise DataError(f"The run {queue.source!r} no longer has judgements.")
    return [
        row for row in read_rows(path, Judgement) if (row.judge, row.metric) == (queue.judge, queue.metric)
    ]


LABEL = f"{ROOT}/label"
NEW = "new"
WAY_WORDS: dict[Way, str] = {
    "stratified": "at random, spread over systems and scores",
    "random": "at random",
    "ppi": "where a label makes the corrected mean most precise",
    "uncertain": "mostly those the judge is unsure about",
    "disagreement": "mostly those on which judges differ",
    "difference": "both answers of two systems, where labels say most about their difference",
    "gaps": "labelled again, because grades differed for the same reason",
    "chosen": "chosen by a filter",
    "picked": "picked by hand",
    "mode": "by what the judge of a failure mode says",
}


class QueueForm(msgspec.Struct, frozen=True, kw_only=True):
    """What the form of a new queue sends. judge: `judge|metric`. scale: as `1-5`, "" for the judge's.

    system_a, system_b: what `difference` compares, of as many questions as n says. where: the filter of
    `chosen`.
    """

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
    system_a: str = ""
    system_b: str = ""
    where: Annotated[str, msgspec.Meta(max_length=2000)] = ""


@get("/label", sync_to_thread=True)
def queues(request: AnyRequest, app: AtApp, person: AtPerson) -> Response[str]:
    """Give the list of queues, with how far each has come."""
    opened, wrong = app.part(queues_of).all()
    return page(
        request,
        "features/label/queues.html",
        "Label",
        queues=[_listed(queue, person) for queue in opened],
        wrong=wrong,
        label=LABEL,
        may_make=person.may("owner"),
        may_label=person.may("annotator"),
    )


def _listed(opened: OpenQueue, person: Person) -> dict[str, object]:
    """Return a queue as the list shows it. mine: labelled and all of whoever looks, None for none."""
    queue, mine = opened.queue, opened.share_of(person.name)
    return {
        "name": queue.name,
        "metric": queue.metric,
        "source": queue.source.partition("/")[2],
        "way": WAY_WORDS[queue.choice.by],
        "n_annotators": len(queue.annotators),
        "progress": progress_of(queue, opened.labels(), opened.marks.skips.rows()),
        "mine": mine if mine[1] else None,
    }


@get("/label/new", sync_to_thread=True, guards=[OWNER])
def new_queue(
    request: AnyRequest,
    app: AtApp,
    person: AtPerson,
    run: FromQuery[str] = "",
    where: FromQuery[str] = "",
) -> Response[str]:
    """Give the form of a new queue: first of which run, then the rest. where: a filter that chooses."""
    judgements = _judgements(app, run) if run else []
    left, wrong = 0, None
    if run and where:
        try:
            left = len(_left(app, run, where))
        except DataError as mistake:
            wrong = str(mistake)
    judges = judges_in(judgements)
    systems = list(dict.fromkeys(row.system for row in judgements))
    return page(
        request,
        "features/label/new.html",
        "New queue",
        run=run,
        runs=[
            entry
            for entry in app.runs.all()
            if all(rows_file(entry.folder, kind) for kind in ("judgements", "answers"))
        ],
        judges=judges,
        ways={
            by: text
            for by, text in WAY_WORDS.items()
            if by not in (*NO_SAMPLE, "mode") and (by != "difference" or len(systems) > 1)
        },
        where=where,
        left=left,
        wrong=wrong,
        systems=systems,
        label=LABEL,
        name=free_queue_name(app, run.partition("/")[2]),
        annotator=person.name,
    )


def free_queue_name(app: AppState, wanted: str) -> str:
    """Return a name for a queue that none has, and no file of labels."""
    taken = {path.stem for path in app.part(queues_of).folder.glob("*.json")}
    taken |= {path.stem for path in app.part(queues_of).labels.glob("*.jsonl")}
    return free_name(wanted, taken.__contains__)


@post("/label/new", sync_to_thread=True, status_code=200, guards=[OWNER])
def make(request: AnyRequest, app: AtApp, data: JSONBody[QueueForm]) -> dict[str, str]:
    """Make a queue from a run. Raises DataError with what keeps it from being made."""
    judge, _, metric = data.judge.rpartition("|")
    if data.n < 1:
        raise DataError(f"{data.n} answers to label: give 1 or more.")
    if data.seed < 0:
        raise DataError(f"The seed {data.seed}: give 0 or more.")
    # The filter that chose these answers, now or when their run was judged.
    chosen = chosen_in(app.runs.find(data.run), data.where if data.by == "chosen" else None)
    strata = ("system", *([data.stratum.strip()] if data.stratum.strip() else []), "score")
    plan = Plan(
        name=data.name.strip(),
        choice=AnswerDraw(
            by=_way(data.by),
            n=data.n,
            metric=metric,
            judge=judge,
            strata=strata,
            seed=data.seed,
            systems=(data.system_a, data.system_b) if data.by == "difference" else msgspec.UNSET,
            where=(chosen and chosen.where) or msgspec.UNSET,
        ),
        scale=_scale(data.scale),
        annotators=[name.strip() for name in data.annotators.split(",") if name.strip()],
        overlap=data.overlap,
        each=data.each,
        reference=data.reference,
        instructions=data.instructions.strip() or None,
    )
    policy = policy_digest(plan.instructions) if plan.instructions else None
    material = _material(app, data.run, judge, metric, policy)
    if data.by == "chosen":
        material = msgspec.structs.replace(material, left=_left(app, data.run, data.where))
    queue, texts = make_queue(plan, material)
    keep_queue(app, queue, texts)
    app.audit(request, "queue made", queue=queue.name, run=data.run, by=data.by, items=len(queue.items))
    return {"go": f"{LABEL}/{queue.name}/progress"}


def _way(name: str) -> Way:
    """Return how a form chooses. Raises DataError for a way that there is not."""
    match name:
        case "difference" | "chosen":
            return name
        case _:
            return way_of(name)


def _left(app: AppState, run: str, where: str) -> list[tuple[str, str]]:
    """Return the answers that a filter leaves. Raises DataError."""
    folder = app.runs.find(run)
    with app.indexes.of(folder, read_notes(folder)) as index:
        return index.answers_left(where)


class AnswerToLabel(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that was picked by hand."""

    run: str
    question: str
    system: str


@post("/label/pick", sync_to_thread=True, status_code=200, guards=[OWNER])
def pick(request: AnyRequest, app: AtApp, data: JSONBody[AnswerToLabel]) -> dict[str, str]:
    """Make a queue of one answer. Its label is no part of a sample, and carries that. Raises DataError."""
    key = (data.question, data.system)
    judged = [row for row in _judgements(app, data.run) if (row.question_id, row.system) == key]
    draw = AnswerDraw(by="picked", n=1)
    name = free_queue_name(app, f"picked-{data.run.partition('/')[2]}")
    first = next((row for row in judged if row.model != NO_MODEL), next(iter(judged), None))
    material = _material(app, data.run, first.judge if first else "", first.metric if first else "", None)
    queue, texts = make_queue(Plan(name=name, choice=draw), material, [key])
    keep_queue(app, queue, texts)
    app.audit(request, "queue made", queue=queue.name, run=data.run, by="picked", items=1)
    return {"go": f"{LABEL}/{queue.name}"}


def keep_queue(app: AppState, queue: Queue, texts: list[Answer]) -> None:
    """Write a queue. Raises DataError where there are labels of that name."""
    if queue.name == NEW:
        raise DataError(f"A queue cannot be called {NEW!r}: its page has that address. Give another name.")
    if (there := app.part(queues_of).labels / f"{queue.name}.jsonl").exists():
        raise DataError(
            f"{there} exists, and this queue's labels would be mixed with those in it. Give the "
            "queue another name."
        )
    write_queue(app.part(queues_of).folder, queue, texts)


def _scale(text: str) -> tuple[float, float] | None:
    """Return a scale written as `1-5` or `0-100`, None for nothing. Raises DataError."""
    if not text.strip():
        return None
    low, _, high = text.strip().rpartition("-")
    try:
        return (float(low), float(high))
    except ValueError:
        raise DataError(
            f"{text!r} is not a scale: write the lowest score, a dash, the highest score, e.g. 1-5."
        ) from None


def _judgements(app: AppState, run: str) -> list[Judgement]:
    path = rows_file(app.runs.find(run), "judgements")
    if path is None:
        raise NotFoundException(f"The run {run!r} has no judgements to choose answers by: judge it first.")
    return list(read_rows(path, Judgement))


def _material(app: AppState, run: str, judge: str, metric: str, policy: str | None) -> Material:
    folder = app.runs.find(run)
    answers, questions = rows_file(folder, "answers"), rows_file(folder, "questions")
    if answers is None:
        raise DataError(f"The run {run!r} has no answers to read. Judge an answer sheet, or `ragstone run`.")
    by_id = {row.id: row for row in read_rows(questions, Question)} if questions else {}
    return Material(
        source=run,
        judgements=_judgements(app, run),
        answers=list(read_rows(answers, Answer)),
        questions=by_id,
        labels=_labels_of(app, run, metric, policy),
        evidence=_evidence(folder, by_id.values()),
        judge=_judge(app, judge),
    )


def _labels_of(app: AppState, run: str, metric: str, policy: str | None) -> list[Label]:
    """Return the labels of other queues of this run and metric, those under this policy or none.

    Of one annotator's twice the last counts.
    """
    labels: dict[tuple[str, str, str | None], Label] = {}
    for opened in app.part(queues_of).all()[0]:
        same = (opened.queue.source, opened.queue.metric) == (run, metric)
        if same and opened.queue.is_sample:
            for row in opened.marks.labels.rows():
                if policy_of(row) not in (None, policy):
                    continue
                labels[row.question_id, row.system, row.annotator] = row
    return list(labels.values())


def _evidence(folder: Path, questions: Iterable[Question]) -> dict[str, list[str]]:
    """Return the passages of the documents that the questions name, by question id."""
    path = rows_file(folder, "documents")
    wanted: dict[str, list[tuple[str, int, int]]] = {}
    for question in questions:
        for span in question.evidence or []:
            wanted.setdefault(span.document_id, []).append((question.id, span.start, span.end))
    passages: dict[str, list[str]] = {}
    for document in read_rows(path, Document) if path and wanted else ():
        for question_id, start, end in wanted.get(document.id, ()):
            passages.setdefault(question_id, []).append(document.text[start:end])
    return passages


def _judge(app: AppState, name: str) -> Judge | None:
    """Return the judge of this name: among those of the settings, else of the library; None for neither."""
    own = [path for path in app.settings.judge.judges if name in (Path(path).stem, path.rpartition(":")[2])]
    shipped = [] if names_function(name) else [name]  # a name out of an address must not be imported
    for known in [*map(app.settings.named, own), *shipped]:
        try:
            return load_judge(known)
        except ConfigError:
            continue
    return None


WITHIN = 0.05  # of the scale: half of an interval that most decisions can live with
FORMS = {"jsonl": "application/x-ndjson", "csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


class Import(msgspec.Struct, frozen=True, kw_only=True):
    """A file of labels as text. file: its name, whose ending tells the format. annotator: of rows without
    one."""

    file: str
    text: str
    annotator: str


@get("/label/{name:str}/progress", sync_to_thread=True)
def progress(
    request: AnyRequest,
    app: AtApp,
    person: AtPerson,
    opened: AtQueue,
    within: FromQuery[float | None] = None,
    trust: FromQuery[float | None] = None,
) -> Response[str]:
    """Give the progress of a queue. within: how near the mean shall be known, in the unit of the labels.

    trust: a bar of kappa, at which the page says that labelling may stop.
    """
    queue, labels = opened.queue, opened.labels()
    low, high = queue.scale
    target = within if within and within > 0 else WITHIN * (high - low)
    blind = is_blind(person, opened)
    skips = opened.marks.skips.rows()
    so_far = progress_of(queue, labels, skips)
    bar = trust if trust and 0 < trust < 1 else None
    is_hidden = blind or not queue.is_sample
    result = LabelledResult() if is_hidden else labelled_result(app, opened, labels, target, bar, so_far)
    return page(
        request,
        "features/label/progress.html",
        f"Progress of {queue.name}",
        queue=queue,
        way=WAY_WORDS[queue.choice.by],
        progress=so_far,
        agreement=annotator_agreement(labels, queue.metric, queue.grades),
        result=result,
        cards=[(title(card), render_blocks(card_document(card).blocks)) for card in result.cards],
        looks=[sequential_sentences(look) for look in result.looks],
        bar=bar,
        halving=halving,
        labelled_share=labelled_share,
        is_blind=blind,
        within=target,
        few=FEW_LABELS,
        label=LABEL,
        forms=FORMS,
        n_earlier=len(opened.earlier()),
        n_versions=len(opened.versions()),
        flips=[] if blind else flips_shown(app.part(queues_of), opened),
    )


def is_blind(person: Person, opened: OpenQueue) -> bool:
    """Return whether judge and systems must not be shown to somebody: an annotator with items to label."""
    n_labelled, n_items = opened.share_of(person.name)
    return person.role == "annotator" and n_labelled < n_items


class LabelledResult(msgspec.Struct, frozen=True, kw_only=True):
    """What the labels of a queue say so far.

    reach: of each system with answers that wait for a label, what people would give in all. people: of the
    other systems, what people gave. cards: how far the judge agrees with them,
    by each of its models, when no answer waits any more; looks: the same until then. wrong: why one of these
    cannot be told.
    """

    reach: list[MeanReach] = []
    people: list[LabelledMean] = []
    cards: list[ReportCard] = []
    looks: list[SequentialAgreement] = []
    wrong: str | None = None


def labelled_result(
    app: AppState,
    opened: OpenQueue,
    labels: list[Label],
    target: float,
    bar: float | None,
    progress: Progress,
) -> LabelledResult:
    """Return what the labels say so far; without the run, what people gave is all that they can say."""
    queue = opened.queue
    means = labelled_means(queue, labels)
    if not labels:
        return LabelledResult()
    if queue.choice.by == "mode":  # `ragstone modes` counts these: the run's judgements are of other metrics
        return LabelledResult(people=means)
    try:
        judgements = judgements_of(app, queue)
        reach = reach_of(queue, judgements, labels, target)
        looks = _looks(judgements, labels, bar)
        cards = [] if progress.n_open else list(report_cards(judgements, labels, resamples=RESAMPLES))
    except HTTPException as mistake:
        return LabelledResult(people=means, wrong=mistake.detail)
    except RagstoneError as mistake:
        return LabelledResult(people=means, wrong=str(mistake))
    predicted = {mean.mean.system for mean in reach}
    people = [mean for mean in means if mean.system not in predicted]
    return LabelledResult(reach=reach, people=people, cards=cards, looks=looks)


def _looks(judgements: list[Judgement], labels: list[Label], bar: float | None) -> list[SequentialAgreement]:
    """Return kappa while labels come in; without a bar the signed error where grades cannot be compared."""
    looks = sequential_agreement(judgements, labels, trust=bar)
    if bar is None and all(look.reason for look in looks):
        errors = sequential_agreement(judgements, labels, measure="error")
        return [error if error.reason is None else look for look, error in zip(looks, errors, strict=True)]
    return list(looks)


@get("/label/{name:str}/export/{form:str}", sync_to_thread=True, guards=[OWNER])
def export(opened: AtQueue, name: FromPath[str], form: FromPath[str]) -> Response[bytes]:
    """Give the labels as jsonl, csv or parquet, with annotators and comments; as md the instructions."""
    if form == "md":
        content = as_markdown(opened.versions(), opened.counts()).encode()
        headers = {"Content-Disposition": f'attachment; filename="{name}-instructions.md"'}
        return Response(content, media_type="text/markdown", headers=headers)
    if form not in FORMS:
        raise NotFoundException(f"Labels can be exported as {', '.join(FORMS)}.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.{form}"
        scale = {"scale": scale_text(*opened.queue.scale)}
        rows = opened.marks.labels.rows()
        write_rows(
            path,
            (msgspec.structs.replace(row, metadata={**(row.metadata or {}), **scale}) for row in rows),
            Label,
        )
        content = path.read_bytes()
    headers = {"Content-Disposition": f'attachment; filename="{name}-labels.{form}"'}
    return Response(content, media_type=FORMS[form], headers=headers)


@post("/label/{name:str}/import", sync_to_thread=True, status_code=200, guards=[OWNER])
def take_in(
    request: AnyRequest,
    app: AtApp,
    person: AtPerson,
    opened: AtQueue,
    name: FromPath[str],
    data: JSONBody[Import],
) -> dict[str, int]:
    """Take in labels of another tool: all of them, or none where one does not fit. Raises DataError."""
    ending = Path(data.file).suffix.lower()
    if ending not in READERS:
        raise DataError(f"{data.file[:100]!r}: the file's name must end in one of {', '.join(READERS)}.")
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
    app.audit(request, "labels imported", queue=name, file=data.file[:100], labels=len(rows), new=n_new)
    return {"n_labels": len(rows), "n_new": n_new}


ROUTES = (queues, new_queue, make, pick, progress, export, take_in)
