"""Conversations in the shapes that people keep them in, as rows with turns."""

import json

import pytest

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Context, Step, Turn
from ragstone.kernel.tables.reading import parse_rows, read_rows
from ragstone.kernel.tables.writing import write_rows

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"place": "Nakuru"}'}}
OPENAI = [
    {"role": "developer", "content": "You sell seed."},
    {"role": "user", "content": [{"type": "text", "text": "Will it rain in Nakuru?"}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "rain, 12 mm"},
    {"role": "assistant", "content": "Yes, 12 mm."},
    {"role": "user", "content": "Thanks"},
]
WEATHER = Step(tool="weather", arguments={"place": "Nakuru"}, result="rain, 12 mm")


def read(raw):
    [row] = parse_rows([raw], Answer)
    return row


def test_messages_of_openai_are_turns_and_tell_question_answer_and_steps():
    assert read({"id": "c", "messages": OPENAI}) == Answer(
        question_id="c",
        question="Will it rain in Nakuru?",
        answer="Yes, 12 mm.",
        turns=[
            Turn("system", "You sell seed."),
            Turn("user", "Will it rain in Nakuru?"),
            Turn("assistant", "", tool_calls=[WEATHER]),
            Turn("tool", "rain, 12 mm"),
            Turn("assistant", "Yes, 12 mm."),
            Turn("user", "Thanks"),
        ],
        steps=[WEATHER],
    )


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
def test_a_row_of_ours_reads_as_it_was_written(tmp_path, ending):
    row = read({"id": "c", "messages": OPENAI, "system": "s"})
    write_rows(tmp_path / f"a.{ending}", [row], Answer)
    assert list(read_rows(tmp_path / f"a.{ending}", Answer)) == [row]


@pytest.mark.parametrize(
    ("messages", "roles"),
    [
        ([{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}], ["user", "assistant"]),
        ([{"role": "assistant", "content": "Hello"}], ["assistant"]),
        ([{"sender": "Bot", "text": "Hello"}, {"sender": "customer", "text": ""}], ["assistant", "user"]),
    ],
    ids=["ShareGPT", "the assistant begins", "other names, an empty turn"],
)
def test_other_names_of_roles(messages, roles):
    row = read({"conversation": messages})
    assert [turn.role for turn in row.turns] == roles
    assert (row.answer, row.error) == ("Hello", None)


def test_a_history_beside_question_and_answer_is_what_went_before():
    row = read({"question": "And rice?", "answer": "In June.", "history": OPENAI[:2]})
    assert row.turns[2:] == [Turn("user", "And rice?"), Turn("assistant", "In June.")]
    assert (row.question, row.answer) == ("And rice?", "In June.")


def test_contexts_of_the_last_reply_are_those_of_the_row():
    row = read({"turns": [{"role": "assistant", "content": "So.", "retrieval_context": ["p"]}]})
    assert row.contexts == row.turns[0].contexts == [Context(text="p")]


def test_without_a_reply_the_row_says_so(says):
    row = read({"messages": OPENAI[:3]})
    says(row.error)
    assert row.steps == [Step(tool="weather", arguments={"place": "Nakuru"})]


@pytest.mark.parametrize("role", ["narrator", "", None, 3])
def test_an_unknown_role_is_told_with_its_place(role, says):
    with pytest.raises(DataError) as error:
        read({"messages": [*OPENAI, {"role": role, "content": "x"}]})
    says(error.value)


def test_arguments_that_are_no_json_object_are_kept():
    call = {"function": {"name": "weather", "arguments": '{"place": '}}
    row = read({"messages": [{"role": "assistant", "content": "?", "tool_calls": [call]}]})
    assert row.steps == [Step(tool="weather", arguments={"input": '{"place": '})]


def test_what_is_no_conversation_stays_a_column():
    row = read({"question": "q", "answer": "a", "history": [{"date": "1961"}], "conversation": "c-1"})
    assert row.turns is None
    assert row.metadata == {"history": [{"date": "1961"}], "conversation": "c-1"}


def test_conversations_of_deepeval_with_what_they_are_measured_by(tmp_path):
    case = {
        "scenario": "a farmer asks about the rain",
        "expectedOutcome": "knows that it rains",
        "chatbotRole": "a friend of farmers",
        "turns": [
            {"role": "user", "content": "Rain?"},
            {
                "role": "assistant",
                "content": "Yes.",
                "retrievalContext": ["It rains."],
                "toolsCalled": [{"name": "weather", "inputParameters": {"place": "Thika"}, "output": "rain"}],
            },
        ],
    }
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testRunData": {"testCases": [], "conversationalTestCases": [case]}}))
    [row] = read_rows(path, Answer)
    step = Step(tool="weather", arguments={"place": "Thika"}, result="rain")
    assert row.turns == [
        Turn("user", "Rain?"),
        Turn("assistant", "Yes.", [Context(text="It rains.")], [step]),
    ]
    assert (row.question, row.answer, row.reference) == ("Rain?", "Yes.", "knows that it rains")
    assert row.metadata == {"scenario": "a farmer asks about the rain", "role": "a friend of farmers"}


def test_samples_of_ragas_with_many_turns(tmp_path, says):
    said = [
        {"type": "human", "content": "Rain?"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "weather", "args": {"place": "Thika"}}]},
        {"type": "tool", "content": "rain"},
        {"type": "ai", "content": "Yes."},
    ]
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps({"user_input": said, "reference_topics": ["weather"]}) + "\n")
    [row] = read_rows(path, Answer)
    assert [turn.role for turn in row.turns] == ["user", "assistant", "tool", "assistant"]
    assert (row.question, row.answer, row.steps[0].arguments) == ("Rain?", "Yes.", {"place": "Thika"})
    path.write_text(
        json.dumps({"user_input": [*said, {"role": "narrator", "content": "End."}], "reference": ""})
    )
    with pytest.raises(DataError) as error:
        list(read_rows(path, Answer))
    says(error.value)


def test_a_conversation_without_messages_is_a_row_that_says_so(says):
    _, empty = parse_rows([{"id": "c", "messages": OPENAI}, {"id": "d", "messages": []}], Answer)
    assert (empty.question_id, empty.answer, empty.turns) == ("d", "", [])
    says(empty.error)


def test_conversations_that_end_with_the_same_words_are_not_one(tmp_path):
    path = tmp_path / "chats.jsonl"
    chats = [
        [{"role": role, "content": text} for role, text in zip(("user", "assistant") * 2, texts, strict=True)]
        for texts in (("Rain?", "Yes.", "Thanks", "Bye."), ("Goats?", "No.", "Thanks", "Bye."))
    ]
    path.write_text("".join(json.dumps({"messages": messages}) + "\n" for messages in chats))
    first, second = read_rows(path, Answer)
    assert first.question_id != second.question_id
