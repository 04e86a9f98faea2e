"""The process of a worker: one that cannot begin says so, and keeps nobody waiting."""

import msgspec
import pytest

from ragstone.config import Settings
from ragstone.engine.cluster.actors import StageWorker
from ragstone.engine.cluster.spec import stage_spec
from ragstone.engine.cluster.worker import Begin
from ragstone.llm import Caps

pytest.importorskip("ray")


class NoDesk:
    """A desk that is gone: it has no method to call."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_worker_that_finds_no_desk_says_so_and_does_not_wait(tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_ENABLE_AUTO_CONNECT", "0")
    spec = stage_spec("judge", Settings(root=str(tmp_path)), judges=[])
    begin = Begin(spec=spec, caps=Caps(), offline=True, secret=b"s", environment={})
    with pytest.raises(RuntimeError, match="a worker could not begin"):
        StageWorker(msgspec.msgpack.encode(begin), NoDesk())
