"""The index of traces: what it holds of files that grow, are rewritten or go; and that its filters mean what
those of the commands do.
"""

import json
import os
import threading
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.monitor_store import fill
from tests.support.monitor_store import row as monitor_row
from tests.support.spans import (
    BEGAN,
    TRACE,
    as_protobuf,
    asked,
    details,
    evaluation,
    log_request,
    request,
    span,
)

import ragstone
from ragstone.features.watch._trace_index import TraceIndex, lines_of
from ragstone.features.watch._trace_query import TraceQuery, with_scores
from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.notes import Note
from ragstone.kernel.tables.interchange.openinference import steps_in
from ragstone.kernel.tables.interchange.trace_filter import TRACE_COLUMNS, trace_cells
from ragstone.kernel.tables.interchange.traces import evaluated_answers
from ragstone.kernel.tables.where import bound, holds

OTHER = TRACE[::-1]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "traces").mkdir()
    return tmp_path / "traces"


@pytest.fixture
def index(tmp_path, folder):
    made = TraceIndex(tmp_path / "store", lambda: [folder])
    yield made
    made.close()


def found(index, where="", *, order="time", rising=False, at=1, size=50, notes=(), monitor=None):
    assert index.refresh(60.0).left == 0
    with index.opened() as con, with_scores(con, monitor or index._path) as has_monitor:
        query = TraceQuery(con, list(notes), has_monitor=has_monitor)
        return query.page(where, order, rising=rising, at=at, size=size)


def ids(index, where="", **how):
    return [row.id for row in found(index, where, **how).rows]


def write(path, *bodies):
    path.write_bytes(b"".join(body + b"\n" for body in bodies))


def test_a_trace_has_its_question_answer_and_figures(index, folder):
    model = {"openinference__span__kind": "LLM", "llm__model_name": "m", "session__id": "s", "user__id": "u"}
    counts = {
        "llm__token_count__prompt": {"intValue": "70"},
        "llm__token_count__completion": {"intValue": "5"},
    }
    cost = {"llm__cost__total": {"doubleValue": 0.002}}
    failed = span(3, parent=1) | {"status": {"code": 2, "message": "no route"}}
    top = span(1, input__value="Will it rain?", output__value="Yes.")
    write(folder / "a.jsonl", request(top, span(2, parent=1, **model, **counts, **cost), failed))
    [row] = found(index).rows
    assert (row.question, row.answer, row.service, row.model) == ("Will it rain?", "Yes.", "shop", "m")
    assert (row.session, row.user, row.tokens, row.cost) == ("s", "u", 75, 0.002)
    assert (row.spans, row.errors, row.error) == (3, 1, "no route")
    # They last a second each, and begin 0.1 to 0.3 s after BEGAN.
    assert (row.time, row.duration) == (pytest.approx(BEGAN / 1e9 + 0.1), pytest.approx(1.2, abs=1e-5))


def test_what_is_new_in_a_file_joins_what_was_there(index, folder):
    path = folder / "a.jsonl"
    write(path, request(span(1, input__value="Is it?")), asked("Was it?", "It was.", OTHER))
    assert {row.question: row.spans for row in found(index).rows} == {"Is it?": 1, "Was it?": 1}
    with path.open("ab") as file:
        file.write(request(span(2, parent=1)) + b"\n" + request(span(3, parent=1))[:-5])
    assert {row.question: row.spans for row in found(index).rows} == {"Is it?": 2, "Was it?": 1}
    with path.open("ab") as file:  # the rest of the line, and the same trace in another file
        file.write(request(span(3, parent=1))[-5:] + b"\n")
    write(folder / "b.jsonl", request(span(4, parent=1)))
    assert {row.question: row.spans for row in found(index).rows} == {"Is it?": 4, "Was it?": 1}
    with index.opened() as con:
        assert len(lines_of(con, TRACE.upper())) == 4


