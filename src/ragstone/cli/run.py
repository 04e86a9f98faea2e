"""`ragstone run`: every stage that ragstone.toml declares."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.cli.console import OVER_BUDGET, UNSCORED, bars, say, show, show_json
from ragstone.cli.options import AsJson, BudgetCap, Force, Limit, Model, Offline, Strict
from ragstone.config import Settings


def run(
    file: Annotated[Path | None, typer.Argument(help="Settings; default ragstone.toml.")] = None,
    *,
    model: Model = None,
    limit: Limit = None,
    budget: BudgetCap = None,
    offline: Offline = False,
    force: Force = False,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Run every stage that the settings declare, and write rows, numbers and report to runs/NAME."""
    from ragstone.config import choose, load_settings

    settings = load_settings(file or Path("ragstone.toml"))
    settings = choose(settings, "answer", model=model, limit=limit)
    run_and_show(choose(settings, "judge", model=model), budget, offline, force, strict=strict, json=json)


def run_and_show(
    settings: Settings, budget: str | None, offline: bool, force: bool, *, strict: bool, json: bool
) -> None:
    """Run, print the summary and the path of the report, and exit as the outcome demands."""
    from ragstone.engine import run as run_all
    from ragstone.engine import run_folder
    from ragstone.report import terminal_summary

    summary = run_all(settings, budget=budget, offline=offline, force=force, progress=bars)
    report = run_folder(settings) / "report.html"
    if json:
        show_json(summary)
    else:
        show(terminal_summary(summary))
    say(f"Report: {report}")
    statuses = {status for metric in summary.metrics for status in metric.statuses}
    if "over_budget" in statuses:
        raise typer.Exit(OVER_BUDGET)
    if strict and statuses - {"scored", "not_applicable"}:
        raise typer.Exit(UNSCORED)
