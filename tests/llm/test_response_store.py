"""What one process is asking a model, no other on the same file asks too: they wait, and take over."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.doors import Model, prompt, verdict
from tests.support.fake_openai import ROOT, running, stats
from tests.support.ledgers import key

from ragstone.config import ModelSettings
from ragstone.llm import Budget, CallFailed, Caps, Door, Ledger, response_store
from ragstone.llm.door import NotInLedger
from ragstone.llm.prompt import Completion
from ragstone.llm.response_store import MOST_CHARACTERS, MemoryLedger, claimed
from ragstone.llm.transport import Endpoint

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="claims hold within a process there")

SAID = Completion(text="said")


def pair(folder: Path) -> tuple[Ledger, Ledger]:
    """Return two ledgers on one file."""
    return Ledger(folder / "ledger.sqlite"), Ledger(folder / "ledger.sqlite")


def door_to(
    model: Model, ledger: Ledger, *, budget: Budget | None = None, offline: bool = False, concurrency: int = 8
) -> Door:
    endpoint = Endpoint(identity="function/model", send=model.send, concurrency=concurrency, price=None)
    return Door(endpoint, ModelSettings(), ledger, budget or Budget(), offline=offline)


async def entered(ledger: Ledger) -> Completion | None:
    async with claimed(ledger, key(1)) as found:
        return found


async def test_who_comes_second_waits_without_slot_and_budget_and_is_given_the_response(
    tmp_path: Path,
) -> None:
    one, other = pair(tmp_path)
    slow, quick, budget = Model(latency_s=0.4), Model(), Budget(Caps(calls=1))
    first = asyncio.create_task(door_to(slow, one).ask(prompt()))
    await asyncio.sleep(0.05)
    door = door_to(quick, other, budget=budget, concurrency=1)
    second = asyncio.create_task(door.ask(prompt()))
    await asyncio.sleep(0.05)
    await door.ask(prompt("another"))  # takes the one slot and the one call that there are
    assert not second.done()
    assert await second == await first
    assert (budget.made, budget.from_ledger) == (1, 1)
    assert (len(slow.asked), len(quick.asked)) == (1, 1)
    one.close()
    other.close()


async def test_a_call_that_fails_is_the_next_ones_turn(tmp_path: Path) -> None:
    one, other = pair(tmp_path)
    failing, well = Model(CallFailed("error", "broken"), latency_s=0.2), Model(verdict())
    first = asyncio.create_task(door_to(failing, one).ask(prompt()))
    await asyncio.sleep(0.05)
    second = asyncio.create_task(door_to(well, other).ask(prompt()))
    with pytest.raises(CallFailed, match="broken"):
        await first
    assert (await second).text == verdict()
    one.close()
    other.close()


async def test_one_who_is_cancelled_keeps_no_claim_and_one_who_waits_takes_none(tmp_path: Path) -> None:
    one, other = pair(tmp_path)
    slow = asyncio.create_task(door_to(Model(latency_s=9), one).ask(prompt()))
    await asyncio.sleep(0.05)
    waiting = asyncio.create_task(door_to(Model(latency_s=9), other).ask(prompt()))
    await asyncio.sleep(0.1)
    for task in (waiting, slow):
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    async with asyncio.timeout(2):
        await door_to(Model(), one).ask(prompt())
    one.close()
    other.close()


async def test_two_doors_of_one_ledger_pay_once_too(tmp_path: Path) -> None:
    ledger, model = Ledger(tmp_path / "l"), Model(latency_s=0.1)
    replies = await asyncio.gather(*(door_to(model, ledger).ask(prompt()) for _ in range(3)))
    assert replies[0] == replies[1] == replies[2]
    assert len(model.asked) == 1
    ledger.close()


async def test_a_response_that_is_of_no_use_is_renewed_by_one_of_two(tmp_path: Path) -> None:
    before = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(CallFailed, match="JSON"):
        await door_to(Model("no JSON"), before).ask(prompt())
    before.close()
    one, other = pair(tmp_path)
    models = [Model(latency_s=0.1), Model(latency_s=0.1)]
    doors = [door_to(model, ledger) for model, ledger in zip(models, (one, other), strict=True)]
    first, second = await asyncio.gather(*(door.ask(prompt()) for door in doors))
    assert first.text == second.text == verdict()
    assert sum(len(model.asked) for model in models) == 1
    one.close()
    other.close()


async def test_offline_nothing_is_claimed_or_waited_for(tmp_path: Path) -> None:
    one, other = pair(tmp_path)
    async with claimed(one, key(1)), asyncio.timeout(2):
        with pytest.raises(NotInLedger):
            await door_to(Model(), other, offline=True).ask(prompt())
    other.close()
    one.close()
    offline = Ledger(tmp_path / "new" / "l")
    with pytest.raises(NotInLedger):
        await door_to(Model(), offline, offline=True).ask(prompt())
    offline.close()
    assert not list((tmp_path / "new").glob("*claims*"))


async def test_who_waits_for_long_is_told_once_what_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(response_store, "LONG_S", 0.1)
    one, other = pair(tmp_path)
    async with claimed(one, key(1)):
        waiting = [asyncio.create_task(entered(other)) for _ in range(3)]
        await asyncio.sleep(0.5)
    await asyncio.gather(*waiting)
    assert [record.getMessage().split(" for calls")[0] for record in caplog.records] == [
        "Waiting for 0 s now"
    ]
    one.close()
    other.close()


ASKER = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from ragstone.config import ModelSettings, Settings
from ragstone.llm import Ledger, open_door
from tests.support.doors import prompt

async def main():
    model = ModelSettings(base_url=sys.argv[2], max_concurrency=8)
    ledger = Ledger(Path(sys.argv[3]))
    async with open_door("openai/fake", Settings(models={"openai/fake": model}), ledger) as door:
        replies = await asyncio.gather(*(door.ask(prompt(f"row {n}")) for n in range(40)))
    ledger.close()
    print([(reply.text, reply.latency_s) for reply in replies])

asyncio.run(main())
"""


