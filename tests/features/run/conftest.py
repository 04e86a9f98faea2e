"""The starter project, which most tests of a run begin with."""

import pytest

from ragstone.features.new.starter import copy_starter
from ragstone.kernel.config import load_settings


@pytest.fixture
def settings(tmp_path, fake_openai):
    """The starter, with the endpoint that answers."""
    copy_starter(tmp_path, "openai/fake")
    with (tmp_path / "ragstone.toml").open("a") as file:
        file.write("\n" + fake_openai.toml())
    return load_settings(tmp_path / "ragstone.toml")
