"""What a build says when it is done: its certificate, and what it asked of models."""

from collections import Counter
from typing import TYPE_CHECKING

import typer

from ragstone.console.asking import cut_off, leave
from ragstone.console.printing import UNSCORED, say, show, show_json

if TYPE_CHECKING:
    from ragstone.report.evaluation_set import EvaluationSet


def end_build(made: "EvaluationSet", said: str, *, json: bool, strict: bool) -> None:
    """Show the certificate of an evaluation set, what it cost, and what was `said` of its files.

    Raises typer.Exit as the calls demand, and with 5 under `strict` for a set that is not whole.
    """
    from ragstone.report.certificate_terminal import terminal_certificate
    from ragstone.report.wording import asked_line

    if json:
        files = [str(path) for path in made.files]
        show_json({"certificate": made.certificate, "calls": made.calls, "files": files})
    else:
        show(terminal_certificate(made.certificate))
    say(asked_line(made.calls))
    say(f"{said}; beside it all that were written, the lost too.")
    if made.built.declared.test_share:
        counts = Counter(made.sides.values())
        say(
            f"Split by document: {counts['dev']} to develop with (dev), {counts['test']} to test with (test)."
        )
    leave(cut_off(made.calls), made.calls, strict=strict)
    if strict and not made.is_whole:
        raise typer.Exit(UNSCORED)
