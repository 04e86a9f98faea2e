"""Stored spans as traces: the list, the tree with its times, and that nothing of a broken one is lost."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.spans import BEGAN, TRACE, asked, request, span

from ragstone.features.watch.traces import find_trace, is_trace_file, newest_traces, trace_files
from ragstone.kernel.errors import DataError

OTHER = TRACE[::-1]


def file_of(folder: Path, *bodies: bytes, name: str = "traces-1.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"".join(body + b"\n" for body in bodies))
    return path


def shape(tree):
    """Return the spans with their depths."""
    return [(row.name, row.depth) for row in tree.rows]


def test_a_tree_has_each_span_behind_its_parent_with_its_share_of_the_time(tmp_path):
    error = span(3, parent=1) | {"status": {"code": 2, "message": "timeout"}}
    tool = span(
        4,
        parent=2,
        openinference__span__kind="TOOL",
        input__value='{"q": 1}',
        output__value="none",
        n={"intValue": "7"},
        listed={"arrayValue": {"values": [{"stringValue": "a"}, {"boolValue": True}]}},
    )
    path = file_of(tmp_path, request(tool, error), request(span(1), span(2, parent=1)))
    tree = find_trace([path], TRACE.upper())
    assert shape(tree) == [("step 1", 0), ("step 2", 1), ("step 4", 2), ("step 3", 1)]
    assert tree.notes == []
    # Spans last a second and begin 0.1, 0.2, 0.3 and 0.4 s after BEGAN: the whole is 1.3 s.
    assert tree.summary.duration_s == pytest.approx(1.3, abs=1e-5)
    last = tree.rows[2]
    assert (last.begins, last.ends) == (pytest.approx(0.3 / 1.3, abs=1e-5), pytest.approx(1.0, abs=1e-5))
    assert (last.kind, last.given, last.result, last.service) == ("TOOL", '{"q": 1}', "none", "shop")
    assert dict(last.fields)["n"] == "7"
    assert dict(last.fields)["listed"] == '["a",true]'
    assert tree.rows[3].error == "timeout"
    assert tree.summary.n_errors == 1


def test_what_is_broken_is_told_and_shown(tmp_path):
    no_end, backwards = span(6, parent=1), span(7, parent=1)
    del no_end["endTimeUnixNano"]
    backwards["endTimeUnixNano"] = str(BEGAN)
    spans = (span(1), span(2, parent=99), span(3, parent=4), span(4, parent=3), span(5, parent=5), span(1))
    tree = find_trace([file_of(tmp_path, request(*spans, no_end, backwards))], TRACE)
    assert shape(tree) == [
        ("step 1", 0),
        ("step 6", 1),
        ("step 7", 1),
        ("step 2", 0),
        ("step 3", 0),
        ("step 4", 1),
        ("step 5", 0),
    ]
    assert tree.notes == [
        "1 span sent more than once: the last of each is shown.",
        "1 span with a parent that is not here: shown at the top.",
        "3 spans in a circle of parents: shown at the top, from the first on.",
        "1 span without a beginning or an end: shown without a bar.",
        "1 span with an end before the beginning: shown without a length.",
    ]
    assert tree.rows[1].begins is None
    assert (tree.rows[2].duration_s, tree.rows[2].begins) == (0.0, tree.rows[2].ends)


@given(st.lists(st.integers(0, 8), min_size=1, max_size=8))
def test_every_span_has_one_row_whatever_its_parents_are(tmp_path_factory, parents):
    spans = [span(at + 1, parent=parent) for at, parent in enumerate(parents)]
    tree = find_trace([file_of(tmp_path_factory.mktemp("t"), request(*spans))], TRACE)
    assert sorted(row.id for row in tree.rows) == [one["spanId"] for one in spans]


def test_a_chain_of_thousands_is_no_recursion(tmp_path):
    spans = [span(at + 1, parent=at) for at in range(5000)]
    assert find_trace([file_of(tmp_path, request(*spans))], TRACE).rows[-1].depth == 4999


def test_the_newest_traces_come_first_a_page_at_a_time(tmp_path):
    bodies = [request(span(at, trace=f"{at:032x}", input__value=f"Is it {at}?")) for at in range(1, 8)]
    old, new = file_of(tmp_path, *bodies[:4]), file_of(tmp_path, *bodies[4:], name="traces-2.jsonl")
    os.utime(old, (1, 1))
    files = trace_files([tmp_path, tmp_path / "nothing"])
    assert files == [new, old]
    found, more = newest_traces(files, 0, 2)
    assert [one.asked for one in found] == ["Is it 7?", "Is it 6?"]
    assert more
    found, more = newest_traces(files, 4, 5)
    assert [one.asked for one in found] == ["Is it 3?", "Is it 2?", "Is it 1?"]
    assert not more
    assert newest_traces([], 0, 5) == ([], False)


def test_a_trace_in_two_files_is_one_and_another_is_not_mixed_in(tmp_path):
    one = file_of(tmp_path, request(span(1)), asked("Is it?", "It is.", OTHER))
    two = file_of(tmp_path, request(span(2, parent=1)), name="traces-2.jsonl")
    assert shape(find_trace([two, one], TRACE)) == [("step 1", 0), ("step 2", 1)]
    assert find_trace([two, one], "ab" * 16) is None


def test_a_list_of_messages_is_shown_as_what_the_user_asked(tmp_path):
    messages = '[{"role": "user", "parts": [{"type": "text", "content": "Will it rain?"}]}]'
    path = file_of(tmp_path, request(span(1, gen_ai__input__messages=messages)))
    assert [one.asked for one in newest_traces([path], 0, 5)[0]] == ["Will it rain?"]


def test_ids_in_anybodys_file_may_be_any(tmp_path):
    body = request(span(1), span(2, parent=1)).replace(TRACE.encode(), b"conversation 7")
    [found], _ = newest_traces([file_of(tmp_path, body)], 0, 5)
    assert found.id == "conversation 7"
    assert shape(find_trace([tmp_path / "traces-1.jsonl"], "conversation 7")) == [
        ("step 1", 0),
        ("step 2", 1),
    ]


def test_lines_that_are_no_traces_are_passed_over_and_one_indented_object_is_read(tmp_path):
    torn = file_of(tmp_path, request(span(1)), b"{torn", b'{"resourceLogs": []}')
    assert len(find_trace([torn], TRACE).rows) == 1
    indented = tmp_path / "one.json"
    indented.write_bytes(request(span(1)).replace(b"[", b"[\n  "))
    assert is_trace_file(indented)
    assert len(find_trace([indented], TRACE).rows) == 1
    with pytest.raises(DataError, match="cannot be read"):
        is_trace_file(tmp_path / "nothing")
