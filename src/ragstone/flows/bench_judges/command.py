"""`ragstone bench judges`: a grid of judges."""

from typing import TYPE_CHECKING

import typer

from ragstone.console.asking import cut_off, leave, replaying, tell_forecast
from ragstone.console.bars import bars
from ragstone.console.benches import tell_bench
from ragstone.console.options import (
    AsJson,
    BudgetCap,
    Config,
    Deadline,
    Force,
    ForecastOnly,
    KeepFailures,
    Limit,
    Offline,
    SeedOfRun,
    Strict,
    Yes,
)
from ragstone.console.printing import UNSCORED

if TYPE_CHECKING:
    from ragstone.config import Settings


def judges(
    *,
    config: Config = None,
    limit: Limit = None,
    seed: SeedOfRun = None,
    budget: BudgetCap = None,
    deadline: Deadline = None,
    forecast: ForecastOnly = False,
    yes: Yes = False,
    offline: Offline = False,
    keep_failures: KeepFailures = False,
    force: Force = False,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Measure every judge, model and way to ask that [bench.judges] declares on one labelled sheet."""
    from ragstone.config import choose, load_settings
    from ragstone.flows.bench_judges.forecast import forecast_judge_bench
    from ragstone.flows.bench_judges.grid import bench_judges, judge_bench_folder
    from ragstone.llm import parse_caps
    from ragstone.report.benches.judges import judge_bench_document

    parse_caps(budget, deadline)  # a mistake in them is told before anything is read
    settings = limit_sheet(choose(load_settings(config), "run", seed=seed), limit)
    settings = replaying(settings, keep_failures)
    if forecast or not offline:
        tell_forecast(forecast_judge_bench(settings), only=forecast, yes=yes, json=json)
    summary = bench_judges(
        settings, budget=budget, deadline=deadline, offline=offline, force=force, progress=bars
    )
    tell_bench(summary, judge_bench_document, judge_bench_folder(settings), json=json)
    board = summary.board
    if summary.calls:
        statuses = [*cut_off(summary.calls), *(each for row in board.standings for each in row.statuses)]
        leave(statuses, summary.calls, strict=strict)
    if strict and board.failed:
        raise typer.Exit(UNSCORED)


def limit_sheet(settings: "Settings", limit: int | None) -> "Settings":
    """Return the settings with another limit of the labelled sheet, if one is given."""
    import msgspec

    from ragstone.config import choose

    if limit is None:
        return settings
    return choose(settings, "bench", judges=msgspec.structs.replace(settings.bench.judges, limit=limit))
