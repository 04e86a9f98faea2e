"""`ragstone bench languages`: indexes of one language, of each, and of all, on the same questions."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.bench.folder import bench_path, open_folder, slug
from ragstone.features.bench.retrievers.answering import (
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
from ragstone.features.bench.retrievers.axes import (
    AxisCell,
    axis_verdicts,
    shared_of,
    similarity_of,
    study_prompts,
    with_similarities,
)
from ragstone.features.bench.retrievers.language_values import ALL, WrongAnswer
from ragstone.features.bench.retrievers.language_words import (
    STUDY,
    FailedRetriever,
    StudySummary,
    study_document,
)
from ragstone.features.bench.retrievers.languages import (
    MEASURE,
    Indexes,
    corrected,
    language_cells,
    language_verdicts,
    measured,
    own_rankings,
)
from ragstone.features.bench.retrievers.study_rows import StudyRows, read_study_rows
from ragstone.features.bench.retrievers.timing import is_paid
from ragstone.kernel.config import AgreeSection, BenchSection, JudgeSection, Settings
from ragstone.kernel.document.html import write_page
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions, forecast_of, open_session
from ragstone.kernel.errors import ConfigError, DataError, RagstoneError, checks_arguments
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast, Forecaster
from ragstone.kernel.records import Answer, Chunk, Document, Question, Ranking
from ragstone.kernel.retrieval.deps import ChunkFilter, RetrieverDeps
from ragstone.kernel.retrieval.rerank import asks_a_model
from ragstone.kernel.retrieval.search import RETRIEVERS, build_search, searches_chunks
from ragstone.kernel.stages.chunk import cut_documents
from ragstone.kernel.stages.judge import load_judges
from ragstone.kernel.stages.notes import plain_notes
from ragstone.kernel.stages.retrieve import retriever_deps
from ragstone.kernel.tables import write_rows
from ragstone.kernel.version import __version__

SHOWN_WRONG = 50
UNANSWERED = (
    "No model answered: name one as model in the table [answer] of ragstone.toml, and the accuracy of the "
    "answers is studied too."
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

    Numbers, rankings, answers, wrong answers and page stand in `runs/NAME-languages/`. Without `[answer]
    model` only retrieval is studied. Run again, no finished call is made twice and every number is the same.
    A retriever that fails is listed with its reason and loses no other. force: replace a study of the same
    name that had other settings. budget, deadline, offline: for the answering model. Raises ConfigError for
    settings that do not fit together, DataError for files, ModelError when no call can succeed.
    """
    how = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)
    return run_sync(_study(settings, how, force))


def study_folder(settings: Settings) -> Path:
    """Return the folder of the study that the settings name."""
    return bench_path(settings, "languages")


async def _study(settings: Settings, how: SessionOptions, force: bool) -> StudySummary:
    settings, rows = _read(settings)
    folder = study_folder(settings)
    decisive = msgspec.structs.replace(
        settings,
        judge=JudgeSection(),
        agree=AgreeSection(),
        bench=BenchSection(languages=settings.bench.languages),
    )
    with open_folder(folder, decisive, force, "*.jsonl") as opened:
        write_rows(folder / "documents.jsonl", rows.documents, Document, force=True)
        write_rows(folder / "questions.jsonl", rows.questions, Question, force=True)
        async with open_session(settings, how) as session:
            chunks = await asyncio.to_thread(
                lambda: list(cut_documents(rows.documents, settings.chunk, settings, session.embedder))
            )
            indexes, failed = await search_all(rows, chunks, session)
            _write_rankings(folder, indexes)
            answered = await answer_both(indexes, rows, chunks, session) if settings.answer.model else []
            summary = _summarise(settings, rows, indexes, failed, answered, session)
        _write_answers(folder, answered, rows)
        judges = load_judges(JUDGES) if answered else []
        opened.finish(STUDY, summary, models=summary.models, judges=judges)
        write_page(folder / "report.html", study_document(summary))
    return summary


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
    found: dict[str, Indexes] = {}
    failed: list[FailedRetriever] = []
    retrievers = list(dict.fromkeys(settings.bench.languages.retrievers))
    with session.progress("search", len(retrievers) * len(parts), session.state) as advance:
        for name in retrievers:
            indexes: dict[str, list[Ranking]] = {}
            try:
                for index, some in parts.items():
                    search = await build_search(name, some, deps)
                    indexes[index] = await search(rows.questions, settings.bench.languages.k)
                    advance()
            except ConfigError:
                raise
            except RagstoneError as mistake:
                failed.append(FailedRetriever(retriever=name, reason=str(mistake)))
                continue
            found[name] = indexes
    if not found:
        raise DataError(
            f"no retriever could be measured. {'; '.join(f'{one.retriever}: {one.reason}' for one in failed)}"
        )
    return found, failed


