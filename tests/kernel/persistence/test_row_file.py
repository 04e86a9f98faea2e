"""What an annotator was told is saved is there, whoever dies when; what many write at once is all there."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.row_file import RowFile
from ragstone.kernel.records import Label
from ragstone.kernel.tables import parse_row, read_rows


def label_key(label):
    return (label.question_id, label.system, label.metric, label.annotator)


def opened(path):
    return RowFile(path, label_key, lambda raw: parse_row(raw, Label))


def row(question, score=1.0, annotator="a", **more):
    return Label(question_id=question, system="S", metric="m", score=score, annotator=annotator, **more)


def test_a_row_is_on_the_disk_when_put_returns(tmp_path):
    file = opened(tmp_path / "labels" / "x.jsonl")
    assert file.rows() == []
    assert file.put([row("q1")]) == 1
    assert [*read_rows(file.path, Label)] == [row("q1")]


def test_a_new_row_is_appended_and_the_same_once_more_changes_nothing(tmp_path):
    file = opened(tmp_path / "x.jsonl")
    file.put([row("q1")])
    inode = file.path.stat().st_ino
    file.put([row("q2")])
    before = file.path.read_bytes()
    assert file.put([row("q1")]) == 0
    assert file.path.read_bytes() == before
    assert file.path.stat().st_ino == inode


def test_a_change_and_a_withdrawal_leave_one_row_for_each_key(tmp_path):
    file = opened(tmp_path / "x.jsonl")
    file.put([row("q1"), row("q2"), row("q1", annotator="b")])
    file.put([row("q1", 0.0)])
    assert [*read_rows(file.path, Label)] == [row("q1", 0.0), row("q2"), row("q1", annotator="b")]
    assert file.remove(label_key(row("q2")))
    assert not file.remove(label_key(row("q2")))
    assert [one.question_id for one in read_rows(file.path, Label)] == ["q1", "q1"]
    assert [one.name for one in tmp_path.iterdir()] == ["x.jsonl"]


def test_the_last_of_two_rows_of_a_key_counts(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(row("q1", score)) + b"\n" for score in (0.0, 1.0)))
    assert opened(path).rows() == [row("q1", 1.0)]


def test_columns_of_others_are_kept(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"question_id": "q1", "score": 1, "colour": "red"}\n')
    file = opened(path)
    file.put([row("q2")])
    file.put([row("q2", 0.0)])
    assert [one.metadata for one in read_rows(path, Label)] == [{"colour": "red"}, None]


@pytest.mark.parametrize("torn", [b'{"question_id": "q2", "sco', b"{", b'{"question_id": "q2"}'])
def test_a_line_that_was_half_written_is_left_out_and_cut_off_by_the_next_that_writes(tmp_path, torn):
    file = opened(tmp_path / "x.jsonl")
    file.put([row("q1")])
    with file.path.open("ab") as end:
        end.write(torn)
    assert file.rows() == [row("q1")]
    again = opened(file.path)
    again.put([row("q3")])
    assert [*read_rows(file.path, Label)] == [row("q1"), row("q3")]


def test_a_whole_line_without_its_end_is_kept(tmp_path):
    file = opened(tmp_path / "x.jsonl")
    file.path.write_bytes(msgspec.json.encode(row("q1")))
    assert file.rows() == [row("q1")]
    file.put([row("q2")])
    assert [*read_rows(file.path, Label)] == [row("q1"), row("q2")]


def test_a_broken_line_in_the_middle_is_told_and_nothing_is_written(tmp_path, says):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"question_id": \n' + msgspec.json.encode(row("q1")) + b"\n")
    before = path.read_bytes()
    with pytest.raises(DataError) as error:
        opened(path).put([row("q2")])
    says(error.value)
    assert path.read_bytes() == before


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.one_of(st.none(), st.sampled_from([0.0, 1.0])))))
def test_a_file_and_a_dict_say_the_same_after_any_changes(tmp_path_factory, changes):
    path = tmp_path_factory.mktemp("rows") / "x.jsonl"
    first, second, known = opened(path), opened(path), {}
    for turn, (name, score) in enumerate(changes):
        file = (first, second)[turn % 2]
        if score is None:
            assert file.remove(label_key(row(name))) == (known.pop(name, None) is not None)
        else:
            assert file.put([row(name, score)]) == (known.get(name) != score)
            known[name] = score
    for file in (first, second, opened(path)):
        assert {one.question_id: one.score for one in file.rows()} == known


def test_threads_that_write_at_once_lose_nothing(tmp_path):
    file = opened(tmp_path / "x.jsonl")
    threads = [
        threading.Thread(target=lambda who=who: [file.put([row(f"q{i}", annotator=who)]) for i in range(25)])
        for who in "abcd"
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len([*read_rows(file.path, Label)]) == 100


def _write(path, who, n):
    file = opened(path)
    for i in range(n):
        file.put([row(f"q{i}", annotator=who)])
        if i % 5 == 4:
            file.put([row(f"q{i}", 0.0, annotator=who)])


@pytest.mark.kill
def test_processes_that_write_at_once_lose_nothing_and_two_on_one_item_both_count(tmp_path):
    path = tmp_path / "x.jsonl"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write, args=(path, who, 20)) for who in "abc"]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert all(one.exitcode == 0 for one in writers)
    rows = [*read_rows(path, Label)]
    assert {(one.question_id, one.annotator) for one in rows} == {
        (f"q{i}", who) for i in range(20) for who in "abc"
    }
    assert len(rows) == 60
    assert sum(one.score == 0.0 for one in rows) == 12


KILLED = """
import sys
from pathlib import Path
from tests.kernel.persistence.test_row_file import opened, row
file = opened(Path(sys.argv[1]))
for i in range(100_000):
    file.put([row(f"q{i}")])
    if i % 7 == 6:
        file.put([row(f"q{i}", 0.0)])
    print(i, flush=True)
"""


@pytest.mark.kill
def test_a_writer_that_is_killed_has_lost_nothing_that_it_had_acknowledged(tmp_path):
    path = tmp_path / "x.jsonl"
    root = Path(__file__).parents[3]
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True, cwd=root
    )
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(int(line))
        if len(said) == 20:
            os.kill(process.pid, signal.SIGKILL)
            break
    said += [int(line) for line in process.stdout]
    process.wait()
    process.stdout.close()
    file = opened(path)
    file.put([row("after", annotator="b")])
    kept = {one.question_id: one.score for one in read_rows(path, Label)}
    for i in said:
        assert kept[f"q{i}"] == (0.0 if i % 7 == 6 else 1.0)
    assert kept["after"] == 1.0
    assert len(kept) <= said[-1] + 3  # at most one more that was not yet acknowledged


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path, says):
    blocked = tmp_path / "labels"
    blocked.write_text("a file where the folder should be")
    with pytest.raises(DataError) as error:
        opened(blocked / "x.jsonl").put([row("q1")])
    says(error.value)


def test_a_device_in_the_place_of_the_file_is_not_read(tmp_path, says):
    endless = tmp_path / "x.jsonl"
    endless.symlink_to("/dev/zero")
    with pytest.raises(DataError) as error:
        opened(endless).rows()
    says(error.value)
