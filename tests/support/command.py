"""The command line in this process: `ragstone ARGUMENTS` -> exit code, standard output, standard error."""

import functools
from dataclasses import dataclass
from typing import Any
from unittest import mock

import typer
from typer import testing

TO_FILE = ("-o", "judgements.jsonl")  # of `ragstone judge`: a file here, in place of a run


@dataclass(frozen=True)
class Ran:
    """What became of one command."""

    code: int
    out: str
    err: str


@functools.cache
def every_command() -> Any:  # noqa: ANN401 - typer's copy of click has no name for it
    """The command with all commands below it. To build it takes longer than most of them do."""
    from ragstone.cli.app import app_of

    return typer.main.get_command(app_of())


def ragstone(*arguments: object, said: str | None = None) -> Ran:
    """Run a command; said: what is typed. An exception that it does not turn into a message is raised."""
    from ragstone.kernel.console import printing as console

    console.console.cache_clear()
    words = [str(argument) for argument in arguments]
    with mock.patch.object(testing, "_get_command", lambda built: built):
        result = testing.CliRunner().invoke(every_command(), words, input=said, catch_exceptions=False)
    console.console.cache_clear()
    return Ran(result.exit_code, result.stdout, result.stderr)
