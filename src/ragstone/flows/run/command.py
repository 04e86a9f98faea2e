"""`ragstone run`: every stage that ragstone.toml declares."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.config import Settings
from ragstone.console.asking import leave, load_for, tell_forecast
from ragstone.console.bars import bars
from ragstone.console.options import (
    AsJson,
    BudgetCap,
    ByBatch,
    Deadline,
    Engine,
    Force,
    ForecastOnly,
    KeepFailures,
    Limit,
    Model,
    Offline,
    Strict,
    Yes,
)
from ragstone.console.printing import say, show, show_json


def run(
    file: Annotated[Path | None, typer.Argument(help="Settings; default ragstone.toml.")] = None,
    *,
    model: Model = None,
    limit: Limit = None,
    budget: BudgetCap = None,
    deadline: Deadline = None,
    forecast: ForecastOnly = False,
    yes: Yes = False,
    batch: ByBatch = False,
    engine: Engine = None,
    offline: Offline = False,
    keep_failures: KeepFailures = False,
    force: Force = False,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Run every stage that the settings declare, and write rows, numbers and report to runs/NAME."""
    from ragstone.config import choose
    from ragstone.flows.run.forecast import forecast_run
    from ragstone.llm import parse_caps

    parse_caps(budget, deadline)  # a mistake in them is told before anything is read
    settings = load_for(file or Path("ragstone.toml"), engine, keep_failures=keep_failures)
    settings = choose(settings, "answer", model=model, limit=limit)
    settings = choose(settings, "judge", model=model)
    if forecast or not offline:
        tell_forecast(forecast_run(settings), only=forecast, yes=yes, json=json)
    run_and_show(settings, budget, offline, force, deadline=deadline, batch=batch, strict=strict, json=json)


def run_and_show(
    settings: Settings,
    budget: str | None,
    offline: bool,
    force: bool,
    *,
    deadline: str | None = None,
    batch: bool = False,
    strict: bool,
    json: bool,
) -> None:
    """Run, print the summary and the path of the report, and exit as the outcome demands."""
    from ragstone.flows.run.pipeline import run as run_all
    from ragstone.flows.run.pipeline import run_folder
    from ragstone.report.terminal import terminal_summary
    from ragstone.report.wording import end_line

    summary = run_all(
        settings,
        budget=budget,
        deadline=deadline,
        offline=offline,
        batch=batch,
        force=force,
        progress=bars,
    )
    report = run_folder(settings) / "report.html"
    if json:
        show_json(summary)
    else:
        show(terminal_summary(summary))
    say(f"Judgements: {end_line(summary)}")
    say(f"Report: {report}")
    statuses = {status for metric in summary.metrics for status in metric.statuses}
    leave(statuses, summary.calls, strict=strict)
