"""A changed prompt of the answers, or of a judge, on a few rows of a run. Nothing of the run is changed."""

from collections.abc import Collection
from itertools import islice
from pathlib import Path

import msgspec

from ragstone.features.improve.trial._words import PromptTrial, TrialRow, TrialScore
from ragstone.kernel.config import Sampling, Settings, choose, load_settings, sampling_of
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import PLAIN, Session, SessionOptions, forecast_of, run_in_session
from ragstone.kernel.errors import ConfigError, DataError, checks_arguments
from ragstone.kernel.judging import Judge, judge_names, load_judge
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.llm.prompt import sampled
from ragstone.kernel.llm.stub_reply import ASSUMPTION
from ragstone.kernel.records import Answer, Judgement, Question
from ragstone.kernel.stages.answer import answering_model
from ragstone.kernel.stages.given import answers_of, judgements_of, rows_in
from ragstone.kernel.stages.judge import judge_rows
from ragstone.kernel.systems.prompting import AnsweringPrompt, load_prompt
from ragstone.kernel.systems.rag import answer_question
from ragstone.kernel.systems.rows import join_questions, with_columns
from ragstone.kernel.tables import read_rows

ROWS = 10  # that are tried unless others are named
MOST_ROWS = 50

Key = tuple[str, str, str, str]  # question, system, judge, metric


class TrialTask(msgspec.Struct, frozen=True, kw_only=True):
    """What is tried. draft: the changed prompt, or judge. answers: the rows, as the run has them.

    judges: that judge them anew, with the name under which the run has their scores; saved: those scores.
    """

    run: str
    draft: AnsweringPrompt | Judge
    answers: list[Answer]
    judges: list[tuple[Judge, str]]
    saved: dict[Key, Judgement]
    notes: list[str] = []

    @property
    def asked(self) -> list[Question]:
        """The questions of the rows."""
        return [Question(id=row.question_id, question=row.question or "") for row in self.answers]


def trial_task(
    run: Path,
    draft: AnsweringPrompt | Judge,
    settings: Settings,
    *,
    against: str | None = None,
    questions: Collection[str] = (),
    limit: int = ROWS,
) -> TrialTask:
    """Return what is to be tried on the rows of a run. Raises DataError where it has no such rows.

    against: the judge of the run whose scores stand beside those of a judge; default the one of its name, or
    that it is a copy of (`my_NAME`). questions: ids; default the first of the run, `limit` of them.
    """
    answers = _answers(run, questions, limit)
    asked = {answer.question_id for answer in answers}
    file = judgements_of(run)
    judged = read_rows(file, Judgement) if file != run else iter(())
    saved = {
        (row.question_id, row.system, row.judge, row.metric): row
        for row in judged
        if row.question_id in asked
    }
    names = list(dict.fromkeys(judge for _, _, judge, _ in saved))
    if isinstance(draft, AnsweringPrompt):
        judges, notes = _judges_of(names, settings)
        answers = list({answer.question_id: answer for answer in reversed(answers)}.values())[::-1]
        return TrialTask(run=run.name, draft=draft, answers=answers, judges=judges, saved=saved, notes=notes)
    if draft.compares_two:
        raise ConfigError(f"{draft.name} compares two systems, but rows are tried one by one.")
    own = against or (draft.name if draft.name in names else draft.name.removeprefix("my_"))
    lacks = (
        f"{run.name} has no scores of {own} for these rows, so there is nothing to compare the new ones with."
    )
    return TrialTask(
        run=run.name,
        draft=draft,
        answers=answers,
        # What a judge was tuned on is refused elsewhere; here people look at rows, and nothing is measured.
        judges=[(msgspec.structs.replace(draft, tuned_on=[]), own)],
        saved=saved,
        notes=[] if own in names else [lacks],
    )


def _answers(run: Path, questions: Collection[str], limit: int) -> list[Answer]:
    sheet = answers_of(run)
    if sheet is None:
        raise DataError(f"{run}: it has no answers to try a prompt on. Name a run of `ragstone run`.")
    if max(len(questions), 0 if questions else limit) > MOST_ROWS:
        raise ConfigError(f"a prompt is tried on at most {MOST_ROWS} rows. Choose fewer.")
    if not questions and limit < 1:
        raise ConfigError(f"limit = {limit}: give 1 to {MOST_ROWS} rows.")
    file = rows_in(run, "questions")
    known = {row.id: row for row in read_rows(file, Question)} if file else {}
    rows = (row for row in read_rows(sheet, Answer) if not questions or row.question_id in questions)
    joined = with_columns(join_questions(rows, known), known)
    found = list(joined if questions else islice(joined, limit))
    missing = set(questions) - {row.question_id for row in found}
    if missing or not found:
        raise DataError(
            f"{run}: it has no answer to {min(missing, default='any question')!r}. Check its rows."
        )
    if any(row.question is None for row in found):
        raise DataError(f"{sheet}: its rows have no questions, so nothing can be asked again.")
    return found


