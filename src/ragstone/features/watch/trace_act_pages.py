"""What people do with traces: judge the answers of those they ticked, have them labelled, add their questions
to a data set, and write notes.
"""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from litestar import Response, get, post
from litestar.exceptions import NotFoundException, PermissionDeniedException
from litestar.params import FromPath, FromQuery, JSONBody

from ragstone.features.watch._trace_query import TraceQuery
from ragstone.features.watch._trace_view import exchanges_in
from ragstone.features.watch.trace_pages import notes_folder, traces_asked
from ragstone.kernel.agreement.policies import BY_HAND
from ragstone.kernel.config import Settings
from ragstone.kernel.console.forms import Expected, models_of, settings_of
from ragstone.kernel.engine.session import Session, forecast_of
from ragstone.kernel.errors import DataError, RagstoneError, explaining, plural
from ragstone.kernel.judging import Judge, judge_names
from ragstone.kernel.judging.unnamed_model import IN_SETTINGS, check_model_named
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.privacy.masking import mask_texts, own_words
from ragstone.kernel.records import Answer, Judgement, Question
from ragstone.kernel.runs.notes import Note, add_note, read_notes, remove_note
from ragstone.kernel.runs.summary import ChosenAnswers, RunSummary
from ragstone.kernel.serve.frame import ANNOTATOR, OWNER, ROOT, AtPerson, page
from ragstone.kernel.serve.jobs import JobState, JudgeRun, caps_of_form
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.runs import free_name
from ragstone.kernel.serve.state import AppState, AtApp
from ragstone.kernel.stages.forecasting import hear_judging
from ragstone.kernel.stages.judge import judge_rows
from ragstone.kernel.stages.notes import JudgementTally
from ragstone.kernel.tables import parse_rows, read_rows, write_rows
from ragstone.kernel.tables.names import question_key

MOST_CHOSEN = 5_000  # traces that are judged or added at once
FEW = 5  # that are named on the page
LONGEST_NAME = 80
FREE = ("no_refusal", "grounding")  # judges that ask no model, and read no reference: offered first
Act = Literal["judge", "label", "set"]


class ChosenTraces(msgspec.Struct, frozen=True, kw_only=True):
    """Which traces: these, or all that a filter in words leaves."""

    ids: Annotated[list[str], msgspec.Meta(max_length=MOST_CHOSEN)] = []
    every: bool = False
    where: str = ""


class JudgeTraces(ChosenTraces, frozen=True, kw_only=True):
    """How they are judged. name: of the run. model: "" for the one set."""

    name: str
    judges: list[str]
    model: str = ""
    budget: str = ""


class AddToSet(ChosenTraces, frozen=True, kw_only=True):
    """The data set that their questions go to: a folder of the project."""

    name: str