def _write_rankings(folder: Path, indexes_of: Mapping[str, Indexes]) -> None:
    for name, indexes in indexes_of.items():
        for index, rankings in indexes.items():
            path = folder / f"rankings-{slug(name)}-{slug(index)}.jsonl"
            write_rows(path, rankings, Ranking, force=True)


def _without_lang(deps: RetrieverDeps) -> RetrieverDeps:
    """Return deps whose filter lets every language through: which index has it is what is studied."""
    kept = deps.filter
    return msgspec.structs.replace(
        deps,
        filter=ChunkFilter(
            where={key: value for key, value in kept.where.items() if key != "lang"},
            match=tuple(key for key in kept.match if key != "lang"),
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
    ranked, said = _ranked_cells(settings, rows, indexes), _answered_cells(settings, answered)
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
                *axis_verdicts(said, shared, ACCURACY, seed=seed),
            ]
        ),
        overlaps=language_overlaps(*scored, seed=seed),
        statements=statement_counts(answered, by_id),
        costs=[answering_cost(one, by_id) for one in answered],
        wrong=wrong[:SHOWN_WRONG],
        n_wrong=len(wrong),
        unanswered=None if answered else UNANSWERED,
        calls=session.calls(),
        notes=_notes(rows, settings),
    )


def _ranked_cells(settings: Settings, rows: StudyRows, indexes_of: Mapping[str, Indexes]) -> list[AxisCell]:
    """Return MRR of the questions that have an index of their own, from that and from that of all."""
    asked = [question for question in rows.questions if question.lang in rows.langs]
    return [
        (axes, measured(rankings, asked, settings.bench.languages.k, rows.same).values[MEASURE])
        for name, indexes in indexes_of.items()
        if (axes := similarity_of(name, settings))
        for rankings in (own_rankings(indexes, asked), indexes[ALL])
    ]


def _answered_cells(settings: Settings, answered: Sequence[AnswersOfIndex]) -> list[AxisCell]:
    return [
        (similarity_of(one.arm.retriever, settings) | one.arm.axes, one.right)  # True is 1
        for one in answered
    ]


def _wrong(answered: Sequence[AnswersOfIndex], rows: StudyRows) -> list[WrongAnswer]:
    by_id = {question.id: question for question in rows.questions}
    return [row for pair in pairs_of(answered) for row in wrong_answers(pair, by_id, rows.same, rows.lang_of)]


def _write_answers(folder: Path, answered: Sequence[AnswersOfIndex], rows: StudyRows) -> None:
    if not answered:
        return
    write_rows(folder / "answers.jsonl", [row for one in answered for row in one.answers], Answer, force=True)
    lines = b"".join(msgspec.json.encode(row) + b"\n" for row in _wrong(answered, rows))
    (folder / "wrong_answers.jsonl").write_bytes(lines)


def _notes(rows: StudyRows, settings: Settings) -> list[str]:
    notes = plain_notes([], (), rows.skipped)
    if rows.n_detected:
        notes.append(f"{rows.n_detected} documents or questions did not say their language: it was detected.")
    langs = set(rows.langs)
    strangers = [question for question in rows.questions if question.lang not in langs]
    if strangers:
        named = ", ".join(sorted({question.lang or "" for question in strangers}))
        notes.append(
            f"{len(strangers)} questions are in a language that no document is in ({named}): they have no "
            "index of their own language, and the verdicts leave them out."
        )
    if "lang" in settings.retrieve.match or "lang" in settings.retrieve.where:
        notes.append(
            "[retrieve] restricts results by language; the study does not, for that is its question."
        )
    alone = len(rows.documents) - len(rows.same)
    if alone:
        notes.append(
            f"{alone} documents lack the field {settings.documents.copies!r}: they are copies of no other."
        )
    return notes


def forecast_study(settings: Settings) -> Forecast:
    """Return what the answering model and paid embedders would be asked.

    Raises what bench_languages raises before it makes a call.
    """
    settings, rows = _read(settings)

    async def work(session: Session, _forecaster: Forecaster) -> None:
        if not settings.answer.model and not _study_embeds(settings):
            return
        chunks = list(cut_documents(rows.documents, settings.chunk, settings, session.embedder))
        indexes, _ = await search_all(rows, chunks, session)
        if settings.answer.model:
            await answer_both(indexes, rows, chunks, session)

    return forecast_of(settings, work)


def _study_embeds(settings: Settings) -> bool:
    """Return whether an embedder is at an endpoint, as far as the settings name it."""
    named = [settings.retrieve.embedder, settings.chunk.embedder]
    named += [getattr(one, "embedder", None) or "" for one in settings.retrievers.values()]
    asking = any(asks_a_model(name, settings.retrievers) for name in settings.bench.languages.retrievers)
    return asking or any(is_paid(name) for name in named)
