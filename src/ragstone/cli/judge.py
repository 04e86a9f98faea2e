"""`ragstone judge`: an answer sheet -> judgements."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.cli.console import OVER_BUDGET, UNSCORED, bars, say, show, show_json
from ragstone.cli.options import AsJson, BudgetCap, Config, Force, Limit, Model, Offline, Output, Strict


def judge(
    answers: Annotated[Path, typer.Argument(help="The answer sheet, in any tool's columns.")],
    *,
    judges: Annotated[
        list[str] | None, typer.Option("--judge", help="Name, or a .toml file; may be repeated.")
    ] = None,
    model: Model = None,
    questions: Annotated[
        Path | None, typer.Option("--questions", help="Questions and references, where the sheet has none.")
    ] = None,
    output: Output = Path("judgements.jsonl"),
    limit: Limit = None,
    budget: BudgetCap = None,
    offline: Offline = False,
    config: Config = None,
    force: Force = False,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Judge every answer by every judge. What was finished is never paid for twice: just run it again."""
    from ragstone.config import choose, load_settings
    from ragstone.engine import judge_sheet, load_judges
    from ragstone.llm import parse_caps
    from ragstone.report import terminal_judged

    settings = choose(load_settings(config), "judge", model=model)
    summary = judge_sheet(
        answers,
        output,
        load_judges(judges or map(settings.named, settings.judge.judges)),
        settings,
        questions=questions,
        limit=limit,
        caps=parse_caps(budget),
        offline=offline,
        force=force,
        progress=bars,
    )
    if json:
        show_json(summary)
    else:
        show(terminal_judged(summary))
        say(f"Judgements in {output}.")
    statuses = {status for metric in summary.metrics for status in metric.statuses}
    if "over_budget" in statuses:
        raise typer.Exit(OVER_BUDGET)
    if strict and statuses - {"scored", "not_applicable"}:
        raise typer.Exit(UNSCORED)
