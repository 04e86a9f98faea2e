"""`ragstone bench retrievers`: the grid that `[bench.retrievers]` declares, measured into one folder."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from itertools import islice

import msgspec

from ragstone.features.bench._board import LeftOutCell
from ragstone.features.bench._running import BenchOptions, attempt, bench_path, open_bench, run_bench, slug
from ragstone.features.bench.retrievers._board import MeasuredConfiguration, make_leaderboard
from ragstone.features.bench.retrievers._planning import SPAN_MEASURES, plan_grid
from ragstone.features.bench.retrievers._values import Configuration, FailedConfiguration, Leaderboard
from ragstone.features.bench.retrievers.timing import Indexes, Watch, embedders_of, is_paid, search_timed
from ragstone.features.bench.retrievers.words import LEADERBOARD, BenchSummary, bench_document
from ragstone.kernel.config import (
    AgreeSection,
    AnswerSection,
    BenchSection,
    ChunkSection,
    JudgeSection,
    RerankSettings,
    RetrieverSettings,
    Settings,
    ShortlistSettings,
)
from ragstone.kernel.corpus.ingest import Corpus
from ragstone.kernel.dataset.placing import PlacedEvidence
from ragstone.kernel.dataset.stale import check_evidence
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, forecast_of
from ragstone.kernel.errors import ConfigError, DataError, RagstoneError, checks_arguments
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.records import Chunk, Document, Question, Ranking
from ragstone.kernel.retrieval.informative import score_quality
from ragstone.kernel.retrieval.query_measures import measure_cut
from ragstone.kernel.retrieval.relevance import check_ids_meet, missing_documents, same_documents
from ragstone.kernel.retrieval.rerank import asks_a_model
from ragstone.kernel.retrieval.search import RETRIEVERS, all_parts
from ragstone.kernel.stages.chunk import cut_documents
from ragstone.kernel.stages.corpus import read_documents
from ragstone.kernel.stages.notes import plain_notes
from ragstone.kernel.stages.retrieve import retriever_deps
from ragstone.kernel.tables import read_rows, write_rows
from ragstone.kernel.version import __version__

BEGINNING = 160  # characters of a document that has no title


class RetrieverBenchRows(msgspec.Struct, frozen=True, kw_only=True):
    """What all configurations share.

    placed: the questions' evidence in these documents. same: see retrieval.same_documents; lengths: id ->
    characters.
    """

    settings: Settings
    corpus: Corpus
    questions: list[Question]
    placed: PlacedEvidence
    same: Mapping[str, str]
    lengths: Mapping[str, int]


@checks_arguments
def bench_retrievers(
    settings: Settings,
    *,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    force: bool = False,
    progress: Progress = silent,
) -> BenchSummary:
    """Measure every configuration of `[bench.retrievers]`, and return the leaderboard.

    Leaderboard, rankings and page are in `runs/NAME-retrievers/`. If run again, every number but the times
    is the same. A configuration that fails is listed with its reason and loses no other. force: replace a
    bench of the same name that had other settings. budget, deadline, offline: for rerankers and embedders
    that are paid for. Raises ConfigError for settings that do not fit together, DataError for files, and if
    no configuration could be measured.
    """
    return run_bench(
        _bench, settings, budget=budget, deadline=deadline, offline=offline, force=force, progress=progress
    )


async def _bench(settings: Settings, options: BenchOptions) -> BenchSummary:
    planned = plan_grid(settings)
    folder, rows = bench_path(settings, "retrievers"), read_bench(settings)
    measure, why = _chosen_measure(rows, planned)
    decisive = msgspec.structs.replace(
        settings,
        answer=AnswerSection(),
        judge=JudgeSection(),
        agree=AgreeSection(),
        bench=BenchSection(retrievers=settings.bench.retrievers),
    )
    async with open_bench(folder, settings, decisive, options, "rankings-*.jsonl") as bench:
        write_rows(folder / "documents.jsonl", rows.corpus.documents, Document, force=True)
        write_rows(folder / "questions.jsonl", rows.questions, Question, force=True)
        cells, failed = await _measure_all(rows, planned, bench.session)
        calls, models = bench.session.calls(), bench.session.roles()
        board = make_leaderboard(
            cells,
            failed,
            rows.questions,
            measure,
            why=why,
            seed=settings.run.seed,
            batch=settings.bench.retrievers.batch_size,
        )
        summary = BenchSummary(
            name=settings.run.name,
            version=__version__,
            counts={"documents": len(rows.corpus.documents), "questions": len(rows.questions)},
            models=models,
            leaderboard=board,
            texts=_texts(board, rows.corpus.documents),
            calls=calls,
            notes=_notes(rows, board, cells),
        )
        bench.finish(LEADERBOARD, summary, bench_document, models=models)
    return summary


def read_bench(settings: Settings) -> RetrieverBenchRows:
    """Return the rows of a bench. Raises ConfigError or DataError where there is nothing to measure."""
    path, paths = settings.questions.path, settings.documents.paths
    if not path or not paths:
        raise ConfigError(
            "a bench of retrievers needs questions and documents: give [questions] path and [documents] "
            "paths in ragstone.toml."
        )
    questions = list(islice(read_rows(settings.path(path), Question), settings.questions.limit))
    if not any(q.answerable is not False and (q.document_ids or q.evidence) for q in questions):
        raise DataError(
            f"{settings.path(path)}: no question names the documents that hold its answer, so nothing can "
            "be measured. Give them as document_ids, or as evidence."
        )
    corpus = read_documents(settings)
    if not corpus.documents:
        raise DataError(f"no documents in {', '.join(paths)}. Check [documents] paths.")
    check_ids_meet(questions, corpus.documents)
    key = settings.documents.copies
    return RetrieverBenchRows(
        settings=settings,
        corpus=corpus,
        questions=questions,
        placed=check_evidence(questions, corpus.documents),
        same=same_documents(corpus.documents, key),
        lengths={document.id: len(document.text) for document in corpus.documents},
    )


def _chosen_measure(rows: RetrieverBenchRows, planned: Sequence[Configuration]) -> tuple[str, str]:
    """Return the measure that the leaderboard is ordered by, and why. Raises DataError if it cannot be."""
    declared = rows.settings.bench.retrievers.measure
    evidence = any(question.evidence for question in rows.questions)
    if declared in SPAN_MEASURES and not evidence:
        raise DataError(
            f"measure = {declared!r} needs questions with evidence, and there is none. Try 'ndcg'."
        )
    if declared is not None:
        return declared, "as [bench.retrievers] measure says"
    chunkers = {configuration.chunker for configuration in planned}
    if len(chunkers) > 1 and evidence:
        return "span_recall", "the questions have evidence, by which different chunkers compare fairly"
    if len(chunkers) > 1:
        return "ndcg", "the questions have no evidence, so chunkers are compared by whole documents"
    return "ndcg", "the default for one chunker"


async def _measure_all(
    rows: RetrieverBenchRows, planned: Sequence[Configuration], session: Session
) -> tuple[list[MeasuredConfiguration], list[FailedConfiguration]]:
    measured: list[MeasuredConfiguration] = []
    failed: list[FailedConfiguration] = []
    lost: list[LeftOutCell] = []
    watch = Watch(retriever_deps(session, rows.corpus.documents), session)
    indexes: dict[ChunkSection, Indexes] = {}

    async def measure(configuration: Configuration, number: int) -> MeasuredConfiguration:
        chunker = configuration.chunker
        if chunker not in indexes:
            built = await build_indexes(rows, chunker, planned, watch, session)
            indexes.clear()
            indexes[chunker] = built
        return await _measure(rows, configuration, number, indexes[chunker], watch)

    with session.progress("bench", len(planned), session.state) as advance:
        for number, configuration in enumerate(planned, 1):
            cell = await attempt(configuration.name, measure(configuration, number), lost)
            if cell is not None:
                measured.append(cell)
            else:
                failed.append(FailedConfiguration(configuration=configuration, reason=lost[-1].reason))
            advance()
    return measured, failed


async def build_indexes(
    rows: RetrieverBenchRows,
    chunker: ChunkSection,
    planned: Sequence[Configuration],
    watch: Watch,
    session: Session,
) -> Indexes:
    """Return the indexes over one chunking, none of them built yet."""

    def cut() -> list[Chunk]:
        return list(cut_documents(rows.corpus.documents, chunker, rows.settings, session.embedder))

    chunks = await asyncio.to_thread(cut)
    return Indexes(chunks, {**RETRIEVERS, **declared_retrievers(rows.settings, planned)}, watch)


def declared_retrievers(settings: Settings, planned: Sequence[Configuration]) -> dict[str, RetrieverSettings]:
    """Return the retrievers of the file and, for every reranker of the grid, one that applies it."""
    deepest = max(settings.bench.retrievers.k)
    reranked: dict[str, RetrieverSettings] = {
        retriever_of(configuration): RerankSettings(
            of=configuration.retriever, by=configuration.reranker, depth=max(20, deepest)
        )
        for configuration in planned
        if configuration.reranker
    }
    return {**settings.retrievers, **reranked}


def retriever_of(configuration: Configuration) -> str:
    """Return the name of a configuration's retriever, with its reranker (see declared_retrievers)."""
    return (
        f"{configuration.retriever} · {configuration.reranker}"
        if configuration.reranker
        else configuration.retriever
    )


