"""Asks that show a model placeholders: what is sent, what is kept, and what comes back."""

import msgspec
import pydantic
import pytest
from tests.support.doors import Model, door_to, prompt, verdict

from ragstone.kernel.llm import CallFailed, Message, Prompt, Reply
from ragstone.kernel.llm._masked import masked, masked_stream
from ragstone.kernel.records import Usage

EMAIL = "jane@doe.org"


def texts_sent(model):
    return [message.content for asked in model.asked for message in asked.messages]


async def test_the_model_sees_a_placeholder_and_the_reply_has_the_value(tmp_path):
    model = Model(verdict(reason="[email-1] is not in the context"))
    with door_to(model.send, tmp_path) as door:
        reply = await masked(door.ask, None)(prompt(f"The answer: write to {EMAIL}."))
    assert texts_sent(model) == ["The answer: write to [email-1]."]
    assert reply.value.reason == f"{EMAIL} is not in the context"
    assert f'"reason": "{EMAIL} is' in reply.text


async def test_no_value_stands_in_the_ledger_which_answers_the_next_time(tmp_path):
    model = Model(verdict(reason="[email-1]"))
    for _ in range(2):
        with door_to(model.send, tmp_path) as door:
            reply = await masked(door.ask, None)(prompt(f"Write to {EMAIL}."))
        assert reply.value.reason == EMAIL
    assert len(model.asked) == 1
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    assert b"doe.org" not in kept


async def test_a_reply_that_is_asked_for_again_quotes_placeholders(tmp_path):
    model = Model(verdict(score="[email-1]"), verdict(reason="[email-1]"))
    with door_to(model.send, tmp_path) as door:
        reply = await masked(door.ask, None)(prompt(f"Write to {EMAIL}."))
    assert reply.value.reason == EMAIL
    assert len(model.asked) == 2
    assert not [text for text in texts_sent(model) if "doe.org" in text]


async def test_a_failure_tells_what_the_model_said_with_the_values(tmp_path):
    said = Model("I cannot judge [email-1].")
    with door_to(said.send, tmp_path) as door, pytest.raises(CallFailed) as failure:
        await masked(door.ask, None)(prompt(f"Write to {EMAIL}."))
    assert (failure.value.status, failure.value.raw) == ("unparsable", f"I cannot judge {EMAIL}.")


async def test_a_code_of_digits_is_no_telephone_number(tmp_path):
    model = Model(verdict(nonce="5552349999"))
    with door_to(model.send, tmp_path) as door:
        await masked(door.ask, None)(prompt("Call <answer 5552349999>555 234 9999", nonce="5552349999"))
    assert texts_sent(model) == ["Call <answer 5552349999>[phone-1]"]


async def test_a_name_of_the_row_is_none_in_what_the_model_is_told(tmp_path):
    model = Model(verdict())
    told, shown = Message("system", f"You will judge. E.g. {EMAIL}"), Message("user", "I am Dr. Will Doe.")
    with door_to(model.send, tmp_path) as door:
        await masked(door.ask, None)(msgspec.structs.replace(prompt(), messages=(told, shown)))
    assert texts_sent(model) == ["You will judge. E.g. [email-1]", "I am Dr. [name-1]."]


class Part(msgspec.Struct, frozen=True):
    text: str
    ok: bool = True


class Nested(msgspec.Struct, frozen=True):
    parts: list[Part]
    by_name: dict[str, str]
    pair: tuple[str, int]


class Pydantic(pydantic.BaseModel):
    texts: list[str]


@pytest.mark.parametrize(
    ("value", "restored"),
    [
        (
            Nested([Part("[email-1]")], {"a": "[email-1]"}, ("[email-1]", 1)),
            Nested([Part(EMAIL)], {"a": EMAIL}, (EMAIL, 1)),
        ),
        (Pydantic(texts=["[email-1]"]), Pydantic(texts=[EMAIL])),
        (None, None),
    ],
)
async def test_values_come_back_in_all_parts_of_a_reply(value, restored):
    async def ask(_prompt: Prompt) -> Reply:
        return Reply(text="", value=value, usage=Usage(), latency_s=None, cost_usd=None)

    reply = await masked(ask, None)(prompt(EMAIL))
    assert reply.value == restored


@pytest.mark.parametrize(
    "pieces",
    [
        ["Write to [email-1]."],
        list("Write to [email-1]."),
        ["Write to [ema", "il-1]", "."],
        ["Write", " to [email-1", "]."],
    ],
)
async def test_a_stream_is_heard_with_the_values_however_it_is_cut(pieces):
    async def stream(asked: Prompt, on_text) -> Reply:
        assert asked.messages[0].content == "Whom do I write to? [email-1]"
        for piece in pieces:
            on_text(piece)
        return Reply(text="".join(pieces), value=None, usage=Usage(), latency_s=None, cost_usd=None)

    heard = []
    reply = await masked_stream(stream, None)(
        prompt(f"Whom do I write to? {EMAIL}", reply=None), heard.append
    )
    assert "".join(heard) == reply.text == f"Write to {EMAIL}."


async def test_what_is_no_placeholder_is_heard_to_its_end():
    async def stream(_asked: Prompt, on_text) -> Reply:
        on_text("a [link](x) and a [")
        return Reply(text="a [link](x) and a [", value=None, usage=Usage(), latency_s=None, cost_usd=None)

    heard = []
    await masked_stream(stream, None)(prompt(EMAIL, reply=None), heard.append)
    assert "".join(heard) == "a [link](x) and a ["
