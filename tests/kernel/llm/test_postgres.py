"""A ledger in PostgreSQL keeps and counts as one in SQLite does, whatever happens to its server."""

import asyncio
import contextlib
import itertools
import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.support.doors import Model, prompt
from tests.support.ledgers import key
from tests.support.postgres import PostgresServer

from ragstone.kernel.config import LedgerSection, ModelSettings, Settings
from ragstone.kernel.errors import DataError
from ragstone.kernel.llm import AnyLedger, Budget, Door, Ledger, open_ledger
from ragstone.kernel.llm import _postgres as postgres_module
from ragstone.kernel.llm._postgres import PostgresLedger
from ragstone.kernel.llm.door import NotInLedger
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.response_store import claimed
from ragstone.kernel.llm.transport import Endpoint
from ragstone.kernel.records import Usage

pytestmark = pytest.mark.server

SAID = Completion(text="ठीक है 👍🏽", latency_s=0.25)
USED = Completion(text="t", usage=Usage(input=100, output=20, cached=60))


@pytest.fixture
def name(postgres: PostgresServer) -> str:
    return postgres.new_schema()


def opened(postgres: PostgresServer, name: str, folder: Path, *, counting: bool = True) -> PostgresLedger:
    ledger = open_ledger(
        Settings(root=str(folder), ledger=LedgerSection(url=postgres.url(name))), counting=counting
    )
    assert isinstance(ledger, PostgresLedger)
    return ledger


@contextlib.contextmanager
def both(postgres: PostgresServer, name: str, folder: Path) -> Iterator[tuple[AnyLedger, AnyLedger]]:
    file, database = Ledger(folder / "l"), opened(postgres, name, folder)
    try:
        yield file, database
    finally:
        file.close()
        database.close()


KEYS = st.integers(0, 5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, st.sampled_from("ab"), st.text(), st.integers(0, 9)),
        st.tuples(st.just("find"), KEYS, st.booleans()),
        st.tuples(st.just("together"), st.lists(KEYS, max_size=4), st.lists(KEYS, max_size=4)),
        st.tuples(st.just("open again")),
    ),
    max_size=12,
)


@hypothesis_settings(max_examples=12)
@given(STEPS)
def test_any_sequence_of_puts_and_finds_is_answered_and_counted_as_by_sqlite(
    postgres, tmp_path_factory, steps
):
    folder, name = tmp_path_factory.mktemp("l"), postgres.new_schema()

    async def play(steps: list[tuple]) -> None:
        with both(postgres, name, folder) as (file, database):
            for n, step in enumerate(steps):
                seen = []
                for ledger in (file, database):
                    if step[0] == "put":
                        usage = Usage(input=step[4], output=step[4])
                        await ledger.put(key(step[1]), step[2], Completion(text=step[3], usage=usage))
                    elif step[0] == "find":
                        seen.append(await ledger.find(key(step[1]), saved=step[2]))
                    else:
                        put = (
                            ledger.put(key(k), "c", Completion(text=f"{n} {i}"))
                            for i, k in enumerate(step[1])
                        )
                        await asyncio.gather(*put)
                        seen.append(await asyncio.gather(*(ledger.find(key(k)) for k in step[2])))
                assert seen[1:] == seen[:1] * (len(seen) - 1)
            assert database.earlier("a") == file.earlier("a")

    for is_opening, part in itertools.groupby(steps, lambda step: step[0] == "open again"):
        if not is_opening:
            asyncio.run(play(list(part)))
    asyncio.run(play([]))
    assert hits_in_database(postgres, name) == hits_in_file(folder / "l")


def hits_in_database(postgres: PostgresServer, name: str) -> list[tuple]:
    rows = postgres.sql("SELECT json_build_array(h.*) FROM ragstone_hits h", name)
    return sorted(tuple(json.loads(row)[0].values()) for row in rows)


def hits_in_file(path: Path) -> list[tuple]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return sorted(connection.execute("SELECT * FROM hits"))


async def test_a_response_is_committed_when_put_returns(postgres, name, tmp_path):
    ledger = opened(postgres, name, tmp_path)
    await ledger.put(key(1), "m", SAID)
    assert postgres.sql("SELECT count(*) FROM ragstone_responses", name) == ["1"]
    ledger.close()


async def test_what_is_asked_for_together_goes_out_together(postgres, name, tmp_path):
    ledger, n_puts, n_finds = opened(postgres, name, tmp_path), 0, 0
    store, answer = ledger._storing._work, ledger._asking._work

    def stored(rows):
        nonlocal n_puts
        n_puts += bool(rows)
        return store(rows)

    def answered(wishes):
        nonlocal n_finds
        n_finds += bool(wishes)
        return answer(wishes)

    ledger._storing._work, ledger._asking._work = stored, answered
    await asyncio.gather(*(ledger.put(key(n), "m", SAID) for n in range(500)))
    found = await asyncio.gather(*(ledger.find(key(n)) for n in range(500)))
    ledger.close()
    assert found == [SAID] * 500
    assert 1 <= n_puts <= 20  # one at a time they would be 500; how many gather depends on the machine
    assert 1 <= n_finds <= 20


