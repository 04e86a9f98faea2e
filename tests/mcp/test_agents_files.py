"""What AGENTS.md and the skill tell an agent: commands, options and tools that there are."""

import re
from pathlib import Path

import pytest
from tests.support.command import every_command

from ragstone.kernel.config import shipped
from ragstone.mcp.server import READING, SPENDING

ROOT = Path(__file__).parents[2]
TEXTS = {
    "AGENTS.md": shipped("ragstone.features.new", "starter_files", "AGENTS.md").read_text("utf-8"),
    "SKILL.md": (ROOT / "skills" / "ragstone" / "SKILL.md").read_text("utf-8"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_command_and_option_is_one_of_ours(name):
    named = re.findall(r"`ragstone ([^`]+)`", TEXTS[name].replace("\n", " "))
    assert len(named) > 8
    for words in named:
        command = every_command()
        parts = words.split()
        while parts and parts[0] in getattr(command, "commands", {}):
            command = command.commands[parts.pop(0)]
        assert command is not every_command(), words
        options = {option for each in command.params for option in each.opts} | {"--help"}
        assert {part for part in parts if part.startswith("--")} <= options, words


def test_the_skill_and_the_documentation_name_every_tool():
    for text in (TEXTS["SKILL.md"], (ROOT / "docs" / "how-to/mcp.md").read_text("utf-8")):
        assert {tool for tool in (*READING, *SPENDING) if f"`{tool}`" not in text} <= LISTS
    assert set(re.findall(r"`(\w+_\w+)`", TEXTS["SKILL.md"])) <= {*READING, *SPENDING}


LISTS = {"list_files", "list_judges"}  # the skill names what work begins with


def test_the_skill_has_the_head_that_agents_read():
    head = TEXTS["SKILL.md"].split("---")[1]
    name, about = (
        re.search(r"^name: (.+)$", head, re.MULTILINE)[1],
        re.search(r"^description: (.+)$", head, re.MULTILINE)[1],
    )
    assert name == "ragstone"  # that of its folder
    assert len(about) <= 1024
