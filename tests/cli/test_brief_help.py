"""Help of a command: what most need at first, every option with --help-all."""

import re

import pytest
from tests.cli.test_app import ALL
from tests.support.command import ragstone

from ragstone.cli.brief_help import FEW_OPTIONS, RARE, BriefCommand

LONG = {name: command for name, command in ALL.items() if isinstance(command, BriefCommand)}
OPTION = re.compile(r"^│ +(?:\* +)?(--[\w-]+|-\w)", re.MULTILINE)
MOST = 17  # of `watch`; most have about ten


def options(name: str) -> set[str]:
    """Return the options that a command's help shows, by the name that it shows first."""
    return set(OPTION.findall(ragstone(*name.split(), "--help").out))


def declared(name: str) -> set[str]:
    """Return all names of a command's options, but for those of removed ones."""
    return {
        each
        for one in ALL[name].params
        if one.param_type_name == "option" and not one.hidden
        for each in one.opts
    }


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [name for name, command in LONG.items() if len(command.params) > FEW_OPTIONS + 2]
)
def test_help_shows_some_options_and_help_all_every_one(name):
    few, all_of_them = (ragstone(*name.split(), asked).out for asked in ("--help", "--help-all"))
    brief, every = ({*OPTION.findall(text)} for text in (few, all_of_them))
    assert brief < every
    assert len(brief) <= MOST
    left_out = every - brief
    assert left_out <= declared(name)
    told = re.search(r"(\d+) more options?: .*--help-all", few)
    assert told
    assert int(told[1]) == len(left_out)
    assert "--help-all" not in left_out


@pytest.mark.parametrize("name", ["doctor", "models", "note"])
def test_a_command_of_few_options_shows_all_of_them(name):
    assert "--help-all" not in ragstone(name, "--help").out
    assert ragstone(name, "--help-all").code == 2


def test_the_bar_of_agree_is_no_rare_option():
    assert "--trust" in options("agree")
    assert "--trust" not in options("judge")


def test_every_rare_option_is_one_of_some_command():
    assert set().union(*map(declared, ALL)) >= RARE


def test_an_option_that_help_leaves_out_is_taken():
    assert "--engine" not in options("judge")
    ran = ragstone("judge", "none.jsonl", "--judge", "containment", "--engine", "local")
    assert (ran.code, "none.jsonl" in ran.err) == (2, True)