async def _measure(
    rows: RetrieverBenchRows, configuration: Configuration, number: int, indexes: Indexes, watch: Watch
) -> MeasuredConfiguration:
    """Return what one configuration finds, and write its rankings."""
    ks = list(dict.fromkeys(rows.settings.bench.retrievers.k))
    declared = declared_retrievers(rows.settings, [configuration])
    built = await indexes.build(retriever_of(configuration), configuration.embedder, declared)
    embedders = embedders_of(configuration.retriever, configuration.embedder, {**RETRIEVERS, **declared})
    unnamed, timing = await search_timed(built, rows.questions, max(ks), watch, embedders)
    rankings = [msgspec.structs.replace(row, retriever=configuration.name) for row in unnamed]
    file = f"rankings-{number:02}-{slug(configuration.name, 80)}.jsonl"
    write_rows(bench_path(rows.settings, "retrievers") / file, rankings, Ranking, force=True)
    placed = rows.placed
    by_k = {
        k: measure_cut(rankings, placed.questions, k, rows.same, rows.lengths, unplaced=placed.unplaced)
        for k in ks
    }
    cut = [msgspec.structs.replace(row, items=row.items[: ks[0]]) for row in rankings]
    return MeasuredConfiguration(
        configuration=configuration,
        by_k=by_k,
        scores=score_quality(
            cut,
            placed.questions,
            by_k[ks[0]],
            same=rows.same,
            unplaced=placed.unplaced,
            seed=rows.settings.run.seed,
        ),
        rankings=rankings,
        timing=timing,
        file=file,
    )


