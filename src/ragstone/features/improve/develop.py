"""A draft of a judge beside the version before, on the dev part; and looks at the test part, each counted."""

import getpass
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.improve._labelled_sets import LabelledSet, judge_labelled, read_labelled
from ragstone.features.improve._parts import Node, Part
from ragstone.features.improve._store import DevelopmentStore, JudgeDraft, Outcome, now
from ragstone.features.improve.judge_files import (
    Frozen,
    before_of,
    digest_of,
    freeze,
    parse_draft,
    read_text,
    run_version,
)
from ragstone.features.improve.values import (
    Development,
    JudgedVersion,
    LookRecord,
    Moved,
    Scale,
    Version,
    changes_between,
    compare_versions,
    humans_of,
    judged_version,
    look_notes,
    looks_at,
)
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.agreement.pairing import Human, Key
from ragstone.kernel.config import Settings, choose, load_settings
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import PLAIN, Session, SessionOptions, forecast_of, run_in_session
from ragstone.kernel.errors import DataError, RagstoneError, checks_arguments, plural
from ragstone.kernel.judging import Judge, load_judge, question_digest
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.records import Judgement
from ragstone.kernel.stages.forecasting import sample_of
from ragstone.kernel.stages.notes import BASELINES

CLOSED_ROWS = "The answers on which the judge and people differ are not shown: they stay closed."
SAMPLE = 500  # answers that a forecast looks at; each stands for as many as were passed over
DEV_NOTE = (
    "The judge is fitted to the dev part, so agreement there reads too good. The test part shows "
    "what the judge is worth, once, at the end."
)


