"""What the page of a judge does: check a draft, forecast, run, stop, freeze, look at the test part."""

import msgspec
from litestar import Response, get, post
from litestar.params import FromPath, JSONBody

from ragstone.config import Settings
from ragstone.engine.session import Session
from ragstone.errors import ConfigError, RagstoneError
from ragstone.flows.develop.api import outcome_of
from ragstone.flows.develop.judge_files import JudgeFile, digest_of, freeze, judge_file, parse_draft
from ragstone.flows.develop.running import develop, forecast_development, look_at_part
from ragstone.flows.develop.store import DevelopmentStore, Draft, Outcome, now
from ragstone.flows.judges.testing import prompts_of
from ragstone.judging import Judge
from ragstone.llm.forecast import Forecast
from ragstone.report.wording import forecast_lines
from ragstone.web.workbench.desk import AtWorkbench
from ragstone.web.workbench.developing.asked import (
    Asked,
    AskedDraft,
    Text,
    ToFreeze,
    caps_of,
    line_in,
    look_task,
    scale_of,
    settings_of,
    task_of,
)
from ragstone.web.workbench.developing.jobs import Job, Life, Told
from ragstone.web.workbench.frame import AnyRequest, person_of

LONGEST = 200_000  # characters of a judge's file
MEANWHILE = (
    "{last.who} saved draft {last.number} while you were at work on this page. Yours is kept as draft "
    "{draft.number}, and nothing was run. Look at draft {last.number} first, or run again to go on with "
    "yours."
)


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A draft's text. problem: in the loader's words, None for a judge; prompts: for an example row."""

    problem: str | None = None
    line: int | None = None
    prompts: list[dict[str, str]] = []


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What a run would ask, in words. budget: a cap that leaves room for what is asked twice."""

    lines: list[str]
    calls: int
    budget: str


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """The number of the draft that was saved. words: what to know of it, where it does not run yet."""

    draft: int
    running: bool
    words: str | None = None


class FrozenAs(msgspec.Struct, frozen=True, kw_only=True):
    """The version that a draft became, and where it stands."""

    version: int
    path: str


@post("/judges/{name:str}/check", include_in_schema=False, status_code=200, sync_to_thread=True)
def check(request: AnyRequest, bench: AtWorkbench, name: FromPath[str], data: JSONBody[Text]) -> Checked:
    """Give what is wrong with a text, or what the model would be sent for an example row."""
    person_of(request, "owner")
    file = judge_file(bench.settings, name)
    try:
        judge = _parsed(data.text, file)
        shown = prompts_of(judge)
    except ConfigError as mistake:
        return Checked(problem=str(mistake).removeprefix(f"{file.path.parent}/"), line=line_in(str(mistake)))
    return Checked(prompts=[message for prompt in shown for message in prompt.messages])


def _parsed(text: str, file: JudgeFile) -> Judge:
    if len(text) > LONGEST:
        raise ConfigError(f"{file.name}.toml: {len(text):,} characters are more than a judge may have.")
    return parse_draft(text, file.path)


@post("/judges/{name:str}/forecast", include_in_schema=False, status_code=200, sync_to_thread=True)
def forecast(
    request: AnyRequest, bench: AtWorkbench, name: FromPath[str], data: JSONBody[AskedDraft]
) -> Expected:
    """Give what a run would ask; nobody is asked."""
    person_of(request, "owner")
    file, settings = judge_file(bench.settings, name), settings_of(bench.settings, data)
    return _expected(forecast_development(task_of(file, data.text, settings, data), settings))


@post("/judges/{name:str}/test/forecast", include_in_schema=False, status_code=200, sync_to_thread=True)
def forecast_look(
    request: AnyRequest, bench: AtWorkbench, name: FromPath[str], data: JSONBody[Asked]
) -> Expected:
    """Give what a look at the test part would ask; nobody is asked, and no look is counted."""
    person_of(request, "owner")
    file, settings = judge_file(bench.settings, name), settings_of(bench.settings, data)
    return _expected(forecast_development(look_task(file, settings, data), settings, "test"))


