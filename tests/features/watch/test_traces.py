"""Stored spans as traces: the list, the tree with its times, and that nothing of a broken one is lost."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.spans import BEGAN, TRACE, asked, request, span

from ragstone.features.watch import traces
from ragstone.features.watch.traces import is_trace_file
from ragstone.kernel.errors import DataError

OTHER = TRACE[::-1]


def file_of(folder: Path, *bodies: bytes, name: str = "traces-1.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"".join(body + b"\n" for body in bodies))
    return path


def find_trace(paths: list[Path], trace_id: str) -> traces.TraceTree | None:
    return traces.find_trace((line for path in paths for line in path.read_bytes().splitlines()), trace_id)


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


def test_what_is_broken_is_told_and_shown(tmp_path, says):
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
    says("\n".join(tree.notes))
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


def test_a_trace_in_two_files_is_one_and_another_is_not_mixed_in(tmp_path):
    one = file_of(tmp_path, request(span(1)), asked("Is it?", "It is.", OTHER))
    two = file_of(tmp_path, request(span(2, parent=1)), name="traces-2.jsonl")
    assert shape(find_trace([two, one], TRACE)) == [("step 1", 0), ("step 2", 1)]
    assert find_trace([two, one], "ab" * 16) is None


def test_ids_in_anybodys_file_may_be_any(tmp_path):
    body = request(span(1), span(2, parent=1)).replace(TRACE.encode(), b"conversation 7")
    assert shape(find_trace([file_of(tmp_path, body)], "conversation 7")) == [
        ("step 1", 0),
        ("step 2", 1),
    ]


def test_lines_that_are_no_traces_are_passed_over_and_one_indented_object_is_read(tmp_path):
    torn = file_of(tmp_path, request(span(1)), b"{torn", b'{"resourceLogs": []}')
    assert len(find_trace([torn], TRACE).rows) == 1
    indented = tmp_path / "one.json"
    indented.write_bytes(request(span(1)).replace(b"[", b"[\n  "))
    assert is_trace_file(indented)
    assert len(traces.find_trace([indented.read_bytes()], TRACE).rows) == 1
    with pytest.raises(DataError, match="cannot be read"):
        is_trace_file(tmp_path / "nothing")


def timed(number: int, begin: float, end: float, parent: int | None = None):
    """Return a span from one second to another."""
    times = {"startTimeUnixNano": begin, "endTimeUnixNano": end}
    return span(number, parent=parent) | {name: str(BEGAN + round(at * 10**9)) for name, at in times.items()}


def selves(*spans):
    tree = traces.find_trace([request(*spans)], TRACE)
    return {row.name: row.self_s and round(row.self_s, 5) for row in tree.rows}


def test_self_time_is_what_no_child_covers():
    # 10 s, of which 1 to 4 and 3 to 6 are children's: 5 s are covered once. One child outlasts it by 3 s.
    found = selves(
        timed(1, 0, 10), timed(2, 1, 4, 1), timed(3, 3, 6, 1), timed(4, 9, 13, 1), timed(5, 1, 2, 2)
    )
    assert found == {"step 1": 4.0, "step 2": 2.0, "step 5": 1.0, "step 3": 3.0, "step 4": 4.0}


def test_self_time_of_what_has_no_end_is_unknown_and_covers_nothing():
    endless = timed(2, 1, 2, 1)
    del endless["endTimeUnixNano"]
    before, after = timed(3, -5, -1, 1), timed(4, 20, 30, 1)
    assert selves(timed(1, 0, 10), endless, before, after)["step 1"] == 10.0
    assert selves(timed(1, 0, 10), endless)["step 2"] is None


@st.composite
def nested_spans(draw):
    """Spans whose children lie in them one after another: (number, begin, end, parent), the root first."""
    spans, waiting = [(1, 0, 1000, None)], [(1, 0, 1000)]
    while waiting:
        number, begin, end = waiting.pop()
        cuts = sorted(draw(st.lists(st.integers(begin, end), max_size=4, unique=True)))
        for low, high in zip(cuts[::2], cuts[1::2], strict=False):
            child = len(spans) + 1
            spans.append((child, low, high, number))
            waiting.append((child, low, high))
    return spans


@given(nested_spans())
def test_self_times_of_a_well_formed_tree_sum_to_the_time_of_its_root(spans):
    tree = traces.find_trace([request(*(timed(*each[:3], each[3]) for each in spans))], TRACE)
    assert sum(row.self_s for row in tree.rows) == pytest.approx(1000, abs=1e-3)


@given(st.lists(st.tuples(st.integers(-20, 120), st.integers(0, 60)), max_size=8))
def test_self_time_is_at_most_the_time_of_a_span_however_its_children_lie(children):
    spans = [timed(1, 0, 100), *(timed(at, b, b + n, 1) for at, (b, n) in enumerate(children, 2))]
    covered = {second for b, n in children for second in range(max(b, 0), min(b + n, 100))}
    own = traces.find_trace([request(*spans)], TRACE).rows[0].self_s
    assert own == pytest.approx(100 - len(covered), abs=1e-3)
