"""Stage: answers -> judgements."""

import functools
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from pathlib import Path

from ragstone.engine.local import map_in_order
from ragstone.engine.mapping import on_cluster
from ragstone.engine.rounds import in_rounds
from ragstone.engine.session import Session
from ragstone.errors import ConfigError
from ragstone.judging import Judge, JudgeContext, load_judge
from ragstone.judging.variant import load_members
from ragstone.records import Answer, Judgement
from ragstone.stages.judge_context import judge_context
from ragstone.stages.judge_tasks import judge_row, plan_tasks


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
        from ragstone.stages.judge_on_cluster import judge_on_cluster

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
