"""Stage: answers -> judgements, in this process or by the workers of a cluster."""

import contextlib
import functools
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ragstone.kernel.config.python_function import Function
from ragstone.kernel.engine.call_log import CallLog
from ragstone.kernel.engine.local import map_in_order
from ragstone.kernel.engine.mapping import in_rounds, map_rows, on_cluster
from ragstone.kernel.engine.row_work import RowWork
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import ConfigError, ModelError, RagstoneError
from ragstone.kernel.judging import Judge, JudgeContext, failed_judgements, judge_answer, load_judge
from ragstone.kernel.judging.finding import Retrieve, no_model
from ragstone.kernel.judging.judge import restore_judge
from ragstone.kernel.judging.leaves import asks_default, leaves, members_of
from ragstone.kernel.judging.variant import load_members
from ragstone.kernel.llm.call_trace import Exchange
from ragstone.kernel.records import NO_MODEL, Answer, Judgement

if TYPE_CHECKING:
    from ragstone.kernel.embedding.model import EmbedSoon
    from ragstone.kernel.judging.one_call import OneCallJudge
    from ragstone.kernel.judging.pairwise import PairwiseJudge


async def judge_context(session: Session, judges: Sequence[Judge], model: str | None = None) -> JudgeContext:
    """Return what these judges need; model: in place of that of `[judge]`.

    Raises ModelError if they ask a model and none is named.
    """
    model = model or session.settings.judge.model
    asking = [judge.name for judge in judges if asks_default(judge)]
    embed, retrieve = _embedder(session, judges), _retriever(session, judges)
    members = members_of(judges)
    if not asking and not members:
        return JudgeContext(embed=embed, retrieve=retrieve)
    if asking and model is None:
        raise ModelError(
            f"{', '.join(asking)}: these judges ask a model. Name one with --model, e.g. "
            "openai/gpt-4o-mini, or as model in the table [judge] of ragstone.toml."
        )
    return JudgeContext(
        ask=await session.models.ask(model) if asking and model else no_model,
        model=model or NO_MODEL,
        others={name: await session.models.ask(name) for name in members},
        secret=session.secret(),
        embed=embed,
        retrieve=retrieve,
        context_tokens=session.models.context_tokens,
    )


def _embedder(session: Session, judges: Sequence[Judge]) -> "EmbedSoon | None":
    """Return what embeds texts for judges of similarity; None where there is none."""
    if not any(leaf.needs_embedder for judge in judges for leaf, _model in leaves(judge)):
        return None
    from ragstone.kernel.embedding.gathering import Gathered

    return Gathered(session.embedder(session.settings.retrieve.embedder))


def _retriever(session: Session, judges: Sequence[Judge]) -> Retrieve | None:
    """Return what looks passages up in the documents of the settings; None where no judge does.

    The documents are read and indexed when it is first called.
    """
    if not any(leaf.needs_retriever for judge in judges for leaf, _model in leaves(judge)):
        return None
    from ragstone.kernel.stages.passages import open_retriever

    return open_retriever(session)


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
            judged = await task.work(row)
        except RagstoneError:
            raise
        except Exception:  # noqa: BLE001 - the one place where the unforeseen becomes a recorded failure
            judged = task.fail(row, traceback.format_exc())
        return judged, trace.exchanges()


def plan_tasks(
    answers: Rows, judges: Sequence[Judge], context: JudgeContext, n_answers: int | None, *, one_call: bool
) -> list[JudgeTask]:
    """Return the tasks in the order of the judges; judges that are asked in one call are one task, the first.

    one_call: those whose replies fit into one are asked together, if there are two or more of them.
    """
    together = _joinable(judges) if one_call else []
    tasks = [_together(together, answers, context, n_answers)] if together else []
    for judge in judges:
        if judge.compares_two:
            tasks.append(_pairs(cast("PairwiseJudge", judge), answers, context))
        elif judge not in together:
            tasks.append(_single(judge, answers, context, n_answers))
    return tasks


def _single(judge: Judge, answers: Rows, context: JudgeContext, n_answers: int | None) -> JudgeTask:
    return JudgeTask(
        judge.name,
        answers,
        n_answers,
        lambda answer: judge_answer(judge, answer, context),
        lambda answer, error: failed_judgements(judge, answer, context, "error", error),
    )


def _joinable(judges: Sequence[Judge]) -> "list[OneCallJudge]":
    """Return the judges that are asked in one call; none where there are fewer than two."""
    from ragstone.kernel.judging.together import can_join

    together = [judge for judge in judges if can_join(judge)]
    return together if len(together) > 1 else []


def _together(
    judges: "Sequence[OneCallJudge]", answers: Rows, context: JudgeContext, n_answers: int | None
) -> JudgeTask:
    from ragstone.kernel.judging.together import joined, judge_together

    def fail(answer: Answer, error: str) -> list[Judgement]:
        named = joined(judges)
        return [row for judge in named for row in failed_judgements(judge, answer, context, "error", error)]

    return JudgeTask(
        " + ".join(judge.name for judge in judges),
        answers,
        n_answers,
        functools.partial(judge_together, judges, context=context),
        fail,
    )


def _pairs(judge: "PairwiseJudge", answers: Rows, context: JudgeContext) -> JudgeTask:
    from ragstone.kernel.judging.pairwise import as_pair, judge_pair, pair_answers

    return JudgeTask(
        judge.name,
        lambda: pair_answers(answers()),
        None,
        lambda pair: judge_pair(judge, pair[0], pair[1], context),
        lambda pair, error: failed_judgements(judge, as_pair(pair[0], pair[1]), context, "error", error),
    )


