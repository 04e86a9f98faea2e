"""The playground: a prompt of a run is edited and tried on a few of its rows, beside what the run has."""

import itertools
from pathlib import Path
from typing import Any, Literal

import msgspec
from litestar import Response, get, post
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, JSONBody

from ragstone.features.improve.develop import draft_as_run
from ragstone.features.improve.draft_forms import (
    DraftChecked,
    DraftText,
    Started,
    check_draft,
    check_length,
    messages_of,
)
from ragstone.features.improve.judge_files import freeze, judge_file, parse_draft
from ragstone.features.improve.trial._prompt_files import draft_prompt, keep_prompt, saved_prompt
from ragstone.features.improve.trial._words import PromptTrial, trial_document
from ragstone.features.improve.trial.trying import MOST_ROWS, TrialTask, forecast_trial, trial_task, try_on
from ragstone.kernel.config import ModelSettings, Settings, choose
from ragstone.kernel.console.forms import Expected, models_of
from ragstone.kernel.document.html import render_blocks
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.judging import Judge
from ragstone.kernel.judging.unnamed_model import IN_SETTINGS, check_model_named
from ragstone.kernel.llm.providers import providers
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.runs.wording import asked_line
from ragstone.kernel.serve.frame import OWNER, AtPerson, page, query_of
from ragstone.kernel.serve.jobs import JobState, JudgeRun, caps_of_form
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.rows.asking import RowFilter
from ragstone.kernel.serve.rows.files import rows_file
from ragstone.kernel.serve.state import AppState, AtApp, RunFolder, run_folder
from ragstone.kernel.systems.prompting import AnsweringPrompt, render_question

ANSWERS = "answer-prompt"  # no judge's name holds a hyphen
HERE = "/runs/{index:int}/{name:str}/try/{what:str}"
FIRST = 5  # rows that are chosen on a page that nobody has changed


class TrialShown(msgspec.Struct, frozen=True, kw_only=True):
    """What the page shows. trial: its number, 0 for none. text: that the rows to choose from hold.

    row: the question that the page was opened for, which is then the only one that is chosen.
    """

    trial: int = 0
    text: str = ""
    row: str = ""


class DraftToTry(msgspec.Struct, frozen=True, kw_only=True):
    """A draft and the questions that it is tried on. model: "" for the one set."""

    text: str
    rows: list[str]
    model: str = ""
    budget: str = ""


class DraftToKeep(msgspec.Struct, frozen=True):
    """A draft to keep, and what changed."""

    text: str
    change: str


class KeptAs(msgspec.Struct, frozen=True):
    """The file that a draft was kept as."""

    path: str


def offered(app: AppState, folder: Path) -> dict[str, str]:
    """Return what can be tried on a run: the part of the address -> what it is called."""
    view = app.runs.view(folder).run
    if view is None or not rows_file(folder, "answers"):
        return {}
    prompts = {}
    name = _prompt_name(app, folder)
    if name and saved_prompt(app.settings, name):
        prompts[ANSWERS] = f"the answer prompt, {name}"
    for metric in view.summary.metrics:
        if metric.model != NO_MODEL and _is_file(app, metric.judge):
            prompts[metric.judge] = f"the judge {metric.judge}"
    return prompts


def _prompt_name(app: AppState, folder: Path) -> str | None:
    prompt = _manifest(app, folder).get("prompt")
    return str(prompt.get("name")) if isinstance(prompt, dict) else None


def _manifest(app: AppState, folder: Path) -> dict[str, Any]:
    view = app.runs.view(folder).run
    return (view.manifest if view else None) or {}


def _is_file(app: AppState, judge: str) -> bool:
    try:
        parse_draft(judge_file(app.settings, judge).text, judge_file(app.settings, judge).path)
    except ConfigError:
        return False
    return True


def _saved(app: AppState, folder: Path, what: str) -> tuple[str, Path]:
    """Return the text that the editor begins with, and its file. Raises NotFoundException."""
    if what not in offered(app, folder):
        raise NotFoundException(f"This run has no prompt {what!r} to try: see the run's page.")
    if what == ANSWERS:
        return saved_prompt(app.settings, _prompt_name(app, folder) or "") or ("", folder)
    file = judge_file(app.settings, what)
    return file.text, file.path


def _models(app: AppState, folder: Path, what: str) -> list[str]:
    """Return the models to choose from: that of ragstone.toml first, the run's own, those with a table."""
    settings = app.settings
    stage: Literal["answer", "judge"] = "answer" if what == ANSWERS else "judge"
    of_run = (_manifest(app, folder).get("settings") or {}).get(stage) or {}
    run_model = _asked_by_run(app, folder, what) or ""
    name, _, address = run_model.rpartition("@")
    if "/" not in name or not set(".:/") & set(address):  # the address of a server, or a part of the name
        name = run_model
    own = [getattr(settings, stage).model, of_run.get("model"), name if "/" in name else None]
    return list(dict.fromkeys([*filter(None, own), *models_of(settings)]))


