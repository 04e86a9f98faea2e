"""A ledger file whose bits have changed: what is good is served, the rest is asked again, none is wrong."""

import asyncio
import contextlib
import json
import os
import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.support.ledgers import key

from ragstone.features.ledger._archive import Exported, export_responses, import_responses
from ragstone.features.ledger._salvage import salvaged
from ragstone.kernel.errors import DataError
from ragstone.kernel.llm import Ledger
from ragstone.kernel.llm.ledger import connect, is_damaged, with_checksum
from ragstone.kernel.llm.prompt import Completion

N = 300
# Of some pages each, and one of many: a long reply goes on in pages of its own.
SAID = {
    key(n * 2**100): Completion(text=f"Reply {n} " + "as the texts say " * (n % 40), latency_s=n / 8)
    for n in range(N)
} | {key(2**127): Completion(text="long " * 5_000)}


async def put_all(opened: Ledger) -> None:
    await asyncio.gather(*(opened.put(one, "openai/nano", said) for one, said in SAID.items()))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "l"
    opened = Ledger(path)
    asyncio.run(put_all(opened))
    opened.close()
    with contextlib.closing(connect(path)) as connection:
        connection.execute("VACUUM")  # no copies of rows in room that is free
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    return shutil.copyfile(whole, tmp_path / "l")


def found_in(path: Path) -> dict[bytes, Completion | None]:
    opened = Ledger(path)

    async def find() -> dict[bytes, Completion | None]:
        return {one: await opened.find(one) for one in SAID}

    try:
        return asyncio.run(find())
    finally:
        opened.close()


def after_the_advice(path: Path) -> dict[bytes, Completion | None]:
    """Return what is found after `export` of this file and `import` into a new one."""
    export_responses(path, path.with_name("saved.jsonl"), force=True)
    new = path.with_name("new")
    for one in new.parent.glob("new*"):
        if one.is_file():
            one.unlink()
    import_responses(new, path.with_name("saved.jsonl"))
    return found_in(new)


def test_a_file_in_order_is_not_damaged_and_salvage_would_find_all_of_it(path):
    assert not is_damaged(path)
    with salvaged(path) as salvage:
        assert {row[0] for row in salvage.rows()} == set(SAID)
        assert salvage.n_bad == 0
    assert not is_damaged(path.with_name("none"))


def test_what_only_the_log_has_is_found_too(tmp_path):
    opened = Ledger(tmp_path / "l")
    asyncio.run(put_all(opened))
    asyncio.run(opened.put(key(0), "openai/nano", Completion(text="newer"), renewed=True))
    assert (tmp_path / "l-wal").stat().st_size > 0
    with salvaged(tmp_path / "l") as salvage:
        rows = {row[0]: json.loads(row[2])["text"] for row in salvage.rows()}
    opened.close()
    assert {one for one in rows if len(one) == 16} == set(SAID)
    assert rows[key(0)] == "newer"


@pytest.mark.long
def test_flipped_bits_cost_no_good_response_and_give_no_wrong_one(path):
    draw, pristine = random.Random(18), path.read_bytes()
    refused = 0
    for n_flips in [1] * 60 + [20] * 5:
        content = bytearray(pristine)
        for _ in range(n_flips):
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        path.write_bytes(content)
        for beside in ("l-wal", "l-shm"):
            path.with_name(beside).unlink(missing_ok=True)
        try:
            found = found_in(path)
        except DataError:
            refused += 1
            found = after_the_advice(path)
        wrong = [one for one, said in found.items() if said not in (None, SAID[one])]
        assert not wrong
        assert sum(said is None for said in found.values()) <= n_flips
    assert refused  # some need the advice


def test_a_first_page_that_nobody_can_read_hides_nothing(path):
    content = bytearray(path.read_bytes())
    content[:4096] = os.urandom(4096)
    path.write_bytes(content)
    assert is_damaged(path)
    assert after_the_advice(path) == SAID


def test_a_file_that_is_no_ledger_gives_nothing(tmp_path):
    (tmp_path / "l").write_bytes(b"once upon a time " * 1000)
    assert export_responses(tmp_path / "l", tmp_path / "out.jsonl") == Exported(0, 0)
    assert (tmp_path / "out.jsonl").read_bytes() == b""


def test_rows_of_older_files_and_numbers_in_any_form_are_read(tmp_path):
    said = b'{"text":"old"}'
    with contextlib.closing(connect(tmp_path / "l")) as connection, connection:
        rows = [
            (key(n), "m", said, created) for n, created in enumerate((1.5, 0.0, 1.0, 7.0, 300.0, 2.0**40))
        ]
        connection.executemany("INSERT INTO responses VALUES (?, ?, ?, ?, ?)", map(with_checksum, rows))
        connection.execute("INSERT INTO responses VALUES (?, 'm', ?, 5.5, NULL)", (key(99), said))
    with contextlib.closing(sqlite3.connect(tmp_path / "l")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with salvaged(tmp_path / "l") as salvage:
        assert list(salvage.rows()) == [*rows, (key(99), "m", said, 5.5)]


def test_a_file_in_disorder_is_said_to_be_before_a_call_is_paid_for(path, says):
    content = bytearray(path.read_bytes())
    at = content.index(key(2**100 * 150))
    content[at] = 255  # its row is not in its place then: good ones beside it are not found
    path.write_bytes(content)
    opened = Ledger(path)
    with pytest.raises(DataError) as error:
        asyncio.run(opened.turn(key(5)))
    says(error.value)
    opened.close()
