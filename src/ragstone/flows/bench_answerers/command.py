"""`ragstone bench answerers`: a grid of models and prompts that answer."""

from typing import TYPE_CHECKING, Annotated

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


def answerers(
    *,
    config: Config = None,
    race: Annotated[
        bool, typer.Option("--race", help="Stop configurations that are worse beyond doubt early.")
    ] = False,
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
    """Answer the questions with every model and prompt of [bench.answerers], under each condition."""
    from ragstone.config import choose, load_settings
    from ragstone.flows.bench_answerers.forecast import forecast_answer_bench
    from ragstone.flows.bench_answerers.grid import answer_bench_folder, bench_answerers
    from ragstone.llm import parse_caps
    from ragstone.report.benches.answerers import answer_bench_document

    parse_caps(budget, deadline)  # a mistake in them is told before anything is read
    settings = limit_questions(choose(load_settings(config), "run", seed=seed), limit, race)
    settings = replaying(settings, keep_failures)
    if forecast or not offline:
        tell_forecast(forecast_answer_bench(settings), only=forecast, yes=yes, json=json)
    summary = bench_answerers(
        settings, budget=budget, deadline=deadline, offline=offline, force=force, progress=bars
    )
    tell_bench(summary, answer_bench_document, answer_bench_folder(settings), json=json)
    board = summary.board
    if summary.calls:
        rows = [counts for row in board.standings for counts in row.statuses.values()]
        leave(
            [*cut_off(summary.calls), *(each for row in rows for each in row)], summary.calls, strict=strict
        )
    if strict and board.failed:
        raise typer.Exit(UNSCORED)


def limit_questions(settings: "Settings", limit: int | None, race: bool) -> "Settings":
    """Return the settings with another limit of the questions of the bench of answerers, if one is given.

    race: make it a race, also where the settings do not.
    """
    import msgspec

    from ragstone.config import choose

    declared = settings.bench.answerers
    replaced = msgspec.structs.replace(declared, limit=limit or declared.limit, race=race or declared.race)
    return choose(settings, "bench", answerers=replaced)
