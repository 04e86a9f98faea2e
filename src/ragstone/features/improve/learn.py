"""Learning a judge from people's labels: candidates measured on dev, the best one looked at on test once."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from ragstone.features.improve._labelled_sets import LabelledSet, as_yes_no, read_labelled
from ragstone.features.improve._learned_file import (
    LearnedFile,
    candidate_text,
    learned_file,
    renamed,
    write_learned,
)
from ragstone.features.improve._parts import Node, Part
from ragstone.features.improve._store import DevelopmentStore
from ragstone.features.improve._thresholds import FOLDS
from ragstone.features.improve.candidates.examples import can_show, example_candidates
from ragstone.features.improve.candidates.fitted import MemberScores, fitted_candidates, free_members
from ragstone.features.improve.candidates.prompts import can_rewrite, prompt_candidates
from ragstone.features.improve.candidates.racing import judged_whole
from ragstone.features.improve.candidates.rows import (
    CandidateResult,
    JudgeScores,
    LearningRows,
    Unit,
    check_rows,
    learning_rows,
    measured_candidate,
    refused,
    untouched,
    worths_of_result,
    yes_from_of,
)
from ragstone.features.improve.develop import DevelopmentRun, Place, record_look, user_of
from ragstone.features.improve.learned import (
    A_GAIN,
    METHODS,
    LearnedTest,
    Learning,
    LearningMethod,
    choose_candidate,
    choose_nearer,
    gain,
    gain_of,
    nearer_of,
    needed_labels,
    toward_of,
)
from ragstone.features.improve.values import Scale
from ragstone.kernel.config import Settings, choose, load_settings
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions, forecast_of, run_in_session
from ragstone.kernel.errors import ConfigError, DataError, ModelError, checks_arguments, nearest
from ragstone.kernel.judging import load_judge, question_digest
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.judging.one_call import OneCallJudge
from ragstone.kernel.judging.variant import placed_name
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.statistics import Estimate, Floats
from ragstone.kernel.statistics.calibration import calibration_error

GRADED = (
    "it weighs yes and no, but the labels are grades. Give the lowest grade that counts as a yes: "
    "--yes-from GRADE."
)
NO_PROPOSER = "{} is a decision model, which writes no prompt. Name one that writes with --proposer."
ROUNDS = {"examples": 2.0, "prompt": 4.0}  # times that dev is judged for a method, at most
FORECAST_NOTE = (
    "Learning makes fewer calls than this if a candidate is stopped early or a proposed prompt is "
    "no better on the answers it was made from. The test part is judged only if a candidate gained "
    "on dev."
)


class Helper(msgspec.Struct, frozen=True, kw_only=True):
    """Another judge that may help, and the model that it asks, None for the usual one."""

    member: Member
    model: str | None = None


class LearningTask(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What is to be learned, from what, in which ways."""

    file: LearnedFile
    helpers: list[Helper]
    labelled: LabelledSet
    parts: Mapping[Node, Part]
    scale: Scale
    methods: Sequence[LearningMethod]
    proposer: str | None = None

    def rows(self, part: Part, seed: int, unit: Unit | None = None) -> LearningRows:
        """Return one part as rows. Raises DataError for one that is empty, and labels that do not fit."""
        labelled = self.labelled.filled(self.parts, part)
        return learning_rows(labelled, self.file.judge, self.scale, seed=seed, n_folds=FOLDS, unit=unit)

    def both(self, seed: int) -> tuple[LearningRows, LearningRows]:
        """Return the rows of dev and of test. Raises DataError for labels that nothing can be learned from.

        Rows are left out that a helper was fitted on, and of the test part those that the judge was: what was
        fitted on an answer can say nothing about it.
        """
        helpers = [helper.member.inner for helper in self.helpers]
        rows = self.rows("dev", seed)
        closed = untouched(self.rows("test", seed, rows.unit), [self.file.judge, *helpers])
        rows = untouched(rows, helpers)
        check_rows(rows, closed, self.labelled.name)
        return rows, closed


