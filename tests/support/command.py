"""The command line, in this process or in one of its own: `ragstone ARGUMENTS` -> what became of it."""

import contextlib
import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from unittest import mock

import typer
from typer import testing

if TYPE_CHECKING:
    import jsonschema

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
    if "--json" in words and result.stdout.strip() and find_spec("jsonschema"):  # a plain install lacks it
        check_json(words, result.stdout)
    return Ran(result.exit_code, result.stdout, result.stderr)


@contextlib.contextmanager
def started(*command: object, **options: Any) -> Iterator[subprocess.Popen[str]]:  # noqa: ANN401 - of Popen
    """Give a command that runs in a process of its own; what is left of it in the end is killed.

    command: words after `ragstone`; options: of Popen. What it says on standard error is kept.
    """
    words = [sys.executable, "-m", "ragstone", *map(str, command)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def check_json(words: list[str], printed: str) -> None:
    """Check that what a command printed with --json is as one of its schemas says. Raises AssertionError."""
    from ragstone.features.schema.schemas import printed_by

    command, node = [], every_command()
    for word in words:
        if not hasattr(node, "commands") or word not in node.commands:
            break
        command.append(word)
        node = node.commands[word]
    names = ("forecast",) if "--forecast" in words else printed_by(" ".join(command))
    value = json.loads(printed)
    mistakes = {name: next(validator_of(name).iter_errors(value), None) for name in names}
    assert None in mistakes.values(), f"{' '.join(words)}: {mistakes}"


@functools.cache
def validator_of(name: str) -> "jsonschema.Draft202012Validator":
    """Return what checks JSON against a schema of `ragstone schema`."""
    import jsonschema

    from ragstone.features.schema.schemas import schema_of

    return jsonschema.Draft202012Validator(schema_of(name))
