"""What a bench of judges would ask: its cells on the sheet, and nobody is asked."""

import contextlib

from ragstone.config import Settings
from ragstone.engine.session import Session, forecast_of
from ragstone.errors import RagstoneError
from ragstone.flows.bench_judges.grid import judge_cell, read_labelled
from ragstone.flows.bench_judges.planning import plan_judges
from ragstone.llm.forecast import Forecast, Forecaster

SAMPLE = 500  # answers that are looked at in each cell; each stands for as many as were passed over


def forecast_judge_bench(settings: Settings) -> Forecast:
    """Return what all cells and their repetitions would ask.

    A cell whose model cannot be had is passed over: the bench will show its reason. Raises what bench_judges
    raises before it makes a call.
    """
    grid = plan_judges(settings)
    answers = read_labelled(settings).answers
    asking = [cell for cell in grid.cells if grid.judges[cell.judge].needs_model]
    step = max(1, -(-len(answers) // SAMPLE))
    sampled = answers[::step]

    async def work(session: Session, forecaster: Forecaster) -> None:
        forecaster.weight = len(answers) / len(sampled)
        judges = [grid.judges[cell.judge] for cell in asking]
        forecaster.assumptions |= dict.fromkeys(judge.assumption for judge in judges if judge.assumption)
        for cell in asking:
            with contextlib.suppress(RagstoneError):
                await judge_cell(cell, grid, sampled, session)

    return forecast_of(settings, work)
