"""Export, import and prune: all of a file or nothing, and nothing that others have in hand is harmed."""

import asyncio
import contextlib
import datetime
import json
import multiprocessing
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.ledgers import DAY, JAN_10, Kept, key, make_ledger, responses_in, set_hit_day

from ragstone.features.ledger import _archive as archive
from ragstone.features.ledger._account import read_account
from ragstone.features.ledger._archive import (
    Exported,
    choose_responses,
    export_responses,
    import_responses,
    prune_responses,
)
from ragstone.kernel.config import LedgerSection, ModelSettings, Price, Settings
from ragstone.kernel.errors import DataError
from ragstone.kernel.llm import Ledger, open_ledger
from ragstone.kernel.llm._postgres_database import Database
from ragstone.kernel.llm.ledgers import ledger_place, open_store
from ragstone.kernel.llm.prompt import Completion

NANO = "openai/nano"
PRICED = Settings(models={NANO: ModelSettings(price_usd_per_million=Price(input=1, output=4, cached=0.5))})


@pytest.fixture
def place(ledger_settings):
    return ledger_place(ledger_settings)


def line(number: int, text: str = "said", **others: object) -> str:
    """Return a line of an export."""
    fields = {"key": key(number).hex(), "model": NANO, "created": "2026-01-10T00:00:00Z"}
    return json.dumps({**fields, "response": {"text": text}, **others})


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{each}\n" for each in lines), encoding="utf-8")
    return path


def test_an_export_is_one_response_a_line_by_key_and_without_more_than_that(tmp_path):
    kept = [Kept(NANO, JAN_10 + 0.5, text="ठीक है"), Kept("llamacpp/q@0", JAN_10, (3, 0, 0))]
    path = make_ledger(tmp_path / "l", kept)
    assert export_responses(path, tmp_path / "out.jsonl") == Exported(2, 0)
    first, second = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert first == (
        '{"key":"00000000000000000000000000000000","model":"openai/nano","created":"2026-01-10T12:00:00Z",'
        '"response":{"text":"ठीक है","usage":{"input":100,"output":20,"cached":60}}}'
    )
    assert json.loads(second)["created"] == "2026-01-10T00:00:00Z"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["l", "out.jsonl"]


def test_what_is_exported_and_imported_is_the_same_to_the_byte(place, ledger_settings, tmp_path):
    kept = [Kept(NANO, JAN_10 + n / 7, text=f"ठीक है \x00 {n}") for n in range(50)]
    export_responses(make_ledger(tmp_path / "l", kept), tmp_path / "one.jsonl")
    done = import_responses(place, tmp_path / "one.jsonl")
    assert (done.new, done.known) == (50, 0)
    assert import_responses(place, tmp_path / "one.jsonl").known == 50
    assert export_responses(place, tmp_path / "two.jsonl") == Exported(50, 0)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert import_responses(tmp_path / "back", tmp_path / "two.jsonl").new == 50
    opened = open_ledger(ledger_settings)
    found = asyncio.run(opened.find(key(7)))
    opened.close()
    assert found is not None
    assert found.text == "ठीक है \x00 7"


@given(st.floats(min_value=0, max_value=4e9))
def test_the_moment_of_a_response_survives_any_number_of_exports(created):
    rows = [(key(1), NANO, b'{"text":"t"}', created)]
    (exported,) = archive.export_lines(rows)
    ((*_, again),) = archive._rows([exported], Path("f"))
    assert again == pytest.approx(created, abs=1e-6)
    assert list(archive.export_lines([(key(1), NANO, b'{"text":"t"}', again)])) == [exported]


def test_an_export_replaces_no_file_unasked_and_is_jsonl(says, tmp_path):
    path = make_ledger(tmp_path / "l", [Kept(NANO)])
    out = write(tmp_path / "out.jsonl", "mine")
    with pytest.raises(DataError) as caught:
        export_responses(path, out)
    says(caught.value)
    assert out.read_text() == "mine\n"
    assert export_responses(path, out, force=True) == Exported(1, 0)
    with pytest.raises(DataError, match=r"ends in \.jsonl"):
        export_responses(path, tmp_path / "out.csv")
    with pytest.raises(DataError) as caught:
        export_responses(tmp_path / "none", tmp_path / "none.jsonl")
    says(caught.value)
    assert not (tmp_path / "none.jsonl").exists()


