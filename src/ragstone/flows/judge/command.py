"""`ragstone judge`: an answer sheet -> judgements."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.console.asking import leave, load_for, tell_forecast
from ragstone.console.bars import bars
from ragstone.console.options import (
    AsJson,
    BudgetCap,
    ByBatch,
    Config,
    Deadline,
    Engine,
    Force,
    ForecastOnly,
    KeepFailures,
    Limit,
    Model,
    Offline,
    OutputPlace,
    Strict,
    Yes,
)
from ragstone.console.printing import say, show, show_json

if TYPE_CHECKING:
    from ragstone.report.summary import RunSummary

Judges = Annotated[list[str] | None, typer.Option("--judge", help="Name, or a .toml file; may be repeated.")]
OneCall = Annotated[
    bool | None,
    typer.Option("--one-call", help="Ask judges whose replies fit into one together: cheaper, less apart."),
]
QuestionsToo = Annotated[
    Path | None, typer.Option("--questions", help="Questions and references, where the sheet has none.")
]


def judge(
    answers: Annotated[
        list[Path],
        typer.Argument(help="The answer sheet, in any tool's columns; several files, or a log's folder."),
    ],
    *,
    judges: Judges = None,
    model: Model = None,
    one_call: OneCall = None,
    questions: QuestionsToo = None,
    output: OutputPlace = "judgements.jsonl",
    limit: Limit = None,
    budget: BudgetCap = None,
    deadline: Deadline = None,
    forecast: ForecastOnly = False,
    yes: Yes = False,
    batch: ByBatch = False,
    offline: Offline = False,
    keep_failures: KeepFailures = False,
    engine: Engine = None,
    config: Config = None,
    force: Force = False,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Judge every answer by every judge. What was finished is never paid for twice: just run it again."""
    from ragstone.config import choose
    from ragstone.flows.judge.judging import judge_sheet
    from ragstone.llm import parse_caps
    from ragstone.stages.forecasting import forecast_judging
    from ragstone.stages.judge import load_judges
    from ragstone.tables import check_output

    caps = parse_caps(budget, deadline)
    settings = load_for(config, engine, keep_failures=keep_failures)
    settings = choose(settings, "judge", model=model, one_call=one_call)
    chosen = load_judges(judges or map(settings.named, settings.judge.judges))
    if forecast or not offline:
        if not forecast:
            check_output(output, force)
        sums = forecast_judging(answers, chosen, settings, questions=questions, limit=limit)
        tell_forecast(sums, only=forecast, yes=yes, json=json)
    how = {"offline": offline, "batch": batch, "force": force}
    summary = judge_sheet(
        answers, output, chosen, settings, questions=questions, limit=limit, caps=caps, progress=bars, **how
    )
    _tell(summary, output, strict=strict, json=json)


def _tell(summary: "RunSummary", output: str, *, strict: bool, json: bool) -> None:
    """Show the numbers, and exit as the rows demand."""
    from ragstone.report.terminal import terminal_judged
    from ragstone.report.wording import end_line

    if json:
        show_json(summary)
    else:
        show(terminal_judged(summary))
    say(f"Judgements in {output}: {end_line(summary)}")
    statuses = {status for metric in summary.metrics for status in metric.statuses}
    leave(statuses, summary.calls, strict=strict)
