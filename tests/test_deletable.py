"""A feature that nobody else uses can be deleted: its folder, its tests, its lines; the rest stands.

What is deleted is a copy. The rest is imported, module by module, and lists its commands. Tests that take a
feature beside a room that is not its own are in tests/together, so what is beside a room tests it without.
"""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.support import house

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "ragstone"
TABLES = ("cli/app.py", "workbench/pages.py", "notebook.py", "features/__init__.py", "__init__.pyi")
FEATURES = sorted(path.parent.name for path in (PACKAGE / "features").glob("*/__init__.py"))
REST = """
import importlib, pathlib, sys
import ragstone
root = pathlib.Path(ragstone.__file__).parent
for path in sorted(root.rglob("*.py")):
    name = ".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")
    if name != "ragstone.__main__":
        importlib.import_module(name)
for name in ragstone.__all__:
    getattr(ragstone, name)
from typer.testing import CliRunner
from ragstone.cli.app import app_of
shown = CliRunner().invoke(app_of(), ["--help"])
assert shown.exit_code == 0, shown.output
"""


@cache
def used() -> set[str | None]:
    """Return the features that other features, or what shows features, import."""
    return {
        house.feature_of(each.giver)
        for each in house.imports()
        if house.feature_of(each.giver) != house.feature_of(each.taker) and each.taker != "ragstone"
    }


def without_lines(text: str, feature: str) -> str:
    """Return a table without the lines that name the feature, and without a group that has none left."""
    named = re.compile(rf"features\.{feature}[.\"]")
    kept = "".join(line for line in text.splitlines(keepends=True) if not named.search(line))
    return re.sub(r'^ *"\w+": \(\n *"[^\n]*",\n *\{\n *\},\n *\),\n', "", kept, flags=re.MULTILINE)


@pytest.mark.house
def test_half_of_the_features_are_used_by_no_other():
    assert len(set(FEATURES) - used()) >= 14


TAKEN = re.compile(r"(ragstone|tests)\.features\.(\w+)")


def taken_by_tests(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (file, ragstone or tests, feature) where tests below a folder import a feature, or its tests."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(house.tree_of(path)):
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{each.name}" for each in node.names]
            elif isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            else:
                continue
            for match in filter(None, map(TAKEN.match, names)):
                yield str(path.relative_to(ROOT)), match[1], match[2]


def test_tests_of_the_kernel_import_no_feature():
    kernel = ROOT / "tests" / "kernel"
    assert {file for file, package, _ in taken_by_tests(kernel) if package == "ragstone"} == set()


def test_tests_of_a_feature_import_no_other_that_can_be_deleted():
    deletable = set(FEATURES) - used()
    folders = {feature: ROOT / "tests" / "features" / feature for feature in FEATURES}
    taken = {
        (file, other)
        for feature, folder in folders.items()
        for file, _, other in taken_by_tests(folder)
        if other != feature and other in deletable
    }
    assert taken == set()


@pytest.mark.house
@pytest.mark.parametrize("feature", FEATURES)
def test_the_rest_stands_without_it(feature, tmp_path):
    if feature in used():
        pytest.skip("others use it")
    package = tmp_path / "ragstone"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(package / "features" / feature)
    for table in TABLES:
        path = package / table
        path.write_text(without_lines(path.read_text("utf-8"), feature), encoding="utf-8")
    assistant = str(house.PACKAGES[1].parent)
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {assistant!r}]" + REST],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
