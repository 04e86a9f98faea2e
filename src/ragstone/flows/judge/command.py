"""`ragstone judge`: an answer sheet -> judgements."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.console.asking import Asking, asks_models, leave
from ragstone.console.bars import bars
from ragstone.console.options import Limit, Model, OutputPlace
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


@asks_models("batch", "keep_failures", "engine")
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
    asking: Asking,
) -> None:
    """Judge every answer by every judge. What was finished is never paid for twice: just run it again."""
    from ragstone.config import choose
    from ragstone.flows.judge.judging import judge_sheet
    from ragstone.stages.forecasting import forecast_judging
    from ragstone.stages.judge import load_judges

    settings = choose(asking.settings(), "judge", model=model, one_call=one_call)
    chosen = load_judges(judges or map(settings.named, settings.judge.judges))
    asking.tell_forecast(
        lambda: forecast_judging(answers, chosen, settings, questions=questions, limit=limit), output
    )
    summary = judge_sheet(
        answers,
        output,
        chosen,
        settings,
        questions=questions,
        limit=limit,
        caps=asking.caps,
        offline=asking.offline,
        batch=asking.batch,
        force=asking.force,
        progress=bars,
    )
    _tell(summary, output, strict=asking.strict, json=asking.json)


def _tell(summary: "RunSummary", output: str, *, strict: bool, json: bool) -> None:
    """Show the numbers, and exit as the rows demand."""
    from ragstone.report.render.terminal import render_terminal
    from ragstone.report.run_report import judged_document
    from ragstone.report.wording import end_line

    if json:
        show_json(summary)
    else:
        show(render_terminal(judged_document(summary)))
    say(f"Judgements in {output}: {end_line(summary)}")
    statuses = {status for metric in summary.metrics for status in metric.statuses}
    leave(statuses, summary.calls, strict=strict)
