"""What one process asks a model, no other on the same ledger asks too: they wait, and take over."""

import asyncio
import subprocess
import sys
import time

import pytest
from tests.support.doors import Model, prompt, until, verdict
from tests.support.fake_openai import ROOT, serving_as, stats
from tests.support.ledgers import key

from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.llm import Budget, CallFailed, Caps, Door, open_ledger, response_store
from ragstone.kernel.llm.door import NotInLedger
from ragstone.kernel.llm.ledgers import ledger_place, open_store
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.response_store import MOST_CHARACTERS, MemoryLedger, claimed
from ragstone.kernel.llm.transport import Endpoint

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="claims hold within a process there")


@pytest.fixture
def two(ledger_settings):
    """Two ledgers on one file or database."""
    ledgers = open_ledger(ledger_settings), open_ledger(ledger_settings)
    yield ledgers
    for each in ledgers:
        each.close()


def door_to(model, ledger, *, budget=None, offline=False, concurrency=8):
    endpoint = Endpoint(identity="function/model", send=model.send, concurrency=concurrency, price=None)
    return Door(endpoint, ModelSettings(), ledger, budget or Budget(), offline=offline)


async def entered(ledger):
    async with claimed(ledger, key(1)) as found:
        return found


async def test_who_comes_second_waits_without_slot_and_budget_and_is_given_the_response(two, ledger_settings):
    one, other = two
    slow, quick, budget = Model(), Model(), Budget(Caps(calls=1))
    slow.go.clear()
    first = asyncio.create_task(door_to(slow, one).ask(prompt()))
    await until(lambda: slow.asked)
    door = door_to(quick, other, budget=budget, concurrency=1)
    second = asyncio.create_task(door.ask(prompt()))
    await asyncio.sleep(0.05)
    await door.ask(prompt("another"))  # takes the one slot and the one call that there are
    assert not second.done()
    slow.go.set()
    assert await second == await first
    assert (budget.made, budget.from_ledger) == (1, 1)
    assert (len(slow.asked), len(quick.asked)) == (1, 1)
    for each in two:
        each.close()
    with open_store(ledger_place(ledger_settings)) as store:
        assert [n_calls for _, _, n_calls, *_ in store.hits()] == [1]


async def test_a_call_that_fails_is_the_next_ones_turn(two):
    one, other = two
    failing, well = Model(CallFailed("error", "broken")), Model(verdict())
    failing.go.clear()
    first = asyncio.create_task(door_to(failing, one).ask(prompt()))
    await until(lambda: failing.asked)
    second = asyncio.create_task(door_to(well, other).ask(prompt()))
    await asyncio.sleep(0.1)
    assert not well.asked
    failing.go.set()
    with pytest.raises(CallFailed, match="broken"):
        await first
    assert (await second).text == verdict()


async def test_one_who_is_cancelled_keeps_no_claim_and_one_who_waits_takes_none(two):
    one, other = two
    for pause_s in (0.0, 0.0, 0.002, 0.01, 0.05):  # before it is asked for, granted, told, and used
        slow = asyncio.create_task(door_to(Model(latency_s=600), one).ask(prompt()))
        await asyncio.sleep(pause_s)
        waiting = asyncio.create_task(door_to(Model(latency_s=600), other).ask(prompt()))
        await asyncio.sleep(pause_s)
        for task in (waiting, slow):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    async with asyncio.timeout(60):
        async with claimed(other, key(0)) as found:  # of another call: nobody has it
            assert found is None
        await door_to(Model(), other).ask(prompt())


async def test_two_doors_of_one_ledger_pay_once_too(two):
    model = Model(latency_s=0.1)
    replies = await asyncio.gather(*(door_to(model, two[0]).ask(prompt()) for _ in range(3)))
    assert replies[0] == replies[1] == replies[2]
    assert len(model.asked) == 1


async def test_a_response_that_is_of_no_use_is_renewed_by_one_of_two(two, ledger_settings):
    before = open_ledger(ledger_settings)
    with pytest.raises(CallFailed, match="JSON"):
        await door_to(Model("no JSON"), before).ask(prompt())
    before.close()
    models = [Model(latency_s=0.1), Model(latency_s=0.1)]
    doors = [door_to(model, ledger) for model, ledger in zip(models, two, strict=True)]
    first, second = await asyncio.gather(*(door.ask(prompt()) for door in doors))
    assert first.text == second.text == verdict()
    assert sum(len(model.asked) for model in models) == 1


