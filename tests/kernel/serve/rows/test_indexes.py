"""Indexes are made once, beside the server, whole or not at all, and are never stale."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ragstone.kernel.errors import DataError
from ragstone.kernel.processes import HelperProcess
from ragstone.kernel.records import Question
from ragstone.kernel.serve.rows import indexes as indexes_module
from ragstone.kernel.serve.rows import indexing
from ragstone.kernel.serve.rows.files import files_of
from ragstone.kernel.serve.rows.indexes import RowIndexes


def write(run: Path, n: int, name: str = "questions.jsonl", first: int = 0) -> Path:
    run.mkdir(exist_ok=True, parents=True)
    rows = [Question(id=f"q{at}", question="Is it so? " * 10) for at in range(first, first + n)]
    (run / name).write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return run


def n_lines(indexes: RowIndexes, run: Path) -> int:
    with indexes.of(run) as index:
        row = index.con.execute("SELECT count(*) FROM lines").fetchone()
        assert row is not None
        return int(row[0])


@pytest.fixture
def indexes(tmp_path: Path) -> Iterator[RowIndexes]:
    made = RowIndexes(tmp_path / "store")
    yield made
    made.close()


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run is large enough for a process of its own."""
    monkeypatch.setattr(indexes_module, "ALONE_BYTES", -1)


@pytest.mark.long
def test_a_large_run_is_indexed_in_a_process_of_its_own(indexes, tmp_path, beside, monkeypatch):
    monkeypatch.setattr(indexes_module, "_made_whole", None)  # it is not made here
    run = write(tmp_path / "run", 20_000)
    seen = []
    while (making := indexes.making(run)) is not None:
        seen.append(making.share)
        time.sleep(0.005)
    assert seen
    assert seen == sorted(seen)
    assert seen[-1] <= 1
    assert n_lines(indexes, run) == 20_000


def test_one_run_that_is_indexed_does_not_keep_others_back(indexes, tmp_path, monkeypatch):
    going_on = threading.Event()
    make = indexing.make_index

    def slow(files, target):
        if files.folder.name == "slow":
            going_on.wait(60)
        yield from make(files, target)

    monkeypatch.setattr(indexes_module, "make_index", slow)
    run = write(tmp_path / "slow", 3)
    making = indexes.making(run, 0.01)
    assert making is not None
    assert making.remaining_s is None
    with indexes.first_rows(run) as index:
        (n,) = index.con.execute("SELECT count(*) FROM lines").fetchone()
        assert n == 3
    assert n_lines(indexes, write(tmp_path / "other", 2)) == 2
    going_on.set()
    assert n_lines(indexes, run) == 3


@pytest.mark.kill
def test_a_process_that_is_killed_leaves_no_half_index(indexes, tmp_path, beside, monkeypatch, says):
    starting = HelperProcess.start
    helpers: list[HelperProcess] = []

    def start(self):
        helpers.append(self)
        return starting(self)

    monkeypatch.setattr(HelperProcess, "start", start)
    module = "ragstone.kernel.serve.rows.indexes"
    monkeypatch.setattr(indexes_module, "_RUN", f"import {module} as here; here.STEP_S = 0; here.main()")
    run = write(tmp_path / "run", 60_000)
    while (making := indexes.making(run)) is not None and not making.share:
        time.sleep(0.001)
    assert making is not None
    os.kill(helpers[0]._process.pid, signal.SIGKILL)
    with pytest.raises(DataError) as mistake:
        n_lines(indexes, run)
    says(mistake.value)
    folder = indexes.folder_of(run)
    assert not list(folder.glob("*.duckdb"))
    assert n_lines(indexes, run) == 60_000  # the next request makes it again
    assert not list(folder.glob("*.partial*"))


