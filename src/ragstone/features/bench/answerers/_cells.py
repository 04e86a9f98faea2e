"""The cells of a bench of answerers, asked and judged: the one place where its questions are given out."""

from collections.abc import AsyncIterator, Collection, Sequence
from itertools import islice

import msgspec

from ragstone.features.bench._board import LeftOutCell
from ragstone.features.bench._running import attempt
from ragstone.features.bench.answerers._board import chosen_tags
from ragstone.features.bench.answerers._conditions import (
    DISTRACTED,
    RETRIEVED,
    Passages,
    contexts_under,
    search_depth,
)
from ragstone.features.bench.answerers._planning import AnswerGrid, AnswerRows, NextRound, needs_passages
from ragstone.features.bench.answerers._values import AnswerCell
from ragstone.kernel.config import Condition, ExtractiveSystem, RagSystem, Sampling, Settings
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.judging import Judge
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.records import (
    Answer,
    Chunk,
    Context,
    Judgement,
    Question,
    Ranking,
    name_repeat,
    split_repeat,
)
from ragstone.kernel.retrieval.relevance import same_documents
from ragstone.kernel.retrieval.search import build_search
from ragstone.kernel.stages.answer import answer_given, system_rows
from ragstone.kernel.stages.corpus import ChunkedCorpus, load_corpus
from ragstone.kernel.stages.given import asked_questions
from ragstone.kernel.stages.judge import judge_rows
from ragstone.kernel.stages.retrieve import rank_questions, retriever_deps
from ragstone.kernel.systems.chosen import system_of


