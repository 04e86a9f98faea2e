"""`ragstone report`: a run folder -> one HTML file, and one in Markdown."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.kernel.console.options import Bounds
from ragstone.kernel.console.printing import say


def report(
    run: Annotated[Path, typer.Argument(help="A run, such as runs/starter, or a file of judgements.")],
    *,
    bounds: Bounds = False,
) -> None:
    """Write a run's report.html, which works offline, and report.md, for a pull request.

    For a file of judgements, write NAME.html next to it.

    Examples:

    - `ragstone report runs/mine`
    - `ragstone report judgements.jsonl`
    """
    from ragstone.features.report.bare import write_bare_report
    from ragstone.features.report.page import write_markdown, write_report

    if run.is_file():
        say(f"Report: {write_bare_report(run, bounds=bounds)}")
        return
    say(f"Report: {write_report(run, bounds=bounds)}")
    say(f"For a pull request: {write_markdown(run, bounds=bounds)}")
