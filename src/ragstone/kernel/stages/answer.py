"""Stage: questions -> answers, by an application or from what is retrieved."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from ragstone.kernel.config import (
    ChatSystem,
    ExtractiveSystem,
    HttpSystem,
    ModelSettings,
    RagSystem,
    Sampling,
    Settings,
    SheetSystem,
    sampling_of,
)
from ragstone.kernel.engine.mapping import in_rounds, map_rows, on_cluster
from ragstone.kernel.engine.row_work import RowWork
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.llm import Ask, Door, Prompt, Reply
from ragstone.kernel.llm.prompt import sampled
from ragstone.kernel.llm.stub_reply import ASSUMPTION
from ragstone.kernel.records import (
    Answer,
    Chunk,
    Context,
    Document,
    Question,
    Ranking,
    name_repeat,
    split_repeat,
)
from ragstone.kernel.stages.answer_notes import COLD, is_cold
from ragstone.kernel.stages.corpus import load_corpus
from ragstone.kernel.stages.forecasting import sample_of
from ragstone.kernel.stages.given import asked_questions
from ragstone.kernel.stages.retrieve import rank_questions
from ragstone.kernel.systems import applications
from ragstone.kernel.systems.applications import load_application
from ragstone.kernel.systems.chosen import asks_built_in, retrieve_for, system_of
from ragstone.kernel.systems.extractive import quote_contexts
from ragstone.kernel.systems.prompting import load_prompt
from ragstone.kernel.systems.rag import answer_question, contexts_of
from ragstone.kernel.systems.sheet import answers_of_sheet


class System(NamedTuple):
    """An application that is asked: what answers a question, what its calls pass, and the door behind it."""

    answer: Callable[[Question, Ask], Awaitable[Answer]]
    ask: Ask
    door: Door


async def open_system(name: str, session: Session) -> System:
    """Return the application, ready to be asked. Raises ConfigError and ModelError where it cannot be."""
    door = f"system {name}"  # a name that no model has
    application = await load_application(name, session.settings, session.callables.get(name))
    declared = application.declared
    if isinstance(declared, ChatSystem):
        door = declared.model
        ask = await session.models.ask(door)
    else:
        limits = ModelSettings(
            max_concurrency=declared.max_concurrency,
            requests_per_minute=declared.requests_per_minute if isinstance(declared, HttpSystem) else None,
            price_usd_per_million=declared.price_usd_per_million,
        )
        ask = await session.models.ask_service(door, application.open(), limits)
    system = System(application.answer, ask, await session.models.door(door))
    version = f"@{declared.version}" if declared.version else ""
    session.systems[name] = system.door.endpoint.identity + version
    return system


class Given(msgspec.Struct, frozen=True, array_like=True):
    """A question, what it is answered from, and the number of the repeat, from 1."""

    question: Question
    contexts: list[Context] = []
    repeat: int = 1


def _repeated(
    questions: Iterable[Question], repeats: int, contexts: Callable[[Question], list[Context]] | None = None
) -> Iterator[Given]:
    """Yield each question with its contexts, repeats one after the other: a model has the prompt cached."""
    for question in questions:
        retrieved = contexts(question) if contexts else []
        yield from (Given(question, retrieved, number) for number in range(1, repeats + 1))


async def _answer_repeat(repeat: int, ask: Ask, answer: Callable[[Ask], Awaitable[Answer]]) -> Answer:
    """Return the answer of a repeat: its calls are draws of their own, and its row has a name of its own.

    The first repeat asks what a single answer asks, so that it is not paid for again.
    """
    if repeat == 1:
        return await answer(ask)

    async def draw(prompt: Prompt) -> Reply:
        return await ask(msgspec.structs.replace(prompt, sample=repeat - 1))

    row = await answer(draw)
    return msgspec.structs.replace(row, system=name_repeat(row.system, repeat))


async def _built_in(
    session: Session, *, model: str, prompt: str, system: str, sampling: Sampling
) -> Callable[[Given], Awaitable[Answer]]:
    ask, secret = sampled(await session.models.ask(model), sampling), session.secret()
    wording = load_prompt(session.settings.named(prompt))

    async def work(row: Given) -> Answer:
        return await _answer_repeat(
            row.repeat,
            ask,
            lambda drawn: answer_question(
                row.question, row.contexts, wording, drawn, system=system, secret=secret
            ),
        )

    return work


async def _quoting(
    session: Session, *, system: str, declared: ExtractiveSystem
) -> Callable[[Given], Awaitable[Answer]]:
    embed = session.embedder(declared.embedder) if declared.embedder else None
    quote = partial(quote_contexts, declared=declared, system=system, embed=embed)

    async def work(row: Given) -> Answer:
        if embed is None:
            return quote(row.question, row.contexts)
        return await asyncio.to_thread(quote, row.question, row.contexts)

    return work


async def _application(session: Session, *, system: str) -> Callable[[Given], Awaitable[Answer]]:
    opened = await open_system(system, session)

    async def work(row: Given) -> Answer:
        return await _answer_repeat(row.repeat, opened.ask, partial(opened.answer, row.question))

    return work


BUILT_IN: RowWork[Given, Answer] = RowWork(
    f"{__name__}:BUILT_IN",
    Given,
    Answer,
    {"model": str, "prompt": str, "system": str, "sampling": Sampling},
    _built_in,
)


QUOTING: RowWork[Given, Answer] = RowWork(
    f"{__name__}:QUOTING", Given, Answer, {"system": str, "declared": ExtractiveSystem}, _quoting
)


APPLICATION: RowWork[Given, Answer] = RowWork(
    f"{__name__}:APPLICATION", Given, Answer, {"system": str}, _application
)


def check_importable(name: str, session: Session) -> None:
    """Refuse a callable that workers of a cluster could not import. Raises ConfigError."""
    callee = session.callables.get(name)
    if callee is None or not on_cluster(session):
        return
    if not callee.is_found(name):
        raise ConfigError(
            f"system {name}: --engine ray sends rows to other processes, which cannot import this callable. "
            "Put it into a module as a named function, and give module:function; or leave out --engine ray."
        )


def answer_rows(
    questions: Sequence[Question],
    rankings: Sequence[Ranking],
    chunks: Sequence[Chunk],
    session: Session,
    *,
    documents: Iterable[Document] = (),
    from_ledger: Counter[str] | None = None,
    repeats: int = 1,
) -> AsyncIterator[Answer]:
    """Yield the answer of the application that `[answer]` declares to every question, in order.

    A question without a ranking is answered without contexts. documents: those that rankings name without a
    chunk. from_ledger, repeats: see system_rows. Raises ModelError if no model is named, and what system_rows
    raises.
    """
    if session.settings.answer.system is not None:
        return system_rows(
            session.settings.answer.system,
            questions,
            rankings,
            chunks,
            session,
            documents=documents,
            from_ledger=from_ledger,
            repeats=repeats,
        )
    return _built_in_rows(questions, rankings, chunks, session, documents=documents, repeats=repeats)


def _built_in_rows(
    questions: Sequence[Question],
    rankings: Sequence[Ranking],
    chunks: Sequence[Chunk],
    session: Session,
    *,
    documents: Iterable[Document] = (),
    model: str | None = None,
    prompt: str | None = None,
    sampling: Sampling | None = None,
    repeats: int = 1,
) -> AsyncIterator[Answer]:
    contexts = _contexts_by_question(rankings, chunks, documents)
    retriever = rankings[0].retriever if rankings else "none"

    def rows() -> AsyncIterator[Answer]:
        return answer_given(
            questions,
            contexts,
            session,
            brought_by=retriever,
            model=model,
            prompt=prompt,
            sampling=sampling,
            repeats=repeats,
        )

    return in_rounds(rows, session, asking=rows)


def _contexts_by_question(
    rankings: Sequence[Ranking], chunks: Sequence[Chunk], documents: Iterable[Document]
) -> Callable[[Question], list[Context]]:
    """Return what gives the contexts of a question: none where it has no ranking."""
    texts = {document.id: document for document in documents}
    by_question = {ranking.question_id: ranking for ranking in rankings}
    by_id = {chunk.id: chunk for chunk in chunks}

    def contexts(question: Question) -> list[Context]:
        ranking = by_question.get(question.id)
        return contexts_of(ranking, by_id, texts) if ranking else []

    return contexts


def system_rows(
    name: str,
    questions: Sequence[Question],
    rankings: Sequence[Ranking],
    chunks: Sequence[Chunk],
    session: Session,
    *,
    documents: Iterable[Document] = (),
    from_ledger: Counter[str] | None = None,
    repeats: int = 1,
) -> AsyncIterator[Answer]:
    """Yield the answer of an application to every question, in order, as the system of this name.

    name: one of `[systems]`, `extractive`, or `module:function`. rankings, chunks, documents: for the
    built-in RAG and the extractive one, which retrieve anew where they name another retriever or k than
    `[retrieve]`, or rankings is empty. from_ledger: counts by system, while the rows are taken, the answers
    that the ledger had. repeats: how often each question is answered; the further answers have a system
    `NAME@repeat=2`. Raises ConfigError for a name that is none and settings that cannot be, ModelError
    where nobody can be asked, DataError for an answer sheet.
    """
    settings, counts = session.settings, Counter() if from_ledger is None else from_ledger
    declared = system_of(name, settings)
    match declared:
        case ExtractiveSystem() if not chunks and not rankings:
            raise ConfigError(
                f"system {name}: it quotes documents, but there are none. Name them as paths in [documents] "
                "of ragstone.toml; from Python give rankings, or chunks."
            )
        case RagSystem() | ExtractiveSystem():
            return _retrieving_rows(
                name,
                declared,
                questions,
                rankings,
                chunks,
                session=session,
                documents=documents,
                repeats=repeats,
            )
        case SheetSystem():
            return _given(answers_of_sheet(name, declared, settings.path(declared.path), questions))
        case ChatSystem() if session.batching:

            def rows() -> AsyncIterator[Answer]:
                return _asked_rows(name, questions, session, counts, repeats)

            return in_rounds(rows, session, asking=rows)
        case _:
            return _asked_rows(name, questions, session, counts, repeats)


async def _retrieving_rows(
    name: str,
    declared: RagSystem | ExtractiveSystem,
    questions: Sequence[Question],
    rankings: Sequence[Ranking],
    chunks: Sequence[Chunk],
    *,
    session: Session,
    documents: Iterable[Document],
    repeats: int,
) -> AsyncIterator[Answer]:
    """Yield answers from rankings: from new ones where the system retrieves otherwise, or has none."""
    documents, settings = list(documents), session.settings
    wanted = retrieve_for(declared, settings.retrieve)
    if chunks and (wanted != settings.retrieve or not rankings):
        rankings = await rank_questions(questions, chunks, session, documents=documents, declared=wanted)
    if isinstance(declared, ExtractiveSystem):
        contexts = _contexts_by_question(rankings, chunks, documents)
        made = _quoted_rows(name, declared, questions, contexts, session)
    else:
        made = _built_in_rows(
            questions,
            rankings,
            chunks,
            session,
            documents=documents,
            model=declared.model or settings.answer.model or settings.run.model,
            prompt=declared.prompt,
            sampling=declared,
            repeats=repeats,
        )
    async for answer in made:
        yield msgspec.structs.replace(answer, system=name_repeat(name, split_repeat(answer.system)[1]))


async def _quoted_rows(
    name: str,
    declared: ExtractiveSystem,
    questions: Sequence[Question],
    contexts: Callable[[Question], list[Context]],
    session: Session,
) -> AsyncIterator[Answer]:
    session.systems[name] = "extractive"

    def rows() -> Iterator[Given]:
        return (Given(question, contexts(question)) for question in questions)

    with session.progress(f"answer {name}", len(questions), session.state) as advance:
        made = map_rows(QUOTING, rows, session, n_rows=len(questions), system=name, declared=declared)
        async for answer, _heard in made:
            advance()
            yield answer


async def _given(answers: Iterable[Answer]) -> AsyncIterator[Answer]:
    for answer in answers:
        yield answer


async def _asked_rows(
    name: str,
    questions: Sequence[Question],
    session: Session,
    from_ledger: Counter[str],
    repeats: int,
) -> AsyncIterator[Answer]:
    check_importable(name, session)
    system = await open_system(name, session)
    # On a cluster the doors of the workers are asked; what they count comes back with the budget alone.
    counted = session.budget if on_cluster(session) else system.door
    before, n_rows = counted.from_ledger, len(questions) * repeats
    with session.progress(f"answer {name}", n_rows, session.state) as advance:
        made = map_rows(
            APPLICATION, lambda: _repeated(questions, repeats), session, n_rows=n_rows, system=name
        )
        async for answer, heard in made:
            advance()
            session.call_log.keep(heard, question_id=answer.question_id, systems=[answer.system])
            yield answer
    from_ledger[name] += counted.from_ledger - before


def answering_model(settings: Settings) -> str:
    """Return the model that answers. Raises ModelError if none is named."""
    if settings.answer.model is None:
        raise ModelError(
            "no model to answer with. Name one with --model, e.g. openai/gpt-4o-mini or "
            "llamacpp/smollm2-135m, or as model in the table [answer] of ragstone.toml."
        )
    return settings.answer.model


async def answer_given(
    questions: Sequence[Question],
    contexts: Callable[[Question], list[Context]],
    session: Session,
    *,
    brought_by: str,
    model: str | None = None,
    prompt: str | None = None,
    sampling: Sampling | None = None,
    repeats: int = 1,
) -> AsyncIterator[Answer]:
    """Yield a model's answer to every question from the contexts that it is given, in order.

    brought_by: what brought the contexts, the first part of the name of the system. model, prompt: in place
    of those of `[answer]`; sampling: what it says goes before them. repeats: see system_rows. Raises
    ModelError if no model is named.
    """
    declared = session.settings.answer
    model = model or answering_model(session.settings)
    prompt = prompt or declared.prompt
    system = f"{brought_by}/{load_prompt(session.settings.named(prompt)).name}/{model.rpartition('/')[2]}"

    n_rows = len(questions) * repeats
    with session.progress("answer", n_rows, session.state) as advance:
        made = map_rows(
            BUILT_IN,
            lambda: _repeated(questions, repeats, contexts),
            session,
            n_rows=n_rows,
            model=model,
            prompt=prompt,
            system=system,
            sampling=sampling_of(sampling or Sampling(), declared),
        )
        async for answer, heard in made:
            advance()
            session.call_log.keep(heard, question_id=answer.question_id, systems=[answer.system])
            yield answer


async def hear_answering(settings: Settings, session: Session) -> list[Answer]:
    """Return the sampled questions' answers, and leave the weight of the sample with the forecast."""
    questions = sample_of(asked_questions(settings)[: settings.answer.limit], session)
    corpus = load_corpus(settings, session.embedder)
    chunks, documents = corpus.chunks, corpus.documents
    rankings = await rank_questions(questions, chunks, session, documents=documents) if chunks else []
    repeats = settings.answer.repeats or 1
    if is_cold(settings):
        session.forecaster.assume(COLD)
    made = answer_rows(questions, rankings, chunks, session, documents=documents, repeats=repeats)
    answers = [row async for row in made]
    if any(answer.usage and not answer.usage.calls for answer in answers):
        session.forecaster.assume(ASSUMPTION)
        if not asks_built_in(settings) and any(answer.contexts for answer in answers):
            session.forecaster.assume(applications.ASSUMPTION)
    return answers
