"""What stands around a command that asks a model: its forecast before, its exit code after."""

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING

import typer

from ragstone.console.printing import OVER_BUDGET, UNSCORED, WRONG_USE, say, show, show_json

if TYPE_CHECKING:
    from pathlib import Path

    from ragstone.config import EngineKind, Settings
    from ragstone.llm.forecast import Forecast
    from ragstone.records import Status
    from ragstone.report.summary import Calls

# A forecast above one of these is confirmed on a terminal: US dollars, calls, and calls of unknown price.
MOST_USD = 1.0
MOST_CALLS = 1000
MOST_UNPRICED_CALLS = 100


def load_for(
    config: "Path | None", engine: "EngineKind | None", *, keep_failures: bool = False
) -> "Settings":
    """Return the settings of a file, in which stages run where and as the command says."""
    from ragstone.config import choose, load_settings

    return replaying(choose(load_settings(config), "engine", kind=engine), keep_failures)


def replaying(settings: "Settings", keep_failures: bool) -> "Settings":
    """Return the settings in which replies that could not be used are taken as they are, if that is asked."""
    from ragstone.config import choose

    return choose(settings, "ledger", keep_failures=keep_failures or None)


def tell_forecast(forecast: "Forecast", *, only: bool, yes: bool, json: bool) -> None:
    """Show what will be asked; on a terminal a large sum is confirmed, unless `yes`.

    Raises typer.Exit: with 0 where the forecast is `only` shown, on standard output; with 2 where the user
    says no.
    """
    from ragstone.report.wording import forecast_lines

    if only:
        if json:
            show_json(forecast)
        else:
            show(*forecast_lines(forecast))
        raise typer.Exit
    if not forecast.models:  # baselines alone
        return
    for line in forecast_lines(forecast):
        say(line)
    if is_large(forecast) and not yes and _on_terminal() and not _said_yes():
        say("ragstone: nothing was asked. --yes goes on without the question, --budget caps what is spent.")
        raise typer.Exit(WRONG_USE)


def is_large(forecast: "Forecast") -> bool:
    """Return whether so much is asked that a person should say yes to it first."""
    if forecast.calls > MOST_CALLS:
        return True
    if forecast.cost_usd is None:
        return forecast.calls > MOST_UNPRICED_CALLS
    return forecast.cost_usd > MOST_USD


def _on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _said_yes() -> bool:
    try:
        return typer.confirm("Go on?", err=True)
    except typer.Abort:  # Ctrl-C, or the end of the input
        return False


def leave(statuses: Collection["Status"], calls: "Calls", *, strict: bool) -> None:
    """End a command as its rows demand. Raises typer.Exit with 4 or 5, and returns where all is well."""
    if "over_budget" in statuses or calls.late:
        raise typer.Exit(OVER_BUDGET)
    if strict and set(statuses) - {"scored", "not_applicable"}:
        raise typer.Exit(UNSCORED)


def cut_off(calls: "Calls") -> "list[Status]":
    """Return the status of calls that the budget did not allow, as rows would have it."""
    return ["over_budget"] if calls.failed.get("over_budget") else []