async def learn(task: LearningTask, session: Session, store: DevelopmentStore, who: str) -> Learning:
    """Return what was learned; where it is better on the test part, the new version is written.

    Calls that are in the ledger are not made again. Raises DataError for labels that nothing can be learned
    from, ModelError when no call can succeed.
    """
    seed = session.settings.run.seed
    rows, closed = task.both(seed)
    before = await judged_whole(task.file.judge, rows, session, yes_from=rows.unit.yes_from)
    learning = Learning(
        labels=task.labelled.name,
        judge=task.file.judge.name,
        version=task.file.judge.version,
        measure=rows.unit.measure,
        yes_from=rows.unit.yes_from,
        n_dev=len(rows.answers),
        n_questions=len(set(rows.clusters)),
        n_test=len(closed.answers),
        n_tied=rows.n_tied,
        n_tuned=rows.n_tuned + closed.n_tuned,
        candidates=[],
    )
    if before.cut_off:
        return msgspec.structs.replace(learning, cut_off=True)
    if np.isnan(before.scores).all():
        first = before.judgements[0]
        raise DataError(
            f"{first.judge} gave none of the {len(rows.answers)} labelled answers a score ({first.status}: "
            f"{first.error or first.rationale}). Learn with a judge that can judge them."
        )
    results = await _candidates(task, rows, before, session)
    candidates = [
        measured_candidate(result, before, rows, lambda judge: candidate_text(task.file, judge))
        for result in results
    ]
    learning = msgspec.structs.replace(
        learning, candidates=candidates, cut_off=any(result.state == "over_budget" for result in results)
    )
    nearest = choose_nearer(candidates) if task.methods == ["calibration"] else None
    learning = msgspec.structs.replace(learning, by="probabilities" if nearest else "agreement")
    chosen = None if learning.cut_off else nearest or choose_candidate(candidates)
    if chosen is None:
        return _with_needed(learning, results, before, rows)
    at = candidates.index(chosen)
    tested = await _looked(task, results[at], closed, session, store, who)
    learning = msgspec.structs.replace(learning, chosen=chosen.name, tested=tested, cut_off=tested is None)
    if learning.verdict != "better":
        return _with_needed(learning, results, before, rows)
    frozen = write_learned(task.file, chosen, learning, who)
    return msgspec.structs.replace(learning, new_version=frozen.version, version_path=str(frozen.path))


async def _candidates(
    task: LearningTask, rows: LearningRows, before: JudgeScores, session: Session
) -> list[CandidateResult]:
    """Return all that was tried, the ways without a call first; the last one where the budget ends."""
    tuned_on = sorted({question_digest(row.question_id, row.question) for row in rows.answers})
    results = await _fitted(task, rows, before, session, tuned_on)
    if any(result.state == "over_budget" for result in results):
        return results
    judge = renamed(task.file)
    if "examples" in task.methods:
        if why := can_show(judge):
            results.append(refused("examples", why, rows))
        elif isinstance(judge, OneCallJudge):
            results += await example_candidates(judge, before, rows, tuned_on, session)
    if "prompt" in task.methods and not any(result.state == "over_budget" for result in results):
        if why := can_rewrite(judge):
            results.append(refused("prompt", why, rows))
        elif isinstance(judge, OneCallJudge):
            model = task.proposer or session.settings.judge.model
            if model is None:
                raise ModelError("a prompt is proposed by a model: name one with --proposer or --model.")
            if session.models.decides(model):
                results.append(refused("prompt", NO_PROPOSER.format(model), rows))
                return results
            ask = await session.models.ask(model)
            results += await prompt_candidates(judge, before, rows, tuned_on, session, ask)
    return results


async def _fitted(
    task: LearningTask, rows: LearningRows, before: JudgeScores, session: Session, tuned_on: list[str]
) -> list[CandidateResult]:
    """Return the candidates that weigh scores."""
    wanted = [item for item in task.methods if item in ("calibration", "stack", "cascade")]
    if not wanted:
        return []
    if not rows.unit.yes_no:
        return [refused(item, GRADED, rows) for item in wanted]
    own = MemberScores(member=task.file.member, rows=before)
    helpers = []
    for helper in task.helpers:
        judged = await judged_whole(helper.member.inner, rows, session, helper.model)
        if judged.cut_off:
            cut = refused(
                "stack", f"the budget was spent before {helper.member.inner.name} had judged.", rows
            )
            return [msgspec.structs.replace(cut, state="over_budget")]
        helpers.append(MemberScores(member=helper.member, rows=judged))
    known = {task.file.judge.name, *(item.member.inner.name for item in helpers)}
    free = [
        MemberScores(member=member, rows=await judged_whole(member.inner, rows, session))
        for member in free_members(rows.answers, known)
    ]
    named = (task.file.name, task.file.version, tuned_on)
    return list(fitted_candidates(wanted, own, helpers, free, rows, named))


