"""Fixtures: a project with an empty folder of runs, the state of a workbench that shows it, and its client.

A test module that needs them imports them: `from tests.support.served_project import client, project`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.workbench import Client, create_workbench, opened

from ragstone.kernel.config import load_settings
from ragstone.kernel.serve.state import AppState
from ragstone.workbench.app import open_state


def made_project(parent: Path) -> Path:
    """Make the folder of a project, with an empty folder of runs, and return it."""
    folder = parent / "project"
    (folder / "runs").mkdir(parents=True)
    (folder / "ragstone.toml").write_text('[run]\nname = "mine"\n')
    return folder


def served(project: Path) -> Client:
    """Return a client of the workbench that shows a project; it enters and leaves the application's life."""
    return opened(create_workbench(load_settings(project / "ragstone.toml")))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The folder of a project, with an empty folder of runs."""
    return made_project(tmp_path)


@pytest.fixture
def state(project: Path) -> AppState:
    return open_state(load_settings(project / "ragstone.toml"))


@pytest.fixture
def client(project: Path) -> Iterator[Client]:
    with served(project) as visiting:
        yield visiting
