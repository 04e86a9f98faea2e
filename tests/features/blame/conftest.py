"""A finished run, made once and copied for each test."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.fake_openai import FakeOpenAI, serving
from tests.support.planted_faults import FAULTS
from tests.support.planted_run import plant_run
from tests.support.scripts import Script

import ragstone
from ragstone.kernel.config import Settings

MISSED = FAULTS["a retriever that drops the document of 30 % of the questions"][0]


@dataclass(frozen=True)
class PlantedRun:
    """The folder of a finished run of 30 questions, and the endpoint that its settings name."""

    folder: Path
    fake: FakeOpenAI
    script: Script


@pytest.fixture(scope="package")
def planted_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlantedRun]:
    """A run with a retriever that misses documents."""
    with serving() as fake:
        folder = tmp_path_factory.mktemp("planted")
        ragstone.run(plant_run(folder, fake, MISSED, seed=1, n=30))
        yield PlantedRun(folder, fake, fake.script)


@pytest.fixture
def fake_openai(planted_run: PlantedRun) -> FakeOpenAI:
    """The endpoint of the finished run, as it was then."""
    planted_run.fake.script = planted_run.script
    return planted_run.fake


@pytest.fixture
def project(planted_run: PlantedRun, answering_here: None, tmp_path: Path) -> Settings:
    """A project with the finished run: its settings."""
    shutil.copytree(planted_run.folder, tmp_path, dirs_exist_ok=True)
    return ragstone.load_settings(tmp_path / "ragstone.toml")
