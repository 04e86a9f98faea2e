"""Stage: questions and rankings -> answers."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence

import msgspec

from ragstone.config import (
    ChatSystem,
    RagSystem,
    Sampling,
    SheetSystem,
    sampling_of,
)
from ragstone.engine.mapping import map_rows, on_cluster
from ragstone.engine.rounds import in_rounds
from ragstone.engine.session import Session
from ragstone.errors import ModelError
from ragstone.records import Answer, Chunk, Context, Document, Question, Ranking
from ragstone.stages.answer_work import APPLICATION, BUILT_IN, Given, check_importable
from ragstone.stages.retrieve import rank_questions
from ragstone.stages.systems import Asked, open_system
from ragstone.systems.chosen import system_of
from ragstone.systems.prompting import load_prompt
from ragstone.systems.rag import contexts_of
from ragstone.systems.sheet import answers_of_sheet


def answer_rows(
    questions: Sequence[Question],
    rankings: Sequence[Ranking],
    chunks: Sequence[Chunk],
    session: Session,
    *,
    documents: Iterable[Document] = (),
) -> AsyncIterator[Answer]:
    """Yield the answer of the application that `[answer]` declares to every question, in order.

    A question without a ranking is answered without contexts. documents: those that rankings name without a
    chunk. Raises ModelError if no model is named, and what system_rows raises.
    """
    if session.settings.answer.system is not None:
        return system_rows(
            session.settings.answer.system, questions, rankings, chunks, session, documents=documents
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
    texts = {document.id: document for document in documents}
    by_question = {ranking.question_id: ranking for ranking in rankings}
    by_id = {chunk.id: chunk for chunk in chunks}
    retriever = rankings[0].retriever if rankings else "none"

    def contexts(question: Question) -> list[Context]:
        ranking = by_question.get(question.id)
        return contexts_of(ranking, by_id, texts) if ranking else []

    def rows() -> AsyncIterator[Answer]:
        how = {"model": model, "prompt": prompt}
        return answer_given(questions, contexts, session, brought_by=retriever, sampling=sampling, **how)

    return in_rounds(rows, session, asking=rows)


def system_rows(
    name: str,
    questions: Sequence[Question],
    rankings: Sequence[Ranking],
    chunks: Sequence[Chunk],
    session: Session,
    *,
    documents: Iterable[Document] = (),
) -> AsyncIterator[Answer]:
    """Yield the answer of an application to every question, in order, as the system of this name.

    name: one of `[systems]`, or `module:function`. rankings, chunks, documents: for the built-in RAG alone;
    it retrieves anew where it names another retriever or k than `[retrieve]`, or rankings is empty. Raises
    ConfigError for a name that is none and settings that cannot be, ModelError where nobody can be asked,
    DataError for an answer sheet.
    """
    settings = session.settings
    declared = system_of(name, settings)
    match declared:
        case RagSystem():
            return _rag_rows(
                name, declared, questions, rankings, chunks, session=session, documents=documents
            )
        case SheetSystem():
            return _given(answers_of_sheet(name, declared, settings.path(declared.path), questions))
        case ChatSystem() if session.batching:

            def rows() -> AsyncIterator[Answer]:
                return _asked_rows(name, declared, questions, session)

            return in_rounds(rows, session, asking=rows)
        case _:
            return _asked_rows(name, declared, questions, session)


async def _rag_rows(
    name: str,
    declared: RagSystem,
    questions: Sequence[Question],
    rankings: Sequence[Ranking],
    chunks: Sequence[Chunk],
    *,
    session: Session,
    documents: Iterable[Document],
) -> AsyncIterator[Answer]:
    given, documents = session.settings.retrieve, list(documents)
    wanted = msgspec.structs.replace(
        given, retriever=declared.retriever or given.retriever, k=declared.k or given.k
    )
    if chunks and (wanted != given or not rankings):
        rankings = await rank_questions(questions, chunks, session, documents=documents, declared=wanted)
    model = declared.model or session.settings.answer.model or session.settings.run.model
    made = _built_in_rows(
        questions,
        rankings,
        chunks,
        session,
        documents=documents,
        model=model,
        prompt=declared.prompt,
        sampling=declared,
    )
    async for answer in made:
        yield msgspec.structs.replace(answer, system=name)


async def _given(answers: Iterable[Answer]) -> AsyncIterator[Answer]:
    for answer in answers:
        yield answer


async def _asked_rows(
    name: str, declared: Asked, questions: Sequence[Question], session: Session
) -> AsyncIterator[Answer]:
    check_importable(name, session)
    system = await open_system(name, declared, session)
    counted = session.budget if on_cluster(session) else system.door
    before = counted.from_ledger
    with session.progress(f"answer {name}", len(questions), session.state) as advance:
        made = map_rows(APPLICATION, lambda: questions, session, n_rows=len(questions), system=name)
        async for answer, heard in made:
            advance()
            session.call_log.keep(heard, question_id=answer.question_id, systems=[name])
            yield answer
    session.kept[name] += counted.from_ledger - before


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
    model = model or declared.model
    if model is None:
        raise ModelError(
            "no model to answer with. Name one with --model, e.g. openai/gpt-4o-mini or "
            "llamacpp/smollm2-135m, or as model in the table [answer] of ragstone.toml."
        )
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
