"""The stages as the settings declare them, bound to a session: rows in, rows out."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from ragstone.config import (
    ChatSystem,
    RagSystem,
    RetrieveSection,
    Sampling,
    Settings,
    SheetSystem,
    sampling_of,
)
from ragstone.corpus import Corpus, Duplicate, IngestOptions, Skipped, read_corpus
from ragstone.embedding import Embed
from ragstone.engine.answering import APPLICATION, BUILT_IN, Given, check_importable
from ragstone.engine.chunking import cut_documents
from ragstone.engine.ingesting import chunks_of, read_documents_of
from ragstone.engine.judge_tasks import JudgeTask, judged, plan_tasks
from ragstone.engine.local import map_in_order
from ragstone.engine.mapping import map_rows, on_cluster
from ragstone.engine.rounds import in_rounds
from ragstone.engine.searching import rank_on_cluster
from ragstone.engine.session import Session
from ragstone.engine.systems import Asked, open_system, system_of
from ragstone.errors import ConfigError, ModelError
from ragstone.judging import Judge, JudgeContext, load_judge
from ragstone.judging.variant import load_members
from ragstone.llm.overheard import Exchange
from ragstone.records import Answer, Chunk, Context, Document, Judgement, Question, Ranking
from ragstone.retrieval import build_search
from ragstone.retrieval.rerank import asks_a_model
from ragstone.systems import answers_of_sheet, contexts_of, load_prompt


class ChunkedCorpus(msgspec.Struct, frozen=True, kw_only=True):
    """Documents, the files that gave none, the chunks, and which documents repeat an earlier one."""

    documents: list[Document]
    skipped: list[Skipped]
    chunks: list[Chunk]
    duplicates: list[Duplicate] = []


def load_corpus(settings: Settings, embedder: Callable[[str], Embed] | None = None) -> ChunkedCorpus:
    """Return the corpus that `[documents]` and `[chunk]` declare; an empty one if there are no documents.

    embedder: gives a session's embedder by name, see cut_documents.
    """
    corpus = read_documents(settings, settings.documents.paths)
    chunks = list(cut_documents(corpus.documents, settings.chunk, settings, embedder))
    return ChunkedCorpus(
        documents=corpus.documents, skipped=corpus.skipped, chunks=chunks, duplicates=corpus.duplicates
    )


async def corpus_on(session: Session) -> ChunkedCorpus:
    """Return what load_corpus returns, read and cut by the engine of the session."""
    settings = session.settings
    if not on_cluster(session):
        return load_corpus(settings, session.embedder)
    paths = [settings.path(path) for path in settings.documents.paths]
    corpus = await read_documents_of(paths, ingest_options(settings), session)
    documents = corpus.documents
    chunks = [one async for one in chunks_of(lambda: documents, session, settings.chunk, len(documents))]
    return ChunkedCorpus(
        documents=documents, skipped=corpus.skipped, chunks=chunks, duplicates=corpus.duplicates
    )


def read_documents(settings: Settings, paths: Iterable[str]) -> Corpus:
    """Return what files and folders hold, read as `[documents]` says."""
    return read_corpus((settings.path(path) for path in paths), ingest_options(settings))


def ingest_options(settings: Settings) -> IngestOptions:
    """Return how `[documents]` says that files are read."""
    declared = msgspec.structs.asdict(settings.documents)
    return IngestOptions(**{name: declared[name] for name in IngestOptions.__struct_fields__})


async def rank_questions(
    questions: Sequence[Question],
    chunks: Sequence[Chunk],
    session: Session,
    *,
    documents: Iterable[Document] = (),
    declared: RetrieveSection | None = None,
) -> list[Ranking]:
    """Return the rankings that `[retrieve]` declares, one a question, in order.

    documents: those of the chunks, where a retriever elsewhere returns texts to be found in them. declared:
    in place of `[retrieve]`; its filter and its embedder stay.
    """
    declared = declared or session.settings.retrieve
    if on_cluster(session):
        return await rank_on_cluster(questions, chunks, session, documents, declared)
    search = await build_search(declared.retriever, chunks, session.search_means(documents))
    if not asks_a_model(declared.retriever, session.settings.retrievers):
        return await search(questions, declared.k)

    async def rows() -> AsyncIterator[Ranking]:
        for ranking in await search(questions, declared.k):
            yield ranking

    return [ranking async for ranking in in_rounds(rows, session, asking=rows)]


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
        from ragstone.engine.cluster.stages import judge_on_cluster

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
    means = means or await session.means(judges)
    one_call = session.settings.judge.one_call
    for task in plan_tasks(answers, judges, means, n_answers, one_call=one_call):

        async def work(row: object, task: JudgeTask = task) -> tuple[list[Judgement], list[Exchange]]:
            return await session.call_log.listen(judged(task, row))

        with session.progress(f"judge {task.name}", task.n_rows, session.state) as advance:
            async for judgements, heard in map_in_order(work, task.rows(), session.stop):
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
