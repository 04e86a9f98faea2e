"""`ragstone import --conversations`: the exchanges of a log become conversations."""

import json

import pytest
from tests.support.command import ragstone

from ragstone.features.import_._gathering import conversations_of
from ragstone.kernel.records import Answer, Context, Step, Turn
from ragstone.kernel.tables import read_rows


def exchange(name, conversation, minute, question, answer="", **more):
    time = f"2026-01-01T10:{minute:02}:00Z"
    return Answer(
        question_id=name,
        question=question,
        answer=answer,
        metadata={"conversation_id": conversation, "time": time, "lang": "en"},
        **more,
    )


STEP = Step(tool="weather", arguments={"place": "Thika"}, result="rain")
LOG = [
    exchange("e1", "x", 0, "Rain?", "Where?"),
    exchange("e2", "y", 1, "Goats?", "Yes."),
    exchange("e4", "x", 5, "And then?", error="timeout"),
    exchange("e3", "x", 2, "In Thika.", "Yes.", contexts=[Context(text="rain")], steps=[STEP]),
    Answer(question_id="e5", question="Alone?", answer="Alone."),
]


def test_exchanges_of_a_conversation_become_one_row_in_the_order_of_time(folder, says):
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in map(as_json, LOG)))
    ran = ragstone("import", "log.jsonl", "--conversations")
    assert ran.code == 0
    says(ran.err)
    rain, goats, alone = read_rows(folder / "imported" / "conversations.jsonl", Answer)
    assert rain.turns == [
        Turn("user", "Rain?"),
        Turn("assistant", "Where?"),
        Turn("user", "In Thika."),
        Turn("assistant", "Yes.", [Context(text="rain")], [STEP]),
        Turn("user", "And then?"),
    ]
    assert (rain.question_id, rain.error, rain.answer, rain.steps) == ("x", "timeout", "", [STEP])
    assert rain.metadata == {"conversation_id": "x", "lang": "en", "exchanges": ["e1", "e3", "e4"]}
    assert (goats.question_id, len(goats.turns)) == ("y", 2)
    assert alone == LOG[4]


def as_json(row):
    import msgspec

    return msgspec.to_builtins(row)


def test_two_systems_have_two_conversations_though_they_share_its_name():
    other = exchange("e1", "x", 0, "Rain?", "No.", system="other")
    assert [(row.question_id, row.system) for row in conversations_of([*LOG[:1], other])] == [
        ("x", "default"),
        ("x", "other"),
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "no exchange says which conversation it belongs to"),
        (["--split", "dev"], "--split is for evaluation sets, not for --conversations"),
        (["--drop-repeats"], "--drop-repeats is for evaluation sets"),
    ],
)
def test_what_cannot_be_gathered_is_told(folder, options, said):
    (folder / "log.jsonl").write_text('{"question": "Rain?", "answer": "Yes."}\n')
    ran = ragstone("import", "log.jsonl", "--conversations", *options)
    assert (ran.code, said in ran.err) == (2, True)
    assert not (folder / "imported" / "conversations.jsonl").exists()
