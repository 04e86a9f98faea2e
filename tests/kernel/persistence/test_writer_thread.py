"""Threads that do the work of many: whatever the work raises, those who wait hear of it, and it goes on."""

import ast
import asyncio
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest
from tests.support import house
from tests.support.ledgers import key

from ragstone.kernel.engine.cluster._channel import Channel
from ragstone.kernel.engine.cluster._coordinator import Coordinator
from ragstone.kernel.errors import DataError
from ragstone.kernel.llm import Ledger
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.persistence.appending import Appender
from ragstone.kernel.persistence.writer_thread import WriterThread

ANY = [
    ValueError("odd"),
    OverflowError("Python int too large to convert to SQLite INTEGER"),
    RecursionError("deep"),
    MemoryError(),
    StopIteration("over"),
    SystemExit(3),
    KeyboardInterrupt(),
    GeneratorExit(),
    asyncio.CancelledError(),
]
WAITS_S = 60.0

# Every module that starts a thread of its own, and what is done there that none is waited for in vain.
THREADS = {
    "kernel.persistence.writer_thread": "here",
    "kernel.engine.cluster._channel": "here",
    "kernel.engine.progress_file": "tests/kernel/engine/test_progress_file.py",
    "kernel.config.python_function": "hands on BaseException through a Future",
    "kernel.embedding._background": "runs an event loop, which outlives what its tasks raise",
    "kernel.serve.jobs": "tells its life in a finally",
    "ragstone_assistant.log._spans": "does one thing, and is waited for with a timeout",
    "features.export.stream": "what it has not sent at the end counts as lost, whatever ended it",
    "features.watch.collector": "does one thing: it ends its process with the parent",
    "features.demo.pages": "tells its life in a finally",
    "features.watch._trace_index": "tells what ended it, and is begun again at the next look",
    "kernel.serve.rows.indexes": "says that it is done in a finally",
}


def failing_once(mistake: BaseException) -> Callable[[list[int]], Sequence[int]]:
    """Return work that raises this at its first jobs, and then doubles."""
    left = [mistake]

    def work(jobs: list[int]) -> Sequence[int]:
        if jobs and left:
            raise left.pop()
        return [2 * job for job in jobs]

    return work


@pytest.mark.parametrize("mistake", ANY, ids=lambda one: type(one).__name__)
async def test_all_who_wait_are_given_what_the_work_raises_and_the_next_are_served(mistake):
    thread: WriterThread[int, int] = WriterThread("test", failing_once(mistake), if_closed="closed")
    async with asyncio.timeout(WAITS_S):
        with pytest.raises(Exception) as told:
            await thread.post(1)
        assert type(mistake).__name__ in repr(told.value)
        assert await asyncio.gather(thread.post(2), thread.post(3)) == [4, 6]
    thread.close()


async def test_work_that_forgets_a_job_is_told_to_all_of_them(says):
    thread: WriterThread[int, int] = WriterThread("test", lambda jobs: jobs[1:], if_closed="closed")
    async with asyncio.timeout(WAITS_S):
        with pytest.raises(RuntimeError) as error:
            await thread.post(1)
        says(error.value)
    thread.close()


def test_a_mistake_while_nobody_waits_is_told_and_the_thread_ends_when_it_is_closed(caplog):
    def work(_jobs: list[int]) -> Sequence[int]:
        raise ZeroDivisionError("of idle work")

    thread: WriterThread[int, int] = WriterThread("idle", work, if_closed="closed", idle_s=0.01)
    thread.close()
    assert "idle: of idle work" in caplog.text


@pytest.mark.parametrize("mistake", ANY, ids=lambda one: type(one).__name__)
async def test_a_ledger_stores_the_next_response_after_one_that_could_not_be_stored(
    mistake, tmp_path, monkeypatch
):
    ledger = Ledger(tmp_path / "l.sqlite")
    whole, left = ledger._commit, [mistake]

    def commit(*arguments):
        if arguments[0] and left:
            raise left.pop()
        return whole(*arguments)

    monkeypatch.setattr(ledger, "_commit", commit)
    async with asyncio.timeout(WAITS_S):
        with pytest.raises(Exception):  # noqa: B017 - any
            await ledger.put(key(1), "m", Completion(text="one"))
        await ledger.put(key(2), "m", Completion(text="two"))
    ledger.close()
    again = Ledger(tmp_path / "l.sqlite")
    assert await again.find(key(1)) is None
    assert await again.find(key(2)) == Completion(text="two")
    again.close()


async def test_a_log_takes_the_next_line_after_one_that_cannot_be_made(tmp_path):
    log, now = Appender(tmp_path, "log", 10**6), datetime(2026, 1, 2, tzinfo=UTC)

    def odd() -> bytes:
        raise RecursionError("too deep")

    async with asyncio.timeout(WAITS_S):
        with pytest.raises(DataError, match="too deep"):
            await log.append(odd, now)
        await log.append(lambda: b"{}", now)
    log.close()
    (file,) = tmp_path.glob("*.jsonl")
    assert file.read_bytes() == b"{}\n"


async def test_a_worker_that_waits_for_the_coordinator_hears_of_any_mistake():
    left = [TypeError("cannot be pickled")]

    async def exchange(calls):
        if calls and left:
            raise left.pop()
        return [7] * len(calls)

    channel = Channel(exchange, lambda: None)
    channel.start()
    async with asyncio.timeout(WAITS_S):
        with pytest.raises(TypeError, match="cannot be pickled"):
            await channel.ask(Coordinator.lease)
        assert await channel.ask(Coordinator.lease) == 7
    channel.close()


def test_every_thread_of_ours_is_on_the_list_of_those_that_were_looked_at():
    starting = {
        module.removeprefix("ragstone.")
        for module, path in house.modules().items()
        if threading.Thread.__name__ in path.read_text(encoding="utf-8")
        if any(
            isinstance(node, ast.Attribute) and node.attr == threading.Thread.__name__
            for node in house.nodes_of(path)
        )
    }
    assert starting == set(THREADS)


async def test_a_closed_thread_takes_no_job():
    thread: WriterThread[int, int] = WriterThread("test", list, if_closed="it is closed")
    thread.close()
    with pytest.raises(DataError, match="it is closed"):
        thread.post(1)
