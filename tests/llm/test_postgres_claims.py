"""What one machine is asking a model, no other asks too: they wait, and take over from who failed or died."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.doors import Model, prompt, verdict
from tests.support.fake_openai import ROOT, running, stats
from tests.support.ledgers import key
from tests.support.postgres import PostgresServer

from ragstone.config import LedgerSection, ModelSettings, Settings
from ragstone.llm import Budget, CallFailed, Door, open_ledger
from ragstone.llm import postgres as postgres_ledger
from ragstone.llm.door import NotInLedger
from ragstone.llm.postgres import PostgresLedger
from ragstone.llm.prompt import Completion
from ragstone.llm.response_store import claimed
from ragstone.llm.transport import Endpoint

pytestmark = pytest.mark.server

SAID = Completion(text="said")


@pytest.fixture
def name(postgres: PostgresServer) -> str:
    return postgres.new_schema()


def opened(server: PostgresServer, name: str, folder: Path) -> PostgresLedger:
    ledger = open_ledger(Settings(root=str(folder), ledger=LedgerSection(url=server.url(name))))
    assert isinstance(ledger, PostgresLedger)
    return ledger


def door_to(
    model: Model, ledger: PostgresLedger, *, budget: Budget | None = None, offline: bool = False
) -> Door:
    endpoint = Endpoint(identity="function/model", send=model.send, concurrency=8, price=None)
    return Door(endpoint, ModelSettings(), ledger, budget or Budget(), offline=offline)


async def test_who_comes_second_is_given_the_response_of_the_first(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
    one, other = (opened(postgres, name, tmp_path) for _ in range(2))
    slow, quick, budget = Model(latency_s=0.3), Model(AssertionError()), Budget()
    first = asyncio.create_task(door_to(slow, one).ask(prompt()))
    await asyncio.sleep(0.1)
    second = await door_to(quick, other, budget=budget).ask(prompt())
    assert second == await first
    assert (budget.made, budget.from_ledger, len(slow.asked)) == (0, 1, 1)
    one.close()
    other.close()
    assert postgres.sql("SELECT calls FROM ragstone_hits", name) == ["1"]
    assert postgres.sql("SELECT count(*) FROM ragstone_claims", name) == ["0"]
    assert postgres.sql("SELECT count(*) FROM ragstone_claimants", name) == ["0"]


async def test_a_call_that_fails_is_the_next_ones_turn(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
    one, other = (opened(postgres, name, tmp_path) for _ in range(2))
    failing, well = Model(CallFailed("error", "broken"), latency_s=0.2), Model(verdict())
    first = asyncio.create_task(door_to(failing, one).ask(prompt()))
    await asyncio.sleep(0.1)
    second = asyncio.create_task(door_to(well, other).ask(prompt()))
    with pytest.raises(CallFailed, match="broken"):
        await first
    assert (await second).text == verdict()
    one.close()
    other.close()


async def test_one_who_is_cancelled_keeps_no_claim(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
    one, other = (opened(postgres, name, tmp_path) for _ in range(2))
    for pause_s in (0.0, 0.0, 0.002, 0.01, 0.05):  # before it is asked for, granted, told, and used
        task = asyncio.create_task(door_to(Model(latency_s=9), one).ask(prompt()))
        await asyncio.sleep(pause_s)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    async with asyncio.timeout(5):
        async with claimed(other, key(0)) as found:  # of another call: nobody has it
            assert found is None
        await door_to(Model(), other).ask(prompt())
    one.close()
    other.close()


async def test_one_process_with_two_doors_pays_once_too(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
    ledger, model = opened(postgres, name, tmp_path), Model(latency_s=0.1)
    doors = [door_to(model, ledger) for _ in range(3)]
    replies = await asyncio.gather(*(door.ask(prompt()) for door in doors))
    assert replies[0] == replies[1] == replies[2]
    assert len(model.asked) == 1
    ledger.close()


async def test_a_connection_lost_between_claim_and_answer_strands_no_claim(
    postgres: PostgresServer, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, look_up, n_lost = opened(postgres, name, tmp_path), postgres_ledger._rows, 0

    def lost(connection, keys):
        nonlocal n_lost
        n_lost += 1
        if n_lost == 1:
            connection.close()
        return look_up(connection, keys)

    monkeypatch.setattr(postgres_ledger, "_rows", lost)
    async with asyncio.timeout(10):
        assert await enter(ledger) is None
    assert n_lost == 2
    ledger.close()


async def test_offline_nothing_is_claimed(postgres: PostgresServer, name: str, tmp_path: Path) -> None:
    one, other = (opened(postgres, name, tmp_path) for _ in range(2))
    async with claimed(one, key(1)):
        with pytest.raises(NotInLedger):
            await door_to(Model(), other, offline=True).ask(prompt())
    assert not other._claims._began
    one.close()
    other.close()


async def test_who_is_alive_keeps_a_claim_however_long_the_call_takes(
    postgres: PostgresServer, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorten(monkeypatch)
    one, other = (opened(postgres, name, tmp_path) for _ in range(2))
    async with claimed(one, key(1)) as found:
        assert found is None
        waiting = asyncio.create_task(enter(other))
        await asyncio.sleep(2.0)  # twice as long as a claim lasts
        assert not waiting.done()
        await one.put(key(1), "m", SAID)
    assert await waiting == SAID
    one.close()
    other.close()


async def enter(ledger: PostgresLedger) -> Completion | None:
    async with claimed(ledger, key(1)) as found:
        return found


def shorten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_ledger, "HITS_S", 0.1)
    monkeypatch.setattr(postgres_ledger, "ALIVE_S", 0.2)
    monkeypatch.setattr(postgres_ledger, "CLAIM_S", 1.0)


CLAIMANT = """
import asyncio, sys
from pathlib import Path
from ragstone.llm import postgres
from ragstone.llm.response_store import claimed
from ragstone.llm.postgres_database import Database
postgres.CLAIM_S = 1.0

