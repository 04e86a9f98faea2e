"""Room to think: counted, learnt and declared; what a cut-off reply lacked; what is passed on of a stream."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import integers, lists
from tests.support.doors import NONCE, prompt, verdict

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.llm import CallFailed, Message, Prompt
from ragstone.kernel.llm._reasoning import (
    GROWTH,
    MOST,
    START,
    Room,
    StreamedCall,
    StreamFilter,
    ThinkingStyle,
    cut_words,
    declared_room,
    was_cut,
    with_reasoning,
)
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.schema import THINK
from ragstone.kernel.llm.transport import BrokenOff, Endpoint
from ragstone.kernel.records import Usage

FREE = Prompt(messages=(Message("user", "Say it."),), max_tokens=100)


def cut(text: str = "", *, output: int = 100, reasoning: int = 0) -> Completion:
    """A reply that a limit ended."""
    return Completion(text=text, finish_reason="length", usage=Usage(output=output, reasoning=reasoning))


@pytest.mark.parametrize(
    ("text", "reasoning", "told", "counted"),
    [
        ("1234567890", None, 0, 0),  # nothing was thought
        ("1234567890", "1" * 30, 0, 75),  # 100 * 30 / (30 + 10)
        ("1234567890", "1" * 30, 60, 60),  # the endpoint counts itself
        ("<think>123456789</think>abc", None, 0, 89),  # 24 of 27 characters, tags included: 88.9
        ("123456789</think>abc", None, 0, 85),  # opened by the chat template: 17 of 20
        ("<thinking>12345678", None, 0, 100),  # cut off within it
        ("", "1" * 30, 0, 100),
    ],
)
def test_thought_that_is_shown_and_not_counted_has_its_share_of_the_characters(
    text, reasoning, told, counted
):
    usage = Usage(input=9, output=100, reasoning=told)
    assert with_reasoning(usage, text, reasoning) == Usage(input=9, output=100, reasoning=counted)


def test_of_an_endpoint_that_counts_nothing_nothing_is_made_up():
    assert with_reasoning(Usage(), "abc", "thought") == Usage()


class TestWasCut:
    @pytest.mark.parametrize("text", ["", verdict()[:20], "I weigh the claim", "<think>I weigh"])
    def test_a_typed_reply_that_cannot_be_read_was_cut(self, text):
        assert was_cut(prompt(), cut(text))

    def test_a_typed_reply_that_is_whole_was_not(self):
        assert not was_cut(prompt(), cut(verdict()))

    def test_what_ended_by_itself_was_not(self):
        assert not was_cut(prompt(), Completion(text="", finish_reason="stop"))

    def test_a_refusal_was_not(self):
        assert not was_cut(prompt(), Completion(text="", finish_reason="length", refusal="no"))

    @pytest.mark.parametrize(
        ("text", "output", "reasoning", "expected"),
        [
            ("", 100, 100, True),  # nothing was said
            ("a long answer", 100, 0, False),  # it took all that it may take
            ("a long answer", 400, 300, False),  # 100 tokens beside its thought, and may take 100
            ("a beginning", 400, 350, True),  # 50 tokens, less than 9 tenths of 100
            ("a beginning", 400, 310, False),  # 90 tokens: 9 tenths
        ],
    )
    def test_free_text_was_cut_where_thought_took_the_room_of_the_reply(
        self, text, output, reasoning, expected
    ):
        assert was_cut(FREE, cut(text, output=output, reasoning=reasoning)) is expected


class TestDeclared:
    @pytest.mark.parametrize(
        ("settings", "room"),
        [
            ({}, None),
            ({"reasoning_tokens": 0}, 0),
            ({"reasoning_tokens": 2000}, 2000),
            ({"extra": {"thinking": {"type": "enabled", "budget_tokens": 3000}}}, 3000),
            ({"extra": {"thinking": {"type": "adaptive"}}}, None),
            ({"extra": {"thinking": True}}, None),
            ({"reasoning_tokens": 9, "extra": {"thinking": {"budget_tokens": 3000}}}, 9),
        ],
    )
    def test_room_is_that_of_our_key_else_that_of_anthropics(self, settings, room):
        assert declared_room(ModelSettings(**settings)) == room

    def test_a_declared_room_is_not_changed_by_what_replies_took(self):
        room = Room(2000, likely=True)
        room.learn(prompt(), cut(reasoning=9000, output=9000))
        assert room.tokens == 2000


class TestRoom:
    def test_a_model_whose_name_says_that_it_thinks_has_room_from_the_start(self):
        assert Room(None, likely=True).tokens == START
        assert Room(None, likely=False).tokens == 0

    def test_it_is_twice_what_was_needed_and_no_less_than_the_start(self):
        room = Room(None, likely=False)
        room.learn(prompt(), Completion(text=verdict(), usage=Usage(output=720, reasoning=700)))
        assert room.tokens == START  # 2 * 700 are fewer
        room.learn(prompt(), Completion(text=verdict(), usage=Usage(output=3020, reasoning=3000)))
        assert room.tokens == 6000
        room.learn(prompt(), Completion(text=verdict(), usage=Usage(output=120, reasoning=100)))
        assert room.tokens == 6000

    @pytest.mark.parametrize("text", ["", "<think>I weigh", "I weigh the claim, and then"])
    def test_a_reply_that_was_cut_off_before_it_began_gives_room(self, text):
        room = Room(None, likely=False)
        room.learn(prompt(), cut(text))
        assert room.tokens == START

    def test_a_reply_that_had_begun_gives_none(self):
        room = Room(None, likely=False)
        room.learn(prompt(), cut(verdict()[:30]))
        assert room.tokens == 0

    def test_after_silence_the_prompt_gets_the_start_and_then_four_times_as_much(self):
        room = Room(None, likely=False)
        first = room.wider(prompt(), cut())
        assert first is not None
        assert first.limit == 100 + START
        second = room.wider(first, cut(output=100 + START, reasoning=100 + START))
        assert second is not None
        assert second.limit == 100 + GROWTH * START

    def test_a_reply_that_was_long_without_thought_gets_four_times_its_limit(self):
        wider = Room(None, likely=False).wider(prompt(), cut(verdict()[:30]))
        assert wider is not None
        assert wider.limit == 400  # 100 and 3 * 100

    def test_nobody_gets_more_than_the_most(self):
        full = Prompt(messages=FREE.messages, max_tokens=100, room=MOST)
        assert Room(None, likely=True).wider(full, cut(output=MOST, reasoning=MOST)) is None

    def test_a_reply_without_a_limit_or_a_cut_needs_none(self):
        unlimited = Prompt(messages=FREE.messages, max_tokens=None)
        assert Room(None, likely=True).wider(unlimited, cut()) is None
        assert (
            Room(None, likely=True).wider(prompt(), Completion(text=verdict(), finish_reason="stop")) is None
        )

    @given(lists(integers(0, 200_000), max_size=20))
    def test_room_never_shrinks_and_never_passes_the_most(self, thoughts):
        room, sizes = Room(None, likely=False), [0]
        for thought in thoughts:
            room.learn(prompt(), cut(verdict()[:30], output=thought + 20, reasoning=thought))
            sizes.append(room.tokens)
        assert sizes == sorted(sizes)
        assert max(sizes) <= MOST


class TestWords:
    def test_thought_is_named_with_the_setting_that_gives_room(self, says):
        words = cut_words(cut(output=4196, reasoning=4196), "groq/x")
        says(words)  # 16,784 = 4 * 4,196

    def test_silence_names_the_same_setting(self, says):
        words = cut_words(cut(output=0), "groq/x")
        says(words)

    def test_a_reply_that_had_begun_names_the_judges_file(self, says):
        words = cut_words(cut(f'{{"nonce": "{NONCE}", "rea'), "groq/x")
        says(words)


WORDS = st.sampled_from(
    ["maize ", "a<b ", "<", "</", "<thin", "\n", "<think>", "</think>", "<thinking>", "</thinking>"]
)
OPENED = st.lists(
    st.sampled_from(["maize ", "a<b ", "<", "</", "\n", "<think>so</think>", "<thinking>hm\n</thinking>"])
).map("".join)
ASKED = Prompt(messages=(Message("user", "?"),))


def said(*pieces: str, style: ThinkingStyle | None = None) -> list[str]:
    heard: list[str] = []
    filtered = StreamFilter(heard.append, style or ThinkingStyle())
    for piece in pieces:
        filtered.hear(piece)
    assert filtered.end() == "".join(heard) == filtered.text
    assert filtered.heard == "".join(pieces)
    return heard


def pieces_of(text: str, places: list[int]) -> list[str]:
    ends = sorted(place % (len(text) + 1) for place in places)
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


@given(OPENED, st.lists(st.integers(0, 1000), max_size=5))
def test_blocks_are_left_out_as_in_a_whole_reply_wherever_it_is_cut(text, places):
    assert "".join(said(*pieces_of(text, places))) == THINK.sub("", text).lstrip()


@given(st.lists(WORDS).map("".join), st.lists(st.integers(0, 1000), max_size=5), st.booleans())
def test_what_is_said_does_not_depend_on_the_cuts(text, places, first):
    styles = ThinkingStyle(), ThinkingStyle()
    for style in styles:
        style.thinks_first = first
    assert "".join(said(*pieces_of(text, places), style=styles[0])) == "".join(said(text, style=styles[1]))


def test_text_is_passed_on_at_once_and_the_beginning_of_a_tag_is_held_back():
    assert said("Use ", "N < 3", " <", "b", "> now", "<thi") == ["Use ", "N < 3", " ", "<b", "> now", "<thi"]


def test_a_block_that_the_template_opened_is_known_from_the_second_reply_on():
    style = ThinkingStyle()
    assert said("So it is", "</think>\n", "Maize.", style=style) == ["So it is", "\n", "Maize."]
    assert style.thinks_first
    assert said("Again it", " is</thi", "nk>\n\nMaize", ".", style=style) == ["Maize", "."]


def test_a_reply_without_the_end_of_such_a_block_is_passed_on_when_it_is_over():
    style = ThinkingStyle()
    style.thinks_first = True
    assert said("Maize", ".", style=style) == ["Maize."]
    assert said("Maize", ".", style=style) == ["Maize", "."]  # it does not think any more


def test_a_reply_that_only_thinks_says_nothing():
    assert said("<think>", "on and on") == []


class TestTelling:
    async def stream(self, _prompt: Prompt, hear) -> Completion:  # type: ignore[no-untyped-def]
        hear("<think>hm</think>")
        hear(self.piece)
        raise CallFailed("error", "gone", retryable=True)

    @pytest.mark.parametrize(("piece", "kind"), [("", CallFailed), ("\n", CallFailed), ("Maize", BrokenOff)])
    async def test_a_call_may_be_made_again_until_something_was_passed_on(self, piece, kind):
        self.piece = piece
        endpoint = Endpoint(identity="x", send=None, stream=self.stream, concurrency=1, price=None)  # type: ignore[arg-type]
        streamed = StreamedCall(endpoint, lambda _piece: None, ThinkingStyle())
        with pytest.raises(CallFailed) as caught:
            await streamed.send(ASKED)
        assert type(caught.value) is kind
        assert caught.value.retryable == (kind is CallFailed)

    async def test_a_transport_that_cannot_stream_says_all_at_once(self):
        async def send(_prompt: Prompt) -> Completion:
            return Completion(text="<think>hm</think>\nMaize <b")

        endpoint = Endpoint(identity="x", send=send, concurrency=1, price=None)
        heard: list[str] = []
        streamed = StreamedCall(endpoint, heard.append, ThinkingStyle())
        assert streamed.whole((await streamed.send(ASKED)).text) == "Maize <b"
        assert heard == ["Maize <b"]

    async def test_log_probabilities_are_asked_for_without_a_stream(self):
        async def send(_prompt: Prompt) -> Completion:
            return Completion(text="Maize")

        endpoint = Endpoint(identity="x", send=send, stream=self.stream, concurrency=1, price=None)
        streamed = StreamedCall(endpoint, lambda _piece: None, ThinkingStyle())
        assert (await streamed.send(msgspec.structs.replace(ASKED, top_logprobs=1))).text == "Maize"
