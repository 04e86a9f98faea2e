"""Blocks of a worker: rows in order, errors in the local engine's words, what a stop leaves unfinished."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import pytest

from ragstone.config import Settings, choose
from ragstone.engine.cluster import worker as workers
from ragstone.engine.cluster.blocks import BlockMade
from ragstone.engine.cluster.messages import ToDesk
from ragstone.engine.cluster.spec import RowOutcome, StageSpec, stage_spec
from ragstone.engine.cluster.worker import Begin, SharedBudget, Worker, described, error_of
from ragstone.errors import ConfigError, ModelError
from ragstone.llm import Caps
from ragstone.llm.limits import CallsStopped, GivenUp


class Silent:
    """A line that nobody hears."""

    def tell(self, message: ToDesk, hurry: bool = False) -> None:
        pass


def begin_of(folder: Path) -> Begin:
    spec = stage_spec("echo", Settings(root=str(folder)))
    return Begin(spec=spec, caps=Caps(), offline=False, secret=b"s", environment={})


async def block_of(monkeypatch, folder: Path, work, *rows: bytes, halted: bool = False) -> BlockMade:
    """Return what a worker makes of a block, where the stage is this function."""

    async def build(_spec, _session):
        return work

    monkeypatch.setattr(workers, "builder_named", {"echo": build}.__getitem__)
    begin = begin_of(folder)
    async with AsyncExitStack() as stack:
        worker = Worker(begin, Silent(), SharedBudget(Silent(), begin.caps), stack)
        if halted:
            worker.halt()
            await asyncio.sleep(0.01)
        return await worker.block(3, rows)


async def slow_first(row: bytes) -> RowOutcome:
    await asyncio.sleep(0.02 if row == b"a" else 0)
    return RowOutcome([row.upper()])


async def test_rows_come_back_in_their_order_whichever_was_done_first(monkeypatch, tmp_path):
    made = await block_of(monkeypatch, tmp_path, slow_first, b"a", b"b")
    assert made == BlockMade(3, [RowOutcome([b"A"]), RowOutcome([b"B"])])


async def test_an_error_ends_the_block_at_its_row(monkeypatch, tmp_path):
    async def work(row: bytes) -> RowOutcome:
        if row == b"b":
            raise ModelError("no such model")
        return RowOutcome([row])

    made = await block_of(monkeypatch, tmp_path, work, b"a", b"b", b"c")
    assert made == BlockMade(3, [RowOutcome([b"a"])], ("ModelError", "no such model"))


async def test_rows_that_a_stop_kept_from_their_calls_are_left_out(monkeypatch, tmp_path):
    async def work(row: bytes) -> RowOutcome:
        if row == b"a":
            raise CallsStopped("the run was stopped")
        return RowOutcome([row])

    made = await block_of(monkeypatch, tmp_path, work, b"a", b"b")
    assert made == BlockMade(3, [None, RowOutcome([b"b"])])


async def test_a_block_that_comes_after_a_stop_is_not_begun(monkeypatch, tmp_path):
    made = await block_of(monkeypatch, tmp_path, slow_first, b"a", b"b", halted=True)
    assert made == BlockMade(3, [None, None])


@pytest.mark.parametrize("mistake", [ConfigError("a"), ModelError("b"), GivenUp("c")])
def test_an_error_comes_back_as_it_was(mistake):
    told = error_of(described(mistake))
    assert (type(told), str(told)) == (type(mistake), str(mistake))


def test_what_was_not_foreseen_comes_back_with_its_traceback():
    told = error_of(described(ZeroDivisionError("division by zero")))
    assert "ZeroDivisionError: division by zero" in str(told)


def test_a_spec_survives_the_way_to_a_worker(tmp_path):
    settings = choose(Settings(root=str(tmp_path)), "engine", kind="ray")
    spec = stage_spec("judge", settings, n=[1, 2])
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(spec), type=StageSpec)
    assert again.argument("n", list[int]) == [1, 2]
    assert again.settings.engine.kind == "local"  # a worker hands no rows on
    assert again.settings.root == str(tmp_path)
