"""Calls of tools in the forms in which they are written, as steps of a row."""

import csv

import pytest

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Step
from ragstone.kernel.tables.reading import parse_rows, read_rows

NAKURU = {"place": "Nakuru"}
WEATHER = Step(tool="weather", arguments=NAKURU, result="rain")


def steps_of(value):
    [row] = parse_rows([{"id": "q", "answer": "a", "steps": value}], Answer)
    return row.steps


@pytest.mark.parametrize(
    "call",
    [
        {"tool": "weather", "arguments": NAKURU, "result": "rain"},
        {"name": "weather", "args": NAKURU, "output": "rain"},
        {"name": "weather", "input_parameters": NAKURU, "output": "rain", "description": "The weather."},
        {"tool": "weather", "arguments": '{"place": "Nakuru"}', "observation": "rain"},
        {"function": {"name": "weather", "arguments": '{"place": "Nakuru"}'}, "result": "rain", "id": "c1"},
        {"action": "weather", "arguments": NAKURU, "observation": "rain", "status": "done"},
    ],
    ids=["ours", "LangChain", "DeepEval", "arguments as text", "OpenAI", "our assistant"],
)
def test_a_call_in_any_form_is_a_step(call):
    assert steps_of([call]) == [WEATHER]


def test_what_a_failed_call_says_is_its_error():
    [failed] = steps_of([{"action": "weather", "observation": "no such place", "status": "failed"}])
    assert failed == Step(tool="weather", error="no such place")
    assert steps_of([{"name": "weather", "status": "error"}]) == [Step(tool="weather", error="error")]


def test_what_is_no_text_is_written_as_json_and_what_is_no_object_is_the_input():
    calls = [{"name": "sum", "args": [1, 2], "output": {"total": 3}}, {"name": "now", "args": ""}]
    assert steps_of(calls) == [
        Step(tool="sum", arguments={"input": [1, 2]}, result='{"total":3}'),
        Step(tool="now"),
    ]
    assert steps_of([{"name": "search", "args": "maize"}])[0].arguments == {"input": "maize"}
    assert steps_of(["search", "weather"]) == [Step(tool="search"), Step(tool="weather")]
    assert steps_of([]) == []


def test_a_cell_of_csv_holds_steps_as_json(tmp_path):
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["id", "answer", "steps"], ["1", "a", '[{"tool": "now"}]'], ["2", "b", ""]]
        )
    rows = list(read_rows(tmp_path / "a.csv", Answer))
    assert [row.steps for row in rows] == [[Step(tool="now")], None]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("two of them", "steps must be a list of calls"),
        (3, "steps must be a list of calls"),
        ({"tool": "weather"}, "steps must be a list of calls"),
        ([{"arguments": {}}], "step 1 names no tool"),
        (["weather", 7], "step 2 names no tool"),
        ([{"tool": "weather", "result": "dry", "thought": ["a"], "arguments": 7, "error": {}}, 7], "step 2"),
    ],
)
def test_what_is_no_list_of_calls_is_told_in_one_sentence(value, told):
    with pytest.raises(DataError, match=told):
        steps_of(value)
