"""The command `ragstone`: one small file a command, registered here."""

import typer

from ragstone.cli.agree import agree
from ragstone.cli.answer import answer
from ragstone.cli.assistant import assistant
from ragstone.cli.attack import attack
from ragstone.cli.bench import bench
from ragstone.cli.blame import blame
from ragstone.cli.build import build
from ragstone.cli.chunk import chunk
from ragstone.cli.compare import compare
from ragstone.cli.console import end_on_sigterm, told_plainly, write_any_text
from ragstone.cli.demo import demo
from ragstone.cli.doctor import doctor
from ragstone.cli.export import export
from ragstone.cli.import_ import import_
from ragstone.cli.ingest import ingest
from ragstone.cli.judge import judge
from ragstone.cli.judges import judges
from ragstone.cli.label import label
from ragstone.cli.ledger import ledger
from ragstone.cli.models import models
from ragstone.cli.new import new
from ragstone.cli.people import people
from ragstone.cli.report import report
from ragstone.cli.retrieve import retrieve
from ragstone.cli.review import review
from ragstone.cli.run import run
from ragstone.cli.sample import sample
from ragstone.cli.serve import serve
from ragstone.cli.tag import tag
from ragstone.cli.translate import translate
from ragstone.cli.watch import watch

app = typer.Typer(
    name="ragstone",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # in that of rich, "[retrieve]" is a style and vanishes
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A touchstone for retrieval-augmented generation: is it right, what is to blame, and how far can "
    "the judge be trusted?",
)
for command in (
    demo,
    new,
    run,
    ingest,
    tag,
    sample,
    translate,
    chunk,
    retrieve,
    answer,
    judge,
    label,
    agree,
    compare,
    attack,
    blame,
    report,
    review,
    watch,
    serve,
    export,
    models,
    doctor,
):
    app.command()(told_plainly(command))
app.command("import")(told_plainly(import_))
app.add_typer(judges)
app.add_typer(ledger)
app.add_typer(bench)
app.add_typer(build)
app.add_typer(assistant)
app.add_typer(people)


@app.callback(invoke_without_command=True)
def version(
    show: bool = typer.Option(False, "--version", help="Print the version and stop.", is_eager=True),
) -> None:
    """Print the version if it is asked for."""
    if show:
        from ragstone.version import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line."""
    write_any_text()
    end_on_sigterm()
    app()
