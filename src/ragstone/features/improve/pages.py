"""The pages of a judge in development, and what its page does: check a draft, forecast, run, freeze, look."""

from datetime import datetime
from typing import Any

import msgspec
from litestar import Response, get, post
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery, JSONBody

from ragstone.features.agree import contained, words_of_cards
from ragstone.features.improve import _develop_words as developing
from ragstone.features.improve._labelled_sets import open_set, sources_of
from ragstone.features.improve._learn_words import learning_document
from ragstone.features.improve._store import DevelopmentStore, JudgeDraft, Outcome
from ragstone.features.improve.develop import (
    DevelopmentTask,
    TestLook,
    develop,
    draft_as_run,
    forecast_development,
    look_at_part,
    outcome_of,
)
from ragstone.features.improve.draft_forms import (
    DraftChecked,
    DraftText,
    HowToRun,
    Started,
    check_draft,
    check_length,
    messages_of,
    scale_of,
)
from ragstone.features.improve.judge_files import (
    JudgeFile,
    before_of,
    digest_of,
    freeze,
    judge_file,
    parse_draft,
)
from ragstone.features.improve.learned import METHODS, Learning
from ragstone.features.improve.values import CAUTION, SEVERAL, Development, LookRecord, Scale, looks_at
from ragstone.features.judges import versions
from ragstone.kernel.config import Settings
from ragstone.kernel.console.forms import Expected, models_of, settings_of
from ragstone.kernel.document.html import render_blocks
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import ConfigError, RagstoneError
from ragstone.kernel.judging import Judge, load_judge
from ragstone.kernel.judging.unnamed_model import IN_SETTINGS, check_model_named
from ragstone.kernel.serve.frame import OWNER, AtPerson, page
from ragstone.kernel.serve.jobs import JobState, JudgeRun, caps_of_form
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AppState, AtApp

SHOWN_DRAFTS = 50
INTERRUPTED = "The server ended while it ran. Run it again: finished calls are in the ledger."
MEANWHILE = (
    "{last.who} saved draft {last.number} while you were working on this page. Yours is kept as draft "
    "{draft.number}, and nothing was run. Look at draft {last.number} first, or run again to continue "
    "with yours."
)


class LabelledEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled set as the pages show it. wrong: what keeps it from being used, or None."""

    name: str
    n_dev: int = 0
    n_test: int = 0
    looks: list[LookRecord] = []
    wrong: str | None = None


class DraftToRun(HowToRun, frozen=True, kw_only=True):
    """A draft to run. base: the number of the last draft when the page was loaded; 0 for none."""

    text: str
    base: int


class ToFreeze(msgspec.Struct, frozen=True):
    """A draft to freeze, and what changed."""

    draft: int
    change: str


class ToKeep(msgspec.Struct, frozen=True):
    """A text to keep as a version, and what changed. base: the digest of the file that it was made of."""

    text: str
    change: str
    base: str | None = None


class FrozenAs(msgspec.Struct, frozen=True, kw_only=True):
    """The version that a draft became, and where it stands."""

    version: int
    path: str


def development_of(app: AppState) -> DevelopmentStore:
    """The drafts, and the looks at test parts, of a project."""
    return DevelopmentStore(app.settings)


def judge_developed(app: AtApp, name: FromPath[str]) -> JudgeFile:
    """Return the file of the judge that an address names. Raises NotFoundException."""
    try:
        return judge_file(app.settings, name)
    except ConfigError as mistake:
        raise NotFoundException(str(mistake)) from None


AtJudge = NamedDependency[JudgeFile]
GIVEN = {"file": judge_developed}
"""What the routes of a judge ask for: a parameter `file: AtJudge`."""


@get("/judges/{name:str}/develop", sync_to_thread=True)
def develop_page(
    request: AnyRequest,
    app: AtApp,
    person: AtPerson,
    file: AtJudge,
    draft: FromQuery[int] = 0,
    kept: FromQuery[int] = 0,
) -> Response[str]:
    """Give the page on which a judge is developed. draft: to look at, default the last. kept: just now."""
    drafts = app.part(development_of).drafts(file.name)
    current = (
        next((other for other in drafts if other.number == draft), None)
        if draft
        else next(iter(drafts), None)
    )
    if draft and current is None:
        raise NotFoundException(f"{file.name} has no draft {draft}.")
    development = app.part(development_of).development(current) if current else None
    running = app.jobs.running(file.name)
    sets = [*sources_of(app.settings)]
    path, root = file.path.with_suffix("").resolve(), app.settings.path(".").resolve()
    chosen = current.labels if current and current.labels in sets else next(iter(sets), None)
    return page(
        request,
        "features/improve/develop.html",
        f"Develop {file.name}",
        **_words(development),
        file=file,
        text=_text(file, current, is_chosen=bool(draft)),
        drafts=drafts[:SHOWN_DRAFTS],
        shown=current,
        kept=kept if kept in versions(file.path) else 0,
        found=development,
        wrong=_wrong(current, running=running),
        running=running,
        base=drafts[0].number if drafts else 0,
        frozen=versions(file.path),
        sets=sets,
        chosen=_labelled_entry(app, chosen) if chosen else None,
        place=(path.relative_to(root) if path.is_relative_to(root) else path).as_posix(),
        models=models_of(app.settings),
        scale=_scale(app, file, current),
        owner=person.may("owner"),
        learned=learning_html(app.part(development_of).learning(file.name)),
        methods=METHODS,
    )


@get("/judges/{name:str}/test", sync_to_thread=True)
def closed_page(
    request: AnyRequest, app: AtApp, person: AtPerson, file: AtJudge, labels: FromQuery[str] = ""
) -> Response[str]:
    """Give the page that says what a look at the test part costs, and how many there were."""
    sets = [*sources_of(app.settings)]
    chosen = labels if labels in sets else next(iter(sets), None)
    last = next(iter(app.part(development_of).drafts(file.name)), None)
    places = app.part(development_of).looks()
    return page(
        request,
        "features/improve/develop_test.html",
        f"The test part: {file.name}",
        file=file,
        sets=sets,
        chosen=_labelled_entry(app, chosen) if chosen else None,
        place_of={look.at + look.who + look.digest: number for number, look in enumerate(places, 1)},
        frozen=versions(file.path),
        scale=_scale(app, file, last),
        models=models_of(app.settings),
        several=SEVERAL,
        caution=CAUTION,
        owner=person.may("owner"),
        running=app.jobs.running(file.name),
    )


@get("/judges/{name:str}/looks/{place:int}", sync_to_thread=True)
def look_page(request: AnyRequest, app: AtApp, file: AtJudge, place: FromPath[int]) -> Response[str]:
    """Give what a look has shown. Opening it again is no other look: it shows nothing new."""
    try:
        look = msgspec.json.decode(app.part(development_of).card(place), type=TestLook)
    except (RagstoneError, msgspec.DecodeError, UnicodeDecodeError) as mistake:
        raise NotFoundException(str(mistake)) from None
    own = look.looks[look.number - 1]
    if own.judge != file.name:
        raise NotFoundException(f"look {place} was not at {file.name}.")
    n_now = len(looks_at(app.part(development_of).looks(), own.questions))
    return page(
        request,
        "features/improve/develop_look.html",
        f"Look {look.number} at the test part: {file.name}",
        **{**_words(None), "card": contained(look.card)},
        file=file,
        look_number=look.number,
        look=own,
        n_now=n_now,
    )


def learning_html(learning: Learning | None) -> str:
    """Return what the last learning found, as a page shows it; empty where there was none."""
    return render_blocks(learning_document(learning).blocks) if learning else ""


def _text(file: JudgeFile, draft: JudgeDraft | None, *, is_chosen: bool) -> str:
    """Return what the editor begins with: the draft that is asked for, or at work, else the judge's file."""
    if draft is None or (not is_chosen and (draft.frozen or draft.file != file.digest)):
        return file.text
    return draft.text


def _scale(app: AppState, file: JudgeFile, draft: JudgeDraft | None) -> Scale:
    """Return how scores met labels in a draft's run; before the first, as `[agree] thresholds` says."""
    if draft is not None:
        return draft.scale
    declared = app.settings.agree.thresholds
    return Scale(threshold=declared.get(file.name, declared.get(file.name.removeprefix("my_"))))


def _wrong(draft: JudgeDraft | None, *, running: bool) -> str | None:
    """Return why a draft has no result, None where it has one, or was not run."""
    if draft is None or draft.outcome.state in ("saved", "done") or running:
        return None
    if draft.outcome.state == "stopped":
        return "The run was stopped. Finished calls are in the ledger: run it again to continue."
    return draft.outcome.words or INTERRUPTED


def _labelled_entry(app: AppState, name: str) -> LabelledEntry:
    """Return a labelled set with the sizes of its parts; looking at them writes nothing."""
    try:
        labelled = open_set(app.settings, name)
        parts = app.part(development_of).parts_of(labelled)
    except RagstoneError as mistake:
        return LabelledEntry(name=name, wrong=str(mistake))
    return LabelledEntry(
        name=name,
        n_dev=len(labelled.of(parts, "dev").answers),
        n_test=len(labelled.of(parts, "test").answers),
        looks=app.part(development_of).looks_at(labelled, parts),
    )


