"""The workflow that docs/how-to/ci.md offers: YAML that GitHub can read, and commands that exist."""

import re
import shlex
from pathlib import Path

import pytest
import yaml
from tests.support.command import every_command

DOCS = Path(__file__).parent.parent / "docs"


def commands() -> list[list[str]]:
    """Return every command of ours in the workflow and on the page, as words."""
    workflow = yaml.safe_load((DOCS / "github-actions.yml").read_text(encoding="utf-8"))
    scripts = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    page = (DOCS / "how-to/ci.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    lines = [line for text in [*scripts, *blocks] for line in text.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("ragstone ")]


def test_workflow_has_steps_that_say_what_they_do():
    workflow = yaml.safe_load((DOCS / "github-actions.yml").read_text(encoding="utf-8"))
    assert set(workflow[True]) == {"pull_request", "push"}  # YAML reads `on` as true, and GitHub as `on`
    steps = workflow["jobs"]["evaluate"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    cached = [step["with"]["path"] for step in steps if step.get("uses", "").startswith("actions/cache")]
    assert cached == [".ragstone", "baseline", "baseline"]


def test_page_shows_the_commands_of_the_workflow():
    found = commands()
    assert len(found) == 4
    assert sorted(found[:2]) == sorted(found[2:])


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_command_exists_with_these_options(words):
    command = every_command().commands[words[0]]
    context = command.make_context(words[0], words[1:])  # reads the options, and runs nothing
    assert context.params
