"""A log is taken in batches, each kept with the place that was reached."""

import json

import pytest

from ragstone.config import MonitorSection
from ragstone.errors import DataError
from ragstone.monitor.logged import Masker
from ragstone.monitor.reading import ReadCounts, take_log
from ragstone.monitor.store import MonitorStore

SECTION = MonitorSection()


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def row(n, **more):
    return {"id": f"x{n}", "question": f"Why {n}?", "time": "2026-01-01"} | more


@pytest.fixture
def store(tmp_path):
    with MonitorStore(tmp_path / "store", key=b"key") as opened:
        yield opened


def test_interrupted_anywhere_it_goes_on_and_loses_nothing(tmp_path, store, monkeypatch):
    monkeypatch.setattr("ragstone.monitor.reading.BATCH", 10)
    write(tmp_path / "a.jsonl", *(row(n) for n in range(35)))
    seen = []

    def advance():
        seen.append(1)
        if len(seen) == 27:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        take_log(store, [tmp_path / "a.jsonl"], SECTION, None, advance=advance)
    assert store.overview().n_exchanges == 20
    rest = take_log(store, [tmp_path / "a.jsonl"], SECTION, None)
    assert (rest.rows, rest.new, rest.again) == (15, 15, 0)
    assert store.overview().n_exchanges == 35


def test_what_became_of_rows_is_counted(tmp_path, store):
    log = tmp_path / "a.jsonl"
    rows = [row(1), row(1), row(2, time="soon", feedback=7), row(3, time=None), {"level": "info"}]
    write(log, *rows, {"question_id": "x1", "score": 1.0})
    with log.open("a") as file:
        file.write("{broken\n")
    found = take_log(store, [log], SECTION, Masker(None))
    columns = ["id", "question", "time", "feedback", "level", "question_id", "score"]
    assert found == ReadCounts(
        rows=7,
        new=3,
        again=1,
        feedback=1,
        malformed=1,
        shown=found.shown,
        without_question=1,
        without_time=2,
        unread_times=1,
        unread_feedback=1,
        columns=columns,
    )
    assert found.shown[0].startswith(f"{log}:7: not valid JSON")


def test_a_copy_of_a_log_adds_nothing(tmp_path, store):
    write(tmp_path / "a.jsonl", *(row(n) for n in range(5)))
    write(tmp_path / "b.jsonl", *(row(n) for n in range(6)))
    found = take_log(store, [tmp_path], SECTION, None)
    assert (found.new, found.again) == (6, 5)


def test_a_file_that_is_rewritten_is_named(tmp_path, store):
    log = tmp_path / "a.jsonl"
    write(log, *(row(n) for n in range(5)))
    take_log(store, [log], SECTION, None)
    write(log, row(9))
    found = take_log(store, [log], SECTION, None)
    assert (found.new, found.anew) == (1, [str(log)])


def test_langfuse_and_plain_rows_may_stand_in_one_folder(tmp_path, store):
    trace = {"id": "t", "timestamp": "2026-01-02T00:00:00Z", "name": "chat", "sessionId": "s"}
    write(tmp_path / "a.jsonl", trace | {"input": "Why?", "output": "So.", "tags": ["crop:maize"]})
    write(tmp_path / "b.jsonl", row(1))
    assert take_log(store, [tmp_path], SECTION, None).new == 2
    traced = next(seen for seen in store.each() if seen.name == "t")
    assert (traced.tags, str(traced.time)) == ({"crop": "maize"}, "2026-01-02 00:00:00+00:00")


def test_a_log_without_questions_is_an_error_that_names_its_columns(tmp_path, store):
    write(tmp_path / "a.jsonl", {"frage": "Warum?"})
    with pytest.raises(DataError, match="columns: frage"):
        take_log(store, [tmp_path / "a.jsonl"], SECTION, None)
    write(tmp_path / "b.jsonl", row(1))
    take_log(store, [tmp_path / "b.jsonl"], SECTION, None)
    write(tmp_path / "c.jsonl", {"level": "info"})  # a later look that brings nothing is no mistake
    assert take_log(store, [tmp_path / "c.jsonl"], SECTION, None).without_question == 1
    with pytest.raises(DataError, match="no log was given"):
        take_log(store, [], SECTION, None)
