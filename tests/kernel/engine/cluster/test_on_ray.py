"""Judging on workers of a real Ray, one that is started once for all tests."""

import time

import pytest

from ragstone.kernel.config import Settings, choose
from ragstone.kernel.errors import ConfigError

pytestmark = pytest.mark.server


def test_no_cluster_at_the_address_is_said_within_seconds(tmp_path):
    from ragstone.kernel.engine.cluster.starting import connected

    started = time.monotonic()
    settings = choose(Settings(root=str(tmp_path)), "engine", kind="ray", address="127.0.0.1:1")
    words = r"no Ray cluster at '127\.0\.0\.1:1'.*ray start --head"
    with pytest.raises(ConfigError, match=words), connected(settings):
        pass
    assert time.monotonic() - started < 20