def _texts(board: Leaderboard, documents: Sequence[Document]) -> dict[str, str]:
    named = {name for question in board.differing for name in question.relevant}
    named |= {result.first for question in board.differing for result in question.found if result.first}
    return {
        document.id: document.title or " ".join(document.text[:BEGINNING].split())
        for document in documents
        if document.id in named
    }


def _notes(rows: RetrieverBenchRows, board: Leaderboard, cells: Sequence[MeasuredConfiguration]) -> list[str]:
    missing = missing_documents(rows.questions, rows.corpus.documents)
    notes = plain_notes([], (), rows.corpus.skipped, missing) + rows.placed.notes()
    if board.measure.startswith("span_recall"):
        notes.append(
            "Span recall is the share of the evidence's characters that the results contain: longer chunks "
            "contain more. Read it with span precision, which shows how much else they bring."
        )
    for cell in cells:
        troubled = [ranking for ranking in cell.rankings if ranking.metadata]
        if troubled:
            keys = ", ".join(sorted({key for ranking in troubled for key in ranking.metadata or {}}))
            notes.append(
                f"{cell.configuration.name}: {len(troubled)} of {len(cell.rankings)} rankings have a note "
                f"({keys}); see metadata in {cell.file}."
            )
    if any(cell.timing.n_cached for cell in cells):
        notes.append("Vectors already in the store were not made again, so index times do not include them.")
    return notes + _shortlist_notes(rows.settings, [cell.configuration for cell in cells])


def _shortlist_notes(settings: Settings, configurations: Sequence[Configuration]) -> list[str]:
    """Return what the times of a shortlist, alone or in another retriever, hold of its embedding."""
    declared = {**RETRIEVERS, **declared_retrievers(settings, configurations)}
    by_payment: dict[bool, list[str]] = {False: [], True: []}
    for configuration in configurations:
        for part in all_parts(retriever_of(configuration), declared):
            if isinstance(part, ShortlistSettings):
                paid = is_paid(part.embedder or configuration.embedder or settings.retrieve.embedder)
                by_payment[paid].append(configuration.name)
    notes = {
        False: "the median embeds the passages of a question as if none were stored. Later questions "
        "about the same passages are quicker.",
        True: "the passages of its shortlist came from the store, so the median does not include their "
        "embedding.",
    }
    return [f"{', '.join(names)}: {notes[paid]}" for paid, names in by_payment.items() if names]


def forecast_bench(settings: Settings) -> Forecast:
    """Return what rerankers and embedders of the grid would ask; nothing is searched where none asks.

    A configuration that fails is passed over: the bench will show its reason. Raises what bench_retrievers
    raises before it searches.
    """
    planned = plan_grid(settings)
    rows = read_bench(settings)
    declared = declared_retrievers(settings, planned)
    asking = [
        configuration
        for configuration in planned
        if is_paid(configuration.embedder or "")
        or is_paid(configuration.chunker.embedder)
        or asks_a_model(retriever_of(configuration), declared)
    ]

    async def work(session: Session) -> None:
        watch = Watch(retriever_deps(session, rows.corpus.documents), session)
        for configuration in asking:
            session.forecaster.guessing = (
                False  # the next one may search by words, or by vectors that are there
            )
            with contextlib.suppress(RagstoneError):
                indexes = await build_indexes(rows, configuration.chunker, planned, watch, session)
                built = await indexes.build(retriever_of(configuration), configuration.embedder, declared)
                await built.search(rows.questions, max(settings.bench.retrievers.k))

    return forecast_of(settings, work)
