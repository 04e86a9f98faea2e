"""A conversation as a text and as its replies."""

from pathlib import Path

import msgspec

from ragstone import judge
from ragstone.kernel.config import Settings
from ragstone.kernel.judging import load_judge, question_clusters, summarise
from ragstone.kernel.judging.conversation import HISTORY, every_reply, replies_of, thread_text
from ragstone.kernel.judging.inputs import gather_inputs
from ragstone.kernel.judging.judge import parse_judge
from ragstone.kernel.judging.lexical import repeats_itself
from ragstone.kernel.records import Answer, Context, Question, Step, Turn
from ragstone.kernel.tables import read_rows, write_rows
from ragstone.kernel.tables.names import NO_REPLY

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


def test_the_thread_as_a_text(says):
    says(thread_text(ROW))


def test_each_reply_is_an_answer_with_what_went_before_it(says):
    first, last = replies_of(ROW)
    assert (first.question_id, first.question, first.answer) == ("c#5", "Will it rain?", "Yes.")
    assert (first.contexts, first.steps) == ([Context(text="rain")], [CALL])
    assert first.reference is None
    assert (first.turns, first.metadata) == (ROW.turns[:5], {"conversation": "c", "turn": 5})
    assert (last.question_id, last.answer) == ("c#7", "In May.")
    says(last.question)
    assert (last.contexts, last.reference, last.steps) == (ROW.contexts, "May", [FAILED])
    assert (last.system, last.tags, last.turns) == ("s", {"lang": "en"}, ROW.turns)


def test_what_is_no_conversation_and_what_is_a_reply_already_stay_as_they_are():
    alone = Answer(question_id="q", answer="a")
    replies = list(replies_of(ROW))
    assert list(every_reply([alone, *replies])) == [alone, *replies]


def test_a_reply_keeps_its_own_steps_when_it_is_written_and_read(tmp_path):
    more = msgspec.structs.replace(
        ROW, turns=[*ROW.turns, Turn("user", "Thanks."), Turn("assistant", "Bye.")]
    )
    replies = list(replies_of(more))
    assert [row.steps for row in replies] == [[CALL], [FAILED], []]
    write_rows(tmp_path / "replies.jsonl", replies, Answer)
    assert [*read_rows(tmp_path / "replies.jsonl", Answer)] == replies


def test_a_conversation_without_replies_is_a_row_that_says_so():
    [row] = replies_of(msgspec.structs.replace(ROW, turns=[Turn("user", "?")]))
    assert (row.question_id, row.answer, row.error) == ("c", "", NO_REPLY)


def test_an_empty_reply_is_one_row():
    turns = [Turn("user", "?"), Turn("assistant", "")]
    [row] = replies_of(Answer(question_id="c", answer="", error=NO_REPLY, turns=turns))
    assert (row.question_id, row.answer, row.error) == ("c#2", "", NO_REPLY)


def test_a_failure_at_the_end_is_a_reply_behind_the_last_turn():
    turns = [Turn("assistant", "Hello."), Turn("user", "Rain?")]
    hello, failed = replies_of(
        Answer(question_id="c", answer="", error="timeout", turns=turns, reference="Yes")
    )
    assert (hello.question_id, hello.answer, hello.question, hello.error) == ("c#1", "Hello.", None, None)
    assert (failed.question_id, failed.question, failed.error) == ("c#3", "Rain?", "timeout")
    assert (hello.reference, failed.reference) == (None, "Yes")


def test_the_replies_of_a_long_conversation_grow_with_its_length_alone():
    turns = [Turn(role, str(n)) for n in range(3000) for role in ("user", "assistant")]
    *_, last = replies_of(Answer(question_id="c", answer="2999", turns=turns))
    assert last.question_id == "c#6000"
    assert len(last.turns) == HISTORY
    # Turns keep the numbers that they have in the whole.
    assert gather_inputs(parse_judge(JUDGE, Path("thread.toml")), last)["conversation"].startswith(
        "[5801] user: 2900\n"
    )


