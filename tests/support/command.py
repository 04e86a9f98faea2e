"""The command line in this process: `ragstone ARGUMENTS` -> exit code, standard output, standard error."""

from dataclasses import dataclass

from typer.testing import CliRunner

TO_FILE = ("-o", "judgements.jsonl")  # of `ragstone judge`: a file here, in place of a run


@dataclass(frozen=True)
class Ran:
    """What became of one command."""

    code: int
    out: str
    err: str


def ragstone(*arguments: object, said: str | None = None) -> Ran:
    """Run a command; said: what is typed. An exception that it does not turn into a message is raised."""
    from ragstone.cli.app import app_of
    from ragstone.console import printing as console

    console.console.cache_clear()
    result = CliRunner().invoke(
        app_of(), [str(argument) for argument in arguments], input=said, catch_exceptions=False
    )
    console.console.cache_clear()
    return Ran(result.exit_code, result.stdout, result.stderr)
