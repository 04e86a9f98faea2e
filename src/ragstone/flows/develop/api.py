"""Developing a judge from Python and the command line: run a draft, freeze it, look at the test part."""

import getpass
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ragstone.agreement.developing import Development, Part, Scale
from ragstone.config import Settings, choose, load_settings
from ragstone.engine.local import run_sync
from ragstone.engine.progress import Progress, silent
from ragstone.engine.session import open_session
from ragstone.errors import RagstoneError
from ragstone.flows.develop.judge_files import (
    Frozen,
    before_of,
    digest_of,
    freeze,
    parse_draft,
    read_text,
    run_version,
)
from ragstone.flows.develop.labelled import read_labelled
from ragstone.flows.develop.running import Task, TestLook, develop, forecast_development, look_at_part
from ragstone.flows.develop.store import DevelopmentStore, Draft, Outcome, now
from ragstone.judging import Judge, load_judge
from ragstone.llm import parse_caps
from ragstone.llm.forecast import Forecast

Place = Path | str


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for: a judge, the labelled set, how scores meet labels, and what may be spent.

    See develop_judge.
    """

    judge: Place | Judge
    labels: Place
    settings: Settings
    answers: Place | None = None
    questions: Place | None = None
    against: Place | Judge | None = None
    threshold: float | None = None
    mapping: dict[float, float] | None = None
    budget: str | None = None
    offline: bool = False

    @property
    def scale(self) -> Scale:
        """How scores meet labels."""
        return Scale(threshold=self.threshold, mapping=self.mapping)


def develop_judge(
    judge: Place | Judge,
    *,
    labels: Place,
    answers: Place | None = None,
    questions: Place | None = None,
    against: Place | Judge | None = None,
    threshold: float | None = None,
    mapping: Mapping[float, float] | None = None,
    model: str | None = None,
    settings: Settings | None = None,
    budget: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> Development:
    """Return what a draft of a judge changes against the version before, on the dev part of labelled answers.

    judge: a file, which is kept as a draft in the project; or a Judge, which is not. labels: the file of
    people's labels; its questions are split in dev and test at first use, for good. answers: the sheet with
    the texts, where the labels' file does not hold them; questions: where the sheet lacks question and
    reference. against: default the last frozen version, `NAME@vN.toml` beside the file. threshold, mapping:
    as of report_cards. Calls in the ledger are not made again. Raises ConfigError for a draft that is no
    judge, DataError for labels that do not fit it, ModelError when no call can succeed.
    """
    run = Run(
        judge=judge,
        labels=labels,
        answers=answers,
        questions=questions,
        against=against,
        threshold=threshold,
        mapping=dict(mapping) if mapping else None,
        budget=budget,
        offline=offline,
        settings=choose(settings or load_settings(), "judge", model=model),
    )
    return run_draft(run, progress)


def look_at_test(
    judge: Place | Judge,
    *,
    labels: Place,
    answers: Place | None = None,
    questions: Place | None = None,
    threshold: float | None = None,
    mapping: Mapping[float, float] | None = None,
    model: str | None = None,
    settings: Settings | None = None,
    budget: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> TestLook:
    """Return a judge's report card on the test part, and the number of this look; every look is counted.

    Arguments as of develop_judge. The look is written to the project's log before its card is returned.
    Raises what develop_judge raises, and DataError where the budget is spent before the end: that is no look.
    """
    run = Run(
        judge=judge,
        labels=labels,
        answers=answers,
        questions=questions,
        threshold=threshold,
        mapping=dict(mapping) if mapping else None,
        budget=budget,
        offline=offline,
        settings=choose(settings or load_settings(), "judge", model=model),
    )
    return take_look(run, progress)


def freeze_judge(
    judge: Place, change: str, *, development: Development | None = None, settings: Settings | None = None
) -> Frozen:
    """Write a judge's file as its next version, and a copy `NAME@vN.toml` that is never written again.

    change: what is new, in a line; it stands at the top of the file, with what the development found.
    Raises ConfigError for a file that is no judge, DataError where nothing can be written.
    """
    path, chosen = Path(judge).expanduser(), settings or load_settings()
    return freeze(path, read_text(path), change, who=user_of(chosen), development=development)


def run_draft(run: Run, progress: Progress) -> Development:
    """Return what develop_judge returns; a file is kept as a draft, also where its run fails."""
    task = _task(run)
    store = DevelopmentStore(run.settings)
    draft = None if isinstance(run.judge, Judge) else store.add_draft(_draft(task, Path(run.judge), run))

    async def work() -> Development:
        caps = parse_caps(run.budget)
        async with open_session(run.settings, caps=caps, offline=run.offline, progress=progress) as session:
            return await develop(task, session)

    try:
        found = run_sync(work())
    except RagstoneError as mistake:
        if draft is not None:
            failed = Outcome(state="failed", words=str(mistake))
            store.put_draft(msgspec.structs.replace(draft, outcome=failed))
        raise
    if draft is not None:
        store.put_draft(msgspec.structs.replace(draft, outcome=outcome_of(found)), found)
    return found


def take_look(run: Run, progress: Progress) -> TestLook:
    """Return what look_at_test returns."""
    task, store = _task(run, as_is=True), DevelopmentStore(run.settings)

    async def work() -> TestLook:
        caps = parse_caps(run.budget)
        async with open_session(run.settings, caps=caps, offline=run.offline, progress=progress) as session:
            return await look_at_part(task, session, store, user_of(run.settings))

    return run_sync(work())


def forecast_run(run: Run, *, test: bool = False) -> Forecast:
    """Return what a run, or with `test` a look, would ask; nobody is asked."""
    part: Part = "test" if test else "dev"
    return forecast_development(_task(run, as_is=test), run.settings, part)


def _task(run: Run, *, as_is: bool = False) -> Task:
    """Return what is to be run. A file is run under the version that it would be frozen as.

    So the calls of a draft are those of the version that becomes of it. as_is: under the version it states.
    """
    labelled = read_labelled(run.labels, run.answers, run.questions)
    before = load_judge(run.against) if isinstance(run.against, Path | str) else run.against
    if isinstance(run.judge, Judge):
        draft = run.judge
    elif as_is:
        draft = load_judge(run.judge)
    else:
        path = Path(run.judge).expanduser()
        text = read_text(path)
        draft = parse_draft(text, path)
        draft = msgspec.structs.replace(draft, version=run_version(path, draft, text))
        before = before or before_of(path, text)
    parts = DevelopmentStore(run.settings).split(labelled)
    return Task(draft=draft, before=before, labelled=labelled, parts=parts, scale=run.scale)


def outcome_of(found: Development) -> Outcome:
    """Return what a draft's record says of its run."""
    before = found.before.value if found.before else None
    return Outcome(
        state="done",
        measure=found.measure,
        before=before.value if before else None,
        after=found.after.value.value if found.after.value else None,
        n=found.n,
        verdict=found.verdict if found.before else None,
        n_changed=len(found.changes),
    )


def user_of(settings: Settings) -> str:
    """Return who works on this machine, as the workbench calls them."""
    return settings.workbench.annotator or getpass.getuser()


def _draft(task: Task, path: Path, run: Run) -> Draft:
    text = read_text(path.expanduser())
    return Draft(
        number=0,
        judge=task.draft.name,
        who=user_of(run.settings),
        at=now(),
        digest=digest_of(text),
        text=text,
        file=digest_of(text),
        labels=task.labelled.name,
        model=run.settings.judge.model,
        scale=task.scale,
        outcome=Outcome(state="running"),
    )
