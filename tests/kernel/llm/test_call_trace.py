"""What a door notes while a row is worked on, and that its order does not depend on who was quicker."""

import asyncio

import msgspec
import pytest
from tests.support.doors import opened
from tests.support.scripts import fail, in_turn

from ragstone.kernel.llm import CallFailed, Message, Prompt
from ragstone.kernel.llm.call_trace import CallTrace, Exchange, TracedConversation, tracing


class Score(msgspec.Struct):
    score: int


def asked(text: str, reply: type | None = None) -> Prompt:
    return Prompt(messages=(Message("system", "Judge."), Message("user", text)), reply=reply)


@pytest.fixture
def heard():
    with tracing() as trace:
        yield trace


async def ask(fake_openai, tmp_path, prompt):
    settings = fake_openai.settings(root=tmp_path)
    async with opened(settings, tmp_path) as door:
        return await door.ask(prompt)


async def test_prompt_and_reply_are_noted_word_for_word(fake_openai, tmp_path, heard):
    fake_openai.script = in_turn('{"score": 1}')
    await ask(fake_openai, tmp_path, asked("good?", Score))
    [exchange] = heard.exchanges()
    assert exchange.model.startswith("openai/fake@")
    assert [tuple(msgspec.to_builtins(one).values()) for one in exchange.messages] == [
        ("system", "Judge."),
        ("user", "good?"),
        ("assistant", '{"score": 1}'),
    ]


async def test_a_reply_that_cannot_be_used_is_kept_with_what_followed(fake_openai, tmp_path, heard):
    fake_openai.script = in_turn("Surely a one!", "I said one.")
    with pytest.raises(CallFailed):
        await ask(fake_openai, tmp_path, asked("good?", Score))
    [exchange] = heard.exchanges()
    assert [one.role for one in exchange.messages] == ["system", "user", "assistant", "user", "assistant"]
    assert exchange.messages[2].content == "Surely a one!"
    assert exchange.messages[4].content == "I said one."


async def test_a_call_without_a_reply_leaves_what_was_asked(fake_openai, tmp_path, heard):
    fake_openai.script = in_turn(fail(400, "no"))
    with pytest.raises(CallFailed):
        await ask(fake_openai, tmp_path, asked("good?"))
    [exchange] = heard.exchanges()
    assert exchange.messages[-1] == Message("user", "good?")


async def test_from_the_ledger_the_same_is_noted(fake_openai, tmp_path, heard):
    fake_openai.script = in_turn('{"score": 1}')
    await ask(fake_openai, tmp_path, asked("good?", Score))
    await ask(fake_openai, tmp_path, asked("good?", Score))
    first, second = heard.exchanges()
    assert first == second
    assert fake_openai.n_requests == 1


@pytest.mark.parametrize("slow", ["a", "b"])
async def test_order_is_that_of_the_work_and_not_of_the_replies(heard, slow):
    async def one(name: str) -> None:
        for step in ("1", "2"):
            talk = TracedConversation("m", (Message("user", name + step),))
            await asyncio.sleep(0.01 if name == slow else 0)
            talk.said((Message("user", name + step),), "yes")

    await asyncio.gather(one("b"), one("a"))
    # The first of each task, then the second of each; of one time by their text.
    assert [one.messages[0].content for one in heard.exchanges()] == ["a1", "b1", "a2", "b2"]


async def test_nobody_listening_notes_nothing():
    talk = TracedConversation("m", (Message("user", "?"),))
    talk.said((Message("user", "?"),), "!")
    trace = CallTrace()
    trace.begin(Exchange(model="m", messages=()))
    assert len(trace.exchanges()) == 1
