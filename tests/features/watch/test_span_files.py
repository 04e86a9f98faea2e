"""Files of spans that grow are one stream: a trace is taken once, when nothing more is waited for."""

import json
import os
import time
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.spans import BEGAN, request, span

from ragstone.features.watch._reading import span_files, take_log
from ragstone.features.watch._use import read_use
from ragstone.features.watch.collector import mask_spans
from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.config import MonitorSection, OtlpSection
from ragstone.kernel.errors import DataError

SECTION = MonitorSection()
LONG_AGO = 1_600_000_000.0


@pytest.fixture
def store(tmp_path):
    with MonitorStore(tmp_path / "store", key=b"key") as opened:
        yield opened


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "traces").mkdir()
    return tmp_path / "traces"


def part(trace, number, parent=None, *, at=0.0, **attributes):
    """Return a span that begins so many seconds after the first and takes one."""
    begins = BEGAN + int(at * 1e9)
    times = {"startTimeUnixNano": str(begins), "endTimeUnixNano": str(begins + 10**9)}
    return span(number, trace=f"{trace:032x}", parent=parent, **attributes) | times


def top(trace, **more):
    return part(trace, 1, input__value=f"Why {trace}?", output__value=f"So {trace}.", **more)


def search(trace, **more):
    found = {"retrieval.documents.0.document.content": f"Text {trace}."}
    return part(
        trace, 2, 1, openinference__span__kind="RETRIEVER", input__value=f"query {trace}", **found, **more
    )


def model(trace, **more):
    names = {"openinference__span__kind": "LLM", "llm__model_name": "m"}
    return part(trace, 3, 1, input__value=f"Prompt {trace}", output__value=f"Inner {trace}", **names, **more)


def send(file: Path, *spans):
    with file.open("ab") as opened:
        opened.write(request(*spans) + b"\n")


def said(store):
    return sorted((one.question, one.answer) for one in store.each())


def look(store, folder, **more):
    return take_log(store, [folder], SECTION, None, **{"strict": False, "follow": True, **more})


def test_a_trace_waits_for_its_top_and_has_all_its_spans(store, folder):
    file = folder / "traces-1.jsonl"
    send(file, search(1), top(2))
    assert look(store, folder).new == 1
    assert said(store) == [("Why 2?", "So 2.")]
    assert look(store, folder).rows == 0
    send(file, model(1))
    assert look(store, folder).new == 0
    send(file, top(1))
    assert look(store, folder).new == 1
    assert said(store) == [("Why 1?", "So 1."), ("Why 2?", "So 2.")]
    (one,) = (seen for seen in store.each() if seen.question == "Why 1?")
    assert [context.text for context in one.contexts] == ["Text 1."]
    assert look(store, folder, follow=False).new == 0


def test_a_whole_trace_whose_spans_name_parents_that_are_missing_waits_for_them(store, folder):
    file = folder / "traces-1.jsonl"
    send(file, top(1), part(1, 5, 4))
    assert look(store, folder).new == 0
    send(file, part(1, 4, 1))
    assert look(store, folder).new == 1


@pytest.mark.parametrize("follow", [True, False])
def test_a_trace_that_straddles_files_is_one(store, folder, follow):
    send(folder / "traces-1.jsonl", top(1), search(2, at=1))
    if follow:
        assert look(store, folder).new == 1
    send(folder / "traces-2.jsonl", model(2, at=2))
    send(folder / "traces-3.jsonl", top(2, at=1), top(3, at=3))
    assert look(store, folder, follow=follow).new == (2 if follow else 3)
    assert said(store) == [(f"Why {n}?", f"So {n}.") for n in (1, 2, 3)]
    straddling = next(seen for seen in store.each() if seen.question == "Why 2?")
    assert (straddling.system, [one.text for one in straddling.contexts]) == ("shop", ["Text 2."])
    assert not any(mark.held for mark in store.marks().values())
    assert look(store, folder).rows == 0


def test_a_top_that_never_comes_is_not_waited_for_when_others_are_two_minutes_later(store, folder):
    file = folder / "traces-1.jsonl"
    send(file, search(1), model(1, at=1))  # which ends 2 s after the first began
    send(file, top(2, at=121))  # and this 122 s after it: 120 s later
    assert look(store, folder).new == 1
    send(file, top(3, at=122))
    assert look(store, folder).new == 2
    assert ("Prompt 1", "Inner 1") in said(store)


def test_a_top_that_never_comes_is_not_waited_for_when_nothing_grows(store, folder):
    file = folder / "traces-1.jsonl"
    send(file, model(1))
    assert look(store, folder).new == 0
    assert span_files([file], store.marks(), follow=True) == []  # nothing changed: nothing is read
    assert len(span_files([file], store.marks(), follow=False)) == 1
    os.utime(file, (LONG_AGO, LONG_AGO))
    assert look(store, folder).new == 1
    assert look(store, folder).rows == 0


def test_a_look_that_does_not_follow_takes_what_there_is(store, folder):
    send(folder / "traces-1.jsonl", model(1))
    assert look(store, folder, strict=True, follow=True).new == 0
    assert look(store, folder, strict=True, follow=False).new == 1
    assert look(store, folder, strict=True, follow=False).rows == 0


