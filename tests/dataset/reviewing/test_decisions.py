import os

import pytest
from tests.dataset.reviewing.rows import decide

from ragstone.dataset.reviewing.decisions import Decision, add_decision, read_decisions
from ragstone.errors import DataError
from ragstone.tables.journal import Journal


def test_decisions_are_read_back_in_order(tmp_path):
    log = Journal(tmp_path / "q.review.jsonl", Decision)
    rows = [decide("d1#1", "accept"), decide("d1#2", "reject", reason="ambiguous")]
    for row in rows:
        assert add_decision(log, lambda _new, row=row: row) == row
    assert log.rows == read_decisions(tmp_path / "q.review.jsonl") == rows


def test_a_full_disk_is_told_and_leaves_no_half_line(tmp_path, monkeypatch):
    path = tmp_path / "q.review.jsonl"
    log = Journal(path, Decision)
    first = decide("d1#1", "accept")
    add_decision(log, lambda _new: first)

    def full(_file):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(DataError, match=r"could not be kept \(No space left on device\)"):
            add_decision(log, lambda _new: decide("d1#2", "accept"))
    assert read_decisions(path) == [first]