def _words(development: Development | None) -> dict[str, Any]:
    """Return what the templates call, and the card of the draft to show."""
    ours = {name: value for name, value in vars(developing).items() if callable(value) or name.isupper()}
    card = contained(development.after.card) if development else None
    return {**words_of_cards(), **ours, "card": card, "when": when}


def when(at: str) -> str:
    """Return a time of a log as people read it."""
    there = datetime.fromisoformat(at).astimezone()
    return f"{there.day} {there:%B %Y, %H:%M}"


@post("/judges/{name:str}/check", status_code=200, sync_to_thread=True, guards=[OWNER])
def check(file: AtJudge, data: JSONBody[DraftText]) -> DraftChecked:
    """Give a text with what was typed into its fields, what is wrong with it, and what the model is sent."""
    return check_draft(data, file.path, lambda text: messages_of(parse_draft(text, file.path)))


@post("/judges/{name:str}/forecast", status_code=200, sync_to_thread=True, guards=[OWNER])
def forecast(app: AtApp, file: AtJudge, data: JSONBody[DraftToRun]) -> Expected:
    """Give what a run would ask; nobody is asked."""
    settings = settings_of(app.settings, data.model)
    return Expected.by(forecast_development(draft_task(app, file, settings, data), settings))


@post("/judges/{name:str}/test/forecast", status_code=200, sync_to_thread=True, guards=[OWNER])
def forecast_look(app: AtApp, file: AtJudge, data: JSONBody[HowToRun]) -> Expected:
    """Give what a look at the test part would ask; nobody is asked, and no look is counted."""
    settings = settings_of(app.settings, data.model)
    return Expected.by(forecast_development(look_task(app, file, settings, data), settings, "test"))


@post("/judges/{name:str}/run", sync_to_thread=True, guards=[OWNER])
def run(
    request: AnyRequest, app: AtApp, person: AtPerson, file: AtJudge, data: JSONBody[DraftToRun]
) -> Response[Started]:
    """Save a draft and run it on dev. Where another was saved meanwhile, save it and say so (409).

    One that cannot be run, such as a text that is no judge, is saved too, and its problem told (422).
    """
    check_length(data.text, file.name)
    settings, store = settings_of(app.settings, data.model), app.part(development_of)
    caps = caps_of_form(data.budget)
    app.jobs.check_free(file.name)
    last = next(iter(store.drafts(file.name)), None)
    draft = _saved(store, last, file, person.name, settings, data)
    app.audit(request, "ran a draft", judge=file.name, draft=draft.number, labels=data.labels)
    if last is not None and last.number != data.base and draft.number != last.number:
        return _not_begun(409, draft, MEANWHILE.format(last=last, draft=draft))
    try:
        task = draft_task(app, file, settings, data)
    except RagstoneError as mistake:
        store.put_draft(draft, Outcome(state="failed", words=str(mistake)))
        return _not_begun(422, draft, str(mistake))
    job = JudgeRun("dev", person.name, draft.number)
    app.jobs.begin(file.name, job)
    store.put_draft(draft, Outcome(state="running"))

    async def work(session: Session) -> int:
        development = await develop(task, session)
        store.put_draft(draft, outcome_of(development), development)
        return draft.number

    def ended(life: str, problem: str | None) -> None:
        if life in ("failed", "stopped"):
            store.put_draft(draft, Outcome(state="failed" if life == "failed" else "stopped", words=problem))

    job.start(settings, caps, work, ended)
    return Response(Started(draft=draft.number, running=True), status_code=201)


def _not_begun(status: int, draft: JudgeDraft, problem: str) -> Response[Started]:
    return Response(Started(draft=draft.number, running=False, words=problem), status_code=status)


def _saved(
    store: DevelopmentStore,
    last: JudgeDraft | None,
    file: JudgeFile,
    who: str,
    settings: Settings,
    data: DraftToRun,
) -> JudgeDraft:
    """Return the draft as it is kept: the last one where nothing of it changed, else a new one."""
    draft = JudgeDraft(
        judge=file.name,
        who=who,
        digest=digest_of(data.text),
        text=data.text,
        base=data.base,
        file=file.digest,
        labels=data.labels,
        model=settings.judge.model,
        scale=scale_of(data),
    )
    same = ("digest", "labels", "model", "scale", "file")
    if last is not None and all(getattr(last, field) == getattr(draft, field) for field in same):
        return last
    return store.add_draft(draft)


@get("/judges/{name:str}/job", sync_to_thread=True)
def job_of(app: AtApp, file: AtJudge) -> JobState | None:
    """Give how far the judge's run is; null where there was none since the server started."""
    job = app.jobs.of(file.name)
    return job.state() if job else None


