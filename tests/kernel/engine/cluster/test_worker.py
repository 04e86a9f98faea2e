"""Blocks of a worker: rows in order, errors in the local engine's words, what a stop leaves unfinished."""

import asyncio
from pathlib import Path

import pytest

from ragstone.kernel.config import Settings, choose
from ragstone.kernel.engine.cluster import _worker as workers
from ragstone.kernel.engine.cluster._coordinator import Coordinator
from ragstone.kernel.engine.cluster._worker import Begin, BlockMade, StageWorker
from ragstone.kernel.engine.cluster.spec import RowOutcome, portable, stage_spec
from ragstone.kernel.errors import ConfigError, MissingExtra, ModelError
from ragstone.kernel.llm import Caps
from ragstone.kernel.llm.limits import CallsStopped, GivenUp


async def block_of(monkeypatch, folder: Path, work, *rows: bytes, halted: bool = False) -> BlockMade:
    """Return what a worker makes of a block, where the stage is this function."""

    async def build(_spec, _session):
        return work

    async def exchange(calls):
        return await coordinator.exchange("a", calls)

    monkeypatch.setattr(workers, "build_work", build)
    coordinator = Coordinator(None, Caps())
    spec = stage_spec("echo", Settings(root=str(folder)))
    worker = StageWorker(Begin(spec, Caps(), offline=False, secret=b"s", environment={}, learnt={}), exchange)
    await worker.open()
    try:
        if halted:
            await worker.halt()
        return await worker.block(rows)
    finally:
        await worker.close()


def of(row: bytes) -> RowOutcome:
    return RowOutcome(row.upper(), [])


async def slow_first(row: bytes) -> RowOutcome:
    await asyncio.sleep(0.02 if row == b"a" else 0)
    return of(row)


async def test_rows_come_back_in_their_order_whichever_was_done_first(monkeypatch, tmp_path):
    made = await block_of(monkeypatch, tmp_path, slow_first, b"a", b"b")
    assert made == BlockMade([of(b"a"), of(b"b")])


async def test_an_error_ends_the_block_at_its_row(monkeypatch, tmp_path):
    async def work(row: bytes) -> RowOutcome:
        if row == b"b":
            raise ModelError("no such model")
        return of(row)

    made, error = await block_of(monkeypatch, tmp_path, work, b"a", b"b", b"c")
    assert made == [of(b"a")]
    assert (type(error), str(error)) == (ModelError, "no such model")


async def test_rows_that_a_stop_kept_from_their_calls_are_left_out(monkeypatch, tmp_path):
    async def work(row: bytes) -> RowOutcome:
        if row == b"a":
            raise CallsStopped("the run was stopped")
        return of(row)

    made = await block_of(monkeypatch, tmp_path, work, b"a", b"b")
    assert made == BlockMade([None, of(b"b")])


async def test_a_block_that_comes_after_a_stop_is_not_begun(monkeypatch, tmp_path):
    made = await block_of(monkeypatch, tmp_path, slow_first, b"a", b"b", halted=True)
    assert made == BlockMade([None, None])


@pytest.mark.parametrize("mistake", [ConfigError("a"), ModelError("b"), GivenUp("c")])
def test_an_error_comes_back_as_it_was(mistake):
    told = portable(mistake)
    assert (type(told), str(told)) == (type(mistake), str(mistake))


def test_an_error_that_needs_more_than_words_comes_back_as_the_kind_that_it_is_of():
    assert "pip install 'ragstone[pdf]'" in str(portable(MissingExtra("a PDF", "pdf")))


def test_what_was_not_foreseen_comes_back_with_its_traceback():
    assert "ZeroDivisionError: division by zero" in str(portable(ZeroDivisionError("division by zero")))


def test_a_spec_has_its_arguments_and_a_worker_hands_no_rows_on(tmp_path):
    settings = choose(Settings(root=str(tmp_path)), "engine", kind="ray")
    spec = stage_spec("judge", settings, n=[1, 2])
    assert spec.argument("n", list[int]) == [1, 2]
    assert spec.settings.engine.kind == "local"
    assert spec.settings.root == str(tmp_path)
