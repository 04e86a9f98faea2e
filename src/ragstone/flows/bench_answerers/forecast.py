"""What a bench of answerers would ask: its cells and judges on a sample of its questions; nobody is asked."""

import contextlib

import msgspec

from ragstone.config import Settings
from ragstone.engine.session import Session, forecast_of
from ragstone.errors import RagstoneError
from ragstone.flows.bench_answerers.cells import answers_of, open_means, read_input
from ragstone.flows.bench_answerers.planning import plan_answerers
from ragstone.flows.bench_answerers.racing import race_condition
from ragstone.llm.forecast import Forecast, Forecaster
from ragstone.llm.madeup import ASSUMPTION
from ragstone.records import Answer
from ragstone.stages.calibrate import cards_of_sheet
from ragstone.stages.judge import judge_rows

SAMPLE = 200  # questions that are looked at in each cell; each stands for as many as were passed over


def forecast_answer_bench(settings: Settings) -> Forecast:
    """Return what all cells and judges would ask, all questions given out to every cell.

    A cell whose model cannot be had is passed over: the bench will show its reason. Raises what
    bench_answerers raises before it makes a call.
    """
    grid = plan_answerers(settings)
    if settings.bench.answerers.race:
        race_condition(grid)
    given = read_input(settings, grid)
    step = max(1, -(-len(given.questions) // SAMPLE))
    sampled = msgspec.structs.replace(given, questions=given.questions[::step])

    async def work(session: Session, forecaster: Forecaster) -> None:
        n, n_sampled = len(given.questions), len(sampled.questions)
        forecaster.weight = n / n_sampled
        if step > 1:
            forecaster.assumptions[f"Scaled up from a sample of {n_sampled:,} of {n:,} questions."] = None
        if settings.bench.answerers.race:
            forecaster.assumptions["No configuration is stopped early: the race may ask far less."] = None
        means = await open_means(sampled, grid, session)
        answers: list[Answer] = []
        for cell in grid.cells:
            with contextlib.suppress(RagstoneError):
                answers += [
                    _made_up(row) async for row in answers_of(cell, sampled.questions, means, session)
                ]
        if any(judge.needs_model for judge in given.judges):
            forecaster.assumptions[ASSUMPTION] = None
        assumed = (judge.assumption for judge in given.judges if judge.assumption)
        forecaster.assumptions |= dict.fromkeys(assumed)
        async for _row in judge_rows(lambda: answers, given.judges, session, len(answers)):
            pass
        forecaster.weight = 1.0
        await cards_of_sheet(settings, given.judges, session)

    return forecast_of(settings, work)


def _made_up(answer: Answer) -> Answer:
    """Return a made-up answer as one of its cell's own: cells seldom say the same, word for word."""
    if answer.usage is None or answer.usage.calls:
        return answer
    return msgspec.structs.replace(answer, answer=f"{answer.answer} ({answer.system})")
