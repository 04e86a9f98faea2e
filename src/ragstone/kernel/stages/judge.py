"""Stage: answers -> judgements, in this process or by the workers of a cluster."""

import asyncio
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
from ragstone.kernel.judging.fields import members_of
from ragstone.kernel.judging.finding import Retrieve, no_model
from ragstone.kernel.judging.judge import restore_judge
from ragstone.kernel.judging.variant import load_members
from ragstone.kernel.llm.call_trace import Exchange
from ragstone.kernel.records import NO_MODEL, Answer, Judgement

if TYPE_CHECKING:
    from ragstone.kernel.embedding.model import EmbedSoon
    from ragstone.kernel.engine.processes import RowProcesses
    from ragstone.kernel.judging.fields import JudgeFields
    from ragstone.kernel.judging.one_call import OneCallJudge
    from ragstone.kernel.judging.pairwise import PairwiseJudge

    _Processes = RowProcesses[tuple[int, Any], list[Judgement]]


async def judge_context(session: Session, judges: Sequence[Judge], model: str | None = None) -> JudgeContext:
    """Return what these judges need; model: in place of that of `[judge]`.

    Raises ModelError if they ask a model and none is named.
    """
    model = model or session.settings.judge.model
    asking = [judge.name for judge in judges if judge.asks_default]
    members = members_of(judges)
    embed: EmbedSoon | None = None
    retrieve: Retrieve | None = None
    inner = [leaf for judge in judges for leaf, _model in judge.leaves()]
    if any(leaf.needs_embedder for leaf in inner):
        from ragstone.kernel.embedding.gathering import Gathered

        embed = Gathered(session.embedder(session.settings.retrieve.embedder))
    if any(leaf.needs_retriever for leaf in inner):  # documents are read and indexed when it is first called
        from ragstone.kernel.stages._passages import open_retriever

        retrieve = open_retriever(session)
    if not asking and not members:
        return JudgeContext(embed=embed, retrieve=retrieve)
    if asking and model is None:
        raise ModelError(
            f"{', '.join(asking)}: these judges ask a model. Name one with --model, e.g. "
            "openai/gpt-4o-mini, or as model in the table [judge] of ragstone.toml."
        )
    context = JudgeContext(
        ask=await session.models.ask(model) if asking and model else no_model,
        model=model or NO_MODEL,
        others={name: await session.models.ask(name) for name in members},
        secret=session.secret(),
        embed=embed,
        retrieve=retrieve,
        context_tokens=session.models.context_tokens,
        at_once=(await session.models.door(model)).endpoint.concurrency if asking and model else 1,
    )
    if any(session.models.decides(name) for name in (context.model, *members)):
        from ragstone.kernel.judging.decision import check_decided, decider  # few models are

        context = msgspec.structs.replace(context, decider=decider(session.models.decides))
        check_decided(judges, context)
    return context


Rows = Callable[[], Iterable[Answer]]
JudgedRow = Answer | tuple[Answer, Answer]
"""What one judgement is of: an answer, or a pair of them where a judge compares systems."""


def group_judges(judges: Sequence[Judge], *, one_call: bool, by_questions: bool = False) -> list[list[Judge]]:
    """Group judges in their order: those that are asked in one call, then those whose prompts begin alike.

    one_call: those whose replies fit into one are asked together, if there are two or more of them.
    by_questions: a decision model is asked: judges of the same inputs are a group, wherever the first stands.
    """
    if by_questions:
        from ragstone.kernel.judging.decision import can_be_decided

        by_inputs: dict[object, list[Judge]] = {}
        for judge in judges:
            is_alone = judge.own_texts or not can_be_decided(judge)
            key = id(judge) if is_alone else tuple(judge.inputs)
            by_inputs.setdefault(key, []).append(judge)
        return list(by_inputs.values())
    joint: list[Judge] = []
    if one_call:
        from ragstone.kernel.judging.together import can_join

        joint = [judge for judge in judges if can_join(judge)]
    alike = [judge for judge in judges if judge.shares_prefix]
    groups = [group for group in (joint, alike) if len(group) > 1]
    grouped = [judge for group in groups for judge in group]
    return [*groups, *([judge] for judge in judges if judge not in grouped)]


def rows_of_group(group: Sequence[Judge], answers: Iterable[Answer]) -> Iterable[JudgedRow]:
    """Return what a group of judges judges: the answers, or pairs of them."""
    if not group[0].compares_two:
        return answers
    from ragstone.kernel.judging.pairwise import pair_answers

    return pair_answers(answers)


