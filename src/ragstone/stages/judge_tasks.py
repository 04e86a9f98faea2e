"""What judging a sheet comes to: one task after the other, each with its rows and what becomes of a row."""

import functools
import traceback
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import msgspec

from ragstone.engine.call_log import CallLog
from ragstone.errors import RagstoneError
from ragstone.judging import (
    Judge,
    JudgeContext,
    can_join,
    failed_judgements,
    joined,
    judge_answer,
    judge_together,
)
from ragstone.judging.one_call import OneCallJudge
from ragstone.judging.pairwise import PairwiseJudge, as_pair, judge_pair, pair_answers
from ragstone.llm.call_trace import Exchange
from ragstone.records import Answer, Judgement

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
