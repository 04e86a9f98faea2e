"""`ragstone check`: an evaluation set -> its repeats, what its parts share, and its types of questions."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import AsJson, Seed, Whole
from ragstone.kernel.console.printing import FAILED_GATE, show_found

Sets = Annotated[
    list[Path], typer.Argument(help="Files of questions; several are parts, such as dev and test.")
]
Log = Annotated[
    Path | None,
    typer.Option("--log", help="A log of what people asked: compare the types of questions with it."),
]


@reads_rows
def check(sets: Sets, *, log: Log = None, seed: Seed = 0, whole: Whole = False, json: AsJson = False) -> None:
    """Find questions of a set that repeat, and types of questions that it lacks. Exit code 1 if any repeat.

    Examples:

    - `ragstone check questions.jsonl`
    - `ragstone check questions.jsonl manual/questions.jsonl --log log.jsonl`
    """
    from ragstone.features.check.sets import check_set
    from ragstone.features.check.words import set_document

    found = check_set(sets, log=log, seed=seed)
    show_found(found, lambda: set_document(found), json=json, whole=whole)
    if found.repeats:
        raise typer.Exit(FAILED_GATE)
