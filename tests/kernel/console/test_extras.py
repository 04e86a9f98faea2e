"""The table of extras is that of pyproject.toml, and each is seen by packages that it brings."""

import re
import tomllib
from collections.abc import Mapping
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from ragstone.kernel.console.extras import EXTRAS, Extra, is_installed

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ASSISTANT = tomllib.loads((ROOT / "packages/ragstone-assistant/pyproject.toml").read_text("utf-8"))["project"]
OF_PYPROJECT: dict[str, list[str]] = PROJECT["optional-dependencies"]


def brought(extra: str) -> set[str]:
    """Return the packages that an extra asks for, itself or by naming others."""
    return {name for wanted in OF_PYPROJECT[extra] for name in packages_of(wanted)}


def packages_of(wanted: str) -> set[str]:
    """Return the packages that a requirement asks for: of ours, those behind it."""
    others = re.match(r"ragstone\[([\w,-]+)\]", wanted)
    if others:
        return {name for other in others[1].split(",") for name in brought(other)}
    name = re.split(r"[^\w-]", wanted)[0].lower()
    behind = ASSISTANT["dependencies"] if name == ASSISTANT["name"] else []
    return {name} | {package for more in behind for package in packages_of(more)}


def test_every_extra_that_a_user_can_install_has_its_line():
    assert EXTRAS.keys() == OF_PYPROJECT.keys() - {"all", "dev"}


@pytest.fixture(scope="module")
def packages() -> Mapping[str, list[str]]:
    """Module -> the packages that hold it, of all that is installed."""
    return packages_distributions()


@pytest.mark.long
@pytest.mark.parametrize("name", EXTRAS)
def test_an_extra_is_seen_by_modules_of_packages_that_it_brings(name, packages):
    for module in EXTRAS[name].modules:
        top = module.partition(".")[0]
        known = {package.lower().replace("_", "-") for package in packages.get(top, [top.replace("_", "-")])}
        assert known & brought(name), f"{name} brings none of {known}"


def test_a_module_whose_package_is_missing_is_missing():
    assert not is_installed("no_such_package.part")
    assert Extra("nothing", ("json", "no_such_package")).missing == ["no_such_package"]
