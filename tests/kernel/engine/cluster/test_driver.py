"""Who gets which block, and what becomes of that of a worker that is gone; actors are stand-ins."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragstone.kernel.config import EngineSection, Settings
from ragstone.kernel.engine.cluster import driver
from ragstone.kernel.engine.cluster._worker import BlockMade
from ragstone.kernel.engine.cluster.driver import Cluster, Workers
from ragstone.kernel.engine.cluster.spec import stage_spec
from ragstone.kernel.engine.cluster.starting import RayAddress
from ragstone.kernel.engine.session import open_session
from ragstone.kernel.errors import RagstoneError

ray = pytest.importorskip("ray")
from ray.exceptions import ActorDiedError  # noqa: E402 - ray is an extra


class StandIn:
    """A worker: `block` is what it does; nobody is asked where one is."""

    def __init__(self, block, opened=None) -> None:
        self.open = SimpleNamespace(remote=opened or self._open)
        self.block = SimpleNamespace(remote=block)

    async def _open(self) -> None:
        pass


async def echo(rows: list[bytes]) -> BlockMade:
    await asyncio.sleep(0)
    return BlockMade([row.upper() for row in rows])


async def dies(*_rows: object) -> BlockMade:
    raise ActorDiedError


async def done(monkeypatch, folder: Path, *actors: StandIn, n_workers: int = 1) -> tuple[list, list[str]]:
    """Return what becomes of three blocks, and the workers that the coordinator was told are gone."""
    waiting, left = list(actors), []

    async def leave(worker: str) -> None:
        left.append(worker)

    made = SimpleNamespace(remote=lambda *_begin: waiting.pop(0))
    monkeypatch.setattr(ray, "remote", lambda **_room: lambda _kind: made)
    monkeypatch.setattr(ray, "kill", lambda _actor: None)
    monkeypatch.setattr(ray, "available_resources", lambda: {"CPU": 0.0})
    monkeypatch.setattr(driver, "AGAIN_S", 0.0)
    cluster = Cluster(RayAddress("node", 1), SimpleNamespace(leave=SimpleNamespace(remote=leave)))
    settings = Settings(engine=EngineSection(kind="ray"), root=str(folder))
    async with open_session(settings) as session:
        workers = Workers(cluster, stage_spec("echo", settings), session)
        for _ in range(n_workers):
            workers.start()
        try:
            return await asyncio.gather(*(workers.do([b"a%d" % n]) for n in range(3))), left
        finally:
            await workers.end()


async def test_the_blocks_of_a_worker_that_is_gone_are_done_by_the_one_in_its_place(monkeypatch, tmp_path):
    made, left = await done(monkeypatch, tmp_path, StandIn(dies), StandIn(echo))
    assert made == [BlockMade([b"A0"]), BlockMade([b"A1"]), BlockMade([b"A2"])]
    assert len(left) == 1


async def test_they_are_done_by_the_others_where_no_other_can_be_started(monkeypatch, tmp_path):
    async def waits_for_room() -> None:
        await asyncio.Event().wait()

    actors = StandIn(dies), StandIn(echo), StandIn(echo, waits_for_room)
    made, left = await done(monkeypatch, tmp_path, *actors, n_workers=2)
    assert [block.made for block in made] == [[b"A0"], [b"A1"], [b"A2"]]
    assert len(left) == 1


async def test_a_worker_that_cannot_begin_ends_the_run_with_the_reason(monkeypatch, tmp_path):
    actors = [StandIn(echo, dies) for _ in range(driver.STARTS)]
    with pytest.raises(RagstoneError, match="the cluster could not continue"):
        await done(monkeypatch, tmp_path, *actors)


async def test_a_run_without_a_worker_ends_and_says_what_one_needs(monkeypatch, tmp_path):
    async def waits_for_room() -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(driver, "START_S", 0.0)
    with pytest.raises(RagstoneError, match=r"no worker is left.*each needs 1 CPUs"):
        await done(monkeypatch, tmp_path, StandIn(echo, waits_for_room))