def test_responses_that_cannot_be_read_are_left_out_and_counted(tmp_path):
    path = make_ledger(tmp_path / "l", [Kept(NANO) for _ in range(9)])
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE responses SET response = x'7b22' WHERE key = ?", (key(0),))
        # 7 for 2: as good a reply as before, but not the one that was paid for.
        connection.execute(
            "UPDATE responses SET response = replace(response, '20', '70') WHERE key = ?", (key(1),)
        )
        connection.execute("UPDATE responses SET created = created + 1 WHERE key = ?", (key(2),))
        connection.execute("UPDATE responses SET model = CAST(x'6dff' AS TEXT) WHERE key = ?", (key(3),))
    assert export_responses(path, tmp_path / "out.jsonl") == Exported(5, 4)
    numbers = [int(json.loads(line)["key"], 16) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert numbers == [4, 5, 6, 7, 8]
    chosen = choose_responses(path, Settings(), model=NANO)
    assert (chosen.responses, chosen.damaged) == ({NANO: 5}, 3)  # one's name is another now


def test_an_import_heals_what_cannot_be_read(tmp_path):
    path = make_ledger(tmp_path / "l", [Kept(NANO, text=f"said {n}") for n in range(3)])
    export_responses(path, tmp_path / "out.jsonl")
    before = responses_in(path)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE responses SET response = x'7b22' WHERE key = ?", (key(1),))
    assert import_responses(path, tmp_path / "out.jsonl").new == 1
    assert responses_in(path) == before


def test_an_export_shows_one_moment_while_others_write(tmp_path, monkeypatch):
    path = make_ledger(tmp_path / "l", [Kept(NANO) for _ in range(300)])
    opened = Ledger(path)
    lines = archive.export_lines

    def lines_while_others_write(rows: object) -> object:
        for n, each in enumerate(lines(rows)):  # type: ignore[arg-type]
            if n == 0:
                asyncio.run(opened.put(key(1000), NANO, Completion(text="late")))
            yield each

    monkeypatch.setattr(archive, "export_lines", lines_while_others_write)
    assert export_responses(path, tmp_path / "out.jsonl") == Exported(300, 0)
    opened.close()
    assert len(responses_in(path)) == 301


def test_the_first_response_wins_in_the_ledger_and_within_a_file(place, tmp_path):
    make_ledger(place, [Kept(NANO, text="here first")])
    file = write(tmp_path / "in.jsonl", line(0, "late"), line(1, "first line"), "", line(1, "second line"))
    done = import_responses(place, file)
    assert (done.file, done.new, done.known) == (str(file), 1, 2)
    assert {n: text for n, (_, text, _) in responses_in(place).items()} == {0: "here first", 1: "first line"}


def test_an_import_keeps_model_moment_and_what_this_version_does_not_know(tmp_path):
    response = {"text": "t", "of_a_later_version": [1]}
    created = "2026-01-10T02:00:00.250000+02:00"
    file = write(tmp_path / "in.jsonl", line(5, model="llamacpp/q@0", created=created, response=response))
    import_responses(tmp_path / "l", file)
    # 02:00 two hours east of Greenwich is midnight there
    assert responses_in(tmp_path / "l") == {5: ("llamacpp/q@0", "t", JAN_10 * DAY + 0.25)}
    export_responses(tmp_path / "l", tmp_path / "out.jsonl")
    assert json.loads((tmp_path / "out.jsonl").read_text())["response"] == response


def test_bad_lines_are_named_and_nothing_of_their_file_is_imported(says, place, tmp_path):
    make_ledger(place, [Kept(NANO)])
    bad = [
        "{",
        line(1, key="zz"),
        line(2, model=""),
        line(3, created="yesterday"),
        line(4, created="2026-01-10T00:00:00"),
        line(5, response={"no": "text"}),
        line(6, extra=1),
        "[]",
        '{"key": "' + key(7).hex() + '"}',
    ]
    file = write(tmp_path / "in.jsonl", line(8), *bad, line(9))
    with pytest.raises(DataError) as caught:
        import_responses(place, file)
    says(caught.value)
    told = str(caught.value).splitlines()
    assert [each.partition(": ")[0] for each in told[1:]] == [f"{file}:{n}" for n in range(2, 11)]
    assert list(responses_in(place)) == [0]


def test_ten_bad_lines_are_reported_together(says, tmp_path):
    file = tmp_path / "in.jsonl"
    file.write_bytes(b"\xff\xfe\n" * 1000)
    with pytest.raises(DataError) as caught:
        import_responses(tmp_path / "l", file)
    told = str(caught.value).splitlines()
    assert len(told) == 1 + 10 + 1
    assert told[10].startswith(f"{file}:10: ")
    says(told[11])


def test_a_file_that_cannot_be_read_is_named(says, tmp_path):
    with pytest.raises(DataError) as caught:
        import_responses(tmp_path / "l", tmp_path / "none.jsonl")
    says(caught.value)
    with pytest.raises(DataError) as caught:
        import_responses(tmp_path / "l", tmp_path)
    says(caught.value)
    (tmp_path / "file").touch()
    with pytest.raises(DataError) as caught:
        import_responses(tmp_path / "file" / "l", write(tmp_path / "in.jsonl", line(1)))
    says(caught.value)


DYING = """
import os, signal, sqlite3, sys
from pathlib import Path
from ragstone.kernel.llm import ledger
from ragstone.features.ledger._archive import import_responses

moment = sys.argv[3]
connect = ledger.connect

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def connect_to_die(path):
    connection = connect(path)
    def traced(statement):
        if moment == "reading" and statement.startswith("INSERT INTO incoming"):
            connection.set_progress_handler(die, 100_000)
        if moment == "inserting" and statement == "BEGIN IMMEDIATE":
            connection.set_progress_handler(die, 50_000)  # some thousands of rows are in by then
        if moment == "committing" and statement == "COMMIT" and connection.in_transaction:
            if connection.execute("SELECT count(*) FROM responses").fetchone()[0] > 1:
                die()
    connection.set_trace_callback(traced)
    return connection

ledger.connect = connect_to_die
print(import_responses(Path(sys.argv[1]), Path(sys.argv[2])), flush=True)
"""


@pytest.mark.kill
@pytest.mark.parametrize("moment", ["reading", "inserting", "committing"])
def test_killed_while_importing_all_of_the_file_is_there_or_nothing(tmp_path, moment):
    path = make_ledger(tmp_path / "l", [Kept(NANO, text="before")])
    file = write(tmp_path / "in.jsonl", *(line(n, "x" * 200) for n in range(1, 10_001)))
    ran = subprocess.run(
        [sys.executable, "-c", DYING, str(path), str(file), moment], timeout=60, capture_output=True
    )
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    assert [text for _, text, _ in responses_in(path).values()] == ["before"]
    assert import_responses(path, file).new == 10_000
    assert len(responses_in(path)) == 10_001


def merge(job: tuple[Path, Path]) -> int:
    return import_responses(*job).new


@pytest.mark.kill
def test_processes_that_import_at_once_add_up_while_a_run_goes_on(tmp_path):
    path = make_ledger(tmp_path / "l", [Kept(NANO, text="before")])
    # Each file holds 1,500 responses, half of which the next file holds too: 750 x 5 in all.
    jobs = [
        (path, write(tmp_path / f"{n}.jsonl", *(line(750 * n + i + 1) for i in range(1500))))
        for n in range(4)
    ]
    opened = Ledger(path)

    async def run_on() -> None:
        for n in range(100_000, 100_100):
            await opened.put(key(n), NANO, Completion(text="of the run"))
            assert await opened.find(key(0)) is not None
            await asyncio.sleep(0.01)

    with multiprocessing.get_context("spawn").Pool(2) as pool:
        merged = pool.map_async(merge, jobs, chunksize=1)
        asyncio.run(run_on())
        assert sum(merged.get(60)) == 750 * 5
    opened.close()
    assert len(responses_in(path)) == 1 + 750 * 5 + 100


def test_prune_by_age_says_what_it_deletes_and_what_it_costs_again(place):
    now = datetime.datetime.now(datetime.UTC).timestamp() / DAY
    kept = [
        Kept(NANO, now - 31, (1000, 100, 400)),
        Kept(NANO, now - 29),
        Kept("llamacpp/q@0", now - 300),
        Kept("llamacpp/q@0", now - 400),
    ]
    make_ledger(place, kept)
    chosen = choose_responses(place, PRICED, older_than_s=30 * DAY)
    assert chosen.responses == {NANO: 1, "llamacpp/q@0": 2}
    assert chosen.cost_usd == pytest.approx(0.0012)  # 600 x 1 + 400 x 0.5 + 100 x 4, a million
    assert len(responses_in(place)) == 4
    assert prune_responses(place, chosen).responses == 3
    assert list(responses_in(place)) == [1]


def test_prune_by_model_takes_it_at_every_address_or_at_one(says, place):
    kept = [Kept(NANO), Kept(f"{NANO}@here/v1"), Kept(f"{NANO}@there/v1"), Kept("openai/nano-2")]
    make_ledger(place, kept)
    assert choose_responses(place, PRICED, model=f"{NANO}@here/v1").models == [f"{NANO}@here/v1"]
    chosen = choose_responses(place, PRICED, model=NANO)
    assert chosen.models == [NANO, f"{NANO}@here/v1", f"{NANO}@there/v1"]
    assert prune_responses(place, chosen).responses == 3
    assert list(responses_in(place)) == [3]
    unknown = choose_responses(place, PRICED, model="openai/nano-2")
    assert unknown.cost_usd is None
    with pytest.raises(DataError) as caught:
        choose_responses(place, PRICED, model="openai/nan")
    says(str(caught.value).replace(str(place), "LEDGER"))


def test_both_conditions_must_hold(place):
    make_ledger(place, [Kept(NANO, 1), Kept("m", 1), Kept(NANO, 400_000)])
    assert choose_responses(place, PRICED, older_than_s=DAY, model=NANO).responses == {NANO: 1}


def test_what_came_after_the_choice_stays_and_so_do_the_hits(place, ledger_settings):
    make_ledger(place, [Kept(NANO)])
    opened = open_ledger(ledger_settings)
    for _ in range(2):
        assert asyncio.run(opened.find(key(0)))
    chosen = choose_responses(place, PRICED, model=NANO)
    asyncio.run(opened.put(key(9), NANO, Completion(text="late")))
    opened.close()
    assert prune_responses(place, chosen).responses == 1
    assert list(responses_in(place)) == [9]
    with open_store(place) as store:
        assert [n_calls for _, _, n_calls, *_ in store.hits()] == [2]


def test_prune_gives_the_space_back(tmp_path):
    path = make_ledger(tmp_path / "l", [Kept(NANO, text="x" * 2000) for _ in range(1000)])
    n_bytes = path.stat().st_size
    pruned = prune_responses(path, choose_responses(path, PRICED, model=NANO))
    assert path.stat().st_size < 50_000
    assert pruned.n_bytes_freed == n_bytes - path.stat().st_size


def test_prune_while_another_reads_and_a_run_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr("ragstone.kernel.llm.ledger.SHRINK_MS", 10)  # how long it would wait for the reader
    path = make_ledger(tmp_path / "l", [Kept(NANO) for _ in range(500)] + [Kept("other")])
    opened = Ledger(path)
    reader = sqlite3.connect(path)
    rows = reader.execute("SELECT key FROM responses")
    rows.fetchone()  # it holds the file as it was
    assert prune_responses(path, choose_responses(path, PRICED, model=NANO)).responses == 500
    assert len(rows.fetchall()) == 500  # and sees its moment to the end
    reader.close()
    assert asyncio.run(opened.find(key(0))) is None
    assert asyncio.run(opened.find(key(500))) is not None
    asyncio.run(opened.put(key(0), NANO, Completion(text="asked again")))
    opened.close()
    assert responses_in(path)[0][1] == "asked again"


def test_a_line_of_an_export_has_a_type_that_python_can_read():
    stored = msgspec.json.decode(line(1), type=archive.StoredResponse)
    assert msgspec.json.decode(stored.response, type=Completion).text == "said"


@pytest.mark.server
def test_the_account_of_a_database_is_that_of_the_same_ledger_in_a_file(postgres, tmp_path):
    kept = [
        Kept(NANO, JAN_10 + 0.25, (1000, 100, 400)),
        Kept(NANO, JAN_10 + 1, (500, 50, 0)),
        Kept("llamacpp/small@0123", JAN_10, (70, 7, 0)),
        Kept("openai/other@localhost:1/v1", JAN_10, (0, 0, 0)),
    ]
    path, schema = make_ledger(tmp_path / "l", kept, hits=[0, 0, 1, 3]), postgres.new_schema()
    set_hit_day(path, JAN_10 + 5)
    database = make_ledger(Database(postgres.url(schema)), kept)
    ledger = open_ledger(Settings(root=str(tmp_path), ledger=LedgerSection(url=database.url)))

    async def hit():
        for number in (0, 0, 1, 3):
            await ledger.find(key(number))

    asyncio.run(hit())
    ledger.close()
    postgres.sql(f"UPDATE ragstone_hits SET day = {JAN_10 + 5}", schema)
    of_file, of_database = (
        msgspec.structs.replace(read_account(one, PRICED), path="", n_bytes=0) for one in (path, database)
    )
    assert of_database == of_file
    assert of_database.total.hits.calls == 4
    assert read_account(database, PRICED).path == str(database)
    assert read_account(database, PRICED).n_bytes > 0
