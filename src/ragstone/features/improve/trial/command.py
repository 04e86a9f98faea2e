"""`ragstone try`: a changed prompt on a few rows of a run."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.kernel.console.asking import Asking, asks_models, leave
from ragstone.kernel.console.options import Model
from ragstone.kernel.console.printing import show_found


@asks_models("trust", "whole", without=["deadline", "force"])
def try_(
    run: Annotated[Path, typer.Argument(help="The run whose rows are taken, such as runs/mine.")],
    *,
    prompt: Annotated[
        Path | None, typer.Option("--prompt", help="An answer prompt's file: rows are answered again.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="A judge, by file or name: answers are judged again.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", help="The run's judge to compare with; default: the one of the same name."),
    ] = None,
    question: Annotated[
        list[str] | None, typer.Option("--question", help="A question's id; may be repeated.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=50, help="Without --question: the first N rows.")
    ] = 10,
    model: Model = None,
    asking: Asking,
) -> None:
    """Try a changed prompt on a few rows of a run: old and new side by side.

    An answer prompt answers again from the saved contexts, and the run's judges judge the new answers. A
    judge judges the saved answers again. The run is not changed, and no call is paid for twice.

    Examples:

    - `ragstone try runs/mine --prompt shorter.toml`
    - `ragstone try runs/mine --judge judges/my_correctness.toml --limit 5`
    """
    from ragstone.features.improve.trial._words import trial_document
    from ragstone.features.improve.trial.trying import (
        draft_of,
        forecast_trial,
        run_trial,
        trial_task,
        with_model,
    )

    settings = with_model(asking.settings(), model)
    draft = draft_of(prompt, judge)
    task = trial_task(run, draft, settings, against=against, questions=question or (), limit=limit)
    asking.tell_forecast(lambda: forecast_trial(task, settings))
    trial = run_trial(task, settings, asking.session)
    show_found(trial, lambda: trial_document(trial), json=asking.json, whole=asking.whole)
    statuses = {score.after.status for row in trial.rows for score in row.scores}
    leave(statuses, trial.calls, strict=asking.strict)
