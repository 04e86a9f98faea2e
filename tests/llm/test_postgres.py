"""A ledger in PostgreSQL keeps and counts as one in SQLite does, whatever happens to its server."""

import asyncio
import contextlib
import itertools
import json
import sqlite3
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

from ragstone.config import LedgerSection, ModelSettings, Settings
from ragstone.errors import DataError
from ragstone.llm import AnyLedger, Budget, Door, Ledger, open_ledger, postgres_database
from ragstone.llm.archive import import_responses
from ragstone.llm.postgres import PostgresLedger
from ragstone.llm.postgres_database import Database
from ragstone.llm.prompt import Completion
from ragstone.llm.response_store import claimed
from ragstone.llm.transport import Endpoint
from ragstone.records import Usage

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
    postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple]
) -> None:
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


async def test_the_first_response_wins(postgres: PostgresServer, name: str, tmp_path: Path) -> None:
    one, other = (opened(postgres, name, tmp_path) for _ in range(2))
    await one.put(key(1), "m", Completion(text="first"))
    await asyncio.gather(*(other.put(key(1), "m", Completion(text="later")) for _ in range(5)))
    for ledger in (one, other):
        assert await ledger.find(key(1)) == Completion(text="first")
        ledger.close()


async def test_a_renewed_response_takes_the_place_of_one_that_is_kept_as_evidence(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
    with both(postgres, name, tmp_path) as ledgers:
        for ledger in ledgers:
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


async def test_a_response_is_committed_when_put_returns(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
    ledger = opened(postgres, name, tmp_path)
    await ledger.put(key(1), "m", SAID)
    assert postgres.sql("SELECT count(*) FROM ragstone_responses", name) == ["1"]
    ledger.close()


async def test_what_is_asked_for_together_goes_out_together(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
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


async def test_close_stores_what_waits_even_if_nobody_waits_for_it(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
    ledger = opened(postgres, name, tmp_path)
    waiting = [asyncio.create_task(ledger.put(key(n), "m", SAID)) for n in range(100)]
    await asyncio.sleep(0)
    for task in waiting[:50]:
        task.cancel()  # they were paid for all the same
    ledger.close()
    ledger.close()
    await asyncio.gather(*waiting, return_exceptions=True)
    with pytest.raises(DataError, match="the ledger is closed"):
        await ledger.put(key(1), "m", SAID)
    assert postgres.sql("SELECT count(*) FROM ragstone_responses", name) == ["100"]


def test_it_may_be_used_from_one_loop_after_another(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
    ledger = opened(postgres, name, tmp_path)

    async def leave() -> None:
        task = asyncio.create_task(ledger.put(key(1), "m", SAID))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave())
    asyncio.run(ledger.put(key(2), "m", SAID))
    assert asyncio.run(ledger.find(key(1))) == SAID
    ledger.close()


async def test_a_forecast_counts_no_hits(postgres: PostgresServer, name: str, tmp_path: Path) -> None:
    ledger = opened(postgres, name, tmp_path, counting=False)
    await ledger.put(key(1), "m", USED)
    assert await ledger.find(key(1)) == USED
    ledger.close()
    assert hits_in_database(postgres, name) == []


async def test_a_response_that_cannot_be_read_is_missing_and_replaced_and_told_once(
    postgres: PostgresServer, name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
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
    assert [record.getMessage() for record in caplog.records if "2 of the responses" in record.getMessage()]
    other.close()


async def entered(ledger: PostgresLedger) -> Completion | None:
    async with claimed(ledger, key(1)) as found:
        return found


async def test_a_server_that_is_started_anew_costs_a_run_nothing_but_time(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
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


async def test_what_a_server_that_stays_away_could_not_store_stands_in_a_file(
    postgres: PostgresServer, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_database, "AWAY_S", 0.3)
    ledger = opened(postgres, name, tmp_path)
    await ledger.put(key(0), "m", SAID)
    postgres.stop()
    try:
        puts = (ledger.put(key(n), "m", SAID) for n in (1, 2))
        for mistake in await asyncio.gather(*puts, return_exceptions=True):
            assert isinstance(mistake, DataError)
            assert "the ledger cannot be used" in str(mistake)
            assert f"run `ragstone ledger import {tmp_path}/.ragstone/unstored.jsonl`" in str(mistake)
        started = time.monotonic()
        with pytest.raises(DataError, match="Check that the server runs"):
            await ledger.find(key(0))
        with pytest.raises(DataError, match="stand in"):
            await ledger.put(key(3), "m", SAID)
        with pytest.raises(DataError):
            await ledger.put(key(4), "m", SAID)
        assert time.monotonic() - started < 3  # patience is not had again for each of them
    finally:
        postgres.start()
    await ledger.put(key(5), "m", SAID)  # it is taken up again
    ledger.close()
    done = import_responses(Database(postgres.url(name)), tmp_path / ".ragstone" / "unstored.jsonl")
    assert (done.new, done.known) == (4, 0)
    assert postgres.sql("SELECT count(*) FROM ragstone_responses", name) == ["6"]


async def test_a_response_that_the_server_refuses_stands_in_the_file_too(
    postgres: PostgresServer, name: str, tmp_path: Path
) -> None:
    ledger = opened(postgres, name, tmp_path)
    postgres.sql("ALTER TABLE ragstone_responses ADD CHECK (model <> 'full')", name)
    with pytest.raises(DataError, match=r"unstored\.jsonl"):
        await ledger.put(key(1), "full", SAID)
    await ledger.put(key(1), "m", SAID)
    ledger.close()
    assert len((tmp_path / ".ragstone" / "unstored.jsonl").read_text().splitlines()) == 1
