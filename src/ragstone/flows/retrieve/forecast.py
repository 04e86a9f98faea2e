"""What rerankers would ask of models."""

from pathlib import Path

from ragstone.config import Settings
from ragstone.engine.session import Session, forecast_of
from ragstone.llm.forecast import Forecast, Forecaster
from ragstone.stages.corpus import corpus_of
from ragstone.stages.forecasting import sample_step
from ragstone.stages.given import asked_questions
from ragstone.stages.retrieve import rank_questions


def forecast_retrieving(settings: Settings, chunks: Path | None = None) -> Forecast:
    """Return what rerankers would ask. Raises what rank_to_file raises before a call."""

    async def work(session: Session, forecaster: Forecaster) -> None:
        questions, corpus = asked_questions(settings), corpus_of(settings, chunks, session.embedder)
        step = sample_step(len(questions), forecaster)
        await rank_questions(questions[::step], corpus.chunks, session, documents=corpus.documents)

    return forecast_of(settings, work)
