"""What a build says when it is done: its certificate, and what it asked of models."""

from typing import TYPE_CHECKING

from ragstone.cli.console import say, show, show_json

if TYPE_CHECKING:
    from ragstone.engine import EvaluationSet


def tell_built(made: "EvaluationSet", *, json: bool) -> None:
    """Show the certificate of an evaluation set on standard output, and what it cost on standard error."""
    from ragstone.report import terminal_certificate
    from ragstone.report.wording import asked_line

    if json:
        files = [str(path) for path in made.files]
        show_json({"certificate": made.certificate, "calls": made.calls, "files": files})
    else:
        show(terminal_certificate(made.certificate))
    say(asked_line(made.calls))
