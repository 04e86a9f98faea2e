"""What `make dist` makes: the same bytes twice, all that a package needs, and a newcomer gets on with it."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.support.once import made_once

from ragstone.kernel.version import __version__

pytestmark = [pytest.mark.server, pytest.mark.timeout(700)]  # it waits for a package registry

ROOT = Path(__file__).parents[1]


def skip_without_packages(folder: Path) -> None:
    """Skip where the registry gives no package at all. Else what could not be installed is a failure."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-cache-dir", "--retries", "1"]
    asked = subprocess.run([*command, "-d", folder, "pip"], capture_output=True, text=True, check=False)
    if asked.returncode:
        pytest.skip(f"nothing can be installed here: {asked.stderr.strip().splitlines()[-1]}")


def folder_with_uv(folder: Path) -> Path:
    """Return a folder of programs with uv: that of this environment, where `make test` has put one."""
    ours = Path(sys.executable).with_name("uv")
    if ours.exists():
        folder.mkdir()
        (folder / "uv").symlink_to(ours)
        return folder
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", folder, "uv"]
    subprocess.run(command, capture_output=True, check=True)
    return folder / "bin"


def make_dist(checkout: Path, dist: Path, *more_path: Path) -> None:
    """Build the last commit of a checkout. Skips where no package can be had."""
    path = os.pathsep.join(map(str, [*more_path, os.environ["PATH"]]))
    command = ["make", "-s", "dist", f"DIST={dist}", f"PYTHON={sys.executable}"]
    made = subprocess.run(
        command, cwd=checkout, env={**os.environ, "PATH": path},
        capture_output=True, text=True, check=False, timeout=280,
    )  # fmt: skip
    if made.returncode:
        skip_without_packages(dist.parent / "asked")
    assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-4000:]
    assert (made.stdout.count("PASSED"), made.stdout.count(".whl: OK")) == (4, 2)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("no checkout: a commit is what is built")
    return made_once(tmp_path_factory, "dist", lambda folder: make_dist(ROOT, folder / "one")) / "one"


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def tracked(folder: str) -> set[str]:
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "HEAD", folder], cwd=ROOT, capture_output=True, check=True
    )
    return {line.decode().removeprefix(f"{folder}/") for line in listed.stdout.splitlines()}


def test_another_clone_of_the_commit_gives_the_same_bytes(dist, tmp_path):
    clone = tmp_path / "a clone elsewhere"
    subprocess.run(["git", "clone", "-q", "--no-checkout", ROOT, clone], check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    subprocess.run(["git", "checkout", "-q", head.stdout.strip()], cwd=clone, check=True)
    (clone / "src" / "ragstone" / "stray.py").write_text("not = 'committed'\n")
    # The first build installed uv for itself; this one finds it on its way.
    make_dist(clone, tmp_path / "two", folder_with_uv(tmp_path / "uv"))
    assert digests(tmp_path / "two") == digests(dist)


@pytest.mark.parametrize(
    ("name", "source"),
    [("ragstone", "src"), ("ragstone_assistant", "packages/ragstone-assistant/src")],
)
def test_a_wheel_holds_each_committed_file_of_its_package_and_its_licence(dist, name, source):
    with zipfile.ZipFile(dist / f"{name}-{__version__}-py3-none-any.whl") as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read(f"{name}-{__version__}.dist-info/METADATA").decode()
    info = {each for each in names if each.startswith(f"{name}-{__version__}.dist-info/")}
    assert names - info == tracked(source)
    assert f"{name}-{__version__}.dist-info/licenses/LICENSE" in info
    assert f"\nVersion: {__version__}\n" in metadata
    links = re.findall(r"\]\(([^)\s]+)\)", metadata)
    assert len(links) >= 3
    assert [link for link in links if not re.match(r"https://|#", link)] == []
    assert "github.com/ragstone/ragstone/blob/main/" not in metadata.partition("\n\n")[2]  # but this version


def test_the_source_distribution_holds_what_tests_and_docs_need(dist):
    with tarfile.open(dist / f"ragstone-{__version__}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("src", "tests", "docs", "examples", "benchmarks", "skills"):
        assert {f"{folder}/{name}" for name in tracked(folder)} <= names, folder
    assert {"LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "pyproject.toml"} <= names


def test_a_newcomer_gets_on_with_the_wheel_alone(dist, tmp_path):
    command = [sys.executable, ROOT / "tests" / "newcomer.py", dist]
    walked = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    if walked.returncode:
        skip_without_packages(tmp_path)
    assert walked.returncode == 0, walked.stdout + walked.stderr
    done = re.findall(r"^ok .* ragstone (\S+)", walked.stdout, re.MULTILINE)
    assert done == ["--help", "judge", "report", "demo", "new", "schema", "judges", "doctor"]
