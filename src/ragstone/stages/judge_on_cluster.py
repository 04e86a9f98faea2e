"""The stage `judge` on the workers of a cluster."""

import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence

import msgspec

from ragstone.engine.cluster.spec import Made, StageSpec, Work, stage_spec
from ragstone.engine.session import Session
from ragstone.judging import Judge, JudgeContext
from ragstone.llm.call_trace import Exchange
from ragstone.records import Answer, Judgement
from ragstone.stages.judge_context import judge_context
from ragstone.stages.judge_tasks import Rows, judge_row, plan_tasks

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

    async def work(row: bytes) -> Made:
        number, answer = decode(row)
        given = answer if isinstance(answer, Answer) else tuple(answer)
        judgements, heard = await judge_row(tasks[number], given, session.call_log)
        return Made([encode(one) for one in judgements], [encode(one) for one in heard])

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
