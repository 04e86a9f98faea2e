"""docs/reference/dependencies.md names what pyproject.toml asks for."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from tests.support.house import nodes_of

from ragstone.kernel.errors import MissingExtra, optional_package

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reference/dependencies.md").read_text("utf-8")
ROW = re.compile(
    r"^\| ([\w-]+) \| ([\w, -]+) \| .* \| \[[^]]+\]\(([^)]+)\) \| .+ \| .+ \| .+ \|$", re.MULTILINE
)


@cache
def packages_here() -> Mapping[str, list[str]]:
    """Return each module that is installed -> the packages that bring it."""
    return packages_distributions()


def asked_for() -> dict[str, set[str]]:
    """Return each package that is asked for -> the extras that ask for it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {"base": project["dependencies"], **project["optional-dependencies"]}
    found: dict[str, set[str]] = {}
    for extra, wanted in extras.items():
        for name in (re.split(r"[^\w-]", each)[0] for each in wanted if extra != "dev"):
            found.setdefault(name, set()).add(extra)
    del found["ragstone"], found["ragstone-assistant"]  # ours
    return found


def test_the_page_names_every_package_with_its_extras_and_no_other():
    assert {name: set(extras.split(", ")) for name, extras, _file in ROW.findall(PAGE)} == asked_for()


def test_the_files_it_points_at_are_there():
    files = [file for _name, _extras, file in ROW.findall(PAGE)]
    assert [file for file in files if not (ROOT / "docs" / "reference" / file).is_file()] == []


@pytest.mark.long
def test_as_many_files_name_a_package_as_it_says():
    modules: dict[str, list[str]] = {}
    for module, packages in packages_here().items():
        for package in packages:
            modules.setdefault(package.lower(), []).append(module)
    texts = [
        file.read_text("utf-8")
        for folder in (ROOT / "src", ROOT / "packages" / "ragstone-assistant" / "src")
        for file in folder.rglob("*.py")
    ]
    stated = re.findall(r"^\| ([\w-]+) \|.*\b(\d+) files\b.*\|$", PAGE, re.MULTILINE)
    assert len(stated) > 5
    for package, n_files in stated:
        named = re.compile(rf"^ *(?:from|import) (?:{'|'.join(modules[package])})\b", re.MULTILINE)
        assert (package, sum(bool(named.search(text)) for text in texts)) == (package, int(n_files))


def test_every_bound_that_it_says_was_raised_stands_in_the_file():
    stated = re.search(r"\| what failed below \|\n.*\n((?:\|.*\n)+)", PAGE)
    assert stated is not None
    pairs = re.findall(
        r"([a-z][\w-]+) (\d[\d.]+)(?=[,| ])",
        "".join(row.split("|")[1] + "|" for row in stated[1].splitlines()),
    )
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert len(pairs) >= 12
    assert [pair for pair in pairs if f'"{pair[0]}>={pair[1]}' not in text] == []


def guarded_imports() -> Iterator[tuple[str, str, set[str]]]:
    """Give (place, extra, packages) of each block of imports that names an extra where one of them fails."""
    for file in sorted((ROOT / "src").rglob("*.py")):
        if "optional_package" not in file.read_text("utf-8"):
            continue
        for block in nodes_of(file):
            call = block.items[0].context_expr if isinstance(block, ast.With) else None
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "optional_package":
                imported = [one for one in ast.walk(block) if isinstance(one, ast.Import | ast.ImportFrom)]
                names = [getattr(one, "module", one.names[0].name).partition(".")[0] for one in imported]
                yield f"{file.name}:{call.lineno}", getattr(call.args[1], "value", ""), {*names}


@pytest.mark.long
def test_an_import_that_fails_names_an_extra_that_asks_for_the_package():
    packages, wanted, blocks = packages_here(), asked_for(), [*guarded_imports()]
    assert len(blocks) > 15
    for place, extra, names in blocks:
        for name in names - {"ragstone", "referencing"}:  # which jsonschema brings
            of = packages.get(name, [name.replace("_", "-")])
            known = {each for each in of if extra in wanted.get(each, ())}
            assert known or not isinstance(extra, str), f"{place}: {extra!r} asks for no {name}"


def test_a_missing_package_is_an_error_that_names_the_command():
    told = r"^a note needs .* pip install 'ragstone\[none\]'$"
    with pytest.raises(MissingExtra, match=told), optional_package("a note", "none"):
        import no_such_package  # noqa: F401
