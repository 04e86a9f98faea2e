"""`ragstone run`: every stage that ragstone.toml declares."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.asking import Asking, asks_models, leave_judged
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import Bounds, Limit, Model
from ragstone.kernel.console.printing import say, show_found

if TYPE_CHECKING:
    from ragstone.kernel.config import Settings


@reads_rows
@asks_models("batch", "keep_failures", "mask", "engine", "trust", "whole")
def run(
    file: Annotated[Path | None, typer.Argument(help="Settings file; default: ragstone.toml.")] = None,
    *,
    model: Model = None,
    limit: Limit = None,
    bounds: Bounds = False,
    asking: Asking,
) -> None:
    """Run every stage in ragstone.toml; write rows, numbers and a report to runs/NAME.

    Examples:

    - `ragstone run`
    - `ragstone run rag.toml --limit 20 --forecast`
    """
    from ragstone.features.run.pipeline import forecast_run
    from ragstone.kernel.errors import ConfigError

    if file and asking.config and file != asking.config:
        raise ConfigError(f"two settings files, {file} and --config {asking.config}. Leave one out.")
    settings = asking._replace(config=file or asking.config or Path("ragstone.toml")).settings(
        answer={"model": model, "limit": limit}, judge={"model": model}
    )
    asking.tell_forecast(lambda: forecast_run(settings))
    run_and_show(settings, asking, bounds=bounds)


def run_and_show(
    settings: "Settings", asking: Asking, *, bounds: bool = False, lines: int | None = None
) -> None:
    """Run, print the summary and the path of the report, and exit as the outcome demands.

    lines: of the summary, where something else is shown on the same screen.
    """
    from ragstone.features.report import run_document
    from ragstone.features.run.pipeline import run as run_all
    from ragstone.features.run.pipeline import run_folder
    from ragstone.kernel.runs.wording import end_line

    summary = run_all(settings, **asking.limits, batch=asking.batch, force=asking.force, bounds=bounds)
    report = run_folder(settings) / "report.html"
    show_found(summary, lambda: run_document(summary), json=asking.json, whole=asking.whole, lines=lines)
    say(f"Judgements: {end_line(summary, asked=asking.json)}")
    say(f"Report: {report}")
    leave_judged(summary, strict=asking.strict)
