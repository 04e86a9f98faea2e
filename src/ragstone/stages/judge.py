"""Stage: answers -> judgements, in this process or by the workers of a cluster."""

import contextlib
import functools
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragstone.embedding.model import EmbedSoon
from ragstone.engine.call_log import CallLog
from ragstone.engine.cluster.spec import RowOutcome, StageSpec, Work, stage_spec
from ragstone.engine.local import map_in_order
from ragstone.engine.mapping import on_cluster
from ragstone.engine.rounds import in_rounds
from ragstone.engine.session import Session
from ragstone.errors import ConfigError, ModelError, RagstoneError
from ragstone.judging import (
    Judge,
    JudgeContext,
    can_join,
    failed_judgements,
    joined,
    judge_answer,
    judge_together,
    load_judge,
)
from ragstone.judging.finding import no_model
from ragstone.judging.leaves import asks_default, leaves, models_of
from ragstone.judging.one_call import OneCallJudge
from ragstone.judging.pairwise import PairwiseJudge, as_pair, judge_pair, pair_answers
from ragstone.judging.variant import load_members
from ragstone.llm.call_trace import Exchange
from ragstone.records import NO_MODEL, Answer, Judgement


async def judge_context(session: Session, judges: Sequence[Judge], model: str | None = None) -> JudgeContext:
    """Return what these judges need; model: in place of that of `[judge]`.

    Raises ModelError if they ask a model and none is named.
    """
    model = model or session.settings.judge.model
    asking = [judge.name for judge in judges if asks_default(judge)]
    embed = _embedder(session, judges)
    session.members = sorted(set().union(*map(models_of, judges)))
    if not asking and not session.members:
        return JudgeContext(embed=embed)
    if asking and model is None:
        raise ModelError(
            f"{', '.join(asking)}: these judges ask a model. Name one with --model, e.g. "
            "openai/gpt-4o-mini, or as model in the table [judge] of ragstone.toml."
        )
    return JudgeContext(
        ask=await session.models.ask(model) if asking and model else no_model,
        model=model or NO_MODEL,
        others={name: await session.models.ask(name) for name in session.members},
        secret=session.secret(),
        embed=embed,
        context_tokens=session.models.context_tokens,
    )


def _embedder(session: Session, judges: Sequence[Judge]) -> EmbedSoon | None:
    """Return what embeds texts for judges of similarity; None where there is none."""
    if not any(leaf.kind == "embedding" for judge in judges for leaf, _model in leaves(judge)):
        return None
    from ragstone.embedding.gathering import Gathered

    return Gathered(session.embedder(session.settings.retrieve.embedder))


Rows = Callable[[], Iterable[Answer]]


class JudgeTask(msgspec.Struct, frozen=True):
    """One judge, or several that are asked in one call, and the rows that it judges.

    rows: gives them anew each time: answers, or pairs of answers. n_rows: how many, None where nobody has
    counted. work: a row -> its judgements. fail: a row and an unforeseen error -> its judgements.
    """

    name: str
    rows: Callable[[], Iterable[Any]]
    n_rows: int | None
    work: Callable[[Any], Awaitable[list[Judgement]]]
    fail: Callable[[Any, str], list[Judgement]]


async def judge_row(
    task: JudgeTask, row: object, call_log: CallLog
) -> tuple[list[Judgement], list[Exchange]]:
    """Return the judgements of a row, and the conversations that they took.

    Raises what ends the run; an unforeseen error is a recorded failure.
    """
    with call_log.trace() as trace:
        try:
            judgements = await task.work(row)
        except RagstoneError:
            raise
        except Exception:  # noqa: BLE001 - the one place where the unforeseen becomes a recorded failure
            judgements = task.fail(row, traceback.format_exc())
        return judgements, trace.exchanges()


def plan_tasks(
    answers: Rows, judges: Sequence[Judge], means: JudgeContext, n_answers: int | None, *, one_call: bool
) -> list[JudgeTask]:
    """Return the tasks in the order of the judges; judges that are asked in one call are one task, the first.

    one_call: those whose replies fit into one are asked together, if there are two or more of them.
    """
    together = [judge for judge in judges if one_call and can_join(judge)]
    if len(together) < 2:
        together = []
    tasks = [_together(together, answers, means, n_answers)] if together else []
    for judge in judges:
        if isinstance(judge, PairwiseJudge):
            tasks.append(_pairs(judge, answers, means))
        elif judge not in together:
            tasks.append(_single(judge, answers, means, n_answers))
    return tasks


def _single(judge: Judge, answers: Rows, means: JudgeContext, n_answers: int | None) -> JudgeTask:
    return JudgeTask(
        judge.name,
        answers,
        n_answers,
        lambda answer: judge_answer(judge, answer, means),
        lambda answer, error: failed_judgements(judge, answer, means, "error", error),
    )


def _together(
    judges: Sequence[OneCallJudge], answers: Rows, means: JudgeContext, n_answers: int | None
) -> JudgeTask:
    def fail(answer: Answer, error: str) -> list[Judgement]:
        named = joined(judges)
        return [row for judge in named for row in failed_judgements(judge, answer, means, "error", error)]

    return JudgeTask(
        " + ".join(judge.name for judge in judges),
        answers,
        n_answers,
        functools.partial(judge_together, judges, means=means),
        fail,
    )