async def judge_row(
    group: Sequence[Judge], row: JudgedRow, context: JudgeContext, call_log: CallLog
) -> tuple[list[Judgement], list[Exchange]]:
    """Return the judgements of a row by the judges of a group, and the conversations that they took.

    Raises what ends the run; an unforeseen error is a recorded failure.
    """
    with call_log.trace() as trace:
        try:
            if isinstance(row, tuple):
                from ragstone.kernel.judging.pairwise import judge_pair

                judgements = await judge_pair(cast("PairwiseJudge", group[0]), *row, context)
            elif len(group) > 1 and context.decides(context.model):
                from ragstone.kernel.judging.decision import judge_by_questions

                judgements = await judge_by_questions(group, row, context)
            elif len(group) > 1 and group[0].shares_prefix:
                judgements = await _judge_in_turn(group, row, context)
            elif len(group) > 1:
                from ragstone.kernel.judging.together import judge_together

                judgements = await judge_together(group, row, context)
            else:
                judgements = await judge_answer(group[0], row, context)
        except RagstoneError:
            raise
        except Exception:  # noqa: BLE001 - the one place where the unforeseen becomes a recorded failure
            judgements = _failed(group, row, context, traceback.format_exc())
        return judgements, trace.exchanges()


async def _judge_in_turn(group: Sequence[Judge], answer: Answer, context: JudgeContext) -> list[Judgement]:
    """Return the judgements of judges whose prompts begin alike: the first one's call fills the cache."""
    context = msgspec.structs.replace(context, shares_rows=True)
    first, *rest = group
    judgements = await judge_answer(first, answer, context)
    for rows in await asyncio.gather(*(judge_answer(judge, answer, context) for judge in rest)):
        judgements = [*judgements, *rows]
    return judgements


def _failed(group: Sequence[Judge], row: JudgedRow, context: JudgeContext, error: str) -> list[Judgement]:
    if isinstance(row, tuple):
        from ragstone.kernel.judging.pairwise import as_pair

        row = as_pair(*row)
    named: Sequence[JudgeFields] = group
    if len(group) > 1 and not context.decides(context.model) and not group[0].shares_prefix:
        from ragstone.kernel.judging.together import joined

        named = joined(cast("list[OneCallJudge]", group))
    return [each for judge in named for each in failed_judgements(judge, row, context, "error", error)]


def count_planned(judges: Sequence[Judge], n_answers: int) -> int | None:
    """Return how many judgements there will be; None if a judge compares pairs, which nobody has counted."""
    if any(judge.compares_two for judge in judges):
        return None
    return n_answers * sum(len(judge.metrics) for judge in judges)


async def _judging(
    session: Session, *, judges: list[dict[str, Any]]
) -> Callable[[tuple[int, Answer | list[Answer]]], Awaitable[list[Judgement]]]:
    restored = [restore_judge(keys) for keys in judges]
    context = await judge_context(session, restored)
    groups = group_judges(
        restored,
        one_call=session.settings.judge.one_call,
        by_questions=context.decides(context.model),
    )

    async def judged(numbered: tuple[int, Answer | list[Answer]]) -> list[Judgement]:
        number, row = numbered
        pair = row if isinstance(row, Answer) else cast("tuple[Answer, Answer]", tuple(row))
        # The engine listens around this already.
        judgements, _ = await judge_row(groups[number], pair, context, CallLog())
        return judgements

    return judged


JUDGING: RowWork[tuple[int, Answer | list[Answer]], list[Judgement]] = RowWork(
    f"{__name__}:JUDGING",
    tuple[int, Answer | list[Answer]],  # the number of the group, and an answer or a pair of them
    list[Judgement],
    {"judges": list[dict[str, Any]]},
    _judging,
)


def judge_rows(
    answers: Callable[[], Iterable[Answer]],
    judges: Sequence[Judge],
    session: Session,
    n_answers: int | None = None,
    *,
    context: JudgeContext | None = None,
) -> AsyncIterator[Judgement]:
    """Yield every judge's judgements of every answer: all answers by the first judge, then by the next.

    Judges whose prompts begin alike are asked about one answer after the other: see contexts_first.py.

    A judge with several criteria gives a judgement for each, and one for its score. One judge after the other
    keeps the fixed part of its prompt in the model's cache; with `one_call` in `[judge]`, those whose replies
    fit into one are asked together. So `answers` is a function that gives the rows anew each time; they may
    come from a file and need not fit into memory. context: in place of that of the session. Raises DataError
    where a judge compares systems, and no question was answered by two.
    """
    asking = [judge for judge in judges if judge.needs_model]
    return in_rounds(
        lambda: _judge_rows(answers, judges, session, n_answers, context),
        session,
        asking=lambda: _judge_rows(answers, asking, session, n_answers, context),
    )


_Judged = AsyncIterator[tuple[list[Judgement], list[Exchange]]]


