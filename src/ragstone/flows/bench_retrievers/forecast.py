"""What a bench would ask of models: its searches and answers, and nobody is asked."""

import contextlib

from ragstone.config import Settings
from ragstone.engine.session import Session, forecast_of
from ragstone.errors import RagstoneError
from ragstone.experiments.leaderboard import Configuration
from ragstone.flows.bench_retrievers.answering import answer_both
from ragstone.flows.bench_retrievers.grid import build_indexes, declared_retrievers, read_bench, retriever_of
from ragstone.flows.bench_retrievers.planning import plan_grid
from ragstone.flows.bench_retrievers.study import check_retrievers, search_all
from ragstone.flows.bench_retrievers.study_rows import read_study_rows
from ragstone.flows.bench_retrievers.timing import Watch, is_paid
from ragstone.llm.forecast import Forecast, Forecaster
from ragstone.retrieval.rerank import asks_a_model
from ragstone.stages.chunk import cut_documents
from ragstone.stages.retriever_deps import retriever_deps


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


def forecast_study(settings: Settings) -> Forecast:
    """Return what the answering model and paid embedders would be asked.

    Raises what bench_languages raises before it makes a call.
    """
    check_retrievers(settings)
    rows = read_study_rows(settings)

    async def work(session: Session, _forecaster: Forecaster) -> None:
        if not settings.answer.model and not _study_embeds(settings):
            return
        chunks = list(cut_documents(rows.documents, settings.chunk, settings, session.embedder))
        indexes, _ = await search_all(rows, chunks, session)
        if settings.answer.model:
            await answer_both(indexes, rows, chunks, session)

    return forecast_of(settings, work)


def _asks(one: Configuration, settings: Settings, planned: list[Configuration]) -> bool:
    embedder = is_paid(one.embedder or "") or is_paid(one.chunker.embedder)
    return embedder or asks_a_model(retriever_of(one), declared_retrievers(settings, planned))


def _study_embeds(settings: Settings) -> bool:
    """Return whether an embedder is at an endpoint, as far as the settings name it."""
    named = [settings.retrieve.embedder, settings.chunk.embedder]
    named += [getattr(one, "embedder", None) or "" for one in settings.retrievers.values()]
    asking = any(asks_a_model(name, settings.retrievers) for name in settings.bench.languages.retrievers)
    return asking or any(is_paid(name) for name in named)
