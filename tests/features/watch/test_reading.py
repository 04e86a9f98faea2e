"""A log is taken in batches, each kept with the place that was reached."""

import gzip
import json
from datetime import date
from pathlib import Path

import pytest
from tests.support.monitor_store import TAGS

from ragstone.features.watch._logged import Masker
from ragstone.features.watch._reading import ReadCounts, new_rows, take_log
from ragstone.features.watch._use import read_use
from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.errors import DataError
from ragstone.kernel.tables.logs.reading import log_files

SECTION = MonitorSection(tags=TAGS)


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def row(n, **more):
    return {"id": f"x{n}", "question": f"Why {n}?", "time": "2026-01-01"} | more


@pytest.fixture
def store(tmp_path):
    with MonitorStore(tmp_path / "store", key=b"key") as opened:
        yield opened


def test_interrupted_anywhere_it_goes_on_and_loses_nothing(tmp_path, store, monkeypatch):
    monkeypatch.setattr("ragstone.features.watch._reading.BATCH", 10)
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


def test_what_became_of_rows_is_counted(tmp_path, store, says):
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
    says(found.shown[0])


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


def test_a_log_without_questions_is_an_error_that_names_its_columns(tmp_path, store, says):
    write(tmp_path / "a.jsonl", {"frage": "Warum?"})
    with pytest.raises(DataError, match="columns: frage"):
        take_log(store, [tmp_path / "a.jsonl"], SECTION, None)
    write(tmp_path / "b.jsonl", row(1))
    take_log(store, [tmp_path / "b.jsonl"], SECTION, None)
    write(tmp_path / "c.jsonl", {"level": "info"})  # a later look that brings nothing is no mistake
    assert take_log(store, [tmp_path / "c.jsonl"], SECTION, None).without_question == 1
    with pytest.raises(DataError) as error:
        take_log(store, [], SECTION, None)
    says(error.value)


class Memory:
    """Marks, as the store keeps them."""

    def __init__(self):
        self.marks = {}
        self.anew = 0

    def read(self, path):
        rows = []
        for batch in new_rows(path, dict(self.marks)):
            rows += [raw for _, raw in batch.rows]
            self.anew += batch.anew
            if batch.mark is not None:
                self.marks[batch.mark.inode] = batch.mark
        return rows


def line(n):
    return json.dumps({"question": f"Why {n}?"}) + "\n"


def write_lines(path, *numbers, mode="w"):
    with path.open(mode) as file:
        file.write("".join(map(line, numbers)))


def asked(rows):
    return [row["question"] for row in rows if isinstance(row, dict)]


def test_a_file_goes_on_where_it_was_left(tmp_path):
    log, memory = tmp_path / "a.jsonl", Memory()
    write_lines(log, 1, 2)
    assert asked(memory.read(log)) == ["Why 1?", "Why 2?"]
    assert memory.read(log) == []
    write_lines(log, 3, mode="a")
    assert asked(memory.read(log)) == ["Why 3?"]
    assert not memory.anew


def test_a_line_that_is_not_finished_is_read_when_it_is(tmp_path):
    log, memory = tmp_path / "a.jsonl", Memory()
    write_lines(log, 1)
    with log.open("a") as file:
        file.write('{"question": "Wh')
    assert asked(memory.read(log)) == ["Why 1?"]
    with log.open("a") as file:
        file.write('y 2?"}')  # whole, though its line does not end
    assert asked(memory.read(log)) == ["Why 2?"]
    with log.open("a") as file:
        file.write("\n" + line(3))
    assert asked(memory.read(log)) == ["Why 3?"]


def test_what_python_writes_for_no_number_is_null(tmp_path, says):
    log, packed = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    row = {"question": "Is NaN a number?", "feedback": float("nan"), "of": [float("inf"), -float("inf"), 1.5]}
    lines = (
        json.dumps(row) + "\n" + '{"question": "NaN?", "feedback": NaN,,}\n' + '{"feedback": NaN, "question"'
    )
    log.write_text(lines)
    packed.write_bytes(gzip.compress(lines.encode()))
    whole, broken = Memory().read(log)  # the last line is not finished
    assert whole == {"question": "Is NaN a number?", "feedback": None, "of": [None, None, 1.5]}
    says(broken)
    assert Memory().read(packed)[0] == whole


def test_a_rotated_file_goes_on_under_its_new_name(tmp_path):
    log, memory = tmp_path / "a.jsonl", Memory()
    write_lines(log, 1, 2)
    memory.read(log)
    write_lines(log, 3, mode="a")
    log.rename(tmp_path / "a.jsonl.1")
    write_lines(log, 4)
    assert asked(memory.read(log)) == ["Why 4?"]
    assert asked(memory.read(tmp_path / "a.jsonl.1")) == ["Why 3?"]
    assert memory.read(log) == memory.read(tmp_path / "a.jsonl.1") == []
    assert not memory.anew