def _expected(found: Forecast) -> Expected:
    room = found.calls + max(5, found.calls // 4)
    return Expected(lines=forecast_lines(found), calls=found.calls, budget=f"{room}calls")


@post("/judges/{name:str}/run", include_in_schema=False, sync_to_thread=True)
def run(
    request: AnyRequest, bench: AtWorkbench, name: FromPath[str], data: JSONBody[AskedDraft]
) -> Response[Started]:
    """Save a draft and run it on dev. Where another was saved meanwhile, save it and say so (409).

    One that cannot be run, such as a text that is no judge, is saved too, and its problem told (422).
    """
    person = person_of(request, "owner")
    if len(data.text) > LONGEST:
        raise ConfigError(f"{name}.toml: {len(data.text):,} characters are more than a judge may have.")
    file, settings = judge_file(bench.settings, name), settings_of(bench.settings, data)
    caps, store = caps_of(data), DevelopmentStore(settings)
    bench.jobs.check_free(file.name)
    last = next(iter(store.drafts(file.name)), None)
    draft = _saved(store, last, _draft(file, person.name, settings, data))
    bench.audit(request, "ran a draft", judge=file.name, draft=draft.number, labels=data.labels)
    if last is not None and last.number != data.base and draft.number != last.number:
        return Response(
            Started(draft=draft.number, running=False, words=MEANWHILE.format(last=last, draft=draft)),
            status_code=409,
        )
    try:
        task = task_of(file, data.text, settings, data)
    except RagstoneError as mistake:
        failed = Outcome(state="failed", words=str(mistake))
        store.put_draft(msgspec.structs.replace(draft, outcome=failed))
        return Response(Started(draft=draft.number, running=False, words=str(mistake)), status_code=422)
    job = Job("dev", person.name, draft.number)
    bench.jobs.begin(file.name, job)
    store.put_draft(msgspec.structs.replace(draft, outcome=Outcome(state="running")))

    async def work(session: Session) -> int:
        found = await develop(task, session)
        store.put_draft(msgspec.structs.replace(draft, outcome=outcome_of(found)), found)
        return draft.number

    job.start(settings, caps, work, lambda life, words: _ended(store, draft, life, words))
    return Response(Started(draft=draft.number, running=True), status_code=201)


def _draft(file: JudgeFile, who: str, settings: Settings, data: AskedDraft) -> Draft:
    return Draft(
        number=0,
        judge=file.name,
        who=who,
        at=now(),
        digest=digest_of(data.text),
        text=data.text,
        base=data.base,
        file=file.digest,
        labels=data.labels,
        model=settings.judge.model,
        scale=scale_of(data),
    )


def _saved(store: DevelopmentStore, last: Draft | None, draft: Draft) -> Draft:
    """Return the draft as it is kept: the last one where nothing of it changed, else a new one."""
    same = ("digest", "labels", "model", "scale", "file")
    if last is not None and all(getattr(last, field) == getattr(draft, field) for field in same):
        return last
    return store.add_draft(draft)


def _ended(store: DevelopmentStore, draft: Draft, life: Life, words: str | None) -> None:
    """Keep what became of a run that did not come to its end."""
    if life in ("failed", "stopped"):
        outcome = Outcome(state="failed" if life == "failed" else "stopped", words=words)
        store.put_draft(msgspec.structs.replace(draft, outcome=outcome))


@get("/judges/{name:str}/job", include_in_schema=False, sync_to_thread=True)
def job_of(request: AnyRequest, bench: AtWorkbench, name: FromPath[str]) -> Told | None:
    """Give how far the judge's run is; null where there was none since the server started."""
    person_of(request)
    job = bench.jobs.of(judge_file(bench.settings, name).name)
    return job.told() if job else None


@post("/judges/{name:str}/stop", include_in_schema=False, status_code=200, sync_to_thread=True)
def stop(request: AnyRequest, bench: AtWorkbench, name: FromPath[str]) -> Told | None:
    """Stop the judge's run: no more calls are made, those in flight come home and are in the ledger."""
    person_of(request, "owner")
    job = bench.jobs.of(judge_file(bench.settings, name).name)
    if job is None:
        return None
    job.stop()
    return job.told()


@post("/judges/{name:str}/freeze", include_in_schema=False, sync_to_thread=True)
def freeze_draft(
    request: AnyRequest, bench: AtWorkbench, name: FromPath[str], data: JSONBody[ToFreeze]
) -> FrozenAs:
    """Write a draft that was run as the next version of the judge's file."""
    person = person_of(request, "owner")
    file, store = judge_file(bench.settings, name), DevelopmentStore(bench.settings)
    draft = store.draft(file.name, data.draft)
    found = store.development(draft)
    if found is None:
        raise ConfigError(
            f"draft {draft.number} was not run to its end. Run it on the dev part, then freeze it."
        )
    frozen = freeze(file.path, draft.text, data.change, who=person.name, development=found, base=draft.file)
    store.put_draft(msgspec.structs.replace(draft, frozen=frozen.version))
    bench.audit(request, "froze a judge", judge=file.name, version=frozen.version, draft=draft.number)
    return FrozenAs(version=frozen.version, path=str(frozen.path))


@post("/judges/{name:str}/test", include_in_schema=False, sync_to_thread=True)
def look(request: AnyRequest, bench: AtWorkbench, name: FromPath[str], data: JSONBody[Asked]) -> Started:
    """Begin a look at the test part, which is counted when it is over."""
    person = person_of(request, "owner")
    file, settings = judge_file(bench.settings, name), settings_of(bench.settings, data)
    task, caps, store = look_task(file, settings, data), caps_of(data), DevelopmentStore(settings)
    job = Job("test", person.name, 0)
    bench.jobs.begin(file.name, job)

    async def work(session: Session) -> int:
        return (await look_at_part(task, session, store, person.name)).place

    job.start(settings, caps, work, lambda _life, _words: None)
    bench.audit(request, "looked at a test part", judge=file.name, labels=data.labels)
    return Started(draft=0, running=True)


ROUTES = (check, forecast, forecast_look, run, job_of, stop, freeze_draft, look)
