"""The process of a worker: one that cannot begin says so, and keeps nobody waiting."""

import msgspec
import pytest

from ragstone.config import Settings
from ragstone.engine.cluster import actors
from ragstone.engine.cluster.actors import StageWorker
from ragstone.engine.cluster.spec import stage_spec
from ragstone.engine.cluster.worker import Begin
from ragstone.llm import Caps


def test_a_worker_that_cannot_begin_says_why_and_keeps_nobody_waiting(tmp_path, monkeypatch):
    async def live(_worker, _ready):
        raise ConnectionError("the desk is gone")

    monkeypatch.setattr(StageWorker, "_live", live)
    monkeypatch.setattr(actors, "Channel", lambda *_functions: None)
    spec = stage_spec("judge", Settings(root=str(tmp_path)), judges=[])
    begin = Begin(spec=spec, caps=Caps(), offline=True, secret=b"s", environment={})
    with pytest.raises(RuntimeError, match="could not begin: the desk is gone"):
        StageWorker(msgspec.msgpack.encode(begin), None)