def test_a_file_that_was_cut_off_or_rewritten_is_read_anew(tmp_path):
    log, memory = tmp_path / "a.jsonl", Memory()
    write_lines(log, 1, 2, 3)
    memory.read(log)
    write_lines(log, 4)  # shorter, the same inode
    assert asked(memory.read(log)) == ["Why 4?"]
    assert memory.anew == 1
    write_lines(log, 5, 6, 7, 8)  # longer, and not what stood there
    assert asked(memory.read(log)) == ["Why 5?", "Why 6?", "Why 7?", "Why 8?"]
    assert memory.anew == 2


def test_a_file_that_was_replaced_by_a_longer_copy_goes_on(tmp_path):
    log, memory = tmp_path / "a.jsonl", Memory()
    write_lines(log, 1, 2)
    memory.read(log)
    write_lines(tmp_path / "copy", 1, 2, 3)
    (tmp_path / "copy").replace(log)
    assert asked(memory.read(log)) == ["Why 3?"]


def test_lines_that_cannot_be_read_are_named_with_their_place(tmp_path, says):
    log = tmp_path / "a.jsonl"
    log.write_text(line(1) + "{broken\n" + "[1]\n\n" + line(2))
    rows = [row for batch in new_rows(log, {}) for row in batch.rows]
    assert [place for place, _ in rows] == [f"{log}:{n}" for n in (1, 2, 3, 5)]
    assert rows[1][1].startswith("not valid JSON")
    says(rows[2][1])


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path):
    log, memory = tmp_path / "a.jsonl", Memory()
    log.write_bytes(b"\xef\xbb\xbf" + line(1).encode())
    assert asked(memory.read(log)) == ["Why 1?"]
    write_lines(log, 2, mode="a")
    assert asked(memory.read(log)) == ["Why 2?"]


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.jsonl.gz"])
def test_files_of_other_kinds_are_read_anew_when_they_have_changed(tmp_path, name):
    log, memory = tmp_path / name, Memory()

    def put(*numbers):
        if name.endswith("gz"):
            log.write_bytes(gzip.compress("".join(map(line, numbers)).encode()))
        elif name.endswith("csv"):
            log.write_text("question\n" + "".join(f"Why {n}?\n" for n in numbers))
        else:
            log.write_text("[" + ",".join(map(line, numbers)) + "]")

    put(1)
    assert asked(memory.read(log)) == ["Why 1?"]
    assert memory.read(log) == []
    put(1, 2)
    assert asked(memory.read(log)) == ["Why 1?", "Why 2?"]


def test_a_table_whose_name_speaks_of_a_log_is_a_table(tmp_path):
    (tmp_path / "app.log.csv").write_text("question\nWhy 1?\n")
    assert asked(Memory().read(tmp_path / "app.log.csv")) == ["Why 1?"]


def test_parquet_keeps_its_times(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import datetime

    import pyarrow.parquet as pq

    when = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    pq.write_table(pa.table({"question": ["Why?"], "time": [when]}), tmp_path / "a.parquet")
    assert Memory().read(tmp_path / "a.parquet") == [{"question": "Why?", "time": when}]


def test_a_folder_of_spans_as_the_collector_writes_them_counts_calls_of_tools(tmp_path, store):
    fixture = Path(__file__).parents[2] / "fixtures/interchange/agent-otlp.jsonl"
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "traces-2026-11-01.jsonl").write_bytes(fixture.read_bytes())
    assert take_log(store, [folder], SECTION, Masker(None)).new == 1
    use = read_use(store.connection, date(2026, 11, 1)).whole
    assert (use.calls, use.failed_share, use.latency_p50, use.tokens) == (2, 0.5, 3.0, 175)
    assert use.conversations == 1


def test_traces_are_answers_and_are_read_whole_when_spans_were_added(tmp_path):
    log, memory = tmp_path / "spans.jsonl", Memory()

    def span(trace, said):
        attributes = {"input.value": "Why?", "output.value": said}
        return json.dumps({"context": {"trace_id": trace, "span_id": trace}, "attributes": attributes}) + "\n"

    log.write_text(span("a", "So."))
    assert [row["answer"] for row in memory.read(log)] == ["So."]
    with log.open("a") as file:
        file.write(span("b", "No."))
    assert [row["answer"] for row in memory.read(log)] == ["So.", "No."]


def test_a_source_that_is_not_there_is_an_error_only_where_that_is_strict(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        log_files([tmp_path / "gone.jsonl"])
    assert log_files([tmp_path / "gone.jsonl"], strict=False) == []
