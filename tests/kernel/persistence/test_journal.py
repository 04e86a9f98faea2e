import os
import subprocess
import sys
import threading

import msgspec
import pytest

from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.journal import Journal, append_line, held, replace_whole
from ragstone.kernel.records import Label
from ragstone.kernel.tables import open_rows

OTHER = """
import sys, time
from pathlib import Path
from ragstone.kernel.persistence.journal import held
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


def test_two_runs_do_not_write_one_file(tmp_path, other_process, says):
    with (
        pytest.raises(DataError) as error,
        open_rows(tmp_path / "labels.jsonl", Label),
    ):
        pass
    says(error.value)


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


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path, says):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(DataError) as error,
        held(tmp_path / "file" / "labels.jsonl"),
    ):
        pass
    says(error.value)


class Note(msgspec.Struct):
    """A row of these tests."""

    text: str


def journal(path, **more):
    return Journal(path / "deep" / "notes.jsonl", Note, **more)


def test_rows_are_read_back_in_order(tmp_path):
    one = journal(tmp_path)
    one.append(Note("a"))
    assert one.append_if(lambda new: Note("b") if new == [Note("a")] else None) == Note("b")
    assert one.rows == journal(tmp_path).read() == [Note("a"), Note("b")]
    assert one.read() == []


def test_what_another_process_added_is_seen_before_one_adds(tmp_path):
    one, two = journal(tmp_path), journal(tmp_path)
    one.append(Note("a"))
    seen = []
    assert two.append_if(seen.extend) is None
    assert seen == two.rows == [Note("a")]


@pytest.mark.parametrize("torn", ['{"te', "{", '{"text": "' + "x" * (3 << 20)])
def test_a_line_that_was_never_finished_is_cut_off_by_the_next_that_writes(tmp_path, torn):
    log = journal(tmp_path)
    log.append(Note("a"))
    with log.path.open("a") as file:
        file.write(torn)
    assert log.read() == [Note("a")]
    log.append(Note("b"))
    assert log.read() == [Note("b")]
    assert log.path.read_bytes().count(b"\n") == 2


def test_a_last_line_that_is_whole_but_for_its_end_is_kept(tmp_path):
    log = journal(tmp_path)
    log.append(Note("a"))
    log.path.write_bytes(log.path.read_bytes().rstrip(b"\n"))
    assert log.append_if(lambda _: None) is None
    assert log.rows == [Note("a")]


def test_lines_that_are_no_rows_are_told_by_their_numbers_or_passed_over(tmp_path):
    journal(tmp_path).append(Note("a"))
    path = journal(tmp_path).path
    append_line(path, b'{"text": 1}')
    append_line(path, b"")
    append_line(path, b"no row")
    with pytest.raises(DataError, match=r"(?s)notes\.jsonl:2: .*notes\.jsonl:4: "):
        journal(tmp_path).read()
    append_line(path, b'{"text": "b"}')
    assert journal(tmp_path, strict=False).read() == [Note("a"), Note("b")]


def test_many_at_once_lose_nothing(tmp_path):
    def work():
        log = journal(tmp_path)
        for _ in range(10):
            log.append_if(lambda _: Note(str(len(log.rows))))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Nobody adds between what a check was given and its row.
    assert [int(one.text) for one in journal(tmp_path).read()] == [*range(40)]


def test_a_full_disk_leaves_no_half_line(tmp_path, monkeypatch):
    log = journal(tmp_path)
    log.append(Note("a"))

    def full(_file):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            log.append(Note("b"))
    assert log.read() == [Note("a")]


def test_a_file_that_was_replaced_or_cannot_be_read_is_told(tmp_path, says):
    log = journal(tmp_path)
    log.append(Note("a"))
    log.read()
    log.path.write_bytes(b"")
    with pytest.raises(DataError) as error:
        log.read()
    says(error.value)
    log.path.unlink()
    log.path.mkdir()
    with pytest.raises(DataError, match="cannot be read"):
        log.read()


def test_a_new_file_has_the_mode_that_was_asked_for(tmp_path):
    append_line(tmp_path / "secret.jsonl", b"{}", mode=0o600)
    assert (tmp_path / "secret.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path):
    replace_whole(tmp_path / "new" / "a.json", b"1")
    replace_whole(tmp_path / "new" / "a.json", b"2")
    assert [(one.name, one.read_bytes()) for one in (tmp_path / "new").iterdir()] == [("a.json", b"2")]
