"""The files of the log: rotated, of each process its own, whole after a kill, and honest when they fail."""

import asyncio
import datetime
import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from assistant_tests.log.exchanges import ASKED, NOW, SAID, SECRET
from tests.support.golden import sentence_in

from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.appending import Appender, mend_file
from ragstone_assistant.log.exchange_log import ExchangeLog, read_exchanges, read_feedback

ROOT = Path(__file__).parents[2]


def opened(folder: Path, rotate_bytes: int = 1 << 20) -> ExchangeLog:
    return ExchangeLog(folder, rotate_bytes, None, SECRET)


async def write(log: ExchangeLog, *ids: str) -> None:
    await asyncio.gather(
        *(log.write(ASKED, SAID, exchange_id=one, conversation_id="c", now=NOW) for one in ids)
    )


def ids_in(folder: Path) -> list[str]:
    return [row.question_id for row in read_exchanges(folder)]


def names_in(folder: Path) -> list[str]:
    return [path.name for path in files_in(folder)]


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


async def test_exchanges_and_feedback_are_read_back(tmp_path: Path) -> None:
    log = opened(tmp_path / "logs")
    await write(log, "a", "b")
    await log.feedback("a", "up", None, NOW)
    await log.feedback("b", None, None, NOW)
    assert ids_in(log.folder) == ["a", "b"]
    assert [(row.question_id, row.score) for row in read_feedback(log.folder)] == [("a", 1.0)]
    log.close()
    assert names_in(log.folder) == [
        "exchanges-20261121T233005-1.jsonl",
        "feedback-20261121T233005-1.jsonl",
    ]
    assert log.problem is None


async def test_a_file_that_would_grow_too_big_is_followed_by_another(tmp_path: Path) -> None:
    log = opened(tmp_path, rotate_bytes=2500)  # a row has some 1,000 bytes
    await write(log, *map(str, range(12)))
    log.close()
    assert ids_in(tmp_path) == list(map(str, range(12)))  # the tenth file is behind the ninth
    sizes = [path.stat().st_size for path in files_in(tmp_path)]
    assert len(sizes) == 6
    assert max(sizes) <= 2500


@pytest.mark.parametrize(("daily", "n_files"), [(True, 2), (False, 1)])
async def test_a_new_day_begins_a_file_where_that_is_wanted(
    tmp_path: Path, daily: bool, n_files: int
) -> None:
    appender = Appender(tmp_path, "x", 1 << 20, daily=daily)
    late = NOW.replace(hour=23, minute=59)
    for now in (late, late, late + datetime.timedelta(minutes=2)):
        await appender.append(lambda: b"{}", now)
    appender.close()
    assert len(names_in(tmp_path)) == n_files


async def test_a_row_longer_than_a_file_may_be_is_a_file(tmp_path: Path) -> None:
    log = opened(tmp_path, rotate_bytes=10)
    await write(log, "a", "b")
    log.close()
    assert len(names_in(tmp_path)) == 2


async def test_two_processes_that_start_at_once_have_files_of_their_own(tmp_path: Path) -> None:
    logs = opened(tmp_path), opened(tmp_path)
    for log, name in zip(logs, "ab", strict=True):
        await write(log, name)
    assert names_in(tmp_path) == ["exchanges-20261121T233005-1.jsonl", "exchanges-20261121T233005-2.jsonl"]
    assert ids_in(tmp_path) == ["a", "b"]
    for log in logs:
        log.close()