class DevelopmentTask(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What is to be developed: the draft, the version before if there is one, the set, how scores meet it."""

    draft: Judge
    before: Judge | None
    labelled: LabelledSet
    parts: Mapping[Node, Part]
    scale: Scale = Scale()

    @property
    def judges(self) -> list[Judge]:
        """The draft, then the version before."""
        return [self.draft, self.before] if self.before else [self.draft]

    def part(self, part: Part) -> LabelledSet:
        """Return one part of the set. Raises DataError if it is empty."""
        return self.labelled.filled(self.parts, part)


def draft_as_run(text: str, path: Path) -> Judge:
    """Return the judge that a draft describes, under the version that it would be frozen as.

    So the calls of a draft are those of the version that becomes of it. Raises ConfigError.
    """
    draft = parse_draft(text, path)
    return msgspec.structs.replace(draft, version=run_version(path, draft, text))


class TestLook(msgspec.Struct, frozen=True, kw_only=True):
    """A look at the test part: its number, from 1, the card that it showed, and all looks so far.

    place: in the log of looks at all test parts, from 1.
    """

    number: int
    place: int
    card: ReportCard
    looks: list[LookRecord]
    __test__ = False  # no test of pytest's


def digest_of_judge(judge: Judge) -> str:
    """Return what a judge is told by in a log: by all that its file says, but version and `tuned_on`."""
    same = msgspec.structs.replace(judge, version=1, tuned_on=[])
    return digest_of(msgspec.json.encode(same.every_key()).decode())


async def develop(task: DevelopmentTask, session: Session) -> Development:
    """Return what the draft changes against the version before, on the dev part.

    Calls that are in the ledger are not made again. Raises DataError for labels that do not speak of the
    judge's metric, ModelError when no call can succeed.
    """
    answers = task.part("dev").answers
    rows = [await judge_labelled(judge, answers, session) for judge in task.judges]
    return developed(task, rows, session.settings.run.seed)


def developed(task: DevelopmentTask, rows: Sequence[Sequence[Judgement]], seed: int) -> Development:
    """Return the development from the judgements of the draft and, if there is one, the version before."""
    dev, test = task.part("dev"), task.labelled.of(task.parts, "test")
    humans = humans_of(dev.labels, task.draft.measures, task.scale)
    judged = [
        judged_version(mine, judge.measures, humans, task.scale, seed=seed)
        for judge, mine in zip(task.judges, rows, strict=True)
    ]
    moved = compare_versions(judged[1], judged[0], seed=seed) if task.before else Moved()
    versions = [
        Version(
            judge=judge.name,
            version=judge.version,
            digest=digest_of_judge(judge),
            card=outcome.card,
            value=value,
        )
        for judge, outcome, value in zip(task.judges, judged, moved.values[::-1], strict=False)
    ]
    texts = {(row.question_id, row.system): row for row in dev.answers}
    return Development(
        labels=task.labelled.name,
        n_answers=len(dev.answers),
        n_questions=len(dev.questions),
        n_test=len(test.answers),
        n_neither=len(task.labelled.of(task.parts, "neither").answers),
        before=versions[1] if task.before else None,
        after=versions[0],
        n=moved.n,
        measure=moved.measure,
        test=moved.test,
        changes=changes_between(judged[1], judged[0], humans, texts) if task.before else [],
        notes=[*moved.notes, *_notes(judged, humans), DEV_NOTE],
        tuned_on=sorted({question_digest(row.question_id, row.question) for row in dev.answers}),
    )


def _notes(judged: Sequence[JudgedVersion], humans: Mapping[Key, Human]) -> list[str]:
    """Return what keeps answers out of the comparison."""
    notes = []
    if not any(version.measured.pairs.keys for version in judged):
        notes.append("No labelled answer of the dev part has a score by either version: see the statuses.")
    over = [version for version in judged if version.measured.pairs.statuses.get("over_budget")]
    if over:
        n = sum(version.measured.pairs.statuses["over_budget"] for version in over)
        notes.append(
            f"The budget cut off {plural(n, 'judgement')}, which no number here includes. Run again "
            "with a larger budget: finished calls are in the ledger and cost nothing."
        )
    n_tied = sum(human.score is None for human in humans.values())
    if n_tied:
        notes.append(f"Answers left out because annotators tie: {n_tied}.")
    return notes


async def look_at_part(
    task: DevelopmentTask, session: Session, store: DevelopmentStore, who: str
) -> TestLook:
    """Return the report card of the draft on the test part, with the number of this look.

    The judge that calls no model and measures the same, where there is one, stands beside it. The card shows
    no answer, so that none becomes the next draft's example. The look is on the disk before its card is
    given. What could not be judged is no look: raises ModelError when no call can succeed, DataError where
    the budget was spent before the end, or labels do not fit the judge.
    """
    test = task.part("test")
    judge = task.draft
    humans_of(test.labels, judge.measures, task.scale)
    baseline = BASELINES.get(judge.measures)
    judges = [judge, load_judge(baseline)] if baseline and judge.needs_model else [judge]
    rows = [
        row for each in judges for row in await judge_labelled(each, test.answers, session, as_tuned=True)
    ]
    check_whole(rows, judge)
    return record_look(judge, rows, test, task.scale, store, who, seed=session.settings.run.seed)


def record_look(
    judge: Judge,
    rows: Sequence[Judgement],
    test: LabelledSet,
    scale: Scale,
    store: DevelopmentStore,
    who: str,
    *,
    seed: int,
) -> TestLook:
    """Return a look with its card and number, which are on the disk by then. rows: the judge's, and
    others'.
    """
    threshold = {judge.name: scale.threshold} if scale.threshold is not None else None
    cards = report_cards(rows, test.labels, mapping=scale.mapping, threshold=threshold, seed=seed)
    card = next(each for each in cards if (each.judge, each.metric) == (judge.name, judge.measures))
    look = LookRecord(
        at=now(),
        who=who,
        labels=test.name,
        judge=judge.name,
        version=judge.version,
        digest=digest_of_judge(judge),
        model=card.model,
        questions=test.questions,
    )
    everything = store.add_look(look)
    looks = looks_at(everything, look.questions)
    notes = [*look_notes(len(looks), looks, len(test.answers)), CLOSED_ROWS, *card.notes]
    # Which answers it gets wrong would be the next draft's examples: the numbers are shown, the rows are not.
    card = msgspec.structs.replace(card, notes=notes, disagreements=[])
    test_look = TestLook(number=len(looks), place=len(everything), card=card, looks=looks)
    store.put_card(test_look.place, msgspec.json.encode(test_look))
    return test_look


def check_whole(rows: Sequence[Judgement], judge: Judge) -> None:
    """Raise DataError where the budget cut the test part off: half a look would be a look all the same."""
    n_over = sum(row.status == "over_budget" for row in rows)
    if n_over:
        raise DataError(
            f"the budget was spent before {n_over} of {len(rows)} judgements of {judge.name} on the test "
            "part were made. Nothing is shown, and no look was counted. Run again with a larger budget: "
            "finished calls are in the ledger and cost nothing."
        )


def forecast_development(task: DevelopmentTask, settings: Settings, part: Part = "dev") -> Forecast:
    """Return what a run on one part would ask; nobody is asked. Raises what the run raises before it asks."""
    answers = task.part(part).answers
    judges = task.judges if part == "dev" else [task.draft]

    async def work(session: Session) -> None:
        sampled = sample_of(answers, session, SAMPLE)
        session.forecaster.assume(*(judge.assumption for judge in judges))
        for judge in judges:
            await judge_labelled(judge, sampled, session)

    return forecast_of(settings, work)


Place = Path | str


class DevelopmentRun(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for: a judge, the labelled set, how scores meet labels, and what may be spent.

    See develop_judge.
    """

    judge: Place | Judge
    labels: Place
    settings: Settings
    answers: Place | None = None
    questions: Place | None = None
    against: Place | Judge | None = None
    scale: Scale = Scale()
    how: SessionOptions = PLAIN


@checks_arguments
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
    run = DevelopmentRun(
        judge=judge,
        labels=labels,
        answers=answers,
        questions=questions,
        against=against,
        scale=Scale(threshold=threshold, mapping=dict(mapping) if mapping else None),
        how=SessionOptions(parse_caps(budget), offline, progress=progress),
        settings=choose(settings or load_settings(), "judge", model=model),
    )
    return run_draft(run)


@checks_arguments
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
    run = DevelopmentRun(
        judge=judge,
        labels=labels,
        answers=answers,
        questions=questions,
        scale=Scale(threshold=threshold, mapping=dict(mapping) if mapping else None),
        how=SessionOptions(parse_caps(budget), offline, progress=progress),
        settings=choose(settings or load_settings(), "judge", model=model),
    )
    return take_look(run)


@checks_arguments
def freeze_judge(
    judge: Place, change: str, *, development: Development | None = None, settings: Settings | None = None
) -> Frozen:
    """Write a judge's file as its next version, and a copy `NAME@vN.toml` that is never written again.

    change: what is new, in a line; it stands at the top of the file, with what the development found.
    Raises ConfigError for a file that is no judge, DataError where nothing can be written.
    """
    path, chosen = Path(judge).expanduser(), settings or load_settings()
    return freeze(path, read_text(path), change, who=user_of(chosen), development=development)


def run_draft(run: DevelopmentRun) -> Development:
    """Return what develop_judge returns; a file is kept as a draft, also where its run fails."""
    task, store = _task(run), DevelopmentStore(run.settings)
    draft = None
    if not isinstance(run.judge, Judge):
        text = read_text(Path(run.judge).expanduser())
        draft = store.add_draft(
            JudgeDraft(
                judge=task.draft.name,
                who=user_of(run.settings),
                digest=digest_of(text),
                text=text,
                file=digest_of(text),
                labels=task.labelled.name,
                model=run.settings.judge.model,
                scale=task.scale,
                outcome=Outcome(state="running"),
            )
        )
    try:
        development = run_in_session(run.settings, run.how, lambda session: develop(task, session))
    except RagstoneError as mistake:
        if draft is not None:
            store.put_draft(draft, Outcome(state="failed", words=str(mistake)))
        raise
    if draft is not None:
        store.put_draft(draft, outcome_of(development), development)
    return development


def take_look(run: DevelopmentRun) -> TestLook:
    """Return what look_at_test returns."""
    task, store, who = _task(run, as_is=True), DevelopmentStore(run.settings), user_of(run.settings)
    return run_in_session(run.settings, run.how, lambda session: look_at_part(task, session, store, who))


def forecast_run(run: DevelopmentRun, *, test: bool = False) -> Forecast:
    """Return what a run, or with `test` a look, would ask; nobody is asked."""
    return forecast_development(_task(run, as_is=test), run.settings, "test" if test else "dev")


def _task(run: DevelopmentRun, *, as_is: bool = False) -> DevelopmentTask:
    """Return what is to be run. as_is: a file under the version that it states, beside no other."""
    labelled = read_labelled(run.labels, run.answers, run.questions, words=run.scale.words)
    before = load_judge(run.against) if isinstance(run.against, Path | str) else run.against
    if isinstance(run.judge, Judge):
        draft = run.judge
    elif as_is:
        draft = load_judge(run.judge)
    else:
        path = Path(run.judge).expanduser()
        text = read_text(path)
        draft = draft_as_run(text, path)
        before = before or before_of(path, text)
    parts = DevelopmentStore(run.settings).split(labelled)
    return DevelopmentTask(draft=draft, before=before, labelled=labelled, parts=parts, scale=run.scale)


def outcome_of(development: Development) -> Outcome:
    """Return what a draft's record says of its run."""
    before = development.before.value if development.before else None
    return Outcome(
        state="done",
        measure=development.measure,
        before=before.value if before else None,
        after=development.after.value.value if development.after.value else None,
        n=development.n,
        verdict=development.verdict if development.before else None,
        n_changed=len(development.changes),
    )


def user_of(settings: Settings) -> str:
    """Return who works on this machine, as the workbench calls them."""
    return settings.workbench.annotator or getpass.getuser()