@post("/judges/{name:str}/stop", status_code=200, sync_to_thread=True, guards=[OWNER])
def stop(app: AtApp, file: AtJudge) -> JobState | None:
    """Stop the judge's run: no more calls are made, those in flight come home and are in the ledger."""
    job = app.jobs.of(file.name)
    if job is None:
        return None
    job.stop()
    return job.state()


@post("/judges/{name:str}/freeze", sync_to_thread=True, guards=[OWNER])
def freeze_draft(
    request: AnyRequest, app: AtApp, person: AtPerson, file: AtJudge, data: JSONBody[ToFreeze]
) -> FrozenAs:
    """Write a draft that was run as the next version of the judge's file."""
    draft = app.part(development_of).draft(file.name, data.draft)
    development = app.part(development_of).development(draft)
    if development is None:
        raise ConfigError(
            f"draft {draft.number} did not finish its run. Run it on the dev part, then freeze it."
        )
    frozen = freeze(
        file.path, draft.text, data.change, who=person.name, development=development, base=draft.file
    )
    app.part(development_of).put_draft(msgspec.structs.replace(draft, frozen=frozen.version))
    app.audit(request, "froze a judge", judge=file.name, version=frozen.version, draft=draft.number)
    return FrozenAs(version=frozen.version, path=str(frozen.path))


@post("/judges/{name:str}/keep", sync_to_thread=True, guards=[OWNER])
def keep(
    request: AnyRequest, app: AtApp, person: AtPerson, file: AtJudge, data: JSONBody[ToKeep]
) -> FrozenAs:
    """Write a text as the next version of the judge's file, without a run: how it judges is not known."""
    check_length(data.text, file.name)
    check_name(data.text, file)
    frozen = freeze(file.path, data.text, data.change, who=person.name, base=data.base)
    app.audit(request, "kept a judge", judge=file.name, version=frozen.version)
    return FrozenAs(version=frozen.version, path=file.path.name)


@post("/judges/{name:str}/test", sync_to_thread=True, guards=[OWNER])
def look(
    request: AnyRequest, app: AtApp, person: AtPerson, file: AtJudge, data: JSONBody[HowToRun]
) -> Started:
    """Begin a look at the test part, which is counted when it is over."""
    settings = settings_of(app.settings, data.model)
    task, caps = look_task(app, file, settings, data), caps_of_form(data.budget)
    job = JudgeRun("test", person.name, 0)
    app.jobs.begin(file.name, job)

    async def work(session: Session) -> int:
        return (await look_at_part(task, session, app.part(development_of), person.name)).place

    job.start(settings, caps, work)
    app.audit(request, "looked at a test part", judge=file.name, labels=data.labels)
    return Started(draft=0, running=True)


def draft_task(app: AppState, file: JudgeFile, settings: Settings, data: DraftToRun) -> DevelopmentTask:
    """Return what a draft's run is: under its next number, against the version before.

    Raises ConfigError for a text that is no judge, or is of another name; DataError for labels.
    """
    check_name(data.text, file)
    draft = draft_as_run(data.text, file.path)
    return _task(app, draft, before_of(file.path, data.text), settings, data)


def check_name(text: str, file: JudgeFile) -> None:
    """Raise ConfigError for a text that is no judge, or is that of another than its page's."""
    name = parse_draft(text, file.path).name
    if name != file.name:
        raise ConfigError(
            f'{file.name}.toml: the text says name = "{name}", and this page develops {file.name}. Put '
            "the name back, or write another judge from the list of judges."
        )


def look_task(app: AppState, file: JudgeFile, settings: Settings, data: HowToRun) -> DevelopmentTask:
    """Return a look at the test part, of the judge's file as it stands. Raises ConfigError, DataError."""
    if not file.path.is_file():
        raise ConfigError(f"{file.name} has no frozen version: freeze one first, then look at the test part.")
    return _task(app, load_judge(file.path), None, settings, data)


def _task(
    app: AppState, judge: Judge, before: Judge | None, settings: Settings, data: HowToRun
) -> DevelopmentTask:
    check_model_named([judge], settings.judge.model, IN_SETTINGS)
    scale = scale_of(data)
    labelled = open_set(settings, data.labels, scale.words)
    parts = app.part(development_of).split(labelled)
    return DevelopmentTask(draft=judge, before=before, labelled=labelled, parts=parts, scale=scale)


ROUTES = (
    *(develop_page, closed_page, look_page),
    *(check, forecast, forecast_look, run, job_of, stop, freeze_draft, keep, look),
)