class TestMending:
    WHOLE = b'{"question_id":"a","answer":"x"}\n'

    def torn(self, folder: Path, end: bytes) -> Path:
        path = folder / "exchanges-20261121T000000-1.jsonl"
        path.write_bytes(self.WHOLE + end)
        return path

    @pytest.mark.parametrize(
        ("end", "left"),
        [
            (b'{"question_id":"b","an', b""),
            (b'{"question_id":"b","answer":"y"}', b'{"question_id":"b","answer":"y"}\n'),
        ],
    )
    async def test_a_torn_last_line_is_cut_off_or_closed_at_the_next_start(
        self, end: bytes, left: bytes, tmp_path: Path
    ) -> None:
        path = self.torn(tmp_path, end)
        assert ids_in(tmp_path) == ["a"]  # and until then it is no line
        log = opened(tmp_path)
        assert path.read_bytes() == self.WHOLE + left
        await write(log, "z")
        log.close()
        assert ids_in(tmp_path)[-1] == "z"

    def test_a_file_that_is_nothing_but_a_torn_line_is_empty_then(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        path.write_bytes(b'{"a')
        mend_file(path)
        assert path.read_bytes() == b""

    async def test_a_file_that_another_process_writes_is_left_alone(self, tmp_path: Path) -> None:
        log = opened(tmp_path)
        await write(log, "a")
        (path,) = files_in(tmp_path)
        with path.open("ab") as file:
            file.write(b'{"half')
        opened(tmp_path)
        assert path.read_bytes().endswith(b'{"half')
        log.close()
        opened(tmp_path)
        assert ids_in(tmp_path) == ["a"]
        assert path.read_bytes().endswith(b"\n")

    def test_another_broken_line_is_named(self, tmp_path: Path) -> None:
        self.torn(tmp_path, b"{cut\n" + self.WHOLE)
        with pytest.raises(DataError, match=r"exchanges-20261121T000000-1\.jsonl, line 2"):
            ids_in(tmp_path)


class TestFailures:
    async def test_a_full_disk_is_told_and_leaves_no_half_a_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says
    ) -> None:
        log = opened(tmp_path)
        await write(log, "a")
        real = os.write
        said = [20]

        def full(file: int, data: bytes) -> int:
            if not said:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(file, bytes(data)[: said.pop()])

        monkeypatch.setattr("ragstone.kernel.persistence.appending.os.write", full)
        with pytest.raises(DataError) as error:
            await write(log, "b")
        says(error.value)
        says(sentence_in(log.problem or "", "No space left"))
        monkeypatch.undo()
        await write(log, "c")
        assert log.problem is None
        log.close()
        (path,) = files_in(tmp_path)
        assert path.read_bytes().count(b"\n") == 2
        assert ids_in(tmp_path) == ["a", "c"]

    async def test_a_flush_that_fails_acknowledges_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log = opened(tmp_path)
        await write(log, "a")

        def failing(_file: int) -> None:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr("ragstone.kernel.persistence.appending.os.fsync", failing)
        with pytest.raises(DataError, match="Input/output error"):
            await write(log, "b")
        monkeypatch.undo()
        await write(log, "c")
        log.close()
        assert {"a", "c"} <= set(ids_in(tmp_path))
        assert len(names_in(tmp_path)) == 2

    async def test_a_folder_that_cannot_be_is_known_from_the_start_and_used_when_it_can(
        self, tmp_path: Path, says
    ) -> None:
        (tmp_path / "logs").write_text("a file")
        log = opened(tmp_path / "logs")
        says(sentence_in(log.problem or "", "the log cannot"))
        with pytest.raises(DataError, match="cannot be written"):
            await write(log, "a")
        (tmp_path / "logs").unlink()
        await write(log, "b")
        assert (log.problem, ids_in(tmp_path / "logs")) == (None, ["b"])
        log.close()

    async def test_a_line_that_cannot_be_made_costs_the_others_nothing(self, tmp_path: Path) -> None:
        appender = Appender(tmp_path, "x", 1 << 20)

        def broken() -> bytes:
            raise ValueError("no such number")

        bad, good = await asyncio.gather(
            appender.append(broken, NOW), appender.append(lambda: b"{}", NOW), return_exceptions=True
        )
        assert isinstance(bad, DataError)
        assert good is None
        assert appender.problem is None
        appender.close()


async def test_who_gives_up_waiting_still_has_the_row_written(tmp_path: Path) -> None:
    log = opened(tmp_path)
    task = asyncio.create_task(write(log, "a"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    log.close()
    assert ids_in(tmp_path) == ["a"]


async def test_the_disk_is_flushed_once_for_all_that_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = opened(tmp_path)
    await write(log, "first")
    n_flushes = 0
    real = os.fsync

    def counted(file: int) -> None:
        nonlocal n_flushes
        n_flushes += 1
        time.sleep(0.02)
        real(file)

    monkeypatch.setattr("ragstone.kernel.persistence.appending.os.fsync", counted)
    await write(log, *map(str, range(64)))
    log.close()
    assert n_flushes <= 5  # 64 rows, 32 at once, and the first few may fly before the others are there


WRITER = """
import asyncio, datetime, sys
from pathlib import Path
from assistant_tests.log.exchanges import ASKED, NOW, SAID, SECRET
from ragstone_assistant.log import ExchangeLog

async def main(folder, name):
    log = ExchangeLog(Path(folder), 60_000, None, SECRET)
    async def work(worker):
        n = 0
        while True:
            one, n = f"{name}-{worker}-{n}", n + 1
            now = NOW + datetime.timedelta(seconds=n)
            await log.write(ASKED, SAID, exchange_id=one, conversation_id="c", now=now)
            sys.stdout.write(one + "\\n")
            sys.stdout.flush()
    await asyncio.gather(*(work(worker) for worker in range(16)))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.kill
def test_after_a_kill_under_load_every_acknowledged_row_is_there(tmp_path: Path) -> None:
    acknowledged: set[str] = set()
    for turn in ("a", "b"):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), turn], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(150)]
        process.send_signal(signal.SIGKILL)
        said += process.stdout.read().splitlines(keepends=True)
        process.stdout.close()
        process.wait(60)
        acknowledged |= {line.strip() for line in said if line.endswith("\n")}
    assert len(acknowledged) >= 300
    kept = ids_in(tmp_path)
    assert acknowledged <= set(kept)
    assert len(kept) == len(set(kept))
    opened(tmp_path)
    assert all(not path.stat().st_size or path.read_bytes().endswith(b"\n") for path in tmp_path.iterdir())


async def test_a_file_that_is_deleted_meanwhile_costs_no_later_row(tmp_path: Path) -> None:
    log = opened(tmp_path / "logs")
    await write(log, "e1")
    shutil.rmtree(tmp_path / "logs")
    await write(log, "e2")
    await write(log, "e3")
    assert ids_in(tmp_path / "logs") == ["e2", "e3"]
    assert len(names_in(tmp_path / "logs")) == 1
    log.close()
