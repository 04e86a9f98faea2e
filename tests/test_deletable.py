"""A feature that nobody else uses can be deleted: its folder, its tests, its lines; the rest stands.

What is deleted is a copy. The rest is imported, module by module, and lists its commands: in a process that
has the packages of others already, forked from one that imported all. Tests that take a feature beside a room
that is not its own are in tests/together, so what is beside a room tests it without.
"""

import os
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
# Imports all of the package, forgets what is ours, and then tries each copy whose folder is on a line of its
# input, in a process of its own. It answers with that one's exit code; what went wrong is in wrong.txt there.
EACH = """
import gc, importlib, os, pathlib, sys, traceback

gc.disable()  # all that is imported stays

def try_all(folder):
    sys.path.insert(0, folder)
    import ragstone
    root = pathlib.Path(ragstone.__file__).parent
    assert root.parent == pathlib.Path(folder), root
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

def forget_ours():
    ours = ("ragstone", "ragstone_assistant")
    for name in [name for name in sys.modules if name.partition(".")[0] in ours]:
        del sys.modules[name]
    sys.path_importer_cache.clear()

whole, assistant = sys.argv[1:]
sys.path.insert(0, assistant)
try_all(whole)
sys.path.remove(whole)
forget_ours()
print("ready", flush=True)
for line in sys.stdin:
    folder = line.rstrip("\\n")
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            try_all(folder)
        except BaseException:
            pathlib.Path(folder, "wrong.txt").write_text(traceback.format_exc())
            os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
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


TAKEN = re.compile(
    r"^ *(?:from|import) (ragstone|tests)\.features(?:\.(\w+)| import \(?([\w, \n]+))", re.MULTILINE
)


def taken_by_tests(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (file, ragstone or tests, feature) where tests below a folder import a feature, or its tests."""
    for path in sorted(folder.rglob("*.py")):
        for package, feature, several in TAKEN.findall(path.read_text(encoding="utf-8")):
            for name in re.findall(r"\w+", feature or several):
                yield str(path.relative_to(ROOT)), package, name


def test_tests_of_the_kernel_import_no_feature():
    kernel = ROOT / "tests" / "kernel"
    assert {file for file, package, _ in taken_by_tests(kernel) if package == "ragstone"} == set()


@pytest.mark.house
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


@pytest.fixture(scope="module")
def importer() -> Iterator[subprocess.Popen[str]]:
    """A process that answers a line with a folder by the exit code of one that imported all of it."""
    if not hasattr(os, "fork"):
        pytest.skip("needs a system that forks processes")
    command = [sys.executable, "-c", EACH, str(PACKAGE.parent), str(house.PACKAGES[1].parent)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.stdin.close()


def copied(folder: Path) -> Path:
    """Return a copy of the package, with what was compiled of it."""
    package = folder / "ragstone"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("*-pytest-*.pyc"))
    return package


def wrong_in(folder: Path, importer: subprocess.Popen[str]) -> str:
    """Return what goes wrong when all of a folder's package is imported, empty where nothing does."""
    assert importer.stdin is not None
    assert importer.stdout is not None
    print(folder, file=importer.stdin, flush=True)
    code = importer.stdout.readline()
    return "" if code == "0\n" else f"{code}{(folder / 'wrong.txt').read_text('utf-8')}"


@pytest.mark.house
def test_what_lacks_is_said(importer, tmp_path):
    package = copied(tmp_path)
    shutil.rmtree(package / "features" / "compare")
    assert "No module named 'ragstone.features.compare'" in wrong_in(tmp_path, importer)


@pytest.mark.house
@pytest.mark.parametrize("feature", FEATURES)
def test_the_rest_stands_without_it(feature, tmp_path, request):
    if feature in used():
        pytest.skip("others use it")
    package = copied(tmp_path)
    shutil.rmtree(package / "features" / feature)
    for table in TABLES:
        path = package / table
        path.write_text(without_lines(path.read_text("utf-8"), feature), encoding="utf-8")
    assert wrong_in(tmp_path, request.getfixturevalue("importer")) == ""