def test_what_is_no_longer_in_a_file_is_no_longer_in_the_index(index, folder):
    one, two = folder / "a.jsonl", folder / "b.jsonl"
    write(one, request(span(1, input__value="Secret?"), span(2, parent=1)))
    write(two, request(span(3, parent=1)), asked("Was it?", "It was.", OTHER))
    assert found(index, "question ~ secret").n == 1
    one.unlink()
    assert [(row.question, row.spans) for row in found(index, f"trace = {TRACE}").rows] == [(None, 1)]
    assert found(index, "text ~ secret").n == 0
    write(two, asked("Is it?", "It is.", OTHER))
    os.utime(two, (1, 1))
    assert [row.question for row in found(index).rows] == ["Is it?"]
    two.unlink()
    assert found(index).of == 0


def test_lines_that_are_no_traces_are_passed_over(index, folder):
    indented = json.dumps(json.loads(asked("Is it?", "It is.")), indent=1).encode()
    write(folder / "a.jsonl", b"{torn", b"[1]", b'{"question": "none"}', request(span(1, trace=OTHER)))
    (folder / "b.jsonl").write_bytes(indented)
    assert sorted(ids(index)) == sorted([TRACE, OTHER])


def test_a_damaged_index_is_made_anew(index, folder):
    write(folder / "a.jsonl", asked("Is it?", "It is."))
    index._path.parent.mkdir()
    index._path.write_bytes(b"no database at all" * 1000)
    assert ids(index) == [TRACE]


def test_events_alone_are_a_trace_and_several_questions_are_one(index, folder):
    write(folder / "a.jsonl", log_request(details("When?", "In May.")))
    tops = [
        span(at, trace=OTHER, input__value=f"Ask {at}?", output__value=f"Say {at}.") | {"name": "turn"}
        for at in (11, 31)
    ]
    write(folder / "b.jsonl", request(*tops))
    rows = {row.id: row for row in found(index).rows}
    assert (rows[TRACE].question, rows[TRACE].answer) == ("When?", "In May.")
    assert (rows[OTHER].question, rows[OTHER].answer, rows[OTHER].asks) == ("Ask 11?", "Say 31.", 2)
    assert ids(index, 'text ~ "ask 31"') == [OTHER]


def a_set(n):
    """Return bodies of n traces that differ in all that a filter can ask."""
    bodies = []
    for at in range(n):
        trace = f"{at + 1:032x}"
        top = span(
            at * 10 + 1,
            trace=trace,
            input__value=f"Is Maize {at} sown?",
            **({"output__value": f"Yes, {at}."} if at % 3 else {}),
            **({"session__id": f"S{at % 4}"} if at % 5 else {}),
        )
        model = {"openinference__span__kind": "LLM", "llm__model_name": "a" if at % 2 else "B"}
        cost = {"llm__cost__total": {"doubleValue": at / 1000}} if at % 4 else {}
        tokens = {"llm__token_count__prompt": {"intValue": str(at)}} if at % 3 == 1 else {}
        status = {"status": {"code": 2, "message": "Boom"}} if at % 7 == 0 else {}
        bodies.append(
            request(
                top, span(at * 10 + 2, trace=trace, parent=at * 10 + 1, **model, **cost, **tokens) | status
            )
        )
    return bodies


NUMBERS = ("duration", "cost", "tokens", "spans", "errors")
conditions = st.deferred(
    lambda: st.one_of(
        st.builds(
            "{} {} {}".format,
            st.sampled_from(NUMBERS),
            st.sampled_from(["<", "<=", ">", ">=", "=", "!="]),
            st.sampled_from(["0", "1", "2", "0.005", "7", "1.1"]),
        ),
        st.builds(
            "{} {} {}".format,
            st.sampled_from(["service", "session", "model", "question", "answer", "text", "error", "trace"]),
            st.sampled_from(["=", "!=", "~"]),
            st.sampled_from(["shop", "s1", "S2", "a", "b", '"maize 1"', "boom", '"Yes, 4."', '"%"']),
        ),
        st.builds("{} {} none".format, st.sampled_from(sorted(TRACE_COLUMNS)), st.sampled_from(["=", "!="])),
        st.sampled_from(["failed", "not failed", "failed = false", "session in (s1, none)"]),
        st.builds(
            "time {} 2025-11-23T12:13:{}".format,
            st.sampled_from(["<", "<=", ">", ">=", "=", "!="]),
            st.sampled_from(["20", "21", "22"]),
        ),
        st.builds("({} {} {})".format, conditions, st.sampled_from(["and", "or"]), conditions),
        st.builds("not {}".format, conditions),
    )
)


