import subprocess
import sys

import pytest

from ragstone.errors import DataError
from ragstone.records import Label
from ragstone.tables import held, open_rows

OTHER = """
import sys, time
from pathlib import Path
from ragstone.tables import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def other_process(tmp_path):
    """A process that holds `labels.jsonl`."""
    command = [sys.executable, "-c", OTHER, str(tmp_path / "labels.jsonl")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def test_two_runs_do_not_write_one_file(tmp_path, other_process):
    with (
        pytest.raises(DataError, match=r"labels.jsonl: another run is writing it at this moment"),
        open_rows(tmp_path / "labels.jsonl", Label),
    ):
        pass


@pytest.mark.kill
def test_a_killed_process_holds_nothing(tmp_path, other_process):
    other_process.kill()
    other_process.wait()
    with open_rows(tmp_path / "labels.jsonl", Label) as write:
        write(Label(question_id="a", score=1))
    assert (tmp_path / "labels.jsonl").is_file()


def test_the_lock_leaves_nothing_behind(tmp_path):
    with held(tmp_path / "run"):
        assert [file.name for file in tmp_path.iterdir()] == [".run.lock"]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(DataError, match=r"labels.jsonl: cannot be written \(Not a directory\)"),
        held(tmp_path / "file" / "labels.jsonl"),
    ):
        pass
