"""`ragstone bench retrievers`: the grid that `[bench.retrievers]` declares, measured into one folder."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from ragstone.features.bench.folder import bench_path, open_folder, slug
from ragstone.features.bench.retrievers.board import MeasuredConfiguration, make_leaderboard
from ragstone.features.bench.retrievers.planning import SPAN_MEASURES, plan_grid
from ragstone.features.bench.retrievers.timing import Indexes, Watch, embedders_of, is_paid, search_timed
from ragstone.features.bench.retrievers.values import Configuration, FailedConfiguration, Leaderboard, Timing
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
)
from ragstone.kernel.corpus.ingest import Corpus
from ragstone.kernel.dataset.placing import PlacedEvidence, place_evidence
from ragstone.kernel.document.html import write_page
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions, forecast_of, open_session
from ragstone.kernel.errors import ConfigError, DataError, RagstoneError, checks_arguments
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast, Forecaster
from ragstone.kernel.records import Chunk, Document, Question, Ranking
from ragstone.kernel.retrieval.evaluate import measure_cut
from ragstone.kernel.retrieval.informative import score_quality
from ragstone.kernel.retrieval.relevance import check_ids_meet, missing_documents, same_documents
from ragstone.kernel.retrieval.rerank import asks_a_model
from ragstone.kernel.retrieval.search import RETRIEVERS
from ragstone.kernel.stages.chunk import cut_documents
from ragstone.kernel.stages.corpus import read_documents
from ragstone.kernel.stages.notes import evidence_notes, plain_notes
from ragstone.kernel.stages.retrieve import retriever_deps
from ragstone.kernel.tables import read_rows, write_rows
from ragstone.kernel.version import __version__

BEGINNING = 160  # characters of a document that has no title


class Bench(msgspec.Struct, frozen=True, kw_only=True):
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

    Leaderboard, rankings and page stand in `runs/NAME-retrievers/`. Run again, every number but the times
    is the same. A configuration that fails is listed with its reason and loses no other. force: replace a
    bench of the same name that had other settings. budget, deadline, offline: for rerankers and embedders
    that are paid for. Raises ConfigError for settings that do not fit together, DataError for files, and if
    no configuration could be measured.
    """
    how = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)
    return run_sync(_bench(settings, how, force))


def bench_folder(settings: Settings) -> Path:
    """Return the folder of the bench that the settings name."""
    return bench_path(settings, "retrievers")


async def _bench(settings: Settings, how: SessionOptions, force: bool) -> BenchSummary:
    planned = plan_grid(settings)
    folder = bench_folder(settings)
    bench = read_bench(settings)
    measure, why = _chosen_measure(bench, planned)
    decisive = msgspec.structs.replace(
        settings,
        answer=AnswerSection(),
        judge=JudgeSection(),
        agree=AgreeSection(),
        bench=BenchSection(retrievers=settings.bench.retrievers),
    )
    with open_folder(folder, decisive, force, "rankings-*.jsonl") as opened:
        write_rows(folder / "documents.jsonl", bench.corpus.documents, Document, force=True)
        write_rows(folder / "questions.jsonl", bench.questions, Question, force=True)
        async with open_session(settings, how) as session:
            cells, failed = await _measure_all(bench, planned, session)
            calls, models = session.calls(), session.roles()
        board = make_leaderboard(
            cells,
            failed,
            bench.questions,
            measure,
            why=why,
            seed=settings.run.seed,
            batch=settings.bench.retrievers.batch_size,
        )
        summary = BenchSummary(
            name=settings.run.name,
            version=__version__,
            counts={"documents": len(bench.corpus.documents), "questions": len(bench.questions)},
            models=models,
            leaderboard=board,
            texts=_texts(board, bench.corpus.documents),
            calls=calls,
            notes=_notes(bench, board, cells),
        )
        opened.finish(LEADERBOARD, summary, models=models)
        write_page(folder / "report.html", bench_document(summary))
    return summary