class BenchInput(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, and who judges. paired: judges of `[judge]` that compare two answers: left out."""

    questions: list[Question]
    judges: list[Judge]
    paired: list[str]


class BenchMeans(msgspec.Struct, frozen=True, kw_only=True):
    """What all cells answer and are judged with."""

    corpus: ChunkedCorpus
    passages: Passages
    judges: list[Judge]


class AskedCells(msgspec.Struct, frozen=True, kw_only=True):
    """What was said and judged in each cell, and which cells failed, with the reason."""

    rows: dict[str, AnswerRows]
    failed: list[LeftOutCell]


def read_input(settings: Settings, grid: AnswerGrid) -> BenchInput:
    """Return questions and judges. Raises ConfigError, DataError, before anything is asked or written."""
    if settings.questions.path is None:
        raise ConfigError(
            "a bench of answerers needs questions: name the file as path in [questions] of ragstone.toml."
        )
    own = [system_of(cell.name, settings) for cell in grid.cells if cell.is_system]
    searching = needs_passages(grid) or any(
        isinstance(system, RagSystem | ExtractiveSystem) for system in own
    )
    if searching and not settings.documents.paths:
        raise ConfigError(
            "a bench of answerers needs documents: name them as paths in [documents] of ragstone.toml. Only "
            "the condition `none` and systems that bring their own passages need none."
        )
    judges = load_judges(map(settings.named, settings.judge.judges))
    alone = [judge for judge in judges if not judge.compares_two]
    if not alone:
        raise ConfigError(
            "a bench of answerers needs judges: name some that judge one answer at a time in [judge]."
        )
    questions = list(islice(asked_questions(settings), settings.bench.answerers.limit))
    chosen_tags(
        questions, settings.bench.answerers.tags
    )  # a mistake in them is told before anything is asked
    paired = [judge.name for judge in judges if judge.compares_two]
    return BenchInput(questions=questions, judges=alone, paired=paired)


async def open_means(bench_input: BenchInput, grid: AnswerGrid, session: Session) -> BenchMeans:
    """Return the corpus and what was found in it for every question.

    Raises DataError where there is no text to answer from, or no question has any condition of the grid.
    """
    corpus = load_corpus(session.settings, session.embedder)
    if needs_passages(grid) and not corpus.chunks:
        raise DataError("[documents] paths contain no text, so there is nothing to answer from.")
    own = {cell.condition for cell in grid.cells if not cell.is_system}
    passages = await gather_passages(
        bench_input.questions,
        corpus,
        own,
        session,
        n_distractors=session.settings.bench.answerers.distractors,
    )
    return BenchMeans(corpus=corpus, passages=passages, judges=bench_input.judges)


async def give_out(next_round: NextRound, means: BenchMeans, session: Session) -> AskedCells:
    """Return what every cell said to the questions that it was given, round by round.

    A cell that fails is asked no more, and what it said before is dropped. Raises what judges raise.
    """
    rows: dict[str, AnswerRows] = {}
    failed: list[LeftOutCell] = []
    number = 0
    while (now := next_round(number, rows)) is not None:
        lost = {lost_cell.name for lost_cell in failed}
        cells = [cell for cell in now.cells if cell.name not in lost]
        answered = await judged_round(cells, now.questions, means, session)
        failed += answered.failed
        for name, more in answered.rows.items():
            rows[name] = rows.get(name, AnswerRows()) + more
        for lost_cell in answered.failed:
            rows.pop(lost_cell.name, None)
        number += 1
    return AskedCells(rows=rows, failed=failed)


async def judged_round(
    cells: Sequence[AnswerCell], questions: Sequence[Question], means: BenchMeans, session: Session
) -> AskedCells:
    """Return the answers of these cells to these questions, and what the judges say of them.

    A question for which a cell's condition does not exist is not asked. All answers of the round are judged
    together, one judge after the other, which keeps a judge's prompt in its model's cache. A cell whose model
    cannot be had is listed with the reason; a judge that cannot be had raises ModelError.
    """
    failed: list[LeftOutCell] = []
    answers: dict[str, list[Answer]] = {}
    for cell in cells:
        rows_of_cell = await attempt(cell.name, answers_of(cell, questions, means, session), failed)
        if rows_of_cell is not None:
            answers[cell.name] = rows_of_cell
    every = [row for rows in answers.values() for row in rows]
    judged: dict[str, list[Judgement]] = {name: [] for name in answers}
    if every:
        async for row in judge_rows(lambda: every, means.judges, session, len(every)):
            judged[split_repeat(row.system)[0]].append(row)
    rows = {name: AnswerRows(answers=answers[name], judgements=judged[name]) for name in answers}
    return AskedCells(rows=rows, failed=failed)


async def answers_of(
    cell: AnswerCell, questions: Sequence[Question], means: BenchMeans, session: Session
) -> list[Answer]:
    """Return a cell's answers under its own name, so that judgements of all cells can be told apart.

    `repeats` of `[answer]` holds for every cell. Raises ModelError when its model cannot be had.
    """
    if cell.is_system:
        rankings, corpus = list(means.passages.retrieved.values()), means.corpus
        answers = system_rows(
            cell.name,
            questions,
            rankings,
            corpus.chunks,
            session,
            documents=corpus.documents,
            repeats=session.settings.answer.repeats or 1,
        )
    else:
        answers = _by_model(cell, questions, means, session)
    # Without passages there is nothing to be faithful to: judges of it are not asked.
    return [
        msgspec.structs.replace(
            answer,
            system=name_repeat(cell.name, split_repeat(answer.system)[1]),
            contexts=None if cell.condition == "none" else answer.contexts,
        )
        async for answer in answers
    ]


def _by_model(
    cell: AnswerCell, questions: Sequence[Question], means: BenchMeans, session: Session
) -> AsyncIterator[Answer]:
    contexts_of: dict[str, list[Context]] = {}
    for question in questions:
        contexts = contexts_under(cell.condition, question, means.passages)
        if not isinstance(contexts, str):
            contexts_of[question.id] = contexts
    return answer_given(
        [question for question in questions if question.id in contexts_of],
        lambda question: contexts_of[question.id],
        session,
        brought_by=cell.condition,
        model=cell.model,
        prompt=cell.prompt,
        sampling=Sampling(temperature=cell.temperature),
        repeats=session.settings.answer.repeats or 1,
    )


async def gather_passages(
    questions: Sequence[Question],
    corpus: ChunkedCorpus,
    conditions: Collection[Condition],
    session: Session,
    *,
    n_distractors: int = 3,
) -> Passages:
    """Return what contexts_under needs for these questions and conditions.

    The retriever of `[retrieve]` and BM25 search only where a condition needs them. Raises DataError for a
    corpus without chunks where one does, and what rank_questions raises.
    """
    settings = session.settings
    same = same_documents(corpus.documents, settings.documents.copies)
    retrieved: list[Ranking] = []
    if set(conditions) & set(RETRIEVED):
        retrieved = await rank_questions(questions, corpus.chunks, session, documents=corpus.documents)
    lexical: list[Ranking] = []
    if set(conditions) & set(DISTRACTED):
        search = await build_search("bm25", corpus.chunks, retriever_deps(session, corpus.documents))
        lexical = await search(questions, search_depth(questions, corpus.chunks, same, n_distractors))
    chunks_of: dict[str, list[Chunk]] = {}
    for chunk in corpus.chunks:
        chunks_of.setdefault(chunk.document_id, []).append(chunk)
    return Passages(
        documents={document.id: document for document in corpus.documents},
        chunks={chunk.id: chunk for chunk in corpus.chunks},
        chunks_of=chunks_of,
        retrieved={ranking.question_id: ranking for ranking in retrieved},
        lexical={ranking.question_id: ranking for ranking in lexical},
        same=same,
        n_distractors=n_distractors,
        seed=settings.run.seed,
    )