def _asked_by_run(app: AppState, folder: Path, what: str) -> str | None:
    """Return the model that the run asked, with its address where it has one; None if none or several."""
    view = app.runs.view(folder).run
    if view is None:
        return None
    if what == ANSWERS:
        return view.summary.models.get("answer")
    models = {metric.model for metric in view.summary.metrics if metric.judge == what} - {NO_MODEL}
    if len(models) != 1:
        return None
    (name,) = models
    role = view.summary.models.get("judge", "")  # with the address, which judgements leave out
    return role if role.startswith(f"{name}@") else name


def _elsewhere(app: AppState, folder: Path, what: str) -> tuple[str, str] | None:
    """Return the run's model and where the run asked it, where this project would ask it somewhere else."""
    run_model = _asked_by_run(app, folder, what) or ""
    name, _, address = run_model.rpartition("@")
    provider = providers().get(name.partition("/")[0])
    if provider is None or name not in _models(app, folder, what):
        return None
    here = provider.address(app.settings.models.get(name, ModelSettings()))
    return None if provider.identity_of(name.partition("/")[2], here) == run_model else (name, address)


@get(HERE, sync_to_thread=True)
def try_page(
    request: AnyRequest,
    app: AtApp,
    person: AtPerson,
    folder: RunFolder,
    what: FromPath[str],
) -> Response[str]:
    """Give the page on which a prompt is tried: an earlier trial, or the saved text. See TrialShown."""
    query, run_id = query_of(request, TrialShown), _run_of(request)
    saved, file = _saved(app, folder, what)
    trial = app.part(trials_of).find(query.trial, folder, what)
    with app.indexes.of(folder) as index:
        columns = index.columns([])
        own = next((at for at, column in enumerate(columns) if column.judge == what), None)
        lines = index.lines(RowFilter(judge=own, text=query.text, order="lowest"), columns)
        line = index.place_of(query.row) if query.row else None
        if line is not None and query.row not in [each.id for each in lines.lines]:
            first = index.lines_at([line], len(columns))
            lines = msgspec.structs.replace(lines, lines=[*first, *lines.lines])
    tried = [row.question_id for row in trial.trial.rows] if trial else []
    listed = [line.id for line in lines.lines]
    document = trial_document(trial.trial) if trial else None
    return page(
        request,
        "features/improve/trial/try.html",
        f"Try {offered(app, folder)[what]}",
        run_id=run_id,
        what=what,
        offered=offered(app, folder),
        text=trial.text if trial else saved,
        file=file.name,
        lines=lines,
        columns=columns,
        filter=query.text,
        chosen=tried or ([query.row] if query.row in listed else listed[:FIRST]),
        row=query.row if query.row in listed else "",
        elsewhere=_elsewhere(app, folder, what),
        beyond=[question for question in dict.fromkeys(tried) if question not in listed],
        most=MOST_ROWS,
        kept=trial,
        lost=query.trial > 0 and trial is None,
        found=render_blocks(document.blocks) if document else "",
        calls=asked_line(trial.trial.calls) if trial else "",
        models=_models(app, folder, what),
        owner=person.may("owner"),
        running=app.jobs.running(_job(folder, what)),
    )


def _run_of(request: AnyRequest) -> str:
    return f"{request.path_params['index']}/{request.path_params['name']}"


def _job(folder: Path, what: str) -> str:
    return f"{what} on {folder}"


@post(HERE + "/check", status_code=200, sync_to_thread=True, guards=[OWNER])
def check(app: AtApp, folder: RunFolder, what: FromPath[str], data: JSONBody[DraftText]) -> DraftChecked:
    """Give a text with what was typed into its fields, what is wrong, and what the model is sent."""
    _, file = _saved(app, folder, what)

    def messages(text: str) -> list[dict[str, str]]:
        draft = _draft(app, folder, what, text)
        questions = [data.row] if data.row else []
        against = None if what == ANSWERS else what
        task = trial_task(folder, draft, app.settings, against=against, questions=questions, limit=1)
        if isinstance(draft, Judge):
            return messages_of(draft, task.answers)
        (row, *_) = task.asked
        prompt = render_question(draft, row, task.answers[0].contexts or [], b"an example")
        return [{"role": message.role, "content": message.content} for message in prompt.messages]

    return check_draft(data, file, messages, answers=what == ANSWERS)


def _draft(app: AppState, folder: Path, what: str, text: str) -> AnsweringPrompt | Judge:
    """Return the draft as it would be kept. Raises ConfigError for what is no prompt."""
    _, file = _saved(app, folder, what)
    check_length(text, file.stem)
    return draft_prompt(app.settings, text) if what == ANSWERS else draft_as_run(text, file)


