"""Stage: questions -> answers, by an application or from what is retrieved."""

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
    PythonSystem,
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
from ragstone.kernel.llm import Door
from ragstone.kernel.llm.prompt import sampled
from ragstone.kernel.llm.stub_reply import ASSUMPTION
from ragstone.kernel.records import Answer, Chunk, Context, Document, Question, Ranking
from ragstone.kernel.stages.corpus import load_corpus
from ragstone.kernel.stages.forecasting import sample_of
from ragstone.kernel.stages.given import asked_questions
from ragstone.kernel.stages.retrieve import rank_questions
from ragstone.kernel.systems import applications
from ragstone.kernel.systems.applications import Application, Asked
from ragstone.kernel.systems.chosen import asks_built_in, retrieve_for, system_of
from ragstone.kernel.systems.extractive import quote_contexts
from ragstone.kernel.systems.function import load_callee
from ragstone.kernel.systems.prompting import load_prompt
from ragstone.kernel.systems.rag import answer_question, contexts_of
from ragstone.kernel.systems.sheet import answers_of_sheet


class System(NamedTuple):
    """An application that is asked: what answers a question, and the door that its calls pass."""

    answer: Callable[[Question], Awaitable[Answer]]
    door: Door


async def open_system(name: str, declared: Asked, session: Session) -> System:
    """Return the application, ready to be asked. Raises ConfigError and ModelError where it cannot be."""
    callee, door = None, f"system {name}"  # a name that no model has
    if isinstance(declared, PythonSystem) and (callee := session.callables.get(name)) is None:
        where = f"[systems.{name}]" if name in session.settings.systems else "system"
        callee = await load_callee(declared.call, session.settings.path("."), where)
    application = Application(name, declared, callee)
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
    system = System(partial(application.answer, ask=ask), await session.models.door(door))
    version = f"@{declared.version}" if declared.version else ""
    session.systems[name] = system.door.endpoint.identity + version
    return system


class Given(msgspec.Struct, frozen=True, array_like=True):
    """A question, and what it is answered from."""

    question: Question
    contexts: list[Context]


async def _built_in(
    session: Session, *, model: str, prompt: str, system: str, sampling: Sampling
) -> Callable[[Given], Awaitable[Answer]]:
    ask, secret = sampled(await session.models.ask(model), sampling), session.secret()
    wording = load_prompt(session.settings.named(prompt))

    async def work(row: Given) -> Answer:
        return await answer_question(row.question, row.contexts, wording, ask, system=system, secret=secret)

    return work


async def _quoting(
    _session: Session, *, system: str, declared: ExtractiveSystem
) -> Callable[[Given], Awaitable[Answer]]:
    async def work(row: Given) -> Answer:
        return quote_contexts(row.question, row.contexts, declared, system=system)

    return work


async def _application(session: Session, *, system: str) -> Callable[[Question], Awaitable[Answer]]:
    declared: Asked = system_of(system, session.settings)  # type: ignore[assignment]  # the others ask nobody
    return (await open_system(system, declared, session)).answer


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


APPLICATION: RowWork[Question, Answer] = RowWork(
    f"{__name__}:APPLICATION", Question, Answer, {"system": str}, _application
)


def check_importable(name: str, session: Session) -> None:
    """Refuse a callable that workers of a cluster could not import. Raises ConfigError."""
    callee = session.callables.get(name)
    if callee is None or not on_cluster(session):
        return
    if not callee.is_found(name):
        raise ConfigError(
            f"system {name}: --engine ray sends rows to other processes, which cannot import this callable. "
            "Put it into a module, as a function of its own name, and give module:function; or leave out "
            "--engine ray."
        )


