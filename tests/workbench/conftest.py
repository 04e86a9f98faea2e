"""A project with a folder of runs, and the workbench that shows it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient
from tests.support.workbench import create_workbench, opened

from ragstone.kernel.config import load_settings
from ragstone.workbench.desk import Workbench

HERE = "http://127.0.0.1"  # a server on this machine refuses every other name
Client = TestClient[Litestar]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The folder of a project, with an empty folder of runs."""
    folder = tmp_path / "project"
    (folder / "runs").mkdir(parents=True)
    (folder / "ragstone.toml").write_text('[run]\nname = "mine"\n')
    return folder


@pytest.fixture
def bench(project: Path) -> Workbench:
    return Workbench(load_settings(project / "ragstone.toml"))


@pytest.fixture
def client(project: Path) -> Iterator[Client]:
    with opened(create_workbench(load_settings(project / "ragstone.toml"))) as visiting:
        yield visiting