def test_the_judged_reply_is_marked_in_the_thread_and_the_role_is_what_the_system_says(says):
    first, last = replies_of(ROW)
    says(thread_text(first))
    assert "[5] assistant: Yes." in thread_text(last)
    assert "judge this reply" not in thread_text(ROW)
    judge = load_judge("stays_in_role")
    assert gather_inputs(judge, last)["role"] == "You help farmers."
    own = msgspec.structs.replace(ROW, metadata={"role": "a pirate"})
    assert gather_inputs(judge, own)["role"] == "a pirate"
    assert gather_inputs(judge, msgspec.structs.replace(ROW, turns=ROW.turns[1:])) == "role"


def said(*replies, **more):
    turns = [turn for reply in replies for turn in (Turn("user", "?"), Turn("assistant", reply))]
    return Answer(question_id="c", answer=replies[-1], turns=turns, **more)


def test_repetition_is_the_share_of_words_in_sentences_said_before():
    # Of the two later replies' 4 + 6 words, the sentence of 6 was said before; "Yes, of course" is too short.
    loop = said(
        "Yes, of course. Which field do you speak of?", "It grows in May.", "which FIELD do you speak of!"
    )
    assert repeats_itself(loop) == 6 / 10
    assert [repeats_itself(reply) for reply in replies_of(loop)] == [None, 0.0, 1.0]
    assert repeats_itself(said("Yes, of course.", "Yes, of course.")) == 0.0
    assert repeats_itself(said("It grows in May. It grows in May.")) is None
    assert repeats_itself(Answer(question_id="q", answer="a")) is None


def test_repetition_takes_time_in_proportion_to_the_conversation():
    long = said(*(f"Reply number {n} of very many." for n in range(20_000)))
    assert repeats_itself(long) == 0.0


def test_judgements_of_replies_tell_their_conversation_and_vary_together():
    rows = [
        Answer(
            question_id=f"c{n}",
            answer="",
            turns=[Turn("user", "?"), Turn("assistant", reply), Turn("user", "?"), Turn("assistant", reply)],
        )
        for n, reply in enumerate(["I cannot help with that.", "In May."] * 3)
    ]
    judged = judge(rows, judges=["no_refusal"], each_turn=True, settings=Settings())
    assert [(row.question_id, row.score) for row in judged[:3]] == [("c0#2", 0), ("c0#4", 0), ("c1#2", 1)]
    assert judged[1].metadata == {"conversation": "c0", "turn": 4}
    assert question_clusters([], judged)["c0#4"] == "c0"
    of_documents = question_clusters([Question(id="c0", question="?", document_ids=["d"])], judged)
    assert (of_documents["c0#2"], of_documents["c1#2"]) == ("d", "c1")
    of_replies = question_clusters([Question(id="c0#4", question="?", document_ids=["d"])], judged)
    assert (of_replies["c0#2"], of_replies["c0#4"], of_replies["c1#2"]) == ("d", "d", "c1")
    [mean] = summarise(judged)
    # Twelve replies, but each has its conversation's other reply as a twin: six independent rows.
    assert (mean.n_documents, mean.shares) == (6, "conversations")
    alone = [msgspec.structs.replace(row, metadata=None) for row in judged]
    [narrow] = summarise(alone)
    assert mean.estimate.high - mean.estimate.low > 1.2 * (narrow.estimate.high - narrow.estimate.low)
    assert [row.question_id for row in judge(rows, judges=["no_refusal"], settings=Settings())][:2] == [
        "c0",
        "c1",
    ]


def test_a_judge_reads_the_conversation(tmp_path):
    judge = parse_judge(JUDGE, tmp_path / "thread.toml")
    assert judge.reads_answer
    assert gather_inputs(judge, ROW) == {"conversation": thread_text(ROW), "answer": "In May."}
    assert gather_inputs(judge, Answer(question_id="q", answer="a")) == "conversation"
    column = Answer(question_id="q", answer="a", metadata={"conversation": "a column of one's own"})
    assert gather_inputs(judge, column) == {"conversation": "a column of one's own", "answer": "a"}
