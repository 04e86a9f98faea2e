"""`ragstone data diff`: two versions of a set -> what differs, and which figures of which runs compare."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import AsJson, Whole
from ragstone.kernel.console.printing import show_blocks, show_json

A = Annotated[Path, typer.Argument(metavar="A", help="The old version: a file of questions or documents.")]
B = Annotated[Path, typer.Argument(metavar="B", help="The new version.")]
Runs = Annotated[
    Path | None,
    typer.Option("--runs", help="Folder of runs to look at; default: runs, if there is one."),
]
RUNS = Path("runs")


@reads_rows
def diff(a: A, b: B, *, runs: Runs = None, whole: Whole = False, json: AsJson = False) -> None:
    """Show which rows were added, changed and dropped, and which runs still compare.

    Examples:

    - `ragstone data diff runs/may questions.jsonl`
    - `ragstone data diff runs/may runs/june --json`
    """
    from ragstone.features.data.diffing import diff_sets
    from ragstone.features.data.words import diff_blocks

    found = diff_sets(a, b, runs=runs or (RUNS if RUNS.is_dir() else None))
    if json:
        show_json(found)
    else:
        show_blocks(diff_blocks(found, whole=whole), whole=whole)
