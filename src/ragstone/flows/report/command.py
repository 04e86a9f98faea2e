"""`ragstone report`: a run folder -> one HTML file, and one in Markdown."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.console.printing import say


def report(run: Annotated[Path, typer.Argument(help="A run folder, such as runs/starter.")]) -> None:
    """Write report.html into a run folder, which needs no network, and report.md, for a pull request."""
    from ragstone.report.page import write_markdown, write_report

    say(f"Report: {write_report(run)}")
    say(f"For a pull request: {write_markdown(run)}")
