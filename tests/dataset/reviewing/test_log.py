import os
import threading

import msgspec
import pytest
from tests.dataset.reviewing.rows import decide

from ragstone.dataset.reviewing import Log, read_decisions
from ragstone.errors import DataError


def test_decisions_are_read_back_in_order(tmp_path):
    log = Log(tmp_path / "q.review.jsonl")
    rows = [decide("d1#1", "accept"), decide("d1#2", "reject", reason="ambiguous")]
    for row in rows:
        assert log.add(lambda _new, row=row: row) == row
    assert log.decisions == read_decisions(tmp_path / "q.review.jsonl") == rows


def test_what_another_process_added_is_seen_before_one_adds(tmp_path):
    one, two = (Log(tmp_path / "q.review.jsonl") for _ in range(2))
    row = decide("d1#1", "accept")
    one.add(lambda _new: row)
    seen = []
    assert two.add(seen.extend) is None
    assert seen == two.decisions == [row]


def test_a_line_that_was_never_finished_is_dropped(tmp_path):
    path = tmp_path / "q.review.jsonl"
    first, second = decide("d1#1", "accept"), decide("d1#2", "accept")
    path.write_bytes(msgspec.json.encode(first) + b"\n" + msgspec.json.encode(second)[:30])
    log = Log(path)
    assert log.catch_up() == [first]
    log.add(lambda _new: second)
    assert read_decisions(path) == [first, second]


def test_many_at_once_lose_nothing(tmp_path):
    path = tmp_path / "q.review.jsonl"

    def work():
        log = Log(path)
        for _ in range(10):
            log.add(lambda _new: decide("d1#1", "accept"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = read_decisions(path)
    assert len({one.id for one in rows}) == len(rows) == 40


def test_a_full_disk_is_told_and_leaves_no_half_line(tmp_path, monkeypatch):
    path = tmp_path / "q.review.jsonl"
    log = Log(path)
    first = decide("d1#1", "accept")
    log.add(lambda _new: first)

    def full(_file):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(DataError, match=r"could not be kept \(No space left on device\)"):
            log.add(lambda _new: decide("d1#2", "accept"))
    assert read_decisions(path) == [first]


def test_a_log_that_was_replaced_is_told(tmp_path):
    path = tmp_path / "q.review.jsonl"
    log = Log(path)
    log.add(lambda _new: decide("d1#1", "accept"))
    path.write_bytes(b"")
    with pytest.raises(DataError, match="shorter than it was"):
        log.catch_up()


def test_a_log_that_cannot_be_read_is_told(tmp_path):
    (tmp_path / "q.review.jsonl").mkdir()
    with pytest.raises(DataError, match="cannot be read"):
        Log(tmp_path / "q.review.jsonl").catch_up()
    with pytest.raises(DataError, match=r"q\.review\.jsonl"):
        Log(tmp_path / "q.review.jsonl").add(lambda _new: decide("d1#1", "accept"))
