"""calls.jsonl.gz of a run: every conversation beside its row, the same bytes in every run."""

import gzip

import msgspec
import pytest

from ragstone.kernel.engine.call_log import open_call_log
from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.asked import CALLS_FILE, read_asked


def test_a_log_that_is_cut_off_leaves_the_earlier_one(tmp_path):
    (tmp_path / CALLS_FILE).write_bytes(b"earlier")
    with pytest.raises(ZeroDivisionError), open_call_log(tmp_path):
        raise ZeroDivisionError
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(CALLS_FILE, b"earlier")]


def test_a_run_that_asked_nothing_has_no_such_file(tmp_path):
    (tmp_path / CALLS_FILE).write_bytes(b"earlier")
    with open_call_log(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []
    assert list(read_asked(tmp_path)) == []


def test_a_file_that_is_no_log_is_refused_with_what_to_do(tmp_path, says):
    for content in (b"no gzip", gzip.compress(b'{"a": 1}\n'), gzip.compress(msgspec.json.encode({}))[:-9]):
        (tmp_path / CALLS_FILE).write_bytes(content)
        with pytest.raises(DataError) as error:
            list(read_asked(tmp_path))
        says(error.value)
