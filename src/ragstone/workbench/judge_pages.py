"""Judging the answers that a filter leaves: forecast first, then a job, then a run of their own."""

import re
from pathlib import Path
from typing import Annotated

import msgspec
from litestar import Response, get, post
from litestar.params import FromQuery, JSONBody

from ragstone.features.judge.chosen import chosen_sheet
from ragstone.features.judge.judging import forecast_judging
from ragstone.features.judge.run_folder import judge_to_new_run
from ragstone.features.judges.library import named_judges
from ragstone.kernel.config import Settings
from ragstone.kernel.console.forms import Expected, models_of, settings_of
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.judging import Judge
from ragstone.kernel.judging.unnamed_model import IN_SETTINGS, check_model_named
from ragstone.kernel.runs.notes import read_notes
from ragstone.kernel.runs.summary import chosen_in
from ragstone.kernel.serve.frame import OWNER, AtPerson, page
from ragstone.kernel.serve.jobs import JobState, JudgeRun, caps_of_form
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.rows.files import rows_file
from ragstone.kernel.serve.runs import free_name
from ragstone.kernel.serve.state import AppState, AtApp

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,79}", re.ASCII)
JOB = "answers of "


class AnswersToJudge(msgspec.Struct, frozen=True, kw_only=True):
    """What the form sends. run, where: which answers; name: of the new run; budget: as of --budget."""

    run: str
    judges: list[str]
    where: Annotated[str, msgspec.Meta(max_length=2000)] = ""
    name: str = ""
    model: str = ""
    budget: str = ""


class JudgingStarted(msgspec.Struct, frozen=True):
    """Where the new run is to be, as pages address it."""

    go: str


@get("/judge", sync_to_thread=True, guards=[OWNER])
def judge_page(
    request: AnyRequest, app: AtApp, run: FromQuery[str], where: FromQuery[str] = ""
) -> Response[str]:
    """Give the form: which judges, which model, how much it may cost."""
    folder = app.runs.find(run)
    n, wrong = 0, None
    try:
        n = len(_left(app, folder, where))
    except DataError as mistake:
        wrong = str(mistake)
    if not wrong and not rows_file(folder, "answers"):
        wrong = "This run has no answers to judge."
    entries = [entry for entry in named_judges(app.settings) if entry.judge]
    return page(
        request,
        "workbench/judge_rows.html",
        f"Judge answers of {folder.name}",
        run=run,
        where=where,
        n=n,
        wrong=wrong,
        ours=[entry for entry in entries if entry.path],
        shipped=[entry for entry in entries if not entry.path],
        models=models_of(app.settings),
        name=free_name(f"{folder.name}-chosen", lambda name: (_place(app, folder) / name).exists()),
        running=app.jobs.running(_job(folder)),
    )


def _job(folder: Path) -> str:
    return f"{JOB}{folder}"


def _place(app: AppState, folder: Path) -> Path:
    """Return the folder that the new run goes into: that of the project's runs, else that of this run."""
    own = [app.settings.path(each) for each in app.settings.workbench.runs]
    return next((each for each in own if each in app.runs.folders), folder.parent)


def _left(app: AppState, folder: Path, where: str) -> list[tuple[str, str]]:
    with app.indexes.of(folder, read_notes(folder)) as index:
        return index.answers_left(where)


def _chosen_judges(app: AppState, names: list[str]) -> list[Judge]:
    """Return the judges of these names, as the list of judges has them. Raises ConfigError."""
    if not names:
        raise ConfigError("No judge is chosen: tick at least one.")
    known = {entry.name: entry.judge for entry in reversed(named_judges(app.settings))}  # the first counts
    missing = next((name for name in names if not known.get(name)), None)
    if missing is not None:
        raise ConfigError(f"There is no judge {missing!r} here: reload the page.")
    return [judge for name in dict.fromkeys(names) if (judge := known[name])]


def _asked(app: AppState, data: AnswersToJudge) -> tuple[Settings, list[Judge]]:
    judges = _chosen_judges(app, data.judges)
    settings = settings_of(app.settings, data.model)
    for judge in judges:
        check_model_named([judge], settings.judge.model, IN_SETTINGS)
    return settings, judges


@post("/judge/forecast", status_code=200, sync_to_thread=True, guards=[OWNER])
def forecast(app: AtApp, data: JSONBody[AnswersToJudge]) -> Expected:
    """Give what judging would ask and cost; nobody is asked."""
    folder = app.runs.find(data.run)
    settings, judges = _asked(app, data)
    sheet = chosen_sheet(folder, data.where, left=_left(app, folder, data.where))
    return Expected.by(forecast_judging(sheet, judges, settings))


@post("/judge/run", sync_to_thread=True, guards=[OWNER])
def begin(
    request: AnyRequest, app: AtApp, person: AtPerson, data: JSONBody[AnswersToJudge]
) -> JudgingStarted:
    """Judge the answers into a new run. The run that they are of is not changed."""
    folder, name = app.runs.find(data.run), data.name.strip()
    if not NAME.fullmatch(name):
        raise DataError(
            f"{name[:80]!r} cannot be the name of a run: use letters, digits, dots, - and _, at most 80."
        )
    parent = _place(app, folder)
    if (parent / name).exists():
        raise DataError(f"There is a run {name!r} already: give the new one another name.")
    settings, judges = _asked(app, data)
    sheet = chosen_sheet(folder, data.where, left=_left(app, folder, data.where))
    chosen = chosen_in(folder, data.where.strip())
    caps = caps_of_form(data.budget)
    job = JudgeRun("judging", person.name, 0)
    app.jobs.begin(_job(folder), job)

    async def work(session: Session) -> int:
        await judge_to_new_run(session, sheet, parent / name, judges, chosen=chosen)
        return len(sheet)

    job.start(settings, caps, work)
    app.audit(request, "answers judged", run=data.run, into=name, judges=len(judges), answers=len(sheet))
    return JudgingStarted(f"{app.runs.folders.index(parent)}/{name}")


@get("/judge/job", sync_to_thread=True, guards=[OWNER])
def job_of(app: AtApp, run: FromQuery[str]) -> JobState | None:
    """Give how far the judging of a run's answers is; null where there was none since the server started."""
    job = app.jobs.of(_job(app.runs.find(run)))
    return job.state() if job else None


@post("/judge/stop", status_code=200, sync_to_thread=True, guards=[OWNER])
def stop(app: AtApp, run: FromQuery[str]) -> JobState | None:
    """Stop it: no more calls are made, those in flight come home and are in the ledger."""
    job = app.jobs.of(_job(app.runs.find(run)))
    if job is not None:
        job.stop()
    return job.state() if job else None


ROUTES = (judge_page, forecast, begin, job_of, stop)