async def _looked(
    task: LearningTask,
    chosen: CandidateResult,
    closed: LearningRows,
    session: Session,
    store: DevelopmentStore,
    who: str,
) -> LearnedTest | None:
    """Return the one look at the test part, which is counted; None where the budget ended before it."""
    judge = chosen.judge
    if judge is None:
        raise ValueError("a candidate that was chosen has a judge")
    yes_from = yes_from_of(judge, closed.unit)
    before = await judged_whole(task.file.judge, closed, session, yes_from=closed.unit.yes_from)
    after = await judged_whole(judge, closed, session, yes_from=yes_from)
    if before.cut_off or after.cut_off:
        return None
    worths = [closed.worths(judge_scores.scores, judge_scores.yes_from) for judge_scores in (before, after)]
    exact = closed.unit.measure == "exact agreement"
    gained = gain_of(worths[0], worths[1], closed.clusters, yes_no=exact, seed=closed.seed)
    test = task.labelled.of(task.parts, "test")
    scale = msgspec.structs.replace(task.scale, threshold=yes_from)
    look = record_look(judge, after.judgements, test, scale, store, who, seed=closed.seed)
    nearer = toward = None
    errors: tuple[Estimate | None, Estimate | None] = (None, None)
    if closed.unit.yes_no and before.are_probabilities and after.are_probabilities:
        nearer = nearer_of(before.scores, after.scores, closed.human, closed.clusters, seed=closed.seed)
        toward = toward_of(before.scores, after.scores, closed.human, closed.clusters, seed=closed.seed)
        errors = _errors(before.scores, after.scores, closed)
    return LearnedTest(
        look=look.number,
        n=len(closed.answers),
        before=gained.before,
        value=gained.value,
        test=gained.test,
        card=look.card,
        nearer=nearer,
        toward=toward,
        error_before=errors[0],
        error=errors[1],
    )


def _errors(before: Floats, after: Floats, rows: LearningRows) -> tuple[Estimate | None, Estimate | None]:
    """Return the calibration errors of two judges' probabilities on the answers that both scored."""
    known = np.flatnonzero(~np.isnan(before + after))
    if not known.size:
        return None, None
    human, clusters = rows.human[known], [rows.clusters[at] for at in known]
    first, second = (
        calibration_error(scores[known], human, clusters, seed=rows.seed) for scores in (before, after)
    )
    return first, second


def _with_needed(
    learning: Learning, results: Sequence[CandidateResult], before: JudgeScores, rows: LearningRows
) -> Learning:
    """Return it with how many labels would show the gain of the best candidate, if it is real."""
    pairs = [
        (candidate, result)
        for candidate, result in zip(learning.candidates, results, strict=True)
        if candidate.state == "measured"
    ]
    if not pairs:
        return learning
    candidate, best = max(pairs, key=lambda pair: gain(pair[0]))
    wanted = gain(candidate) if gain(candidate) > 0 else A_GAIN * rows.unit.span
    old, mine = rows.worths(before.scores, before.yes_from), worths_of_result(best, rows)
    clusters = [rows.clusters[n] for n in np.flatnonzero(best.asked)]
    test_share = learning.n_test / (learning.n_dev + learning.n_test)
    needed = needed_labels(old[best.asked], mine[best.asked], clusters, wanted, test_share)
    return msgspec.structs.replace(learning, needed=needed, needed_gain=None if needed is None else wanted)