def test_traces_without_times_are_not_waited_for(store, folder):
    for n in range(2):
        one = model(n + 1)
        del one["startTimeUnixNano"], one["endTimeUnixNano"]
        send(folder / f"traces-{n}.jsonl", one)
    assert look(store, folder).new == 2


def test_another_program_may_send_its_spans_of_a_whole_trace_in_the_next_file(store, folder):
    send(folder / "traces-1.jsonl", top(1), top(2, at=30))
    send(folder / "traces-2.jsonl", search(1, at=10), search(2, at=29), top(3, at=31))
    assert look(store, folder).new == 3
    # The second file begins 9 s after the first trace ended: a search of it may be there.
    assert [len(one.contexts or ()) for one in store.each()] == [1, 1, 0]


def test_a_clock_that_is_wrong_by_years_makes_no_other_trace_late(store, folder):
    file, now = folder / "traces-1.jsonl", time.time() - BEGAN / 1e9
    send(file, model(1, at=now + 10**9), model(2, at=now - 300), model(3, at=now - 30))
    # No span can end after its file was written, so the first has ended now: the second is 299 s older.
    assert look(store, folder).new == 1
    assert said(store) == [("Prompt 2", "Inner 2")]
    send(file, top(3, at=now - 30))
    assert look(store, folder).new == 1
    assert look(store, folder, follow=False).new == 1


def test_interrupted_anywhere_it_loses_nothing_and_takes_nothing_twice(store, folder, monkeypatch):
    monkeypatch.setattr("ragstone.features.watch._reading.BATCH", 2)
    send(folder / "traces-1.jsonl", *(top(n) for n in range(1, 6)), model(6), model(7))
    send(folder / "traces-2.jsonl", *(top(n) for n in range(6, 10)))
    keep = store.add
    for most in range(9):  # of the transactions of a look, of rows and of marks; an unhindered one has eight
        left = iter(range(most))

        def add(*given, left=left):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return keep(*given)

        monkeypatch.setattr(store, "add", add)
        try:
            look(store, folder)
        except KeyboardInterrupt:
            assert most < 8
    monkeypatch.setattr(store, "add", keep)
    assert said(store) == [(f"Why {n}?", f"So {n}.") for n in range(1, 10)]
    assert look(store, folder).rows == 0


@pytest.mark.long
@given(
    order=st.permutations([trace for trace in range(1, 6) for _ in range(3)]),
    cuts=st.lists(st.sampled_from(["line", "file", "look"]), min_size=14, max_size=14),
)
def test_however_spans_are_cut_into_lines_files_and_looks_the_exchanges_are_those_of_one_file(
    tmp_path_factory, order, cuts
):
    folder = tmp_path_factory.mktemp("spans")
    (folder / "traces").mkdir()
    ways = {trace: iter([search(trace, at=1), model(trace, at=2), top(trace, at=0)]) for trace in range(1, 6)}
    with MonitorStore(folder / "store", key=b"key") as store:
        n_files = new = 0
        for trace, cut in zip(order, [*cuts, "look"], strict=True):
            send(folder / f"traces/{n_files:03}.jsonl", next(ways[trace]))
            n_files += cut == "file"
            if cut == "look":
                new += look(store, folder / "traces").new
        assert new == 5
        assert said(store) == [(f"Why {n}?", f"So {n}.") for n in range(1, 6)]
        assert {len(one.contexts) for one in store.each()} == {1}


def test_a_file_that_grows_is_not_told_as_read_anew_and_one_that_was_cut_off_is(store, folder):
    file = folder / "traces-1.jsonl"
    send(file, top(1))
    look(store, folder)
    send(file, top(2))
    assert look(store, folder).anew == []
    file.write_bytes(request(top(3)) + b"\n")
    assert look(store, folder).anew == [str(file)]


def test_spans_without_a_question_are_an_error_of_a_look_that_is_strict(store, folder, says):
    send(folder / "traces-1.jsonl", part(1, 1), part(2, 1))
    with pytest.raises(DataError) as error:
        look(store, folder, strict=True, follow=False)
    says(error.value)
    assert look(store, folder).rows == 0


def test_what_cannot_be_read_costs_its_line_or_its_file_alone(store, folder, says):
    send(folder / "traces-1.jsonl", top(1))
    with (folder / "traces-1.jsonl").open("a") as file:
        file.write('{broken\n[1]\n{"resourceSpans": 3}\n')
    (folder / "traces-2.jsonl").write_bytes(b"\x00\xff" * 100)
    send(folder / "traces-3.jsonl", top(2))
    (folder / "rows.jsonl").write_text(json.dumps({"question": "Plain?"}) + "\n")
    found = look(store, folder)
    assert found.new == 3
    assert said(store) == [("Plain?", None), ("Why 1?", "So 1."), ("Why 2?", "So 2.")]
    says(found.shown[-1])


def test_people_and_conversations_of_stored_spans_are_counted(store, folder):
    people = ["ann@b.org", "ben@b.org", "ann@b.org"]
    spans = (
        top(n, at=n, user__id=who, session__id=f"call +1 555 234 {n // 2:04}")
        for n, who in enumerate(people, 1)
    )
    line = mask_spans(request(*spans), "json", OtlpSection(), None, b"s" * 32).line
    (folder / "traces-1.jsonl").write_bytes(line + b"\n")
    assert look(store, folder).new == 3
    use = read_use(store.connection, date(2026, 1, 1)).whole
    assert (use.users, use.conversations) == (2, 2)
