"""What a run would ask of models."""

from itertools import islice

from ragstone.config import Settings
from ragstone.engine.session import Session, forecast_of
from ragstone.flows.run.pipeline import checked_judges
from ragstone.llm.forecast import Forecast, Forecaster
from ragstone.records import Answer
from ragstone.stages.answer import hear_answering
from ragstone.stages.calibrate import measured_judges
from ragstone.stages.forecasting import hear_judged, hear_judging
from ragstone.stages.given import asked_questions
from ragstone.systems.chosen import with_system
from ragstone.systems.rows import join_questions
from ragstone.tables import read_rows


def forecast_run(settings: Settings) -> Forecast:
    """Return what a run would ask, its judges on answers that are made up where the ledger has none.

    Raises what `run` raises before it makes a call. Nothing is written to the run's folder.
    """
    settings = with_system(settings)
    judges = checked_judges(settings)

    async def work(session: Session, forecaster: Forecaster) -> None:
        if settings.answer.sheet:
            path = settings.questions.path
            asked = {row.id: row for row in asked_questions(settings)} if path else {}
            given = settings.path(settings.answer.sheet)
            await hear_judging(
                lambda: islice(join_questions(read_rows(given, Answer), asked), settings.answer.limit),
                judges,
                session,
                forecaster,
            )
        else:
            await hear_judged(
                await hear_answering(settings, session, forecaster), judges, session, forecaster
            )
        if settings.agree.sheet:
            labelled = settings.path(settings.agree.sheet)
            measured = measured_judges(settings, judges)
            await hear_judging(lambda: read_rows(labelled, Answer), measured, session, forecaster)

    return forecast_of(settings, work)
