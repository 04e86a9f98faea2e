"""`ragstone build`: documents -> evaluation sets."""

import typer

from ragstone.cli.build_facts import facts
from ragstone.cli.build_questions import questions
from ragstone.cli.console import told_plainly

build = typer.Typer(
    name="build",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Documents to an evaluation set, checked, and with a certificate.",
)
build.command("questions")(told_plainly(questions))
build.command("facts")(told_plainly(facts))