def read_bench(settings: Settings) -> Bench:
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
    corpus = read_documents(settings, paths)
    if not corpus.documents:
        raise DataError(f"no documents in {', '.join(paths)}. Check [documents] paths.")
    check_ids_meet(questions, corpus.documents)
    key = settings.documents.copies
    return Bench(
        settings=settings,
        corpus=corpus,
        questions=questions,
        placed=place_evidence(questions, corpus.documents),
        same=same_documents(corpus.documents, key),
        lengths={document.id: len(document.text) for document in corpus.documents},
    )


def _chosen_measure(bench: Bench, planned: Sequence[Configuration]) -> tuple[str, str]:
    """Return the measure that the leaderboard is ordered by, and why. Raises DataError if it cannot be."""
    declared = bench.settings.bench.retrievers.measure
    evidence = any(question.evidence for question in bench.questions)
    if declared in SPAN_MEASURES and not evidence:
        raise DataError(
            f"measure = {declared!r} needs questions with evidence, and there is none. Try 'ndcg'."
        )
    if declared is not None:
        return declared, "as [bench.retrievers] measure says"
    chunkers = {one.chunker for one in planned}
    if len(chunkers) > 1 and evidence:
        return "span_recall", "the questions have evidence, by which different chunkers compare fairly"
    if len(chunkers) > 1:
        return "ndcg", "the questions have no evidence, so chunkers are compared by whole documents"
    return "ndcg", "the default for one chunker"


async def _measure_all(
    bench: Bench, planned: Sequence[Configuration], session: Session
) -> tuple[list[MeasuredConfiguration], list[FailedConfiguration]]:
    cells: list[MeasuredConfiguration] = []
    failed: list[FailedConfiguration] = []
    watch = Watch(retriever_deps(session, bench.corpus.documents), session)
    with session.progress("bench", len(planned), session.state) as advance:
        indexes: dict[ChunkSection, Indexes] = {}
        for at, one in enumerate(planned, 1):
            try:
                if one.chunker not in indexes:
                    indexes = {one.chunker: await build_indexes(bench, one.chunker, planned, watch, session)}
                cells.append(await _measure(bench, one, at, indexes[one.chunker], watch))
            except ConfigError:
                raise
            except RagstoneError as mistake:
                failed.append(FailedConfiguration(configuration=one, reason=str(mistake)))
            advance()
    return cells, failed


async def build_indexes(
    bench: Bench, chunker: ChunkSection, planned: Sequence[Configuration], watch: Watch, session: Session
) -> Indexes:
    """Return the indexes over one chunking, none of them built yet."""

    def cut() -> list[Chunk]:
        return list(cut_documents(bench.corpus.documents, chunker, bench.settings, session.embedder))

    chunks = await asyncio.to_thread(cut)
    return Indexes(chunks, {**RETRIEVERS, **declared_retrievers(bench.settings, planned)}, watch)


def declared_retrievers(settings: Settings, planned: Sequence[Configuration]) -> dict[str, RetrieverSettings]:
    """Return the retrievers of the file and, for every reranker of the grid, one that applies it."""
    deepest = max(settings.bench.retrievers.k)
    reranked: dict[str, RetrieverSettings] = {
        retriever_of(one): RerankSettings(of=one.retriever, by=one.reranker, depth=max(20, deepest))
        for one in planned
        if one.reranker
    }
    return {**settings.retrievers, **reranked}


def retriever_of(one: Configuration) -> str:
    """Return the name of a configuration's retriever, with its reranker (see declared_retrievers)."""
    return f"{one.retriever} · {one.reranker}" if one.reranker else one.retriever


