"""progress.json: there while a run goes on, gone when it is finished, and true of one that was stopped."""

import contextlib
import os
import time
from collections.abc import Iterator

import msgspec
import pytest
from tests.support.run_progress import told_of_a_run

from ragstone.kernel.engine.progress import Advance, State, silent
from ragstone.kernel.engine.progress_file import FILE, SILENT_S, progress_on_disk, read_progress
from ragstone.kernel.errors import ModelError, Stopped

TOLD = told_of_a_run()


def test_a_stage_is_told_while_it_goes_on_and_gone_afterwards(tmp_path):
    with progress_on_disk(tmp_path, silent) as progress:
        first = read_progress(tmp_path)
        assert first is not None
        assert (first.stage, first.pid, first.ended) == ("getting ready", os.getpid(), None)
        with progress("judging", 3, lambda: State(made=2, in_flight=1, spent_usd=0.5)) as advance:
            advance()
    assert list(tmp_path.iterdir()) == []


def test_rows_and_calls_are_told_each_second(tmp_path, monkeypatch):
    monkeypatch.setattr("ragstone.kernel.engine.progress_file.EVERY_S", 0.01)
    with (
        progress_on_disk(tmp_path, silent) as progress,
        progress("judging", 3, lambda: State(made=2, in_flight=1, spent_usd=0.5)) as advance,
    ):
        advance()
        for _ in range(6_000):
            found = read_progress(tmp_path)
            if found and found.stage == "judging" and found.done == 1:
                break
            time.sleep(0.01)
        assert found is not None
        assert (found.done, found.total, found.made, found.in_flight, found.spent_usd) == (1, 3, 2, 1, 0.5)


def test_a_second_that_cannot_be_told_is_not_the_last_one(tmp_path, monkeypatch):
    monkeypatch.setattr("ragstone.kernel.engine.progress_file.EVERY_S", 0.01)
    odd = [RuntimeError("dictionary changed size during iteration")] * 2

    def state() -> State:
        if odd:
            raise odd.pop()
        return State(made=5, in_flight=0, spent_usd=0.0)

    with progress_on_disk(tmp_path, silent) as progress, progress("judging", 3, state):
        for _ in range(6_000):
            found = read_progress(tmp_path)
            if found and found.made == 5:
                break
            time.sleep(0.01)
    assert found is not None
    assert (found.made, odd) == (5, [])


def test_rows_are_handed_on_to_the_progress_of_the_command(tmp_path):
    seen = []

    @contextlib.contextmanager
    def bars(stage: str, total: int | None, _state: object = None) -> Iterator[Advance]:
        yield lambda: seen.append((stage, total))

    with progress_on_disk(tmp_path, bars) as progress, progress("answering", 2, State) as advance:
        advance()
        advance()
    assert seen == [("answering", 2), ("answering", 2)]


@pytest.mark.parametrize(
    ("mistake", "ended"),
    [
        (Stopped("stopped."), "stopped"),
        (KeyboardInterrupt(), "stopped"),
        (ModelError("no such model"), "failed"),
    ],
)
def test_how_a_run_ended_stays(tmp_path, mistake, ended):
    with pytest.raises(type(mistake)), progress_on_disk(tmp_path, silent):
        raise mistake
    found = read_progress(tmp_path)
    assert found is not None
    assert (found.ended, found.words, found.life(found.updated)) == (ended, str(mistake), ended)


def test_a_run_is_dead_when_its_process_is_gone_or_silent():
    assert TOLD.life(1026.0) == "going on"
    assert TOLD.life(1025.0 + SILENT_S + 1) == "dead"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragstone.kernel.engine.progress_file._exists", lambda pid: False)
        assert TOLD.life(1026.0) == "dead"
        # a process of another machine cannot be looked for: its silence tells
        assert msgspec.structs.replace(TOLD, host="elsewhere").life(1026.0) == "going on"


def test_rate_and_remaining_time_are_those_of_the_stage():
    # 30 rows in 15 s are 2 a second; the 70 left take 35 s
    assert TOLD.rate() == 2.0
    assert TOLD.remaining_s() == 35.0
    assert msgspec.structs.replace(TOLD, done=0).rate() is None
    assert msgspec.structs.replace(TOLD, total=None).remaining_s() is None


def test_what_is_no_progress_is_none(tmp_path):
    assert read_progress(tmp_path) is None
    (tmp_path / FILE).write_text("{")
    assert read_progress(tmp_path) is None


def test_a_folder_that_cannot_be_written_to_stops_nothing(tmp_path):
    with progress_on_disk(tmp_path / "missing", silent):
        pass