def count_planned(judges: Sequence[Judge], n_answers: int) -> int | None:
    """Return how many judgements there will be; None if a judge compares pairs, which nobody has counted."""
    if any(judge.compares_two for judge in judges):
        return None
    return n_answers * sum(len(judge.metrics) for judge in judges)


async def _judging(
    session: Session, *, judges: list[dict[str, Any]]
) -> Callable[[tuple[int, Answer | list[Answer]]], Awaitable[list[Judgement]]]:
    named = [restore_judge(keys) for keys in judges]
    context = await judge_context(session, named)
    tasks = plan_tasks(list, named, context, None, one_call=session.settings.judge.one_call)

    async def judged(numbered: tuple[int, Answer | list[Answer]]) -> list[Judgement]:
        number, row = numbered
        # The engine listens around this already.
        judgements, _ = await judge_row(
            tasks[number], row if isinstance(row, Answer) else tuple(row), CallLog()
        )
        return judgements

    return judged


JUDGING: RowWork[tuple[int, Answer | list[Answer]], list[Judgement]] = RowWork(
    f"{__name__}:JUDGING",
    tuple[int, Answer | list[Answer]],  # the number of the task, and an answer or a pair of them
    list[Judgement],
    {"judges": list[dict[str, Any]]},
    _judging,
)


async def _judge_on_cluster(
    answers: Rows, judges: Sequence[Judge], session: Session, n_answers: int | None
) -> AsyncIterator[Judgement]:
    """Yield what _judge_rows yields; a worker has rows of one judge and of the next at the same time."""
    one_call = session.settings.judge.one_call
    tasks = plan_tasks(answers, judges, JudgeContext(), n_answers, one_call=one_call)
    n_rows = [sum(1 for _ in task.rows()) if task.n_rows is None else task.n_rows for task in tasks]

    def rows() -> Iterator[tuple[int, Any]]:
        return ((number, row) for number, task in enumerate(tasks) for row in task.rows())

    made = map_rows(JUDGING, rows, session, n_rows=sum(n_rows), judges=list(judges))
    async with contextlib.aclosing(cast(AsyncGenerator[tuple[list[Judgement], list[Exchange]], None], made)):
        for task, n in zip(tasks, n_rows, strict=True):
            with session.progress(f"judge {task.name}", n, session.state) as advance:
                for _ in range(n):
                    judgements, heard = await anext(made)
                    advance()
                    session.call_log.keep_judged(heard, judgements)
                    for judgement in judgements:
                        yield judgement


def judge_rows(
    answers: Callable[[], Iterable[Answer]],
    judges: Sequence[Judge],
    session: Session,
    n_answers: int | None = None,
    *,
    context: JudgeContext | None = None,
) -> AsyncIterator[Judgement]:
    """Yield every judge's judgements of every answer: all answers by the first judge, then by the next.

    A judge with several criteria gives a judgement for each, and one for its score. One judge after the other
    keeps the fixed part of its prompt in the model's cache; with `one_call` in `[judge]`, those whose replies
    fit into one are asked together. So `answers` is a function that gives the rows anew each time; they may
    come from a file and need not fit into memory. context: in place of that of the session. Raises DataError
    where a judge compares systems, and no question was answered by two.
    """
    if on_cluster(session):
        return _judge_on_cluster(answers, judges, session, n_answers)
    asking = [judge for judge in judges if judge.needs_model]
    return in_rounds(
        lambda: _judge_rows(answers, judges, session, n_answers, context),
        session,
        asking=lambda: _judge_rows(answers, asking, session, n_answers, context),
    )


async def _judge_rows(
    answers: Callable[[], Iterable[Answer]],
    judges: Sequence[Judge],
    session: Session,
    n_answers: int | None,
    context: JudgeContext | None,
) -> AsyncIterator[Judgement]:
    context = context or await judge_context(session, judges)
    one_call = session.settings.judge.one_call
    for task in plan_tasks(answers, judges, context, n_answers, one_call=one_call):
        work = functools.partial(judge_row, task, call_log=session.call_log)
        with session.progress(f"judge {task.name}", task.n_rows, session.state) as advance:
            async for judgements, heard in map_in_order(work, task.rows(), session.models.stop):
                advance()
                session.call_log.keep_judged(heard, judgements)
                for judgement in judgements:
                    yield judgement


AnyJudge = str | Path | Judge | Function


def load_judges(names: Iterable[AnyJudge]) -> list[Judge]:
    """Return judges by name, by path, as they are or as functions, each once.

    Raises ConfigError for two of one name.
    """
    if isinstance(names, str | Path | Judge) or callable(names):
        one: Any = names  # against its type
        alone = one.name if isinstance(one, Judge) else str(one)
        raise ConfigError(f"judges: give a list, though of one: [{alone!r}]")
    found: dict[str, Judge] = {}
    for name in names:
        judge = _loaded(name)
        if found.setdefault(judge.name, judge) != judge:
            raise ConfigError(
                f"two different judges are named {judge.name!r}, and their scores could not be told apart. "
                "Give one of the files another `name`."
            )
    return list(found.values())


def _loaded(given: AnyJudge) -> Judge:
    if isinstance(given, Judge):
        return load_members(given, given.name)
    if isinstance(given, str | Path):
        return load_judge(given)
    from ragstone.kernel.judging.function.judge import judge_of  # most judges are files

    return judge_of(given)
