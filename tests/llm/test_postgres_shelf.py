"""What a ledger in PostgreSQL holds and cost; moved into a file and back, it stays the same to the byte."""

import asyncio
import json
import time
from pathlib import Path

import msgspec
import pytest
from tests.support.ledgers import DAY, JAN_10, Kept, key, make_ledger, set_hit_day
from tests.support.postgres import PostgresServer

from ragstone.config import LedgerSection, ModelSettings, Price, Settings
from ragstone.errors import DataError
from ragstone.llm import open_ledger
from ragstone.llm.account import Account, read_account
from ragstone.llm.archive import (
    Exported,
    choose_responses,
    export_responses,
    import_responses,
    prune_responses,
)
from ragstone.llm.postgres_database import Database
from ragstone.llm.prompt import Completion

pytestmark = pytest.mark.server

NANO = "openai/nano"
PRICED = Settings(models={NANO: ModelSettings(price_usd_per_million=Price(input=1, output=4, cached=0.5))})
KEPT = [
    Kept(NANO, JAN_10 + 0.25, (1000, 100, 400), "ठीक है \x00"),
    Kept(NANO, JAN_10 + 1, (500, 50, 0)),
    Kept("llamacpp/small@0123", JAN_10, (70, 7, 0)),
    Kept("openai/other@localhost:1/v1", JAN_10, (0, 0, 0)),
]


@pytest.fixture
def schema(postgres: PostgresServer) -> str:
    return postgres.new_schema()


@pytest.fixture
def database(postgres: PostgresServer, schema: str) -> Database:
    return Database(postgres.url(schema))


@pytest.fixture
def moved(database: Database, tmp_path: Path) -> Path:
    """The path of a SQLite ledger, whose responses the database has too."""
    path = make_ledger(tmp_path / "l", KEPT)
    export_responses(path, tmp_path / "one.jsonl")
    done = import_responses(database, tmp_path / "one.jsonl")
    assert (done.new, done.known) == (4, 0)
    return path


def test_a_ledger_moved_into_postgresql_and_back_is_the_same_to_the_byte(
    database: Database, moved: Path, tmp_path: Path
) -> None:
    assert export_responses(database, tmp_path / "two.jsonl") == Exported(4, 0)
    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
    assert import_responses(database, tmp_path / "one.jsonl").known == 4
    assert import_responses(tmp_path / "back", tmp_path / "two.jsonl").new == 4


def test_the_account_is_that_of_the_same_ledger_in_sqlite(
    postgres: PostgresServer, schema: str, database: Database, tmp_path: Path
) -> None:
    path = make_ledger(tmp_path / "l", KEPT, hits=[0, 0, 1, 3])
    set_hit_day(path, JAN_10 + 5)
    export_responses(path, tmp_path / "one.jsonl")
    import_responses(database, tmp_path / "one.jsonl")
    ledger = open_ledger(Settings(root=str(tmp_path), ledger=LedgerSection(url=database.url)))

    async def hit() -> None:
        for number in (0, 0, 1, 3):
            await ledger.find(key(number))

    asyncio.run(hit())
    ledger.close()
    postgres.sql(f"UPDATE ragstone_hits SET day = {JAN_10 + 5}", schema)
    of_file, of_database = read_account(path, PRICED), read_account(database, PRICED)
    assert of_database.path == str(database)
    assert of_database.n_bytes > 0
    assert without_place(of_database) == without_place(of_file)
    assert of_database.total.hits.calls == 4


def without_place(account: Account) -> Account:
    return msgspec.structs.replace(account, path="", n_bytes=0)


def test_the_first_response_wins_over_a_file_and_within_one(database: Database, tmp_path: Path) -> None:
    def line(number: int, text: str) -> str:
        fields = {"key": key(number).hex(), "model": NANO, "created": "2026-01-10T00:00:00Z"}
        return json.dumps({**fields, "response": {"text": text}}) + "\n"

    (tmp_path / "a.jsonl").write_text(line(1, "first"))
    (tmp_path / "b.jsonl").write_text(line(1, "later") + line(2, "first") + line(2, "later"))
    import_responses(database, tmp_path / "a.jsonl")
    done = import_responses(database, tmp_path / "b.jsonl")
    assert (done.new, done.known) == (1, 2)
    export_responses(database, tmp_path / "out.jsonl")
    said = [
        json.loads(each)["response"]["text"] for each in (tmp_path / "out.jsonl").read_text().splitlines()
    ]
    assert said == ["first", "first"]


def test_a_bad_line_leaves_the_database_as_it_was(database: Database, moved: Path, tmp_path: Path) -> None:
    good = (tmp_path / "one.jsonl").read_text().replace('"key":"0', '"key":"f')
    (tmp_path / "bad.jsonl").write_text(good + "{}\n")
    with pytest.raises(DataError, match=r"bad\.jsonl: nothing was imported(.|\n)*bad\.jsonl:5: "):
        import_responses(database, tmp_path / "bad.jsonl")
    assert read_account(database, PRICED).responses == 4


def test_prune_deletes_what_was_chosen_and_no_more(database: Database, moved: Path) -> None:
    with pytest.raises(DataError, match=r"it has no response of the model 'openai/nono'. Did you mean"):
        choose_responses(database, PRICED, model="openai/nono")
    chosen = choose_responses(database, PRICED, model=NANO)
    assert chosen.responses == {NANO: 2}
    assert chosen.cost_usd == choose_responses(moved, PRICED, model=NANO).cost_usd
    ledger = open_ledger(Settings(ledger=LedgerSection(url=database.url)))
    asyncio.run(ledger.put(key(99), NANO, Completion(text="came after the choice")))
    ledger.close()
    assert prune_responses(database, chosen).responses == 2
    left = read_account(database, PRICED)
    assert [(line.model, line.made.calls) for line in left.models] == [
        ("llamacpp/small@0123", 1),
        (NANO, 1),
        ("openai/other@localhost:1/v1", 1),
    ]


def test_prune_by_age(database: Database, moved: Path) -> None:
    age_s = time.time() - (JAN_10 + 0.5) * DAY
    assert sum(choose_responses(database, PRICED, older_than_s=age_s).responses.values()) == 3
