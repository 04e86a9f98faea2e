"""What a server that stays away could not store is a file, which `ragstone ledger import` takes."""

import asyncio

import pytest
from tests.kernel.llm.test_postgres import SAID, opened
from tests.support.ledgers import key
from tests.support.postgres import PostgresServer

from ragstone.features.ledger._archive import import_responses
from ragstone.kernel.errors import DataError
from ragstone.kernel.llm import _postgres_database as postgres_database
from ragstone.kernel.llm._postgres_database import Database

pytestmark = pytest.mark.server


@pytest.fixture
def name(postgres: PostgresServer) -> str:
    return postgres.new_schema()


async def test_what_a_server_that_stays_away_could_not_store_stands_in_a_file(
    postgres, name, tmp_path, monkeypatch
):
    connect, tries = postgres_database.connect, []

    def counted(database, **how):
        tries.append(database)
        return connect(database, **how)

    monkeypatch.setattr(postgres_database, "connect", counted)
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
        with pytest.raises(DataError, match="Check that the server runs"):
            await ledger.find(key(0))
        tries.clear()
        with pytest.raises(DataError, match="are in"):
            await ledger.put(key(3), "m", SAID)
        with pytest.raises(DataError):
            await ledger.put(key(4), "m", SAID)
        with pytest.raises(DataError):
            await ledger.find(key(0))
        assert len(tries) == 3  # patience is not had again for each of them
    finally:
        postgres.start()
    await ledger.put(key(5), "m", SAID)  # it is taken up again
    ledger.close()
    done = import_responses(Database(postgres.url(name)), tmp_path / ".ragstone" / "unstored.jsonl")
    assert (done.new, done.known) == (4, 0)
    assert postgres.sql("SELECT count(*) FROM ragstone_responses", name) == ["6"]