def test_two_servers_make_an_index_once(tmp_path, monkeypatch):
    run = write(tmp_path / "run", 500)
    made = []
    make = indexing.make_index

    def counted(files, target):
        made.append(target)
        time.sleep(0.2)
        yield from make(files, target)

    monkeypatch.setattr(indexes_module, "make_index", counted)
    servers = [RowIndexes(tmp_path / "store") for _ in range(2)]
    counts: list[int] = []
    threads = [threading.Thread(target=lambda one=one: counts.append(n_lines(one, run))) for one in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for one in servers:
        one.close()
    assert counts == [500, 500]
    assert len(made) == 1


def test_a_run_that_is_rewritten_while_it_is_indexed_is_read_again(indexes, tmp_path, monkeypatch):
    run = write(tmp_path / "run", 5)
    make = indexing.make_index

    def rewritten(files, target):
        if not rewritten.done:
            rewritten.done = True
            (run / "questions.jsonl").write_bytes(b'{"id"')  # half of a line: it is being written
            with contextlib.suppress(DataError):
                yield from make(files, target)
            write(run, 8)
            raise DataError("half of a line")
        yield from make(files, target)

    rewritten.done = False
    monkeypatch.setattr(indexes_module, "make_index", rewritten)
    assert n_lines(indexes, run) == 8
    write(run, 9)
    assert n_lines(indexes, run) == 9
    assert len(list(indexes.folder_of(run).glob("*.duckdb"))) == 1


def test_a_file_that_is_removed_meanwhile_is_named(indexes, tmp_path, monkeypatch, says):
    run = write(tmp_path / "run", 5)
    make = indexing.make_index

    def removed(files, target):
        (run / "questions.jsonl").unlink(missing_ok=True)
        yield from make(files, target)

    monkeypatch.setattr(indexes_module, "make_index", removed)
    monkeypatch.setattr(indexes_module, "CHANGED", 1)
    with pytest.raises(DataError, match=r"questions\.jsonl") as mistake:
        n_lines(indexes, run)
    says(mistake.value)


def test_a_run_that_grows_shows_its_last_index_until_the_next_is_made(indexes, tmp_path, monkeypatch, says):
    run = write(tmp_path / "run", 5, "questions.jsonl.partial")
    assert n_lines(indexes, run) == 5
    write(run, 7, "questions.jsonl.partial")
    assert n_lines(indexes, run) == 5
    monkeypatch.setattr(indexes_module, "GROWING_S", 0)
    until = time.monotonic() + 60
    while (n := n_lines(indexes, run)) != 7 and time.monotonic() < until:
        assert n == 5
        time.sleep(0.01)
    assert n == 7
    (run / "questions.jsonl.partial").write_bytes(b'{"id": 1}\n')
    mistake = None
    while mistake is None and time.monotonic() < until:
        time.sleep(0.01)
        try:
            n_lines(indexes, run)
        except DataError as raised:
            mistake = str(raised)
    says(mistake)


@pytest.mark.long
def test_a_full_disk_is_explained(tmp_path, says):
    """A limit on the size of files, in a process of its own, is to DuckDB what a full disk is."""
    write(tmp_path / "run", 20_000)
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from ragstone.kernel.serve.rows.indexes import RowIndexes\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "indexes = RowIndexes(Path(sys.argv[1]) / 'store')\n"
        "try:\n"
        "    with indexes.of(Path(sys.argv[1]) / 'run'): print('made')\n"
        "except Exception as mistake: print(type(mistake).__name__, mistake)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.startswith("DataError "), done.stdout + done.stderr
    says(done.stdout[done.stdout.index("the run's index") : done.stdout.index(" (")])
    says(done.stdout[done.stdout.index("Free some disk space") :])
    assert not list((tmp_path / "store").rglob("*.duckdb"))


def test_an_index_that_another_version_of_duckdb_wrote_is_made_again(indexes, tmp_path):
    run = write(tmp_path / "run", 4)
    target = indexes.folder_of(run) / f"{files_of(run).stamp}.duckdb"
    target.parent.mkdir(parents=True)
    target.write_bytes(b"no database")
    assert n_lines(indexes, run) == 4