class AddedQuestions(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the questions. there: that the set had already."""

    added: int
    there: int
    path: str


@get("/traces/chosen", sync_to_thread=True, guards=[OWNER])
def chosen(
    request: AnyRequest, app: AtApp, act: FromQuery[Act] = "judge", where: FromQuery[str] = ""
) -> Response[str]:
    """Give the page on which it is said what is done with chosen traces."""
    every = "all" in request.query_params
    wanted = ChosenTraces(
        ids=list(dict.fromkeys(request.query_params.getall("id", []))), every=every, where=where
    )
    with traces_asked(app) as index:
        ids = _ids(index, wanted)
        rows = index.named(ids[:FEW])
        n = len(ids)
    settings = app.settings
    taken = {entry.name for entry in app.runs.all()}
    named = [str(name) for name in settings.judge.judges]
    judges = _offered(settings, [*FREE, *named, *judge_names()])
    first = [each for each in judges if each.name in (*FREE, *named)]
    titles = {
        "judge": "Judge the answers of {}",
        "label": "Label the answers of {}",
        "set": "Add the questions of {} to a data set",
    }
    return page(
        request,
        "features/watch/chosen.html",
        titles[act].format(plural(n, "trace")),
        act=act,
        wanted=wanted,
        rows=rows,
        n=n,
        first=first,
        others=[each for each in judges if each not in first],
        models=models_of(settings),
        name=free_name("traces", taken.__contains__),
    )


class OfferedJudge(NamedTuple):
    """A judge to choose. name: as it is named to load it."""

    name: str
    asks_model: bool


def _offered(settings: Settings, names: Sequence[str]) -> list[OfferedJudge]:
    """Return the judges that can score an answer of production, which has no reference, nor a rival."""
    offered = []
    for name in dict.fromkeys(names):
        try:
            (judge,) = load_judges([settings.named(name)])
        except RagstoneError:
            continue  # the page of judges says what is wrong with it
        if not {"reference", "role"} & set(judge.inputs) and not judge.compares_two:
            offered.append(OfferedJudge(name, judge.needs_model))
    return offered


def _ids(index: TraceQuery, wanted: ChosenTraces) -> list[str]:
    """Return the ids of chosen traces that are there. Raises DataError for none, and for too many."""
    if wanted.every:
        ids = index.ids(wanted.where, MOST_CHOSEN + 1)
    else:
        ids = [row.id for row in index.named(wanted.ids)]
    if len(ids) > MOST_CHOSEN:
        raise DataError(
            f"More than {MOST_CHOSEN:,} traces match the filter: narrow it, or judge them in a terminal "
            "with ragstone judge and --where."
        )
    if not ids:
        raise DataError("No trace is chosen: go back to the list and tick some.")
    return ids


def _answers(app: AppState, wanted: ChosenTraces) -> list[Answer]:
    """Return the answers of chosen traces, as an answer sheet has them."""
    rows = []
    with traces_asked(app) as index:
        for trace in _ids(index, wanted):
            rows += exchanges_in(index.lines(trace), trace)
    if not rows:
        raise DataError("Nothing was asked in these traces, so there is no answer. Choose others.")
    return parse_rows([{"system": "traces", **row} for row in rows], Answer)


def _task(app: AppState, data: JudgeTraces) -> tuple[list[Answer], list[Judge], Settings, Path]:
    """Return answers, judges, settings and the folder of the run. Raises what keeps it from being judged."""
    if not data.judges:
        raise DataError("No judge is chosen: tick one or more.")
    settings = settings_of(app.settings, data.model)
    judges = load_judges(map(settings.named, data.judges))
    check_model_named(judges, settings.judge.model, f"{IN_SETTINGS} Or choose judges that ask none.")
    return _answers(app, data), judges, settings, _folder(app, data.name)


def _folder(app: AppState, name: str) -> Path:
    """Return the folder of a new run. Raises DataError for a name that cannot be one, or is taken."""
    name = name.strip()
    if not re.fullmatch(r"[\w][\w.-]*", name) or len(name) > LONGEST_NAME:
        raise DataError(
            f"{name!r} cannot be the name of a run: use letters, digits, - and _, such as traces-2."
        )
    folder = app.runs.folders[0] / name
    if folder.exists() or app.jobs.running(_job(name)):
        raise DataError(f"There is a run {name!r} already: give this one another name.")
    return folder


def _job(name: str) -> str:
    return f"judging of traces {name}"


@post("/traces/judge/forecast", status_code=200, sync_to_thread=True, guards=[OWNER])
def forecast(app: AtApp, data: JSONBody[JudgeTraces]) -> Expected:
    """Give what judging would ask; nobody is asked."""
    answers, judges, settings, _ = _task(app, data)
    expected = Expected.by(forecast_of(settings, partial(hear_judging, lambda: answers, judges)))
    return msgspec.structs.replace(expected, lines=[f"{plural(len(answers), 'answer')}.", *expected.lines])


@post("/traces/judge", sync_to_thread=True, guards=[OWNER])
def judge(request: AnyRequest, app: AtApp, person: AtPerson, data: JSONBody[JudgeTraces]) -> dict[str, str]:
    """Judge the answers of traces into a run of its own; the run is there when all is judged."""
    answers, judges, settings, folder = _task(app, data)
    caps = caps_of_form(data.budget)
    where = data.where.strip() if data.every else BY_HAND
    chosen = ChosenAnswers(of="traces", where=where) if where else None
    job = JudgeRun("judge", person.name, 0)
    app.jobs.begin(_job(folder.name), job)
    job.start(settings, caps, lambda session: _judge_into(folder, answers, judges, session, chosen))
    app.audit(request, "judged traces", run=folder.name, rows=len(answers))
    return {"job": f"{ROOT}/traces/judge/{folder.name}"}


async def _judge_into(
    folder: Path,
    answers: Sequence[Answer],
    judges: Sequence[Judge],
    session: Session,
    chosen: ChosenAnswers | None,
) -> int:
    """Write the run: answers, their judgements, and the numbers. Returns how many were judged."""
    tally, rows = JudgementTally(), list[Judgement]()
    async for row in judge_rows(lambda: answers, judges, session, len(answers)):
        tally.add(row)
        rows.append(row)
    summary = tally.summary(folder.name, session, judges, len(answers))
    _write_run(folder, answers, rows, chosen.beside(summary) if chosen else summary)
    return len(rows)


def _write_run(
    folder: Path, answers: Sequence[Answer], rows: Sequence[Judgement], summary: RunSummary
) -> None:
    with explaining(f"{folder}: could not be written", "Free some disk space, or make the folder writable."):
        folder.mkdir(parents=True)
        write_rows(folder / "answers.jsonl", answers, Answer)
        write_rows(folder / "judgements.jsonl", rows, Judgement)
        (folder / "summary.json").write_bytes(msgspec.json.format(msgspec.json.encode(summary), indent=2))


class TraceJob(msgspec.Struct, frozen=True, kw_only=True):
    """How far judging is. run: the id of the run, once it is there."""

    state: JobState
    run: str | None = None


@get("/traces/judge/{name:str}", sync_to_thread=True, guards=[OWNER])
def job_of(app: AtApp, name: FromPath[str]) -> TraceJob:
    """Give how far the judging of traces into a run is."""
    return _state_of(app, name)


def _state_of(app: AppState, name: str) -> TraceJob:
    job = app.jobs.of(_job(name))
    if job is None:
        raise NotFoundException(
            "There is no such job: the server was restarted. Finished calls are in the ledger."
        )
    run = next((entry.id for entry in app.runs.all() if entry.name == name), None)
    return TraceJob(state=job.state(), run=run)


@post("/traces/judge/{name:str}/stop", status_code=200, sync_to_thread=True, guards=[OWNER])
def stop(app: AtApp, name: FromPath[str]) -> TraceJob:
    """Stop it: no more calls are made, those in flight come home and are in the ledger."""
    job = app.jobs.of(_job(name))
    if job is not None:
        job.stop()
    return _state_of(app, name)


@post("/traces/set", sync_to_thread=True, status_code=200, guards=[OWNER])
def add_to_set(request: AnyRequest, app: AtApp, data: JSONBody[AddToSet]) -> AddedQuestions:
    """Add the questions of traces to a data set, masked; what the application answered is a draft.

    No question gets a reference: the draft is in its metadata, as `answer`, until a person has reviewed it.
    """
    name = data.name.strip()
    if not re.fullmatch(r"[\w][\w.-]*", name) or len(name) > LONGEST_NAME:
        raise DataError(f"{name!r} cannot be the name of a data set: use letters, digits, - and _.")
    path = app.settings.path(name) / "questions.jsonl"
    if app.runs.hold(path):
        raise DataError(f"{name!r} is a folder of runs: give the data set another name.")
    before = list(read_rows(path, Question)) if path.is_file() else []
    known = {row.id for row in before} | {question_key(row.question) for row in before}
    own = own_words(app.settings.sample.mask)
    new: dict[str, Question] = {}
    there = 0
    for row in _answers(app, data):
        question, answer = (each.text for each in mask_texts([row.question or "", row.answer], own))
        question_id = question_key(question)
        if question_id in known or question_id in new:
            there += 1
            continue
        told = row.metadata or {}
        names = ["trace_id", "time"]
        notes: dict[str, Any] = {name: told[name] for name in names if name in told}
        metadata: dict[str, Any] = {"answer": answer} if answer else {}
        metadata |= {"system": row.system, **notes}
        new[question_id] = Question(id=question_id, question=question, metadata=metadata)
    if new:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_rows(path, [*before, *new.values()], Question, force=True)
    app.audit(request, "added traces to a set", set=name, rows=len(new))
    return AddedQuestions(added=len(new), there=there, path=f"{name}/questions.jsonl")


class TraceNote(msgspec.Struct, frozen=True, kw_only=True):
    """A note as the form sends it. tags: with commas between them. span: empty for the whole trace."""

    text: Annotated[str, msgspec.Meta(max_length=20_000)] = ""
    tags: Annotated[str, msgspec.Meta(max_length=2_000)] = ""
    span: Annotated[str, msgspec.Meta(max_length=200)] = ""


class NoteGone(msgspec.Struct, frozen=True):
    """A note by its id."""

    id: str


@post("/traces/{trace_id:str}/notes", sync_to_thread=True, status_code=200, guards=[ANNOTATOR])
def write_note(app: AtApp, person: AtPerson, trace_id: FromPath[str], data: JSONBody[TraceNote]) -> Note:
    """Write a note on a trace, or on a span of it. Raises NotFoundException for a trace that is not there."""
    with traces_asked(app) as index:
        known = index.named([trace_id])
    if not known:
        raise NotFoundException(f"The trace {trace_id!r} no longer exists: its file is gone.")
    return add_note(
        notes_folder(app),
        known[0].id,
        data.text,
        author=person.name,
        span=data.span or None,
        tags=data.tags.split(","),
    )


@post("/traces/{trace_id:str}/notes/remove", sync_to_thread=True, status_code=200, guards=[ANNOTATOR])
def take_note_out(
    request: AnyRequest, app: AtApp, person: AtPerson, trace_id: FromPath[str], data: JSONBody[NoteGone]
) -> dict[str, str]:
    """Remove a note of this person's; an owner removes any. Raises DataError where it is gone."""
    note = next((each for each in read_notes(notes_folder(app)) if each.id == data.id), None)
    if note is not None and note.author != person.name and not person.may("owner"):
        raise PermissionDeniedException(f"{note.author} wrote this note: they or an owner can remove it.")
    remove_note(notes_folder(app), data.id)
    app.audit(request, "note removed", trace=trace_id, note=data.id)
    return {"removed": data.id}


ROUTES = (chosen, forecast, judge, job_of, stop, add_to_set, write_note, take_note_out)
