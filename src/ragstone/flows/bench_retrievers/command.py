"""`ragstone bench retrievers`: a grid of retrievers, or of languages."""

import typer

from ragstone.console.asking import cut_off, leave, tell_forecast
from ragstone.console.bars import bars
from ragstone.console.benches import grid_settings, tell_bench
from ragstone.console.options import (
    AsJson,
    BudgetCap,
    Config,
    Deadline,
    Force,
    ForecastOnly,
    Limit,
    Model,
    Offline,
    SeedOfRun,
    Strict,
    Yes,
)
from ragstone.console.printing import UNSCORED


def retrievers(
    *,
    config: Config = None,
    limit: Limit = None,
    seed: SeedOfRun = None,
    budget: BudgetCap = None,
    deadline: Deadline = None,
    forecast: ForecastOnly = False,
    yes: Yes = False,
    offline: Offline = False,
    force: Force = False,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Measure every configuration that [bench.retrievers] declares, on the same questions."""
    from ragstone.flows.bench_retrievers.forecast import forecast_bench
    from ragstone.flows.bench_retrievers.grid import bench_folder, bench_retrievers
    from ragstone.llm import parse_caps
    from ragstone.report.benches.retrievers import bench_document

    parse_caps(budget, deadline)  # a mistake in them is told before anything is read
    settings = grid_settings(config, limit, seed)
    if forecast or not offline:
        tell_forecast(forecast_bench(settings), only=forecast, yes=yes, json=json)
    summary = bench_retrievers(
        settings, budget=budget, deadline=deadline, offline=offline, force=force, progress=bars
    )
    tell_bench(summary, bench_document, bench_folder(settings), json=json)
    leave(cut_off(summary.calls), summary.calls, strict=strict)
    if strict and summary.leaderboard.failed:
        raise typer.Exit(UNSCORED)


def languages(
    *,
    config: Config = None,
    model: Model = None,
    limit: Limit = None,
    seed: SeedOfRun = None,
    budget: BudgetCap = None,
    deadline: Deadline = None,
    forecast: ForecastOnly = False,
    yes: Yes = False,
    offline: Offline = False,
    force: Force = False,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Study whether translations of the documents help: the own language's index against that of all."""
    from ragstone.config import choose
    from ragstone.flows.bench_retrievers.forecast import forecast_study
    from ragstone.flows.bench_retrievers.study import bench_languages, study_folder
    from ragstone.llm import parse_caps
    from ragstone.report.benches.languages import study_document

    parse_caps(budget, deadline)  # a mistake in them is told before anything is read
    settings = choose(grid_settings(config, limit, seed), "answer", model=model)
    if forecast or not offline:
        tell_forecast(forecast_study(settings), only=forecast, yes=yes, json=json)
    study = bench_languages(
        settings, budget=budget, deadline=deadline, offline=offline, force=force, progress=bars
    )
    tell_bench(study, study_document, study_folder(settings), json=json)
    leave(cut_off(study.calls), study.calls, strict=strict)
    if strict and (study.failed or any(cost.n_unscored for cost in study.costs)):
        raise typer.Exit(UNSCORED)
