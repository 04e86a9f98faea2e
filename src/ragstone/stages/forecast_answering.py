"""What answering the questions would ask of models."""

from ragstone.config import Settings
from ragstone.engine.session import Session, forecast_of
from ragstone.llm.forecast import Forecast, Forecaster
from ragstone.llm.stub_reply import ASSUMPTION
from ragstone.records import Answer
from ragstone.stages.answer import answer_rows
from ragstone.stages.corpus import load_corpus
from ragstone.stages.forecasting import sample_step
from ragstone.stages.given import asked_questions
from ragstone.stages.retrieve import rank_questions
from ragstone.systems import said
from ragstone.systems.chosen import asks_built_in, with_system


def forecast_answering(settings: Settings) -> Forecast:
    """Return what answering the questions would ask. Raises what answer_to_file raises before a call."""

    settings = with_system(settings)

    async def work(session: Session, forecaster: Forecaster) -> None:
        await hear_answering(settings, session, forecaster)

    return forecast_of(settings, work)


async def hear_answering(settings: Settings, session: Session, forecaster: Forecaster) -> list[Answer]:
    """Return the sampled questions' answers, and leave the weight of the sample with the forecaster."""
    questions = asked_questions(settings)[: settings.answer.limit]
    step = sample_step(len(questions), forecaster)
    questions = questions[::step]
    corpus = load_corpus(settings, session.embedder)
    chunks, documents = corpus.chunks, corpus.documents
    rankings = await rank_questions(questions, chunks, session, documents=documents) if chunks else []
    made = answer_rows(questions, rankings, chunks, session, documents=documents)
    answers = [row async for row in made]
    if any(answer.usage and not answer.usage.calls for answer in answers):
        forecaster.assumptions[ASSUMPTION] = None
        if not asks_built_in(settings) and any(answer.contexts for answer in answers):
            forecaster.assumptions[said.ASSUMPTION] = None
    return answers
