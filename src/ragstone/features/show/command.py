"""`ragstone show`: one row of a run, whole, as the workbench's page of it."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.kernel.console.options import AsJson, Config
from ragstone.kernel.console.printing import say, show_found

Whole = Annotated[
    bool, typer.Option("--all", help="Print everything: full texts, contexts, conversations, prompts.")
]


def show(
    run: Annotated[Path, typer.Argument(help="A run folder, such as runs/mine.")],
    question: Annotated[str, typer.Argument(help="The id of the question.")],
    *,
    system: Annotated[
        str | None, typer.Option("--system", help="The system that the others are compared with.")
    ] = None,
    whole: Whole = False,
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Show one row of a run: the answers, what judges and people say of them, and why points were lost.

    Examples:

    - `ragstone show runs/mine q-17`
    - `ragstone show runs/mine q-17 --all`
    - `ragstone show runs/mine q-17 --json`
    """
    from ragstone.features.show.words import row_document
    from ragstone.kernel.config import load_settings
    from ragstone.kernel.runs.joined import read_run
    from ragstone.kernel.runs.joining import row_of
    from ragstone.kernel.runs.labelled import label_files

    content = read_run(run).content
    row, wrong = row_of(content, question, label_files(load_settings(config)), system=system)
    if whole:
        row = row.with_calls(run)
    for sentence in wrong:
        say(f"ragstone: {sentence}")
    # The document is cut to a screen already: it knows which words of a row say most.
    show_found(row, lambda: row_document(row, run, whole=whole), json=json, whole=True)
