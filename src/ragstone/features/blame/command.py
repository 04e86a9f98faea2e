"""`ragstone blame`: a finished run -> where its lost points went."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.kernel.console.asking import Asking, asks_models, cut_off, leave
from ragstone.kernel.console.printing import say, show_found

Again = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Model that answers again with the right documents, and with none; default: the run's.",
    ),
]
Lead = Annotated[
    str | None,
    typer.Option("--judge", help="Judge whose verdicts count as points; default: the headline judge."),
]
Second = Annotated[
    str | None, typer.Option("--second", help="A second judge of every answer: a name, or a .toml file.")
]
SecondModel = Annotated[
    str | None, typer.Option("--second-model", help="Model of the second judge; default: the judges' model.")
]
Labels = Annotated[
    Path | None,
    typer.Option("--labels", help="People's labels of these answers, instead of a second judge."),
]
WhatIf = Annotated[
    int | None,
    typer.Option(
        "--what-if",
        min=0,
        help="How many right answers, and lost ones, to ask again for the prices of changes, e.g. 100.",
    ),
]
Reader = Annotated[
    str | None,
    typer.Option("--reader", help="With --what-if: a model to price instead of the one that answered."),
]


@asks_models("trust", "whole", without=["force"])
def blame(
    run: Annotated[Path, typer.Argument(help="A run folder, such as runs/starter.")],
    *,
    model: Again = None,
    judge: Lead = None,
    second: Second = None,
    second_model: SecondModel = None,
    labels: Labels = None,
    what_if: WhatIf = None,
    reader: Reader = None,
    asking: Asking,
) -> None:
    """Find what cost a run its points: dataset, retriever, model and prompt, or judge.

    Examples:

    - `ragstone blame runs/mine`
    - `ragstone blame runs/mine --second correctness --second-model openai/gpt-4o`
    - `ragstone blame runs/mine --what-if 100`
    """
    from ragstone.features.blame.blaming import blame as lay_blame
    from ragstone.features.blame.blaming import choose_blame, forecast_blame
    from ragstone.features.blame.words import blame_document
    from ragstone.kernel.runs.blamed import read_causes

    settings = choose_blame(
        asking.settings(),
        model=model,
        judge=judge,
        second=second,
        second_model=second_model,
        labels=labels,
        what_if=what_if,
        reader=reader,
    )
    asking.tell_forecast(lambda: forecast_blame(run, settings))
    summary = lay_blame(run, settings=settings, **asking.limits)
    causes = [row for rows in read_causes(run).values() for row in rows]
    asked = bool(settings.blame.what_if)
    show_found(
        summary,
        lambda: blame_document(summary, causes, what_if=asked),
        json=asking.json,
        whole=asking.whole,
    )
    say(f"Causes: {run / 'causes.jsonl'}")
    say(f"Report: {run / 'report.html'}")
    calls = summary.calls
    lost = (calls and calls.failed) or any(set(row.left_out) - {"not_applicable"} for row in summary.systems)
    leave(cut_off(calls), calls, strict=asking.strict, lost=lost)
