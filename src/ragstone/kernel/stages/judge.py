"""Stage: answers -> judgements, in this process or by the workers of a cluster."""

import asyncio
import contextlib
import functools
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from ragstone.kernel.engine.call_log import CallLog
from ragstone.kernel.engine.local import map_in_order
from ragstone.kernel.engine.mapping import in_rounds, map_rows, on_cluster
from ragstone.kernel.engine.row_work import RowWork
from ragstone.kernel.engine.session import Session
from ragstone.kernel.engine.sharing import map_on_cores
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import Judge, JudgeContext
from ragstone.kernel.judging.fields import members_of
from ragstone.kernel.judging.finding import Retrieve, no_model
from ragstone.kernel.judging.group import JudgedRow, group_judges, judge_group, rows_of_group
from ragstone.kernel.judging.judge import restore_judge
from ragstone.kernel.judging.unnamed_model import check_model_named
from ragstone.kernel.records import NO_MODEL, Answer, Context, Judgement, Question

if TYPE_CHECKING:
    from ragstone.kernel.embedding.model import EmbedSoon
    from ragstone.kernel.engine.processes import RowProcesses
    from ragstone.kernel.llm.call_trace import Exchange

    _Processes = RowProcesses[tuple[int, Any], list[Judgement]]


async def judge_context(session: Session, judges: Sequence[Judge], model: str | None = None) -> JudgeContext:
    """Return what these judges need; model: in place of that of `[judge]`.

    Raises ModelError if they ask a model and none is named.
    """
    embed: EmbedSoon | None = None
    retrieve: Retrieve | None = None
    inner = [leaf for judge in judges for leaf, _model in judge.leaves()]
    if any(leaf.needs_embedder for leaf in inner):
        from ragstone.kernel.embedding.gathering import Gathered

        embed = Gathered(session.embedder(session.settings.retrieve.embedder))
    if any(leaf.needs_retriever for leaf in inner):  # documents are read and indexed when it is first called
        retrieve = _open_retriever(session)
    if not any(leaf.needs_model for leaf in inner):
        return JudgeContext(embed=embed, retrieve=retrieve)
    model = model or session.settings.judge.model
    check_model_named(judges, model)
    asking = any(judge.asks_default for judge in judges)
    members = members_of(judges)
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
        from ragstone.kernel.judging.decision import with_decider  # few models are

        context = with_decider(context, judges, session.models.decides)
    return context


def _open_retriever(session: Session) -> Retrieve:
    """Return what looks passages up as `[documents]`, `[chunk]` and `[retrieve]` declare.

    The documents are read and indexed at the first query. Raises ConfigError then if none are declared.
    """
    opening: list[asyncio.Task[Retrieve]] = []

    async def retrieve(query: str, k: int | None) -> list[Context]:
        if not opening:
            opening.append(asyncio.ensure_future(_retriever(session)))
        return await (await asyncio.shield(opening[0]))(query, k)

    return retrieve


async def _retriever(session: Session) -> Retrieve:
    from ragstone.kernel.retrieval.search import build_search  # few judges look anything up
    from ragstone.kernel.stages.corpus import corpus_on
    from ragstone.kernel.stages.retrieve import retriever_deps
    from ragstone.kernel.systems.rag import contexts_of

    declared = session.settings.retrieve
    corpus = await corpus_on(session)
    if not corpus.chunks:
        raise ConfigError(
            "a judge takes `retriever`, but there are no documents to search. Name them as paths in "
            "[documents] of ragstone.toml."
        )
    search = await build_search(declared.retriever, corpus.chunks, retriever_deps(session, corpus.documents))
    chunks = {chunk.id: chunk for chunk in corpus.chunks}
    documents = {document.id: document for document in corpus.documents}

    async def retrieve(query: str, k: int | None) -> list[Context]:
        [ranking] = await search([Question(id="query", question=query)], k or declared.k)
        return contexts_of(ranking, chunks, documents)

    return retrieve


Rows = Callable[[], Iterable[Answer]]


async def judge_row(
    group: Sequence[Judge], row: JudgedRow, context: JudgeContext, call_log: CallLog
) -> "tuple[list[Judgement], list[Exchange]]":
    """Return the judgements of a row by the judges of a group, and the conversations that they took.

    Raises what ends the run; an unforeseen error is a recorded failure.
    """
    with call_log.trace() as trace:
        judgements = await judge_group(group, row, context)
        return judgements, trace.exchanges() if trace else []


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


_Judged = AsyncIterator["tuple[list[Judgement], list[Exchange]]"]


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
            processes = _opening(computing, session, stack)
            for group in groups:
                rows = rows_of_group(group, answers())
                judge = functools.partial(here, group)
                if group[0] in computing:
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
                    if exchanges:
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


def _opening(
    computing: Sequence[Judge], session: Session, stack: contextlib.AsyncExitStack
) -> "Callable[[], Awaitable[_Processes]]":
    """Return what opens the processes for judges that compute, once; the judges are numbered from 0."""
    opened: list[_Processes] = []

    async def processes() -> "_Processes":
        if not opened:
            from ragstone.kernel.engine.processes import open_processes

            opening = open_processes(JUDGING, session, judges=list(computing))
            opened.append(await stack.enter_async_context(opening))
        return opened[0]

    return processes


async def _computed(
    processes: "Callable[[], Awaitable[_Processes]]",
    number: int,
    judge: "Callable[[JudgedRow], Awaitable[tuple[list[Judgement], list[Exchange]]]]",
    rows: Iterable[JudgedRow],
    n_rows: int | None,
    stop: Callable[[], None],
) -> _Judged:
    async def here(numbered: tuple[int, JudgedRow]) -> list[Judgement]:
        judgements, _nobody_asked = await judge(numbered[1])
        return judgements

    made = map_on_cores(here, ((number, row) for row in rows), n_rows, stop, processes)
    async with contextlib.aclosing(cast("AsyncGenerator[list[Judgement], None]", made)):
        async for judgements in made:
            yield judgements, []


async def _take(stream: _Judged, n: int) -> _Judged:
    for _ in range(n):
        yield await anext(stream)
