"""`ragstone bench languages`: indexes of one language, of each, and of all, on the same questions."""

import asyncio
from collections.abc import Mapping, Sequence

import msgspec

from ragstone.features.bench._board import LeftOutCell, reasons_text
from ragstone.features.bench._running import BenchOptions, attempt, bench_path, open_bench, run_bench, slug
from ragstone.features.bench.languages._answering import (
    ACCURACY,
    JUDGES,
    AnswersOfIndex,
    accuracy_verdicts,
    answer_both,
    answering_cost,
    language_overlaps,
    pairs_of,
    statement_counts,
    wrong_answers,
)
from ragstone.features.bench.languages._axes import (
    AxisCell,
    axis_verdicts,
    shared_of,
    similarity_of,
    study_prompts,
    with_similarities,
)
from ragstone.features.bench.languages._rows import StudyRows, read_study_rows
from ragstone.features.bench.languages._values import ALL, WrongAnswer
from ragstone.features.bench.languages._verdicts import (
    MEASURE,
    Indexes,
    corrected,
    language_cells,
    language_verdicts,
    measured,
    own_rankings,
)
from ragstone.features.bench.languages.words import (
    STUDY,
    FailedRetriever,
    StudySummary,
    study_document,
)
from ragstone.features.bench.retrievers.timing import is_paid
from ragstone.kernel.config import AgreeSection, BenchSection, JudgeSection, Settings
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, forecast_of
from ragstone.kernel.errors import ConfigError, DataError, checks_arguments
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.records import Answer, Chunk, Document, Question, Ranking
from ragstone.kernel.retrieval.deps import ChunkFilter, RetrieverDeps
from ragstone.kernel.retrieval.rerank import asks_a_model
from ragstone.kernel.retrieval.search import RETRIEVERS, build_search, searches_chunks
from ragstone.kernel.stages.chunk import cut_documents
from ragstone.kernel.stages.notes import plain_notes
from ragstone.kernel.stages.retrieve import retriever_deps
from ragstone.kernel.tables import write_rows
from ragstone.kernel.version import __version__

SHOWN_WRONG = 50
UNANSWERED = (
    "No model answered. To study the accuracy of answers too, name one as model in the table [answer] of "
    "ragstone.toml."
)


@checks_arguments
def bench_languages(
    settings: Settings,
    *,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    force: bool = False,
    progress: Progress = silent,
) -> StudySummary:
    """Measure whether an index of all languages finds more, and answers better, than that of the own one.

    Numbers, rankings, answers, wrong answers and page are in `runs/NAME-languages/`. Without `[answer] model`
    only retrieval is studied. If run again, no finished call is made twice and every number is the same. A
    retriever that fails is listed with its reason and loses no other. force: replace a study of the same name
    that had other settings. budget, deadline, offline: for the answering model. Raises ConfigError for
    settings that do not fit together, DataError for files, ModelError when no call can succeed.
    """
    return run_bench(
        _study, settings, budget=budget, deadline=deadline, offline=offline, force=force, progress=progress
    )


async def _study(settings: Settings, options: BenchOptions) -> StudySummary:
    settings, rows = _read(settings)
    folder = bench_path(settings, "languages")
    decisive = msgspec.structs.replace(
        settings,
        judge=JudgeSection(),
        agree=AgreeSection(),
        bench=BenchSection(languages=settings.bench.languages),
    )
    async with open_bench(folder, settings, decisive, options) as bench:
        write_rows(folder / "documents.jsonl", rows.documents, Document, force=True)
        write_rows(folder / "questions.jsonl", rows.questions, Question, force=True)
        session = bench.session
        chunks = await asyncio.to_thread(
            lambda: list(cut_documents(rows.documents, settings.chunk, settings, session.embedder))
        )
        indexes, failed = await search_all(rows, chunks, session)
        for name, of_name in indexes.items():
            for index, rankings in of_name.items():
                path = folder / f"rankings-{slug(name)}-{slug(index)}.jsonl"
                write_rows(path, rankings, Ranking, force=True)
        answered = await answer_both(indexes, rows, chunks, session) if settings.answer.model else []
        study = _summarise(settings, rows, indexes, failed, answered, session)
        if answered:
            answers = [row for from_index in answered for row in from_index.answers]
            write_rows(folder / "answers.jsonl", answers, Answer, force=True)
            lines = b"".join(msgspec.json.encode(row) + b"\n" for row in _wrong(answered, rows))
            (folder / "wrong_answers.jsonl").write_bytes(lines)
        judges = load_judges(JUDGES) if answered else []
        bench.finish(STUDY, study, study_document, models=study.models, judges=judges)
    return study


