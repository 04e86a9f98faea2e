"""What every ledger does, whether a file or a database keeps it."""

import asyncio
import time

import pytest
from tests.support.ledgers import key

from ragstone.kernel.errors import DataError
from ragstone.kernel.llm import open_ledger
from ragstone.kernel.llm.ledgers import ledger_place, open_store
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.records import Usage

SAID = Completion(text="ठीक है 👍🏽", latency_s=0.25)
USED = Completion(text="t", usage=Usage(input=100, output=20, cached=60))


@pytest.fixture
def ledger(ledger_settings):
    """An empty ledger, open."""
    opened = open_ledger(ledger_settings)
    yield opened
    opened.close()


async def test_the_first_response_wins(ledger, ledger_settings):
    other = open_ledger(ledger_settings)
    await ledger.put(key(1), "m", Completion(text="first"))
    await asyncio.gather(*(other.put(key(1), "m", Completion(text="later")) for _ in range(5)))
    for each in (ledger, other):
        assert await each.find(key(1)) == Completion(text="first")
    other.close()


async def test_a_renewed_response_takes_the_place_of_one_that_is_kept_as_evidence(ledger):
    await ledger.put(key(1), "a", USED)
    renewed_at = time.time()
    assert await ledger.find(key(1), since=renewed_at) is None
    assert await ledger.turn(key(1), since=renewed_at) == (None, True)
    ledger.release(key(1))
    await ledger.put(key(1), "a", SAID, renewed=True)
    await ledger.put(key(1), "a", USED)  # without it the first one that is there wins
    assert await ledger.find(key(1)) == SAID
    assert await ledger.find(key(1), since=renewed_at) == SAID
    assert await ledger.turn(key(1), since=renewed_at) == (SAID, False)
    assert sorted(one.text for one in ledger.earlier("a")) == sorted([USED.text, SAID.text])


async def test_close_writes_what_waits_even_if_nobody_waits_for_it(ledger, ledger_settings):
    waiting = [asyncio.create_task(ledger.put(key(n), "m", SAID)) for n in range(100)]
    await asyncio.sleep(0)
    for task in waiting[:50]:
        task.cancel()  # they were paid for all the same
    ledger.close()
    ledger.close()
    await asyncio.gather(*waiting, return_exceptions=True)
    with pytest.raises(DataError, match="the ledger is closed"):
        await asyncio.wait_for(ledger.put(key(1), "m", SAID), 60)
    again = open_ledger(ledger_settings)
    assert await asyncio.gather(*(again.find(key(n)) for n in range(100))) == [SAID] * 100
    again.close()


async def test_a_cancelled_put_does_not_stop_the_writer(ledger):
    for n in range(50):
        task = asyncio.create_task(ledger.put(key(n), "m", SAID))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await asyncio.wait_for(ledger.put(key(99), "m", SAID), 60)


def test_a_loop_that_ended_before_its_commit_does_not_stop_the_writer(ledger):
    async def leave():
        task = asyncio.create_task(ledger.put(key(1), "m", SAID))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave())
    asyncio.run(ledger.put(key(2), "m", SAID))
    assert asyncio.run(ledger.find(key(1))) == SAID


async def test_a_forecast_counts_no_hits(ledger_settings):
    ledger = open_ledger(ledger_settings, counting=False)
    await ledger.put(key(1), "m", USED)
    assert await ledger.find(key(1)) == USED
    ledger.close()
    with open_store(ledger_place(ledger_settings)) as store:
        assert list(store.hits()) == []
