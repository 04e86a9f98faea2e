"""docs/dependencies.md names what pyproject.toml asks for."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
ROW = re.compile(
    r"^\| ([\w-]+) \| ([\w, -]+) \| .* \| \[[^]]+\]\(([^)]+)\) \| .+ \| .+ \| .+ \|$", re.MULTILINE
)


def asked_for() -> dict[str, set[str]]:
    """Return each package that is asked for -> the extras that ask for it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {"base": project["dependencies"], **project["optional-dependencies"]}
    found: dict[str, set[str]] = {}
    for extra, wanted in extras.items():
        for name in (re.split(r"[^\w-]", each)[0] for each in wanted if extra != "dev"):
            found.setdefault(name, set()).add(extra)
    del found["ragstone"]
    return found


def test_the_page_names_every_package_with_its_extras_and_no_other():
    assert {name: set(extras.split(", ")) for name, extras, _file in ROW.findall(PAGE)} == asked_for()


def test_the_files_it_points_at_are_there():
    files = [file for _name, _extras, file in ROW.findall(PAGE)]
    assert [file for file in files if not (ROOT / "docs" / file).is_file()] == []


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