async def main():
    ledger = postgres.PostgresLedger(Database(sys.argv[1]), Path(sys.argv[2]))
    async with claimed(ledger, (1).to_bytes(16, "big")):
        print("claimed", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.kill
def test_the_claim_of_one_who_was_killed_goes_to_who_waits(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", CLAIMANT, postgres.url(name), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as claimant:
        assert claimant.stdout is not None
        assert claimant.stdout.readline() == b"claimed\n"
        claimant.kill()
    ledger = opened(postgres, name, tmp_path)
    started = time.monotonic()
    assert asyncio.run(asyncio.wait_for(enter(ledger), 10)) is None
    assert time.monotonic() - started > 0.3  # it was waited for
    ledger.close()


ASKER = """
import asyncio, sys
sys.path.insert(0, sys.argv[3])
from ragstone.config import LedgerSection, ModelSettings, Settings
from ragstone.llm import open_door, open_ledger
from tests.support.doors import prompt

async def main():
    settings = Settings(
        root=sys.argv[4],
        models={"openai/fake": ModelSettings(base_url=sys.argv[1], max_concurrency=16)},
        ledger=LedgerSection(url=sys.argv[2]),
    )
    ledger = open_ledger(settings)
    async with open_door("openai/fake", settings, ledger) as door:
        replies = await asyncio.gather(*(door.ask(prompt(f"row {n}")) for n in range(100)))
    ledger.close()
    print([(reply.text, reply.latency_s) for reply in replies])

asyncio.run(main())
"""


def test_processes_that_ask_the_same_at_once_pay_once_and_get_the_same(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
    with running("--latency", "0.05") as base_url:
        command = [sys.executable, "-c", ASKER, base_url, postgres.url(name), str(ROOT), str(tmp_path)]
        askers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
        said = [asker.communicate(timeout=60)[0] for asker in askers]
        assert [asker.returncode for asker in askers] == [0, 0]
        assert said[0] == said[1] != b""
        assert stats(base_url)["n_requests"] == 100
