"""Every response ever paid for, whatever happens to those who asked."""

import asyncio
import contextlib
import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.support.fake_openai import ROOT, let_go, serving_as, stats
from tests.support.ledgers import key

from ragstone.kernel.errors import DataError
from ragstone.kernel.llm import Ledger, ledger
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.records import Usage

SAID = Completion(text="ठीक है 👍🏽", latency_s=0.25)


async def test_what_was_put_is_got_by_another_ledger_on_the_same_file(tmp_path):
    path = tmp_path / "new" / "folder" / "ledger.sqlite"
    said = Completion(
        text="t", finish_reason="stop", refusal="no", usage=Usage(input=3, cached=1), latency_s=0.5
    )
    one, other = Ledger(path), Ledger(path)
    await one.put(key(1), "m", said)
    assert await other.find(key(1)) == said
    assert await other.find(key(2)) is None
    one.close()
    other.close()
    again = Ledger(path)
    assert await again.find(key(1)) == said
    again.close()


async def test_responses_that_come_together_share_a_commit(tmp_path, monkeypatch):
    opened = Ledger(tmp_path / "l")
    commit, n_commits = opened._commit, 0

    def counted(*given):
        nonlocal n_commits
        n_commits += 1
        return commit(*given)

    monkeypatch.setattr(opened, "_commit", counted)
    await asyncio.gather(*(opened.put(key(n), "m", SAID) for n in range(2000)))
    opened.close()
    assert n_commits < 200


def test_a_ledger_of_a_newer_version_is_not_touched(says, tmp_path):
    path = tmp_path / "l"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(DataError) as caught:
        Ledger(path)
    says(caught.value)


def test_a_file_that_is_no_ledger_is_said_to_be_damaged(says, tmp_path):
    path = tmp_path / "l"
    path.write_bytes(b"once upon a time " * 100)
    with pytest.raises(DataError) as caught:
        Ledger(path)
    says(caught.value)


DAMAGE = {
    "undecodable": "UPDATE responses SET response = x'7b22'",
    "another digit": "UPDATE responses SET response = CAST(replace(response, '25', '35') AS BLOB)",
    "another moment": "UPDATE responses SET created = created + 0.5",
    "another model": "UPDATE responses SET model = 'n'",
    "no text": "UPDATE responses SET model = CAST(x'ff' AS TEXT)",
    "a number": "UPDATE responses SET response = 7, created = 'now'",
    "another checksum": "UPDATE responses SET checksum = checksum + 1",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
async def test_a_row_that_is_not_what_was_written_is_missing_and_replaced_and_told_once(
    tmp_path, damage, caplog, says
):
    path = tmp_path / "l"
    opened = Ledger(path)
    for n in (1, 2):
        await opened.put(key(n), "m", SAID)
    opened.close()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)
    again = Ledger(path)
    found = [await again.find(key(n)) for n in (1, 1, 2, 2)]
    assert found == [None] * 4
    assert again.earlier("m") == []
    assert await again.turn(key(1)) == (None, True)
    new = Completion(text="new")
    await again.put(key(1), "m", new)
    await again.put(key(1), "m", SAID)  # the first one that can be read wins
    await again.put(key(2), "m", new, renewed=True)
    assert await again.find(key(1)) == await again.find(key(2)) == new
    assert not caplog.records
    again.close()
    says("\n".join([record.getMessage().split(" cannot")[0] for record in caplog.records]))
    with contextlib.closing(sqlite3.connect(path)) as connection:  # no evidence of what nobody can read
        assert connection.execute("SELECT count(*) FROM responses").fetchone() == (2,)


def test_a_response_of_an_older_file_is_taken_as_long_as_it_can_be_read(tmp_path):
    make_format_1(tmp_path / "l")
    with contextlib.closing(sqlite3.connect(tmp_path / "l")) as connection, connection:
        connection.execute("INSERT INTO responses VALUES (?, 'm', x'7b22', 1.5)", (key(2),))
    opened = Ledger(tmp_path / "l")
    found = [asyncio.run(opened.find(key(n))) for n in (1, 2)]
    opened.close()
    assert found == [Completion(text="old"), None]


async def test_damaged_pages_are_said_to_be_damage(tmp_path, says):
    path = tmp_path / "l"
    opened = Ledger(path)
    await asyncio.gather(*(opened.put(key(n), "m", Completion(text="x" * 500)) for n in range(200)))
    opened.close()
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    again = Ledger(path)
    with pytest.raises(DataError) as error:
        await again.find(key(5))
    says(error.value)
    again.close()


