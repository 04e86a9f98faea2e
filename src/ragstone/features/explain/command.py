"""`ragstone explain`: what a code or an error message means, and what to do."""

from typing import Annotated

import typer

from ragstone.kernel.console.options import AsJson, Whole
from ragstone.kernel.console.printing import show, show_json


def explain(
    text: Annotated[
        list[str] | None,
        typer.Argument(help="A code, or an error message in quotes; without it, all codes."),
    ] = None,
    *,
    json: AsJson = False,
    whole: Whole = False,
) -> None:
    """Explain an error, a note, a status, a cause or an exit code: what it means and what to do.

    A pasted error message is found with its own names and numbers in it.

    Examples:

    - `ragstone explain gate-failed`
    - `ragstone explain exit 3`
    - `ragstone explain "answers.csv: no column holds the answer"`
    """
    from ragstone.features.explain.explaining import explain as explain_text
    from ragstone.features.explain.explaining import explanations
    from ragstone.features.explain.words import explained_text, listed_text

    found = explain_text(" ".join(text)) if text else explanations()
    if json:
        show_json(found)
    elif text:
        typer.echo(explained_text(found))  # its lines are wrapped already, and an address has to stay whole
    else:
        show(listed_text(found, whole=whole))