@pytest.fixture(scope="module")
def filtered(tmp_path_factory):
    """A query on 30 traces, and the columns that each has for the commands."""
    folder = tmp_path_factory.mktemp("filtered")
    bodies = a_set(30)
    write(folder / "a.jsonl", *bodies)
    index = TraceIndex(folder / "store", lambda: [folder])
    assert index.refresh(60.0).left == 0
    steps = [step for _, step in steps_in(enumerate(map(json.loads, bodies)))]
    cells = [trace_cells(row, spans) for row, spans in evaluated_answers(steps)]
    with index.opened() as con:
        yield TraceQuery(con, [], has_monitor=False), cells


@pytest.mark.long
@settings(max_examples=300)
@given(conditions)
def test_the_list_and_the_commands_mean_the_same_by_a_filter(filtered, text):
    query, cells = filtered
    wanted = [each["trace"] for each in cells if holds(bound(text, TRACE_COLUMNS), each)]
    assert sorted(query.ids(text, 100)) == sorted(wanted)


def test_a_list_is_sorted_and_paged_and_what_has_no_value_comes_last(index, folder):
    write(folder / "a.jsonl", *a_set(9))
    costs = [row.cost for row in found(index, order="cost").rows]
    assert costs == [0.007, 0.006, 0.005, 0.003, 0.002, 0.001, None, None, None]
    assert found(index, order="cost", rising=True).rows[0].cost == 0.001
    page = found(index, "cost > 0.001", order="cost", at=2, size=2)
    assert ([row.cost for row in page.rows], page.n, page.of, page.at) == ([0.005, 0.003], 5, 9, 2)
    assert found(index, at=99, size=2).at == 5


def test_scores_that_came_with_traces_and_those_of_the_monitor_are_shown_and_asked_for(
    index, folder, tmp_path
):
    sent = log_request(evaluation("relevance", score__value=0.5, score__label="fair"))
    write(folder / "a.jsonl", asked("Is it?", "It is."), sent, asked("Was it?", "It was.", OTHER))
    fill(tmp_path / "monitor", [monitor_row(TRACE, faithfulness=0.2)]).close()
    how = {"monitor": tmp_path / "monitor"}
    for where, left in (("relevance = 0.5 and faithfulness < 0.5", TRACE), ("faithfulness = none", OTHER)):
        assert ids(index, where, **how) == [left], where
    with index.opened() as con, with_scores(con, tmp_path / "monitor") as has_monitor:
        query = TraceQuery(con, [], has_monitor=has_monitor)
        scores = query.scores([TRACE, OTHER])
    assert [(one.metric, one.score, one.by) for one in scores[TRACE]] == [
        ("relevance", 0.5, "sent"),
        ("faithfulness", 0.2, "faithfulness openai/judge"),
    ]
    assert OTHER not in scores


def test_notes_and_tags_are_asked_for(index, folder):
    write(folder / "a.jsonl", asked("Is it?", "It is."), asked("Was it?", "It was.", OTHER))
    note = Note(
        id="1", question_id=TRACE, text="Names wheat.", author="ann", at="", tags=["Wrong crop"], span="5"
    )
    for where in ("notes ~ WHEAT", 'note_tags = "wrong crop"', "note_tags != none"):
        assert ids(index, where, notes=[note]) == [TRACE]
    assert ids(index, "notes = none", notes=[note]) == [OTHER]
    with pytest.raises(DataError, match="no column 'notes'"):
        ids(index, "notes ~ wheat")


def test_an_exporter_s_traces_are_in_the_list(index, folder):
    ragstone.store_spans(as_protobuf(asked("Is it?", "It is.")), folder)
    assert [row.question for row in found(index).rows] == ["Is it?"]


def test_a_page_does_not_wait_for_all_that_is_there(index, folder, monkeypatch):
    for at, body in enumerate(islice(a_set(400), 400)):
        write(folder / f"{at}.jsonl", body)
    go, read_all = threading.Event(), index._read_all

    def read_later(files):
        go.wait(60)
        read_all(files)

    monkeypatch.setattr(index, "_read_all", read_later)
    state = index.refresh(0.0)
    assert (state.files, state.left) == (400, 400)
    go.set()
    assert found(index).of == 400
