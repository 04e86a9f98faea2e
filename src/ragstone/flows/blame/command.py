"""`ragstone blame`: a finished run -> where its lost points went."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.console.asking import cut_off, leave, tell_forecast
from ragstone.console.bars import bars
from ragstone.console.options import AsJson, BudgetCap, Config, Deadline, ForecastOnly, Offline, Strict, Yes
from ragstone.console.printing import UNSCORED, say, show, show_json

if TYPE_CHECKING:
    from ragstone.report.blame import BlameSummary

Again = Annotated[
    str | None,
    typer.Option("--model", help="Answers again, with the right documents and without; default: the run's."),
]
Lead = Annotated[
    str | None, typer.Option("--judge", help="Judge of the run whose verdicts are points; default: headline.")
]
Second = Annotated[
    str | None, typer.Option("--second", help="A second judge of every answer: a name, or a .toml file.")
]
SecondModel = Annotated[
    str | None, typer.Option("--second-model", help="What the second judge asks; default: the judges' model.")
]
Labels = Annotated[
    Path | None,
    typer.Option("--labels", help="What people say of these answers, in place of a second judge."),
]


def blame(
    run: Annotated[Path, typer.Argument(help="A run folder, such as runs/starter.")],
    *,
    model: Again = None,
    judge: Lead = None,
    second: Second = None,
    second_model: SecondModel = None,
    labels: Labels = None,
    budget: BudgetCap = None,
    deadline: Deadline = None,
    forecast: ForecastOnly = False,
    yes: Yes = False,
    offline: Offline = False,
    config: Config = None,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Say where a run's lost points went: dataset, retriever, model and prompt, or judge."""
    from ragstone.config import load_settings
    from ragstone.flows.blame.blaming import blame as lay_blame
    from ragstone.flows.blame.blaming import choose_blame, forecast_blame
    from ragstone.llm import parse_caps
    from ragstone.report.blame import blame_document, read_causes
    from ragstone.report.render.terminal import render_terminal

    parse_caps(budget, deadline)  # a mistake in them is told before anything is read
    settings = choose_blame(
        load_settings(config),
        model=model,
        judge=judge,
        second=second,
        second_model=second_model,
        labels=labels,
    )
    if forecast or not offline:
        tell_forecast(forecast_blame(run, settings), only=forecast, yes=yes, json=json)
    summary = lay_blame(
        run, settings=settings, budget=budget, deadline=deadline, offline=offline, progress=bars
    )
    if json:
        show_json(summary)
    else:
        causes = [row for rows in read_causes(run).values() for row in rows]
        show(render_terminal(blame_document(summary, causes)))
    say(f"Causes: {run / 'causes.jsonl'}")
    say(f"Report: {run / 'report.html'}")
    _leave(summary, strict)


def _leave(summary: "BlameSummary", strict: bool) -> None:
    """Exit as the calls and the rows that were not counted demand."""
    if summary.calls is None:
        return
    leave(cut_off(summary.calls), summary.calls, strict=strict)
    unscored = summary.calls.failed or any(set(row.left_out) - {"not_applicable"} for row in summary.systems)
    if strict and unscored:
        raise typer.Exit(UNSCORED)
