"""What is passed on of a reply that thinks aloud, wherever its pieces are cut."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.llm import CallFailed, Prompt
from ragstone.llm.prompt import Completion, Message
from ragstone.llm.reasoning import StreamedCall, StreamFilter, ThinkingStyle
from ragstone.llm.schema import THINK
from ragstone.llm.transport import BrokenOff, Endpoint

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


def cut(text: str, places: list[int]) -> list[str]:
    ends = sorted(place % (len(text) + 1) for place in places)
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


@given(OPENED, st.lists(st.integers(0, 1000), max_size=5))
def test_blocks_are_left_out_as_in_a_whole_reply_wherever_it_is_cut(text: str, places: list[int]) -> None:
    assert "".join(said(*cut(text, places))) == THINK.sub("", text).lstrip()


@given(st.lists(WORDS).map("".join), st.lists(st.integers(0, 1000), max_size=5), st.booleans())
def test_what_is_said_does_not_depend_on_the_cuts(text: str, places: list[int], first: bool) -> None:
    styles = ThinkingStyle(), ThinkingStyle()
    for style in styles:
        style.thinks_first = first
    assert "".join(said(*cut(text, places), style=styles[0])) == "".join(said(text, style=styles[1]))


def test_text_is_passed_on_at_once_and_the_beginning_of_a_tag_is_held_back() -> None:
    assert said("Use ", "N < 3", " <", "b", "> now", "<thi") == ["Use ", "N < 3", " ", "<b", "> now", "<thi"]


def test_a_block_that_the_template_opened_is_known_from_the_second_reply_on() -> None:
    style = ThinkingStyle()
    assert said("So it is", "</think>\n", "Maize.", style=style) == ["So it is", "\n", "Maize."]
    assert style.thinks_first
    assert said("Again it", " is</thi", "nk>\n\nMaize", ".", style=style) == ["Maize", "."]


def test_a_reply_without_the_end_of_such_a_block_is_passed_on_when_it_is_over() -> None:
    style = ThinkingStyle()
    style.thinks_first = True
    assert said("Maize", ".", style=style) == ["Maize."]
    assert said("Maize", ".", style=style) == ["Maize", "."]  # it does not think any more


def test_a_reply_that_only_thinks_says_nothing() -> None:
    assert said("<think>", "on and on") == []


class TestTelling:
    async def stream(self, _prompt: Prompt, hear) -> Completion:  # type: ignore[no-untyped-def]
        hear("<think>hm</think>")
        hear(self.piece)
        raise CallFailed("error", "gone", retryable=True)

    @pytest.mark.parametrize(("piece", "kind"), [("", CallFailed), ("\n", CallFailed), ("Maize", BrokenOff)])
    async def test_a_call_may_be_made_again_until_something_was_passed_on(
        self, piece: str, kind: type
    ) -> None:
        self.piece = piece
        endpoint = Endpoint(identity="x", send=None, stream=self.stream, concurrency=1, price=None)  # type: ignore[arg-type]
        streamed = StreamedCall(endpoint, lambda _piece: None, ThinkingStyle())
        with pytest.raises(CallFailed) as caught:
            await streamed.send(ASKED)
        assert type(caught.value) is kind
        assert caught.value.retryable == (kind is CallFailed)

    async def test_a_transport_that_cannot_stream_says_all_at_once(self) -> None:
        async def send(_prompt: Prompt) -> Completion:
            return Completion(text="<think>hm</think>\nMaize <b")

        endpoint = Endpoint(identity="x", send=send, concurrency=1, price=None)
        heard: list[str] = []
        streamed = StreamedCall(endpoint, heard.append, ThinkingStyle())
        assert streamed.whole((await streamed.send(ASKED)).text) == "Maize <b"
        assert heard == ["Maize <b"]

    async def test_log_probabilities_are_asked_for_without_a_stream(self) -> None:
        async def send(_prompt: Prompt) -> Completion:
            return Completion(text="Maize")

        endpoint = Endpoint(identity="x", send=send, stream=self.stream, concurrency=1, price=None)
        streamed = StreamedCall(endpoint, lambda _piece: None, ThinkingStyle())
        assert (await streamed.send(msgspec.structs.replace(ASKED, top_logprobs=1))).text == "Maize"