async def _judge_rows(
    answers: Rows,
    judges: Sequence[Judge],
    session: Session,
    n_answers: int | None,
    context: JudgeContext | None,
) -> AsyncIterator[Judgement]:
    model = session.settings.judge.model if context is None else context.model
    by_questions = model is not None and session.models.decides(model)
    groups = group_judges(judges, one_call=session.settings.judge.one_call, by_questions=by_questions)
    counts = [None if group[0].compares_two else n_answers for group in groups]
    async with contextlib.AsyncExitStack() as stack:
        results: list[_Judged] = []
        if on_cluster(session):  # a worker has rows of one group and of the next at the same time
            n_rows = [
                sum(1 for _ in rows_of_group(group, answers())) if n is None else n
                for group, n in zip(groups, counts, strict=True)
            ]
            counts = [*n_rows]
            stream = _from_cluster(groups, answers, judges, session, sum(n_rows))
            await stack.enter_async_context(contextlib.aclosing(stream))
            results = [_take(stream, n) for n in n_rows]
        else:
            asking = context or await judge_context(session, judges)
            here = functools.partial(judge_row, context=asking, call_log=session.call_log)
            computing = [judge for judge in judges if judge.computes] if context is None else []
            processes = await stack.enter_async_context(_processes(computing, session))
            for group in groups:
                rows = rows_of_group(group, answers())
                judge = functools.partial(here, group)
                if processes is not None and group[0] in computing:
                    number = computing.index(group[0])
                    results.append(_computed(processes, number, judge, rows, n_answers, session.stop))
                    continue
                # A cache lives for minutes, or holds one prompt: no more rows are begun than calls are taken.
                alike = len(group) > 1 and group[0].shares_prefix and not session.batching
                window = {"window": asking.at_once} if alike else {}
                results.append(map_in_order(judge, rows, session.stop, **window))
        for group, n, judged in zip(groups, counts, results, strict=True):
            name = " + ".join(judge.name for judge in group)
            with session.progress(f"judge {name}", n, session.state) as advance:
                async for judgements, exchanges in judged:
                    advance()
                    session.call_log.keep_judged(exchanges, judgements)
                    for judgement in judgements:
                        yield judgement


def _from_cluster(
    groups: Sequence[Sequence[Judge]],
    answers: Rows,
    judges: Sequence[Judge],
    session: Session,
    n_rows: int,
) -> "AsyncGenerator[tuple[list[Judgement], list[Exchange]], None]":
    def numbered() -> Iterator[tuple[int, Any]]:
        return (
            (number, row) for number, group in enumerate(groups) for row in rows_of_group(group, answers())
        )

    made = map_rows(JUDGING, numbered, session, n_rows=n_rows, judges=list(judges))
    return cast("AsyncGenerator[tuple[list[Judgement], list[Exchange]], None]", made)


@contextlib.asynccontextmanager
async def _processes(computing: Sequence[Judge], session: Session) -> "AsyncIterator[_Processes | None]":
    """Give the processes for judges that compute, if there are any; they are numbered from 0."""
    if not computing:
        yield None
        return
    from ragstone.kernel.engine.processes import open_processes

    async with open_processes(JUDGING, session, judges=list(computing)) as processes:
        yield processes


async def _computed(
    processes: "_Processes",
    number: int,
    judge: Callable[[JudgedRow], Awaitable[tuple[list[Judgement], list[Exchange]]]],
    rows: Iterable[JudgedRow],
    n_rows: int | None,
    stop: Callable[[], None],
) -> _Judged:
    async def here(numbered: tuple[int, JudgedRow]) -> list[Judgement]:
        judgements, _nobody_asked = await judge(numbered[1])
        return judgements

    made = processes.map(here, ((number, row) for row in rows), n_rows, stop)
    async with contextlib.aclosing(cast("AsyncGenerator[list[Judgement], None]", made)):
        async for judgements in made:
            yield judgements, []


async def _take(stream: _Judged, n: int) -> _Judged:
    for _ in range(n):
        yield await anext(stream)


AnyJudge = str | Path | Judge | Function


def load_judges(names: Iterable[AnyJudge]) -> list[Judge]:
    """Return judges by name, by path, as they are or as functions, each once.

    Raises ConfigError for two of one name.
    """
    if isinstance(names, str | Path | Judge) or callable(names):
        single: Any = names  # against its type
        alone = single.name if isinstance(single, Judge) else str(single)
        raise ConfigError(f"judges: give a list, even of one: [{alone!r}]")
    judges: dict[str, Judge] = {}
    for name in names:
        if isinstance(name, Judge):
            judge = load_members(name, name.name)
        elif isinstance(name, str | Path):
            judge = load_judge(name)
        else:
            from ragstone.kernel.judging.function.judge import judge_of  # most judges are files

            judge = judge_of(name)
        if judges.setdefault(judge.name, judge) != judge:
            raise ConfigError(
                f"two different judges are named {judge.name!r}, and their scores could not be told apart. "
                "Give one of the files another `name`."
            )
    return list(judges.values())