async def test_a_response_that_cannot_be_read_is_missing_and_replaced_and_told_once(
    postgres, name, tmp_path, caplog
):
    ledger, other = (opened(postgres, name, tmp_path) for _ in range(2))
    for number in (1, 2):
        await ledger.put(key(number), "m", SAID)
    postgres.sql(r"UPDATE ragstone_responses SET response = '\x7b22'", name)
    assert await ledger.find(key(1)) is await ledger.find(key(2)) is None
    assert ledger.earlier("m") == []
    async with claimed(ledger, key(1)) as found:
        assert found is None
        waiting = asyncio.create_task(other.find(key(1)))
        assert await waiting is None
        waiting = asyncio.create_task(entered(other))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        await ledger.put(key(1), "m", USED)
    assert await waiting == await ledger.find(key(1)) == USED
    ledger.close()
    assert [record.getMessage() for record in caplog.records if "2 of the requested" in record.getMessage()]
    other.close()


async def entered(ledger: PostgresLedger) -> Completion | None:
    async with claimed(ledger, key(1)) as found:
        return found


async def test_a_server_that_is_started_anew_costs_a_run_nothing_but_time(postgres, name, tmp_path):
    ledger, model, budget = opened(postgres, name, tmp_path), Model(latency_s=0.005), Budget()
    endpoint = Endpoint(identity="function/model", send=model.send, concurrency=8, price=None)
    door = Door(endpoint, ModelSettings(), ledger, budget, offline=False)
    left = iter(range(300))

    async def work() -> None:
        for n in left:
            await door.ask(prompt(f"row {n}"))

    async def interrupt() -> None:
        await asyncio.sleep(0.1)
        await asyncio.to_thread(postgres.stop)
        await asyncio.sleep(0.3)
        await asyncio.to_thread(postgres.start)

    await asyncio.gather(interrupt(), *(work() for _ in range(16)))
    ledger.close()
    assert len(model.asked) == len({asked.messages for asked in model.asked}) == 300
    assert postgres.sql("SELECT count(*) FROM ragstone_responses", name) == ["300"]
    assert postgres.sql("SELECT count(*) FROM ragstone_claims", name) == ["0"]


async def test_a_response_that_the_server_refuses_stands_in_the_file_too(postgres, name, tmp_path):
    ledger = opened(postgres, name, tmp_path)
    postgres.sql("ALTER TABLE ragstone_responses ADD CHECK (model <> 'full')", name)
    with pytest.raises(DataError, match=r"unstored\.jsonl"):
        await ledger.put(key(1), "full", SAID)
    await ledger.put(key(1), "m", SAID)
    ledger.close()
    assert len((tmp_path / ".ragstone" / "unstored.jsonl").read_text().splitlines()) == 1


async def test_offline_no_claimant_is_noted(postgres, name, tmp_path):
    ledger = opened(postgres, name, tmp_path)
    endpoint = Endpoint(identity="function/model", send=Model().send, concurrency=8, price=None)
    with pytest.raises(NotInLedger):
        await Door(endpoint, ModelSettings(), ledger, Budget(), offline=True).ask(prompt())
    assert not ledger._claims._began
    ledger.close()


async def test_a_connection_lost_between_claim_and_answer_strands_no_claim(
    postgres, name, tmp_path, monkeypatch
):
    ledger, look_up, n_lost = opened(postgres, name, tmp_path), postgres_module._rows, 0

    def lost(connection, keys):
        nonlocal n_lost
        n_lost += 1
        if n_lost == 1:
            connection.close()
        return look_up(connection, keys)

    monkeypatch.setattr(postgres_module, "_rows", lost)
    async with asyncio.timeout(60):
        assert await entered(ledger) is None
    assert n_lost == 2
    ledger.close()


async def test_who_is_alive_keeps_a_claim_however_long_the_call_takes(postgres, name, tmp_path, monkeypatch):
    shorten(monkeypatch)
    monkeypatch.setattr(postgres_module, "CLAIM_S", 3.0)  # a busy machine may halt for a second
    one, other = (opened(postgres, name, tmp_path) for _ in range(2))
    async with claimed(one, key(1)) as found:
        assert found is None
        waiting = asyncio.create_task(entered(other))
        await asyncio.sleep(4.5)  # longer than a claim lasts of which nobody says that he is alive
        assert not waiting.done()
        await one.put(key(1), "m", SAID)
    assert await waiting == SAID
    one.close()
    other.close()
    assert postgres.sql("SELECT count(*) FROM ragstone_claims", name) == ["0"]
    assert postgres.sql("SELECT count(*) FROM ragstone_claimants", name) == ["0"]


def shorten(monkeypatch):
    monkeypatch.setattr(postgres_module, "HITS_S", 0.1)
    monkeypatch.setattr(postgres_module, "ALIVE_S", 0.2)
    monkeypatch.setattr(postgres_module, "CLAIM_S", 1.0)


CLAIMANT = """
import asyncio, sys
from pathlib import Path
from ragstone.kernel.llm import _postgres as postgres
from ragstone.kernel.llm.response_store import claimed
from ragstone.kernel.llm._postgres_database import Database
postgres.CLAIM_S = 1.0

async def main():
    ledger = postgres.PostgresLedger(Database(sys.argv[1]), Path(sys.argv[2]))
    async with claimed(ledger, (1).to_bytes(16, "big")):
        print("claimed", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.kill
def test_the_claim_of_one_who_was_killed_goes_to_who_waits(postgres, name, tmp_path):
    command = [sys.executable, "-c", CLAIMANT, postgres.url(name), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as claimant:
        assert claimant.stdout is not None
        assert claimant.stdout.readline() == b"claimed\n"
        claimant.kill()
    ledger = opened(postgres, name, tmp_path)
    started = time.monotonic()
    assert asyncio.run(asyncio.wait_for(entered(ledger), 60)) is None
    assert time.monotonic() - started > 0.3  # it was waited for
    ledger.close()