class LearningRun(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for: see learn_judge. development: judge, labels, scale, settings and budget."""

    development: DevelopmentRun
    helpers: Sequence[Place] = ()
    methods: Sequence[str] = ()
    yes_from: float | None = None
    proposer: str | None = None


@checks_arguments
def learn_judge(
    judge: Place,
    *,
    labels: Place,
    answers: Place | None = None,
    questions: Place | None = None,
    helpers: Sequence[Place] = (),
    methods: Sequence[LearningMethod] = (),
    threshold: float | None = None,
    mapping: Mapping[float, float] | None = None,
    yes_from: float | None = None,
    proposer: str | None = None,
    model: str | None = None,
    settings: Settings | None = None,
    budget: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> Learning:
    """Return what makes a judge agree better with people's labels, and write it as the judge's next version.

    judge: its file, or one that comes with Ragstone, of which a file `judges/my_NAME.toml` is made. labels,
    answers, questions, threshold, mapping: as of develop_judge; without a threshold a judge says yes from
    the middle of its scale on. yes_from: the lowest label that is a yes, where labels are grades. helpers:
    other judges that may be weighed with it, as `NAME by MODEL` where one asks a model of its own. methods:
    of METHODS, default all. proposer: the model that proposes prompts; default the judge's own. Each
    candidate is measured on questions of the dev part that it was not fitted on; the best, if it gained
    anything, is looked at on the test part once, and is written only if it is better there. Raises
    ConfigError for a judge that cannot learn, DataError for labels that nothing can be learned from,
    ModelError when no call can succeed.
    """
    run = LearningRun(
        development=DevelopmentRun(
            judge=judge,
            labels=labels,
            answers=answers,
            questions=questions,
            scale=Scale(threshold=threshold, mapping=dict(mapping) if mapping else None),
            how=SessionOptions(parse_caps(budget), offline, progress=progress),
            settings=choose(settings or load_settings(), "judge", model=model),
        ),
        helpers=helpers,
        methods=methods,
        yes_from=yes_from,
        proposer=proposer,
    )
    return run_learning(run)


def run_learning(run: LearningRun) -> Learning:
    """Return what learn_judge returns."""
    task, settings = task_of_run(run), run.development.settings
    store, who = DevelopmentStore(settings), user_of(settings)
    learning = run_in_session(settings, run.development.how, lambda session: learn(task, session, store, who))
    store.put_learning(task.file.name, learning)
    return learning


def task_of_run(run: LearningRun) -> LearningTask:
    """Return what is to be learned. Raises what learn_judge raises before it asks."""
    own = run.development
    labelled = read_labelled(own.labels, own.answers, own.questions, words=own.scale.words)
    return learning_task(run, labelled, DevelopmentStore(own.settings))


def learning_task(run: LearningRun, labelled: LabelledSet, store: DevelopmentStore) -> LearningTask:
    """Return the task on a labelled set that was read. Raises what learn_judge raises before it asks."""
    named_judge, scale = run.development.judge, run.development.scale
    if not isinstance(named_judge, Path | str):
        raise ConfigError(
            "learning writes the next version of a judge's file: name a file, or a judge by name."
        )
    file = learned_file(named_judge, run.development.settings)
    unknown = next((name for name in run.methods if name not in METHODS), None)
    if unknown is not None:
        raise ConfigError(f"unknown way to learn {unknown!r}. {nearest(unknown, METHODS)}")
    if run.yes_from is not None:
        if scale.mapping is not None:
            raise ConfigError("--yes-from and --map both say what a label stands for: give one of the two.")
        metric = file.judge.measures
        labelled = msgspec.structs.replace(labelled, labels=as_yes_no(labelled.labels, metric, run.yes_from))
    return LearningTask(
        file=file,
        helpers=[_helper(str(name)) for name in run.helpers],
        labelled=labelled,
        parts=store.split(labelled),
        scale=scale,
        methods=[name for name in METHODS if not run.methods or name in run.methods],
        proposer=run.proposer,
    )


def _helper(named: str) -> Helper:
    """Return another judge that is named, as `NAME by MODEL` where it asks a model of its own."""
    judge_name, by, model = named.rpartition(" by ")
    if not by or named.endswith(".toml"):
        judge_name, model = named, ""
    judge = load_judge(judge_name)
    if model and not judge.needs_model:
        raise ConfigError(f"{named!r}: {judge.name} calls no model. Remove 'by {model}'.")
    member = Member(judge=placed_name(judge_name), model=model or None, loaded=judge)
    return Helper(member=member, model=model or None)


def forecast_learning(task: LearningTask, settings: Settings) -> Forecast:
    """Return what learning would ask at most; nobody is asked."""

    async def work(session: Session) -> None:
        rows, closed = task.both(settings.run.seed)
        judge = task.file.judge
        forecaster = session.forecaster
        forecaster.assume(FORECAST_NOTE)
        await judged_whole(judge, rows, session)
        await judged_whole(judge, closed, session)
        for helper in task.helpers:
            await judged_whole(helper.member.inner, rows, session, helper.model)
        # Other prompts are asked of the same rows; a number that no version has makes them other calls.
        for at, method in enumerate(task.methods, 1):
            forecaster.weight = ROUNDS.get(method, 0.0)
            if forecaster.weight and isinstance(judge, OneCallJudge):
                other = msgspec.structs.replace(judge, version=judge.version + 1000 * at)
                await judged_whole(other, rows, session)
        forecaster.weight = 1.0
        await judged_whole(msgspec.structs.replace(judge, version=judge.version + 999), closed, session)

    return forecast_of(settings, work)