async def _measure(
    bench: Bench, one: Configuration, number: int, indexes: Indexes, watch: Watch
) -> MeasuredConfiguration:
    """Return what one configuration finds, and write its rankings."""
    ks = list(dict.fromkeys(bench.settings.bench.retrievers.k))
    declared = declared_retrievers(bench.settings, [one])
    built = await indexes.build(retriever_of(one), one.embedder, declared)
    embedders = embedders_of(one.retriever, one.embedder, {**RETRIEVERS, **declared})
    searched = await search_timed(built.search, bench.questions, max(ks), watch, embedders)
    rankings = [msgspec.structs.replace(row, retriever=one.name) for row in searched.rankings]
    file = f"rankings-{number:02}-{slug(one.name, 80)}.jsonl"
    write_rows(bench_folder(bench.settings) / file, rankings, Ranking, force=True)
    placed = bench.placed
    by_k = {
        k: measure_cut(rankings, placed.questions, k, bench.same, bench.lengths, unplaced=placed.unplaced)
        for k in ks
    }
    cut = [msgspec.structs.replace(row, items=row.items[: ks[0]]) for row in rankings]
    return MeasuredConfiguration(
        configuration=one,
        by_k=by_k,
        scores=score_quality(
            cut,
            placed.questions,
            by_k[ks[0]],
            same=bench.same,
            unplaced=placed.unplaced,
            seed=bench.settings.run.seed,
        ),
        rankings=rankings,
        timing=Timing(
            index_s=built.index_s,
            n_embedded=built.n_embedded,
            n_cached=built.n_cached,
            p50_s=searched.p50_s,
            p95_s=searched.p95_s,
            n_timed=searched.n_timed,
            questions_per_s=searched.questions_per_s,
        ),
        file=file,
    )


def _texts(board: Leaderboard, documents: Sequence[Document]) -> dict[str, str]:
    named = {name for one in board.differing for name in one.relevant}
    named |= {found.first for one in board.differing for found in one.found if found.first}
    return {
        document.id: document.title or " ".join(document.text[:BEGINNING].split())
        for document in documents
        if document.id in named
    }


def _notes(bench: Bench, board: Leaderboard, cells: Sequence[MeasuredConfiguration]) -> list[str]:
    missing = missing_documents(bench.questions, bench.corpus.documents)
    notes = plain_notes([], (), bench.corpus.skipped, missing) + evidence_notes(bench.placed)
    if board.measure.startswith("span_recall"):
        notes.append(
            "Span recall is the share of the evidence's characters that the results hold: longer chunks hold "
            "more. Read it beside span precision, which says how much else they bring."
        )
    for cell in cells:
        troubled = [ranking for ranking in cell.rankings if ranking.metadata]
        if troubled:
            told = ", ".join(sorted({key for ranking in troubled for key in ranking.metadata or {}}))
            notes.append(
                f"{cell.configuration.name}: {len(troubled)} of {len(cell.rankings)} rankings have a note "
                f"({told}); see metadata in {cell.file}."
            )
    if any(cell.timing.n_cached for cell in cells):
        notes.append("Vectors that were in the store were not made again: index times are without them.")
    return notes


def forecast_bench(settings: Settings) -> Forecast:
    """Return what rerankers and embedders of the grid would ask; nothing is searched where none asks.

    A configuration that fails is passed over: the bench will show its reason. Raises what bench_retrievers
    raises before it searches.
    """
    planned = plan_grid(settings)
    bench = read_bench(settings)
    asking = [one for one in planned if _asks(one, settings, planned)]

    async def work(session: Session, forecaster: Forecaster) -> None:
        watch = Watch(retriever_deps(session, bench.corpus.documents), session)
        for one in asking:
            forecaster.guessing = False  # the next one may search by words, or by vectors that are there
            with contextlib.suppress(RagstoneError):
                indexes = await build_indexes(bench, one.chunker, planned, watch, session)
                declared = declared_retrievers(settings, planned)
                built = await indexes.build(retriever_of(one), one.embedder, declared)
                await built.search(bench.questions, max(settings.bench.retrievers.k))

    return forecast_of(settings, work)


def _asks(one: Configuration, settings: Settings, planned: list[Configuration]) -> bool:
    embedder = is_paid(one.embedder or "") or is_paid(one.chunker.embedder)
    return embedder or asks_a_model(retriever_of(one), declared_retrievers(settings, planned))
