"""Log events of generative AI: they tell what spans do not, and are answers where there are no spans."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.spans import TRACE, details, evaluation, log_request, record, request, span

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import read_rows
from ragstone.kernel.tables.interchange.openinference import steps_in
from ragstone.kernel.tables.interchange.traces import OpenTraces

OTHER = "0" * 31 + "7"


def read(tmp_path, *lines: bytes) -> list[Answer]:
    file = tmp_path / "events.jsonl"
    file.write_bytes(b"\n".join(lines) + b"\n")
    return list(read_rows(file, Answer))


def test_the_details_of_a_call_are_an_answer(tmp_path):
    usage = {"gen_ai__usage__input_tokens": 10, "gen_ai__usage__output_tokens": 3}
    [row] = read(tmp_path, log_request(details("When?", "In May.", 5, **usage)))
    assert (row.question, row.answer, row.system) == ("When?", "In May.", "shop")
    assert (row.metadata["service"], row.metadata["model"]) == ("shop", "m")
    assert (row.usage.input, row.usage.output, row.usage.calls) == (10, 3, 1)
    assert (row.metadata["trace_id"], row.metadata["span_id"]) == (TRACE, f"{5:016x}")


def test_messages_may_be_json_in_texts_and_the_name_an_attribute(tmp_path):
    told = details("When?", "In May.")
    for field in told["attributes"]:
        if "messages" in field["key"]:
            said = "When?" if "input" in field["key"] else "In May."
            role = "user" if "input" in field["key"] else "assistant"
            field["value"] = {"stringValue": json.dumps([{"role": role, "content": said}])}
    name = told.pop("eventName")
    told["attributes"].append({"key": "event.name", "value": {"stringValue": name}})
    [row] = read(tmp_path, log_request(told))
    assert (row.question, row.answer) == ("When?", "In May.")


def test_events_of_single_messages_are_an_answer_with_its_steps(tmp_path):
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"place": "Nakuru"}'},
    }
    events = [
        record("gen_ai.system.message", body={"content": "Be short."}),
        record("gen_ai.user.message", body={"content": "Will it rain?"}),
        record("gen_ai.assistant.message", body={"tool_calls": [call]}),
        record("gen_ai.tool.message", body={"id": "c1", "content": "no"}),
    ]
    said = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "No rain."}}
    # The reply comes in another request than what was asked.
    [row] = read(tmp_path, log_request(*events), log_request(record("gen_ai.choice", body=said)))
    assert (row.question, row.answer) == ("Will it rain?", "No rain.")
    assert [(step.tool, step.arguments, step.result) for step in row.steps] == [
        ("weather", {"place": "Nakuru"}, "no")
    ]


@pytest.mark.parametrize("order", [1, -1])
def test_an_event_tells_what_its_span_does_not_and_nothing_twice(tmp_path, order):
    known = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": {"intValue": "10"}}
    usage = {"gen_ai__usage__input_tokens": 10}
    spans = request(span(1), span(2, parent=1, **known, **{"gen_ai.request.model": "gpt"}))
    events = log_request(details("When?", "In May.", 2, **usage))
    [row] = read(tmp_path, *[spans, events][::order])
    assert (row.question, row.answer, row.metadata["model"]) == ("When?", "In May.", "gpt")
    assert (row.usage.input, row.usage.calls) == (10, 1)
    assert row.latency_s == 1.0  # of the top, which only spans know
    assert row.metadata["span_id"] == f"{1:016x}"


def test_of_events_alone_the_answer_is_what_a_model_said_last(tmp_path):
    first = details("Rewrite: when?", "When is wheat sown?", 1)
    [row] = read(tmp_path, log_request(first, details("When?", "In May.", 2)))
    assert row.answer == "In May."


def test_an_event_without_a_trace_is_an_answer_by_itself(tmp_path):
    rows = read(tmp_path, log_request(details("When?", "In May.", None), details("Why?", "So.", None)))
    assert [(row.question, row.answer) for row in rows] == [("When?", "In May."), ("Why?", "So.")]


def test_a_call_that_failed_is_an_error_and_no_answer(tmp_path):
    [row] = read(tmp_path, log_request(details("When?", "In", error__type="timeout")))
    assert (row.answer, row.error) == ("", "timeout")


def test_messages_of_no_span_are_refused_with_what_to_do(tmp_path, says):
    with pytest.raises(DataError) as error:
        read(tmp_path, log_request(*[record("gen_ai.user.message", None, body={"content": "?"})] * 2))
    says(error.value)


def test_ids_of_zeros_are_none(tmp_path):
    zeros = details("When?", "In May.") | {"traceId": "0" * 32, "spanId": "0" * 16}
    [row] = read(tmp_path, log_request(zeros))
    assert "trace_id" not in row.metadata


def test_other_events_and_other_logs_are_nothing(tmp_path, says):
    others = [record("gen_ai.client.operation.exception"), record("db.query"), record("gen_ai.message")]
    rows = read(tmp_path, log_request(*others, details("When?", "In May.")))
    assert len(rows) == 1
    with pytest.raises(DataError) as error:
        read(tmp_path, log_request(*others))
    says(error.value)


def test_evaluations_stand_beside_the_answer_of_their_trace(tmp_path):
    told = {
        "score__value": 4.0,
        "score__label": "good",
        "explanation": "It fits.",
        "evaluator__source": '{"name": "LLMJudge", "arguments": null}',
        "evaluator__version": "v2",
    }
    lines = [
        log_request(evaluation("relevance", 9, **told), scope="pydantic-evals"),
        log_request(details("When?", "In May."), details("Why?", "So.", 2, trace=OTHER)),
        log_request(record("gen_ai.evaluation.result", 2, trace=OTHER, error__type="timeout")),
    ]
    first, second = sorted(read(tmp_path, *lines), key=lambda row: row.question)
    assert first.metadata["evaluations"] == [
        {
            "name": "relevance",
            "score": 4.0,
            "label": "good",
            "explanation": "It fits.",
            "evaluator": "LLMJudge",
            "version": "v2",
            "scope": "pydantic-evals",
        }
    ]
    assert second.metadata["evaluations"] == [{"error": "timeout", "evaluator": "tests", "scope": "tests"}]


def test_evaluations_as_events_of_a_span_are_read_too(tmp_path):
    top = span(1, input__value="When?", output__value="In May.")
    said = evaluation("relevance", score__value=0.5)
    top["events"] = [{"name": said["eventName"], "attributes": said["attributes"]}]
    [row] = read(tmp_path, request(top))
    assert [one["score"] for one in row.metadata["evaluations"]] == [0.5]


def test_of_several_answers_of_a_trace_an_evaluation_is_of_the_one_with_its_span(tmp_path):
    kind = {"openinference__span__kind": "AGENT"}
    turns = [span(n, **kind, input__value=f"q{n}?", output__value=f"a{n}") for n in (1, 20)]
    for turn in turns:
        turn["name"] = "turn"
    said = log_request(evaluation("relevance", 20, score__value=1.0), evaluation("tone", 99))
    first, second = read(tmp_path, request(*turns), said)
    assert "evaluations" not in first.metadata
    assert [one["name"] for one in second.metadata["evaluations"]] == ["relevance"]  # of 99 nobody knows it


def test_an_evaluation_without_a_span_is_of_the_reply_that_it_names(tmp_path):
    replied = details("When?", "In May.", 3, gen_ai__response__id="chatcmpl-1")
    said = [
        record("gen_ai.evaluation.result", None, gen_ai__evaluation__name=name, gen_ai__response__id=reply)
        for name, reply in (("tone", "chatcmpl-1"), ("cost", "chatcmpl-2"))
    ]
    first, second = read(
        tmp_path, log_request(*said), log_request(replied, details("Why?", "So.", 2, trace=OTHER))
    )
    assert [one["name"] for one in first.metadata["evaluations"]] == ["tone"]
    assert "evaluations" not in second.metadata


def test_what_comes_when_the_answer_was_taken_is_a_row_of_its_own():
    traces = OpenTraces()
    for _, step in steps_in(
        [(1, json.loads(log_request(evaluation("relevance"), evaluation("tone", None))))]
    ):
        traces.add(step, "file", 1e12)
    rows = [row for _, row in traces.take(1e12, grace_s=0)]
    assert [(row["metadata"]["trace_id"], row["evaluations"][0]["name"]) for row in rows] == [
        (TRACE, "relevance"),
        (None, "tone"),
    ]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.just(TRACE),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "key",
                    "value",
                    "stringValue",
                    "kvlistValue",
                    "arrayValue",
                    "values",
                    "role",
                    "content",
                    "message",
                ]
            ),
            inside,
            max_size=3,
        )
    ),
    max_leaves=12,
)
NAMES = st.sampled_from(
    [
        "gen_ai.choice",
        "gen_ai.user.message",
        "gen_ai.evaluation.result",
        "gen_ai.client.inference.operation.details",
    ]
)


@given(st.lists(st.tuples(NAMES, ANYTHING, ANYTHING, ANYTHING, ANYTHING), max_size=4))
def test_whatever_stands_in_events_is_read_or_said_to_be_wrong(events):
    records = [
        {"eventName": name, "body": body, "attributes": attributes, "traceId": trace, "timeUnixNano": time}
        for name, body, attributes, trace, time in events
    ]
    raw = {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}
    traces = OpenTraces()
    for _, step in steps_in([(1, raw)]):
        if isinstance(step, ValueError):
            assert "without a span" in str(step)
        else:
            traces.add(step, "file", 1e12)
    traces.take(1e13, grace_s=0)