def test_a_folder_that_is_a_file_is_named(says, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError) as caught:
        Ledger(tmp_path / "file" / "ledger.sqlite")
    says(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_folder_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataError, match="Check that its folder is writable"):
        Ledger(tmp_path / "ledger.sqlite")


async def test_a_full_disk_is_an_error_of_those_who_wait_and_what_is_stored_stays(
    says, tmp_path, monkeypatch
):
    connect = ledger.connect

    def connect_to_small_disk(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute("PRAGMA max_page_count = 8")  # SQLite's own way to run out of room
        return connection

    monkeypatch.setattr(ledger, "connect", connect_to_small_disk)
    opened = Ledger(tmp_path / "l")
    await opened.put(key(0), "m", SAID)
    large = Completion(text="x" * 40_000)
    puts = asyncio.gather(*(opened.put(key(n), "m", large) for n in range(1, 4)), return_exceptions=True)
    for mistake in await asyncio.wait_for(puts, 60):
        assert isinstance(mistake, DataError)
        says(mistake)
    assert await opened.find(key(0)) == SAID
    await opened.put(key(9), "m", SAID)  # there is room for a small one
    opened.close()


WRITTEN = ("SHMSIZE", "SHMMAP", "SHMOPEN", "WRITE", "FSYNC", "TRUNCATE", "LOCK")


@pytest.mark.parametrize("what", WRITTEN)
def test_a_ledger_that_cannot_be_written_is_not_called_damaged(says, what):
    """On a disk with no room for its shared memory SQLite says "disk I/O error", as for a broken file."""
    mistake = sqlite3.OperationalError("disk I/O error")
    mistake.sqlite_errorname = f"SQLITE_IOERR_{what}"
    assert not ledger.is_damage(mistake)
    says(ledger.explain(Path("l"), mistake))
    mistake.sqlite_errorname = "SQLITE_IOERR_SHORT_READ"
    says(ledger.explain(Path("l"), mistake))


USED = Completion(text="t", usage=Usage(input=100, output=20, cached=60))
UNCOUNTED = Completion(text="t")


def hits_in(path: Path) -> list[tuple[int | str, ...]]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT * FROM hits ORDER BY day, model").fetchall()
    connection.close()
    return rows


def on_day(monkeypatch: pytest.MonkeyPatch, day: int) -> None:
    clock = SimpleNamespace(time=lambda: day * 86_400 + 5.0, monotonic=time.monotonic, sleep=time.sleep)
    monkeypatch.setattr(ledger, "time", clock)


async def test_what_the_ledger_answers_is_counted_by_day_and_model(tmp_path, monkeypatch):
    path = tmp_path / "l"
    on_day(monkeypatch, 20_000)
    opened = Ledger(path)
    await opened.put(key(1), "a", USED)
    await opened.put(key(2), "b", UNCOUNTED)
    found = [await opened.find(key(n)) for n in (1, 1, 1, 2, 3)]  # what is not there is no hit
    assert found == [USED, USED, USED, UNCOUNTED, None]
    opened.close()
    # Three hits of 100 tokens in (60 of them cached) and 20 out; one whose tokens nobody counted.
    assert hits_in(path) == [(20_000, "a", 3, 300, 60, 180, 0), (20_000, "b", 1, 0, 0, 0, 1)]
    on_day(monkeypatch, 20_001)
    again, other = Ledger(path), Ledger(path)
    for each in (again, other):
        await each.find(key(1))
        each.close()
    assert hits_in(path)[2] == (20_001, "a", 2, 200, 40, 120, 0)


async def test_hits_are_written_while_the_ledger_is_open_and_never_one_by_one(tmp_path, monkeypatch):
    path = tmp_path / "l"
    monkeypatch.setattr(ledger, "HITS_S", 0.1)
    opened = Ledger(path)
    await opened.put(key(1), "a", USED)
    n_before, began = opened._writer.total_changes, time.monotonic()
    for _ in range(1000):
        await opened.find(key(1))
    deadline = time.monotonic() + 60
    while sum(int(row[2]) for row in hits_in(path)) < 1000 and time.monotonic() < deadline:  # noqa: ASYNC110 - a commit of another thread
        await asyncio.sleep(0.02)
    assert sum(int(row[2]) for row in hits_in(path)) == 1000
    n_times = (time.monotonic() - began) / ledger.HITS_S  # that they may have been written, on a slow machine
    assert 1 <= opened._writer.total_changes - n_before <= max(10, 1 + n_times)
    opened.close()


async def test_hits_that_cannot_be_written_are_no_error(tmp_path, monkeypatch):
    opened = Ledger(tmp_path / "l")
    await opened.put(key(1), "a", USED)
    opened._writer.execute("PRAGMA query_only = 1")
    assert await opened.find(key(1)) == USED
    opened.close()
    assert hits_in(tmp_path / "l") == []


def make_format_1(path: Path) -> None:
    """Write a file as the first version of Ragstone did, with one response."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(
        "CREATE TABLE responses (key BLOB PRIMARY KEY, model TEXT NOT NULL, response BLOB NOT NULL,"
        " created REAL NOT NULL) WITHOUT ROWID"
    )
    connection.execute("INSERT INTO responses VALUES (?, 'm', ?, 1.5)", (key(1), b'{"text":"old"}'))
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()


def test_a_ledger_of_the_first_format_is_upgraded_in_place_and_keeps_its_responses(tmp_path):
    path = tmp_path / "l"
    make_format_1(path)
    opened = Ledger(path)
    assert asyncio.run(opened.find(key(1))) == Completion(text="old")
    opened.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    assert connection.execute("SELECT model, created FROM responses").fetchall() == [("m", 1.5)]
    connection.close()
    assert [row[1:3] for row in hits_in(path)] == [("m", 1)]


@pytest.mark.kill
def test_processes_that_upgrade_at_once_lose_nothing(tmp_path):
    path = tmp_path / "l"
    make_format_1(path)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(fill, [(path, 1), (path, 2)], chunksize=1) == [99, 99]  # key(1) was there, and won
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM responses").fetchone() == (300,)
    connection.close()
    assert sum(int(row[2]) for row in hits_in(path)) == 200


def fill(job: tuple[Path, int]) -> int:
    """Open the ledger and put 200 responses, half of which the other processes put too."""
    path, number = job

    async def work() -> int:
        opened = Ledger(path)
        own = (key(1000 * number + n) for n in range(100))
        await asyncio.gather(*(opened.put(each, "m", SAID) for each in [*map(key, range(100)), *own]))
        found = sum([await opened.find(key(n)) == SAID for n in range(100)])
        opened.close()
        return found

    return asyncio.run(work())


@pytest.mark.kill
def test_processes_that_start_at_once_share_one_ledger(tmp_path):
    path = tmp_path / "l"
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(fill, [(path, number) for number in range(1, 7)], chunksize=1) == [100] * 6
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM responses").fetchone() == (700,)
    connection.close()


ASKER = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.llm import Ledger, open_door
from tests.support.doors import prompt

async def main():
    settings = Settings(models={"openai/fake": ModelSettings(base_url=sys.argv[1], max_concurrency=16)})
    ledger = Ledger(Path(sys.argv[2]))
    async with open_door("openai/fake", settings, ledger) as door:
        async def one(n):
            reply = await door.ask(prompt(f"row {n}"))
            with open(sys.argv[2] + ".used", "ab", buffering=0) as used:
                used.write(b"%d\\n" % n)
            return f"{n} {reply.value.score} {reply.latency_s}"
        lines = await asyncio.gather(*(one(n) for n in range(120)))
    ledger.close()
    Path(sys.argv[2] + ".out").write_text("\\n".join(lines))

asyncio.run(main())
"""


def was_used(path):
    return path.is_file() and bool(path.read_bytes())


@pytest.mark.kill
def test_killed_at_any_moment_no_response_that_was_used_is_asked_for_again(tmp_path):
    path, draw = tmp_path / "l", random.Random(1)
    with serving_as("--latency", "0.03", "--gate", "100") as base_url:  # of 120: it never ends too soon
        command = [sys.executable, "-c", ASKER, base_url, str(path), str(ROOT)]
        for n_killed in range(2):
            asker = subprocess.Popen(command)
            deadline = time.monotonic() + 60
            while (
                (stats(base_url)["in_flight"] == 0 or (n_killed == 1 and not was_used(tmp_path / "l.used")))
                and asker.poll() is None
                and time.monotonic() < deadline
            ):
                time.sleep(0.005)
            time.sleep(draw.uniform(0.01, 0.1))
            asker.send_signal(signal.SIGKILL)
            asker.wait()
        with sqlite3.connect(path) as connection:
            n_kept = connection.execute("SELECT count(*) FROM responses").fetchone()[0]
        connection.close()
        used = set((tmp_path / "l.used").read_bytes().split())
        assert 0 < len(used) <= n_kept < 120
        let_go(base_url)
        n_before = stats(base_url)["n_requests"]
        subprocess.run(command, check=True)
        assert stats(base_url)["n_requests"] - n_before == 120 - n_kept
        first = (tmp_path / "l.out").read_bytes()
        subprocess.run(command, check=True)
        assert stats(base_url)["n_requests"] - n_before == 120 - n_kept
        assert (tmp_path / "l.out").read_bytes() == first
