"""Rows of logs in anybody's columns, and the files that they stand in."""

from pathlib import Path

import pytest

from ragstone.kernel.errors import DataError
from ragstone.kernel.tables.logs.exchange import Columns, as_quality, exchange_of
from ragstone.kernel.tables.logs.reading import log_files, read_log

MESSAGES = [
    {"role": "system", "content": "You help farmers."},
    {"role": "user", "content": "What is maize?"},
    {"role": "assistant", "content": "A cereal."},
    {"role": "user", "content": "When is maize sown?"},
    {"role": "assistant", "content": "In spring."},
]
REPLY = {"choices": [{"message": {"role": "assistant", "content": "In spring."}}]}


@pytest.mark.parametrize(
    "row",
    [
        {"question": "When is maize sown?", "answer": "In spring."},
        {"user_input": "When is maize sown?", "response": "In spring."},
        {"Query": "When is maize sown?", "Output": "In spring."},
        {"prompt": "When is maize sown?", "completion": "In spring."},
        {"messages": MESSAGES},
        {
            "conversations": [
                {"from": "human", "value": "When is maize sown?"},
                {"from": "gpt", "value": "In spring."},
            ]
        },
        {"request": {"model": "m", "messages": MESSAGES[:4]}, "response": REPLY},
        {"body": {"messages": MESSAGES[:4]}, "response": {"status_code": 200, "body": REPLY}},
        {
            "input": [{"role": "user", "content": [{"type": "input_text", "text": "When is maize sown?"}]}],
            "output": [{"type": "message", "content": [{"type": "output_text", "text": "In spring."}]}],
        },
        {"inputs": {"question": "When is maize sown?"}, "outputs": {"answer": "In spring."}},
        {
            "turns": [
                {"speaker": "Customer", "text": "When is maize sown?"},
                {"speaker": "Agent", "text": "In spring."},
            ]
        },
    ],
    ids=lambda row: "-".join(row),
)
def test_question_and_answer_are_found_in_columns_of_many_tools(row):
    found = exchange_of(row, Columns())
    assert (found.question, found.answer) == ("When is maize sown?", "In spring.")


@pytest.mark.parametrize(
    "row", [{}, {"question": " "}, {"messages": []}, {"messages": MESSAGES[:1]}, {"level": 3}]
)
def test_a_row_that_asks_nothing_has_no_exchange(row):
    assert exchange_of(row, Columns()) is None


def test_a_last_message_without_a_reply_has_no_answer():
    assert exchange_of({"messages": MESSAGES[:4]}, Columns()).answer is None


def test_named_columns_go_before_known_ones_and_reach_into_objects():
    row = {"question": "no", "x": {"asked": "When?"}, "y": "Then.", "z": {"up": 1}, "r": "Now.", "c": "web"}
    found = exchange_of(row, Columns("x.asked", "y", "z.up", "r", ("c", "none")))
    assert (found.question, found.answer, found.quality, found.reference) == ("When?", "Then.", 1, "Now.")
    assert found.tags == {"c": "web"}


def test_contexts_of_any_form_come_along_and_odd_ones_do_not_matter():
    assert exchange_of({"q": "a?", "contexts": ["one"]}, Columns()).contexts[0].text == "one"
    assert exchange_of({"q": "a?", "contexts": [{"odd": 1}]}, Columns()).contexts is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("up", 1), ("👎", 0), ("👍️", 1), ("yes", 1), (True, 1), (False, 0), ("4/5", 4), ("3 out of 5", 3),
        ("★★★☆☆", 3),
        (-1, -1), ("2,5/5", 2.5), ({"score": 2}, 2), ({"type": "thumbs_down"}, 0), ("not helpful", 0),
    ],
)  # fmt: skip
def test_feedback_is_a_number(written, meant):
    assert as_quality(written) == meant


@pytest.mark.parametrize("written", [None, "", "I did not like it", {}, [], float("nan")])
def test_feedback_that_nobody_can_read_is_none(written):
    assert as_quality(written) is None


def test_traces_are_read_as_the_answers_in_them():
    log = Path(__file__).parents[3] / "fixtures/interchange/agent-otlp.jsonl"
    [(place, row)] = read_log(log)
    assert (place.line, row["question"]) == (1, "Will it rain in Nakuru, and how large is field 7?")
    assert [step["tool"] for step in row["steps"]] == ["weather", "field_map"]


def test_sources_that_are_not_there_are_named(tmp_path, says):
    with pytest.raises(DataError, match="no such file"):
        log_files([tmp_path / "none.jsonl"])
    with pytest.raises(DataError, match="holds no log"):
        log_files([tmp_path])
    with pytest.raises(DataError) as error:
        log_files([])
    says(error.value)