def answer_rows(
    questions: Sequence[Question],
    rankings: Sequence[Ranking],
    chunks: Sequence[Chunk],
    session: Session,
    *,
    documents: Iterable[Document] = (),
    from_ledger: Counter[str] | None = None,
) -> AsyncIterator[Answer]:
    """Yield the answer of the application that `[answer]` declares to every question, in order.

    A question without a ranking is answered without contexts. documents: those that rankings name without a
    chunk. from_ledger: see system_rows. Raises ModelError if no model is named, and what system_rows raises.
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
        )
    return _built_in_rows(questions, rankings, chunks, session, documents=documents)


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
) -> AsyncIterator[Answer]:
    contexts = _contexts_by_question(rankings, chunks, documents)
    retriever = rankings[0].retriever if rankings else "none"

    def rows() -> AsyncIterator[Answer]:
        how = {"model": model, "prompt": prompt}
        return answer_given(questions, contexts, session, brought_by=retriever, sampling=sampling, **how)

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
) -> AsyncIterator[Answer]:
    """Yield the answer of an application to every question, in order, as the system of this name.

    name: one of `[systems]`, `extractive`, or `module:function`. rankings, chunks, documents: for the
    built-in RAG and the extractive one, which retrieve anew where they name another retriever or k than
    `[retrieve]`, or rankings is empty. from_ledger: counts by system, while the rows are taken, the answers
    that the ledger had. Raises ConfigError for a name that is none and settings that cannot be, ModelError
    where nobody can be asked, DataError for an answer sheet.
    """
    settings, counts = session.settings, Counter() if from_ledger is None else from_ledger
    declared = system_of(name, settings)
    match declared:
        case ExtractiveSystem() if not chunks and not rankings:
            raise ConfigError(
                f"system {name}: it quotes documents, and there are none. Name them as paths in "
                "[documents] of ragstone.toml; from Python give rankings, or chunks."
            )
        case RagSystem() | ExtractiveSystem():
            return _retrieving_rows(
                name, declared, questions, rankings, chunks, session=session, documents=documents
            )
        case SheetSystem():
            return _given(answers_of_sheet(name, declared, settings.path(declared.path), questions))
        case ChatSystem() if session.batching:

            def rows() -> AsyncIterator[Answer]:
                return _asked_rows(name, declared, questions, session, counts)

            return in_rounds(rows, session, asking=rows)
        case _:
            return _asked_rows(name, declared, questions, session, counts)


async def _retrieving_rows(
    name: str,
    declared: RagSystem | ExtractiveSystem,
    questions: Sequence[Question],
    rankings: Sequence[Ranking],
    chunks: Sequence[Chunk],
    *,
    session: Session,
    documents: Iterable[Document],
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
        )
    async for answer in made:
        yield msgspec.structs.replace(answer, system=name)


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
    declared: Asked,
    questions: Sequence[Question],
    session: Session,
    from_ledger: Counter[str],
) -> AsyncIterator[Answer]:
    check_importable(name, session)
    system = await open_system(name, declared, session)
    # On a cluster the doors of the workers are asked; what they count comes back with the budget alone.
    counted = session.budget if on_cluster(session) else system.door
    before = counted.from_ledger
    with session.progress(f"answer {name}", len(questions), session.state) as advance:
        made = map_rows(APPLICATION, lambda: questions, session, n_rows=len(questions), system=name)
        async for answer, heard in made:
            advance()
            session.call_log.keep(heard, question_id=answer.question_id, systems=[name])
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
) -> AsyncIterator[Answer]:
    """Yield a model's answer to every question from the contexts that it is given, in order.

    brought_by: what brought the contexts, the first part of the name of the system. model, prompt: in place
    of those of `[answer]`; sampling: what it says goes before them. Raises ModelError if no model is named.
    """
    declared = session.settings.answer
    model = model or answering_model(session.settings)
    prompt = prompt or declared.prompt
    system = f"{brought_by}/{load_prompt(session.settings.named(prompt)).name}/{model.rpartition('/')[2]}"

    def rows() -> Iterator[Given]:
        return (Given(question, contexts(question)) for question in questions)

    with session.progress("answer", len(questions), session.state) as advance:
        made = map_rows(
            BUILT_IN,
            rows,
            session,
            n_rows=len(questions),
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
    made = answer_rows(questions, rankings, chunks, session, documents=documents)
    answers = [row async for row in made]
    if any(answer.usage and not answer.usage.calls for answer in answers):
        session.forecaster.assume(ASSUMPTION)
        if not asks_built_in(settings) and any(answer.contexts for answer in answers):
            session.forecaster.assume(applications.ASSUMPTION)
    return answers