def _judges_of(names: Collection[str], settings: Settings) -> tuple[list[tuple[Judge, str]], list[str]]:
    """Return the judges of these names that the settings or Ragstone know, and a note on the others."""
    declared = {one.name: one for one in load_judges(map(settings.named, settings.judge.judges))}
    found, left = [], []
    for name in names:
        judge = declared.get(name) or (load_judge(name) if name in judge_names() else None)
        if judge is None or judge.compares_two:
            left.append(name)
        else:
            found.append((judge, name))
    told = f"Not judged again by {', '.join(left)}: not among the judges of this project."
    return found, [told] if left else []


async def try_on(task: TrialTask, session: Session) -> PromptTrial:
    """Return what the draft gives on the rows. Calls that are in the ledger are not made again.

    A call that fails is the row's error, or its status. Raises ModelError where nobody can be asked.
    """
    draft, answers = task.draft, task.answers
    if isinstance(draft, AnsweringPrompt):
        answers = await _answered(draft, task, session)
    scores: dict[tuple[str, str], list[TrialScore]] = {}
    for judge, name in task.judges:
        async for row in judge_rows(lambda: answers, [judge], session, len(answers)):
            before = task.saved.get((row.question_id, row.system, name, row.metric))
            told = row.judge if row.metric == judge.measures else row.metric
            score = TrialScore(name=told, before=before, after=row)
            scores.setdefault((row.question_id, row.system), []).append(score)
    return PromptTrial(
        run=task.run,
        kind="answer" if isinstance(draft, AnsweringPrompt) else "judge",
        name=draft.name,
        rows=[
            TrialRow(
                question_id=old.question_id,
                system=old.system,
                question=old.question or "",
                before=old.answer,
                after=new.answer,
                error=new.error,
                scores=scores.get((old.question_id, old.system), []),
            )
            for old, new in zip(task.answers, answers, strict=True)
        ],
        calls=session.calls(),
        notes=task.notes,
    )


async def _answered(prompt: AnsweringPrompt, task: TrialTask, session: Session) -> list[Answer]:
    """Return the answers made anew, each from the contexts that the saved one was made from."""
    model = answering_model(session.settings)
    ask = sampled(await session.models.ask(model), sampling_of(Sampling(), session.settings.answer))

    async def work(pair: tuple[Question, Answer]) -> Answer:
        question, old = pair
        new = await answer_question(
            question, old.contexts or [], prompt, ask, system=old.system, secret=session.secret()
        )
        made = {name: getattr(new, name) for name in ("answer", "error", "latency_s", "usage", "cost_usd")}
        return msgspec.structs.replace(old, **made)

    return await session.each("answer", work, list(zip(task.asked, task.answers, strict=True)))


def forecast_trial(task: TrialTask, settings: Settings) -> Forecast:
    """Return what the trial would ask; nobody is asked. Raises what the trial raises before it asks."""

    async def work(session: Session) -> None:
        asking = [judge for judge, _ in task.judges if judge.needs_model]
        assumptions = [judge.assumption for judge in asking]
        if isinstance(task.draft, AnsweringPrompt) and asking:
            assumptions.append(ASSUMPTION)
        session.forecaster.assume(*assumptions)
        await try_on(task, session)

    return forecast_of(settings, work)


def run_trial(task: TrialTask, settings: Settings, how: SessionOptions = PLAIN) -> PromptTrial:
    """Return what the draft gives on the rows; see try_prompt."""
    return run_in_session(settings, how, lambda session: try_on(task, session))


def draft_of(prompt: Path | str | None, judge: Path | str | None) -> AnsweringPrompt | Judge:
    """Return the changed prompt or judge, of which one is named. Raises ConfigError."""
    if (prompt is None) == (judge is None):
        raise ConfigError("name what is tried: an answer prompt with --prompt, or a judge with --judge.")
    return load_prompt(prompt) if prompt is not None else load_judge(judge or "")


@checks_arguments
def try_prompt(
    run: Path | str,
    *,
    prompt: Path | str | None = None,
    judge: Path | str | None = None,
    against: str | None = None,
    questions: Collection[str] = (),
    limit: int = ROWS,
    model: str | None = None,
    settings: Settings | None = None,
    budget: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> PromptTrial:
    """Return what a changed prompt gives on a few rows of a run, beside what the run has.

    prompt: a file of an answer prompt: the rows are answered again from their saved contexts, and judged by
    the run's judges. judge: a judge's file: the saved answers are judged again. against: the judge of the run
    beside it, default the one of its name. questions: ids of rows, at most 50; default the first `limit`.
    model: in place of that of the settings. The run is not changed. Calls in the ledger are not made again.
    Raises ConfigError for a file that is no prompt, DataError for a run without these rows, ModelError when
    no call can succeed.
    """
    chosen = with_model(settings or load_settings(), model)
    task = trial_task(
        Path(run), draft_of(prompt, judge), chosen, against=against, questions=questions, limit=limit
    )
    return run_trial(task, chosen, SessionOptions(parse_caps(budget), offline, progress=progress))


def with_model(settings: Settings, model: str | None) -> Settings:
    """Return the settings in which this model answers and judges; as they are without one."""
    return choose(choose(settings, "answer", model=model), "judge", model=model)