def _read(settings: Settings) -> tuple[Settings, StudyRows]:
    """Return the settings with what the axes add, and the rows; checked before anything is asked."""
    check_retrievers(settings)
    settings = with_similarities(settings)
    if settings.answer.model:
        study_prompts(settings)
    return settings, read_study_rows(settings)


def check_retrievers(settings: Settings) -> None:
    """Raise ConfigError for a retriever that is unknown, or that has no index of ours."""
    known = {**RETRIEVERS, **settings.retrievers}
    if not settings.bench.languages.retrievers:
        raise ConfigError("[bench.languages] retrievers is empty: name at least one.")
    for name in settings.bench.languages.retrievers:
        if not searches_chunks(name, known):
            raise ConfigError(
                f"[bench.languages] {name!r} searches elsewhere, so it has no index of each language. "
                "Name a retriever that searches these documents."
            )


async def search_all(
    rows: StudyRows, chunks: Sequence[Chunk], session: Session
) -> tuple[dict[str, Indexes], list[FailedRetriever]]:
    """Return retriever -> the rankings from each of its indexes, and the retrievers that failed."""
    settings, lang_of = session.settings, rows.lang_of
    parts = {lang: [chunk for chunk in chunks if lang_of[chunk.document_id] == lang] for lang in rows.langs}
    parts[ALL] = list(chunks)
    deps = _without_lang(retriever_deps(session, rows.documents))
    indexes_of: dict[str, Indexes] = {}
    failed: list[LeftOutCell] = []
    retrievers = list(dict.fromkeys(settings.bench.languages.retrievers))
    with session.progress("search", len(retrievers) * len(parts), session.state) as advance:

        async def search_each(name: str) -> Indexes:
            indexes: dict[str, list[Ranking]] = {}
            for index, some in parts.items():
                search = await build_search(name, some, deps)
                indexes[index] = await search(rows.questions, settings.bench.languages.k)
                advance()
            return indexes

        for name in retrievers:
            indexes = await attempt(name, search_each(name), failed)
            if indexes is not None:
                indexes_of[name] = indexes
    if not indexes_of:
        raise DataError(f"no retriever could be measured. {reasons_text(failed)}")
    return indexes_of, [FailedRetriever(retriever=cell.name, reason=cell.reason) for cell in failed]


def _without_lang(deps: RetrieverDeps) -> RetrieverDeps:
    """Return deps whose filter lets every language through: which index has it is what is studied."""
    chosen = deps.filter
    return msgspec.structs.replace(
        deps,
        filter=ChunkFilter(
            where={key: value for key, value in chosen.where.items() if key != "lang"},
            match=tuple(key for key in chosen.match if key != "lang"),
        ),
    )