def _task(app: AppState, folder: Path, what: str, data: DraftToTry) -> tuple[TrialTask, Settings]:
    if not data.rows:
        raise DataError("no row is chosen: tick the rows to try the prompt on.")
    settings = app.settings
    models = _models(app, folder, what)
    if data.model and data.model not in models:
        raise ConfigError(
            f"model {data.model!r} is neither in ragstone.toml nor the run's model: choose another."
        )
    model = data.model or next(iter(models), None)
    if model is None and what == ANSWERS:
        raise ConfigError(
            "No model can be asked: this project names none, and neither does the run. Write model = "
            '"openai/gpt-4o-mini", or another, in the table [run] of ragstone.toml, and restart the '
            "workbench."
        )
    if what == ANSWERS:
        settings = choose(settings, "answer", model=model)
        settings = choose(settings, "judge", model=settings.judge.model or settings.answer.model)
    else:
        settings = choose(settings, "judge", model=model)
    draft = _draft(app, folder, what, data.text)
    if isinstance(draft, Judge):
        check_model_named([draft], settings.judge.model, IN_SETTINGS)
    against = None if what == ANSWERS else what
    return trial_task(folder, draft, settings, against=against, questions=data.rows), settings


@post(
    HERE + "/forecast",
    status_code=200,
    sync_to_thread=True,
    guards=[OWNER],
)
def forecast(app: AtApp, folder: RunFolder, what: FromPath[str], data: JSONBody[DraftToTry]) -> Expected:
    """Give what a trial would ask; nobody is asked."""
    return Expected.by(forecast_trial(*_task(app, folder, what, data)))


@post(HERE + "/run", sync_to_thread=True, guards=[OWNER])
def run(
    request: AnyRequest,
    app: AtApp,
    person: AtPerson,
    folder: RunFolder,
    what: FromPath[str],
    data: JSONBody[DraftToTry],
) -> Started:
    """Try a draft on rows. Nothing of the run is changed."""
    task, settings = _task(app, folder, what, data)
    caps = caps_of_form(data.budget)
    job = JudgeRun("trial", person.name, 0)
    app.jobs.begin(_job(folder, what), job)

    async def work(session: Session) -> int:
        trial = await try_on(task, session)
        model = (settings.answer if what == ANSWERS else settings.judge).model or ""
        entry = KeptTrial(folder=folder, what=what, text=data.text, model=model, who=person.name, trial=trial)
        return app.part(trials_of).add(entry)

    job.start(settings, caps, work)
    app.audit(request, "tried a prompt", run=_run_of(request), prompt=what, rows=len(task.answers))
    return Started(draft=0, running=True)


@get(HERE + "/job", sync_to_thread=True)
def job_of(app: AtApp, folder: RunFolder, what: FromPath[str]) -> JobState | None:
    """Give how far the trial is; null where there was none since the server started."""
    job = app.jobs.of(_job(folder, what))
    return job.state() if job else None


@post(HERE + "/stop", status_code=200, sync_to_thread=True, guards=[OWNER])
def stop(app: AtApp, folder: RunFolder, what: FromPath[str]) -> JobState | None:
    """Stop the trial: no more calls are made, those in flight come home and are in the ledger."""
    job = app.jobs.of(_job(folder, what))
    if job is not None:
        job.stop()
    return job.state() if job else None


@post(HERE + "/keep", sync_to_thread=True, guards=[OWNER])
def keep(
    request: AnyRequest,
    app: AtApp,
    person: AtPerson,
    folder: RunFolder,
    what: FromPath[str],
    data: JSONBody[DraftToKeep],
) -> KeptAs:
    """Write a draft as a new version of its own file; one that was kept or frozen is never written again."""
    _, file = _saved(app, folder, what)
    check_length(data.text, file.stem)
    if what == ANSWERS:
        path = keep_prompt(app.settings, data.text, data.change, person.name)
    else:
        path = freeze(file, data.text, data.change, who=person.name).kept
    app.audit(request, "kept a prompt", prompt=what, file=path.name)
    root = app.settings.path(".").resolve()
    there = path.resolve()
    return KeptAs(path=there.relative_to(root).as_posix() if there.is_relative_to(root) else str(there))


ROUTES = (try_page, check, forecast, run, job_of, stop, keep)
GIVEN = {"folder": run_folder}


class KeptTrial(msgspec.Struct, frozen=True, kw_only=True):
    """A trial. what: the prompt or judge that was tried; text: the draft; model: that was asked."""

    folder: Path
    what: str
    text: str
    model: str
    who: str
    trial: PromptTrial


class Trials:
    """The last trials by number. They are gone when the server ends: asked again, they cost nothing."""

    MOST = 200

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._kept: dict[int, KeptTrial] = {}

    def add(self, trial: KeptTrial) -> int:
        """Return the number under which a trial is kept."""
        number = next(self._numbers)
        self._kept[number] = trial
        for old in list(self._kept)[: -self.MOST]:
            self._kept.pop(old, None)
        return number

    def find(self, number: int, folder: Path, what: str) -> KeptTrial | None:
        """Return a trial of this run and prompt; None where there is none, or no more."""
        entry = self._kept.get(number)
        return entry if entry and (entry.folder, entry.what) == (folder, what) else None


def trials_of(_app: AppState) -> Trials:
    """The trials of a workbench."""
    return Trials()
