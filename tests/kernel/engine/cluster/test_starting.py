"""What is wrong with a cluster is said before anything is paid for, with what to do."""

import signal

import pytest

from ragstone.kernel.config import EngineSection, Settings, choose
from ragstone.kernel.engine.cluster._troubles import explained
from ragstone.kernel.engine.cluster.starting import check_versions, connected, cpus_here, refusal
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.version import __version__


def test_a_node_without_ragstone_or_with_another_is_named_with_both_versions():
    with pytest.raises(ConfigError, match=rf"node 10\.0\.0\.2 has no Ragstone, this machine {__version__}"):
        check_versions("10.0.0.2", "3.11.7", "none")
    with pytest.raises(ConfigError, match=rf"has Ragstone 0\.0\.1.*'ragstone\[ray\]=={__version__}'"):
        check_versions("10.0.0.2", "3.11.7", "0.0.1")


def test_another_minor_version_of_python_is_named():
    with pytest.raises(ConfigError, match=r"node 10\.0\.0\.2 runs Python 2\.7\.18"):
        check_versions("10.0.0.2", "2.7.18", __version__)


def test_a_full_disk_is_said_as_such(says):
    told = explained(OSError("task failed\n[Errno 28] No space left on device"))
    assert isinstance(told, DataError)
    says(str(told))


def test_what_else_ray_says_is_one_line_that_says_what_to_do(says):
    told = explained(RuntimeError("Traceback\n  many lines\nActorDiedError: the actor died\n"))
    says(str(told))
    assert "\n" not in str(told)


def test_a_cluster_that_asks_for_a_token_is_not_called_absent(says):
    mistake = ConnectionError("Failed to connect")
    mistake.__cause__ = RuntimeError("Unauthenticated: RPC error: InvalidAuthToken")
    says(refusal("auto", mistake))
    assert "no Ray cluster" in refusal("auto", ConnectionError("Failed to connect"))


def test_an_address_of_rays_client_is_refused_with_what_to_do(tmp_path):
    pytest.importorskip("ray")
    settings = choose(Settings(root=str(tmp_path)), "engine", kind="ray", address="ray://head:10001")
    with pytest.raises(ConfigError, match=r"(?s)Ray's client.*ray start --address"), connected(settings):
        pass


def test_a_ray_that_is_started_here_gives_away_no_more_cpus_than_there_are():
    assert cpus_here(EngineSection(workers=1), 2) == 1
    assert cpus_here(EngineSection(workers=3, worker_cpus=0.5), 2) == 2
    assert cpus_here(EngineSection(), 2) == 2
    assert cpus_here(EngineSection(workers=50), 2) == 2  # and then there is no room for 50, which is said


def test_sigterm_does_what_it_did_before_ray_was_started(monkeypatch, tmp_path):
    ray = pytest.importorskip("ray")
    before = signal.getsignal(signal.SIGTERM)

    def takes_over(**_: object) -> None:
        signal.signal(signal.SIGTERM, lambda *_: None)
        raise ConnectionError("nobody is there")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", takes_over)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    engine = EngineSection(kind="ray", address="auto")
    with (
        pytest.raises(ConfigError, match="no Ray cluster at 'auto'"),
        connected(Settings(engine=engine, root=str(tmp_path))),
    ):
        pass
    assert signal.getsignal(signal.SIGTERM) == before