def _pairs(judge: PairwiseJudge, answers: Rows, means: JudgeContext) -> JudgeTask:
    return JudgeTask(
        judge.name,
        lambda: pair_answers(answers()),
        None,
        lambda pair: judge_pair(judge, pair[0], pair[1], means),
        lambda pair, error: failed_judgements(judge, as_pair(pair[0], pair[1]), means, "error", error),
    )


def count_planned(judges: Sequence[Judge], n_answers: int) -> int | None:
    """Return how many judgements there will be; None if a judge compares pairs, which nobody has counted."""
    if any(judge.compares_two for judge in judges):
        return None
    return n_answers * sum(len(judge.metrics) for judge in judges)


# JSON, as the file has it: what the driver writes is the same whichever way a row came.
encode = msgspec.json.Encoder().encode


async def build_judge(spec: StageSpec, session: Session) -> Work:
    """Build the stage that judges answers. arguments: judges.

    Its rows are pairs: the number of the task in the order of plan_tasks, and an answer or a pair of them.
    """
    judges = spec.argument("judges", list[Judge])
    means = await judge_context(session, judges)
    tasks = plan_tasks(list, judges, means, None, one_call=spec.settings.judge.one_call)
    decode = msgspec.json.Decoder(tuple[int, Answer | list[Answer]]).decode

    async def work(row: bytes) -> RowOutcome:
        number, answer = decode(row)
        given = answer if isinstance(answer, Answer) else tuple(answer)
        judgements, heard = await judge_row(tasks[number], given, session.call_log)
        return RowOutcome([encode(one) for one in judgements], [encode(one) for one in heard])

    return work


async def judge_on_cluster(
    answers: Rows, judges: Sequence[Judge], session: Session, n_answers: int | None
) -> AsyncIterator[Judgement]:
    """Yield what judge_rows yields here: all answers by the first judge, then by the next."""
    from ragstone.engine.cluster.driver import map_blocks

    settings = session.settings
    tasks = plan_tasks(answers, judges, JudgeContext(), n_answers, one_call=settings.judge.one_call)
    spec = stage_spec(
        f"{__name__}:build_judge", settings, listening=session.call_log.listening, judges=list(judges)
    )
    n_rows = [sum(1 for _ in task.rows()) if task.n_rows is None else task.n_rows for task in tasks]

    def rows() -> Iterator[bytes]:
        return (encode((number, row)) for number, task in enumerate(tasks) for row in task.rows())

    made = map_blocks(spec, rows, session, n_rows=sum(n_rows))
    decode, exchange = msgspec.json.Decoder(Judgement).decode, msgspec.json.Decoder(Exchange).decode
    async with contextlib.aclosing(made):
        for task, n in zip(tasks, n_rows, strict=True):
            with session.progress(f"judge {task.name}", n, session.state) as advance:
                for _ in range(n):
                    one = await anext(made)
                    advance()
                    judgements = [decode(row) for row in one.rows]
                    session.call_log.keep_judged([exchange(heard) for heard in one.heard], judgements)
                    for judgement in judgements:
                        yield judgement


def judge_rows(
    answers: Callable[[], Iterable[Answer]],
    judges: Sequence[Judge],
    session: Session,
    n_answers: int | None = None,
    *,
    means: JudgeContext | None = None,
) -> AsyncIterator[Judgement]:
    """Yield every judge's judgements of every answer: all answers by the first judge, then by the next.

    A judge with several criteria gives a judgement for each, and one for its score. One judge after the other
    keeps the fixed part of its prompt in the model's cache; with `one_call` in `[judge]`, those whose replies
    fit into one are asked together. So `answers` is a function that gives the rows anew each time; they may
    come from a file and need not fit into memory. means: in place of those of the session. Raises DataError
    where a judge compares systems, and no question was answered by two.
    """
    if on_cluster(session):
        return judge_on_cluster(answers, judges, session, n_answers)
    asking = [judge for judge in judges if judge.needs_model]
    return in_rounds(
        lambda: _judge_rows(answers, judges, session, n_answers, means),
        session,
        asking=lambda: _judge_rows(answers, asking, session, n_answers, means),
    )


async def _judge_rows(
    answers: Callable[[], Iterable[Answer]],
    judges: Sequence[Judge],
    session: Session,
    n_answers: int | None,
    means: JudgeContext | None,
) -> AsyncIterator[Judgement]:
    means = means or await judge_context(session, judges)
    one_call = session.settings.judge.one_call
    for task in plan_tasks(answers, judges, means, n_answers, one_call=one_call):
        work = functools.partial(judge_row, task, call_log=session.call_log)
        with session.progress(f"judge {task.name}", task.n_rows, session.state) as advance:
            async for judgements, heard in map_in_order(work, task.rows(), session.models.stop):
                advance()
                session.call_log.keep_judged(heard, judgements)
                for judgement in judgements:
                    yield judgement


def load_judges(names: Iterable[str | Path | Judge]) -> list[Judge]:
    """Return judges by name, by path or as they are, each once. Raises ConfigError for two of one name."""
    if isinstance(names, str | Path | Judge):
        one = names.name if isinstance(names, Judge) else str(names)
        raise ConfigError(f"judges: give a list, though of one: [{one!r}]")
    found: dict[str, Judge] = {}
    for name in names:
        judge = load_members(name, name.name) if isinstance(name, Judge) else load_judge(name)
        if found.setdefault(judge.name, judge) != judge:
            raise ConfigError(
                f"two different judges are named {judge.name!r}, and their scores could not be told apart. "
                "Give one of the files another `name`."
            )
    return list(found.values())
