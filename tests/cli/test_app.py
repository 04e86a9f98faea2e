"""The command `ragstone`: its help, its examples, its completion."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.command import every_command, ragstone
from tests.support.examples import commands, examples

from ragstone.cli.app import COMMANDS, PANELS, app_of

ROOT = every_command()
SHORT = ("people", "assistant")  # what they do needs no example: `people list`


ALL = dict(commands(ROOT))
EXAMPLES = examples()


def test_every_command_shows_an_example():
    shown = {name for name, _ in EXAMPLES}
    assert {name for name in ALL if name.split()[0] not in SHORT} <= shown


@pytest.mark.parametrize(("name", "words"), EXAMPLES, ids=[words for _, words in EXAMPLES])
def test_an_example_is_one_that_its_command_takes(name, words):
    called, rest = ROOT, shlex.split(words)
    for part in name.split():
        assert rest.pop(0) == part
        called = called.commands[part]
    context = called.make_context(name, rest)
    assert not context.args


def test_help_lists_every_command_in_its_panel():
    told = ragstone("--help").out
    heads = [told.index(f"─ {panel} ─") for panel in PANELS]
    assert heads == sorted(heads)
    assert all(re.search(rf"│ {name} ", told) for name in COMMANDS)


def test_shell_completion_knows_commands_and_options(monkeypatch):
    def completed(*words: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", shlex.join(words))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        from typer.testing import CliRunner

        return CliRunner().invoke(app_of(), [], prog_name="ragstone").output.split()

    monkeypatch.setenv("_RAGSTONE_COMPLETE", "complete_bash")
    assert completed("ragstone", "jud") == ["judge", "judges"]
    assert completed("ragstone", "judge", "--off") == ["--offline"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_no_space_for_what_is_printed_is_told_in_one_line(says):
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "ragstone", "--version"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    says(ran.stderr)


def test_help_of_all_commands_imports_no_room_that_works_on_rows():
    code = (
        "import sys; from ragstone.cli.app import app_of; from typer.main import get_command; "
        "get_command(app_of()); print(*sys.modules)"
    )
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "ragstone.kernel.config.sections", "ragstone.kernel.tables.reading"}
    assert not heavy.intersection(imported.stdout.split())
