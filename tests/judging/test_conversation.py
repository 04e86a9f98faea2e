"""A conversation as a text and as its replies."""

import msgspec

from ragstone.judging.conversation import replies_of, thread_text
from ragstone.judging.judge import parse_judge
from ragstone.judging.render import gather_inputs
from ragstone.records import Answer, Context, Step, Turn

CALL = Step(tool="weather", arguments={"place": "Nakuru"}, result="rain")
FAILED = Step(tool="crops", error="no such crop")
ROW = Answer(
    question_id="c",
    system="s",
    answer="In May.",
    reference="May",
    contexts=[Context(text="Sow in May.")],
    turns=[
        Turn("system", "You help farmers."),
        Turn("user", "Will it rain?"),
        Turn("assistant", "", tool_calls=[CALL]),
        Turn("tool", "rain"),
        Turn("assistant", "Yes.", contexts=[Context(text="rain")]),
        Turn("user", "When do I sow?"),
        Turn("assistant", "In May.", tool_calls=[FAILED]),
    ],
    tags={"lang": "en"},
)
JUDGE = """
name = "thread"
version = 1
kind = "boolean"
inputs = ["conversation", "answer"]
scale = [0, 1]
source = "s"
prompt = "Is {answer} the end of {conversation}?"
"""


def test_the_thread_as_a_text():
    assert thread_text(ROW.turns) == (
        "[1] system: You help farmers.\n"
        "[2] user: Will it rain?\n"
        '[3] assistant calls weather({"place":"Nakuru"}) -> rain\n'
        "[4] tool: rain\n"
        "[5] assistant: Yes.\n"
        "[6] user: When do I sow?\n"
        "[7] assistant: In May.\n"
        "[7] assistant calls crops({}) failed: no such crop"
    )


def test_each_reply_is_an_answer_with_what_went_before_it():
    first, last = replies_of(ROW)
    assert (first.question_id, first.question, first.answer) == ("c#5", "Will it rain?", "Yes.")
    assert (first.contexts, first.steps) == ([Context(text="rain")], [CALL])
    assert first.reference is None
    assert (first.turns, first.metadata) == (ROW.turns[:5], {"conversation": "c", "turn": 5})
    assert (last.question_id, last.question, last.answer) == ("c#7", "When do I sow?", "In May.")
    assert (last.contexts, last.reference, last.steps) == (ROW.contexts, "May", [FAILED])
    assert (last.system, last.tags, last.turns) == ("s", {"lang": "en"}, ROW.turns)


def test_an_answer_without_turns_is_its_own_reply_and_a_thread_without_replies_has_none():
    alone = Answer(question_id="q", answer="a")
    assert list(replies_of(alone)) == [alone]
    assert list(replies_of(msgspec.structs.replace(ROW, turns=[Turn("user", "?")]))) == []


def test_a_judge_reads_the_conversation(tmp_path):
    judge = parse_judge(JUDGE, tmp_path / "thread.toml")
    assert judge.reads_answer
    assert gather_inputs(judge, ROW) == {"conversation": thread_text(ROW.turns), "answer": "In May."}
    assert gather_inputs(judge, Answer(question_id="q", answer="a")) == "conversation"
    column = Answer(question_id="q", answer="a", metadata={"conversation": "a column of one's own"})
    assert gather_inputs(judge, column) == {"conversation": "a column of one's own", "answer": "a"}