def _summarise(
    settings: Settings,
    rows: StudyRows,
    indexes: Mapping[str, Indexes],
    failed: list[FailedRetriever],
    answered: list[AnswersOfIndex],
    session: Session,
) -> StudySummary:
    k, seed = settings.bench.languages.k, settings.run.seed
    wrong = _wrong(answered, rows)
    by_id = {question.id: question for question in rows.questions}
    scored = (answered, rows.questions, rows.same)
    shared = shared_of(rows.questions, rows.same)
    ranked = _ranked_cells(settings, rows, indexes)
    right = [
        (similarity_of(answers.arm.retriever, settings) | answers.arm.axes, answers.right)  # True is 1
        for answers in answered
    ]
    return StudySummary(
        name=settings.run.name,
        version=__version__,
        langs=rows.langs,
        k=k,
        documents={lang: sum(d.lang == lang for d in rows.documents) for lang in rows.langs},
        questions={
            lang: sum(q.lang == lang for q in rows.questions)
            for lang in dict.fromkeys(q.lang or "" for q in rows.questions)
        },
        models=session.roles(),
        cells=[
            cell
            for name, of_name in indexes.items()
            for cell in language_cells(name, of_name, rows.questions, k, rows.same, rows.lang_of, seed=seed)
        ],
        verdicts=language_verdicts(indexes, rows.questions, k, rows.same, seed=seed),
        failed=failed,
        accuracy=accuracy_verdicts(*scored, seed=seed),
        axes=corrected(
            [
                *axis_verdicts(ranked, shared, MEASURE, seed=seed),
                *axis_verdicts(right, shared, ACCURACY, seed=seed),
            ]
        ),
        overlaps=language_overlaps(*scored, seed=seed),
        statements=statement_counts(answered, by_id),
        costs=[answering_cost(answers, by_id) for answers in answered],
        wrong=wrong[:SHOWN_WRONG],
        n_wrong=len(wrong),
        unanswered=None if answered else UNANSWERED,
        calls=session.calls(),
        notes=_notes(rows, settings),
    )


def _ranked_cells(settings: Settings, rows: StudyRows, indexes_of: Mapping[str, Indexes]) -> list[AxisCell]:
    """Return MRR of the questions that have an index of their own, from that and from that of all."""
    questions = [question for question in rows.questions if question.lang in rows.langs]
    return [
        (axes, measured(rankings, questions, settings.bench.languages.k, rows.same).values[MEASURE])
        for name, indexes in indexes_of.items()
        if (axes := similarity_of(name, settings))
        for rankings in (own_rankings(indexes, questions), indexes[ALL])
    ]


def _wrong(answered: Sequence[AnswersOfIndex], rows: StudyRows) -> list[WrongAnswer]:
    by_id = {question.id: question for question in rows.questions}
    return [row for pair in pairs_of(answered) for row in wrong_answers(pair, by_id, rows.same, rows.lang_of)]


def _notes(rows: StudyRows, settings: Settings) -> list[str]:
    notes = plain_notes([], (), rows.skipped)
    if rows.n_detected:
        notes.append(
            f"Documents and questions that did not state their language: {rows.n_detected}. It was detected."
        )
    langs = set(rows.langs)
    strangers = [question for question in rows.questions if question.lang not in langs]
    if strangers:
        named = ", ".join(sorted({question.lang or "" for question in strangers}))
        notes.append(
            f"Questions in a language that no document is in ({named}): {len(strangers)}. They have no index "
            "of their own language, and the verdicts leave them out."
        )
    if "lang" in settings.retrieve.match or "lang" in settings.retrieve.where:
        notes.append(
            "[retrieve] restricts results by language; the study does not, because that is what it tests."
        )
    alone = len(rows.documents) - len(rows.same)
    if alone:
        notes.append(
            f"Documents without the field {settings.documents.copies!r}: {alone}. They are copies of none."
        )
    return notes


def forecast_study(settings: Settings) -> Forecast:
    """Return what the answering model and paid embedders would be asked.

    Raises what bench_languages raises before it makes a call.
    """
    settings, rows = _read(settings)

    async def work(session: Session) -> None:
        # An embedder at an endpoint is asked, as far as the settings name it.
        named = [settings.retrieve.embedder, settings.chunk.embedder]
        named += [getattr(each, "embedder", None) or "" for each in settings.retrievers.values()]
        retrievers = settings.bench.languages.retrievers
        asks = any(asks_a_model(name, settings.retrievers) for name in retrievers)
        if not (settings.answer.model or asks or any(map(is_paid, named))):
            return
        chunks = list(cut_documents(rows.documents, settings.chunk, settings, session.embedder))
        indexes, _ = await search_all(rows, chunks, session)
        if settings.answer.model:
            await answer_both(indexes, rows, chunks, session)

    return forecast_of(settings, work)