async def test_offline_nothing_is_claimed_or_waited_for(two, tmp_path):
    async with claimed(two[0], key(1)), asyncio.timeout(60):
        with pytest.raises(NotInLedger):
            await door_to(Model(), two[1], offline=True).ask(prompt())
    offline = open_ledger(Settings(root=str(tmp_path / "new")))
    with pytest.raises(NotInLedger):
        await door_to(Model(), offline, offline=True).ask(prompt())
    offline.close()
    assert not list((tmp_path / "new").rglob("*claims*"))


@pytest.mark.long
async def test_who_waits_for_long_is_told_once_what_for(two, monkeypatch, caplog):
    monkeypatch.setattr(response_store, "LONG_S", 0.1)
    async with claimed(two[0], key(1)):
        waiting = [asyncio.create_task(entered(two[1])) for _ in range(3)]
        await until(lambda: caplog.records)
        await asyncio.sleep(0.3)  # in which another might be told
    await asyncio.gather(*waiting)
    assert [record.getMessage().split(" for calls")[0] for record in caplog.records] == [
        "Waiting for 0 s now"
    ]


ASKER = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from ragstone.kernel.config import LedgerSection, ModelSettings, Settings
from ragstone.kernel.llm import open_door, open_ledger
from tests.support.doors import prompt

async def main():
    model = ModelSettings(base_url=sys.argv[2], max_concurrency=8)
    section = LedgerSection(url=sys.argv[4] or None)
    settings = Settings(root=sys.argv[3], models={"openai/fake": model}, ledger=section)
    ledger = open_ledger(settings)
    async with open_door("openai/fake", settings, ledger) as door:
        replies = await asyncio.gather(*(door.ask(prompt(f"row {n}")) for n in range(40)))
    ledger.close()
    print([(reply.text, reply.latency_s) for reply in replies])

asyncio.run(main())
"""


def command_of(settings, base_url):
    return [sys.executable, "-c", ASKER, str(ROOT), base_url, settings.root, settings.ledger.url or ""]


@pytest.mark.kill
def test_processes_that_ask_the_same_at_once_pay_once_and_get_the_same(ledger_settings):
    with serving_as("--latency", "0.05") as base_url:
        command = command_of(ledger_settings, base_url)
        askers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
        said = [asker.communicate(timeout=60)[0] for asker in askers]
        assert [asker.returncode for asker in askers] == [0, 0]
        assert said[0] == said[1] != b""
        assert stats(base_url)["n_requests"] == 40


@pytest.mark.kill
def test_the_calls_of_one_who_was_killed_go_to_who_waits(tmp_path):
    with serving_as("--latency", "0.2") as base_url:
        command = command_of(Settings(root=str(tmp_path)), base_url)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as killed:
            while stats(base_url)["n_requests"] < 17:  # two rounds of eight are answered
                time.sleep(0.01)
            other = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            killed.kill()
        asked_by_killed = stats(base_url)["n_requests"]
        assert other.wait(60) == 0
        asked_again = stats(base_url)["n_requests"] - asked_by_killed
        assert 40 - asked_by_killed <= asked_again <= 40 - 8  # the first round was in the ledger for long


async def test_a_ledger_in_memory_drops_the_response_used_least_recently():
    ledger = MemoryLedger(most=2)
    for each in (b"a", b"b"):
        await ledger.put(each, "m", Completion(text=each.decode()))
    assert await ledger.find(b"a") == Completion(text="a")
    await ledger.put(b"c", "m", Completion(text="c"))
    assert (await ledger.find(b"a"), await ledger.find(b"b")) == (Completion(text="a"), None)
    ledger.close()
    assert await ledger.find(b"a") is None


async def test_long_responses_and_those_with_log_probabilities_are_not_kept():
    ledger = MemoryLedger()
    await ledger.put(b"a", "m", Completion(text="x" * (MOST_CHARACTERS + 1)))
    await ledger.put(b"b", "m", Completion(text="x", logprobs=()))
    assert await ledger.find(b"a") is await ledger.find(b"b") is None