@pytest.mark.kill
def test_processes_that_ask_the_same_at_once_pay_once_and_get_the_same(tmp_path: Path) -> None:
    with running("--latency", "0.05") as base_url:
        command = [sys.executable, "-c", ASKER, str(ROOT), base_url, str(tmp_path / "l")]
        askers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
        said = [asker.communicate(timeout=60)[0] for asker in askers]
        assert [asker.returncode for asker in askers] == [0, 0]
        assert said[0] == said[1] != b""
        assert stats(base_url)["n_requests"] == 40


@pytest.mark.kill
def test_the_calls_of_one_who_was_killed_go_to_who_waits(tmp_path: Path) -> None:
    with running("--latency", "0.2") as base_url:
        command = [sys.executable, "-c", ASKER, str(ROOT), base_url, str(tmp_path / "l")]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as killed:
            while stats(base_url)["n_requests"] < 17:  # two rounds of eight are answered
                time.sleep(0.01)
            other = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            killed.kill()
        assert other.wait(30) == 0
        assert 40 <= stats(base_url)["n_requests"] <= 48  # twice only what was in flight


async def test_a_ledger_in_memory_drops_the_response_used_least_recently() -> None:
    ledger = MemoryLedger(most=2)
    for each in (b"a", b"b"):
        await ledger.put(each, "m", Completion(text=each.decode()))
    assert await ledger.find(b"a") == Completion(text="a")
    await ledger.put(b"c", "m", Completion(text="c"))
    assert (await ledger.find(b"a"), await ledger.find(b"b")) == (Completion(text="a"), None)
    ledger.close()
    assert await ledger.find(b"a") is None


async def test_long_responses_and_those_with_log_probabilities_are_not_kept() -> None:
    ledger = MemoryLedger()
    await ledger.put(b"a", "m", Completion(text="x" * (MOST_CHARACTERS + 1)))
    await ledger.put(b"b", "m", Completion(text="x", logprobs=()))
    assert await ledger.find(b"a") is await ledger.find(b"b") is None
