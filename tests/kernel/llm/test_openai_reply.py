"""Streams of OpenAI-compatible endpoints: whole, broken off, stalled, and of those that cannot."""

import asyncio
import json
import time
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.doors import opened, prompt
from tests.support.fake_openai import FakeOpenAI
from tests.support.scripts import always, cut_connection, fail, hang, html, in_turn, say, stream

from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import Budget, CallFailed, Caps, Door
from ragstone.kernel.llm._openai_reply import MOST_BYTES, Events, NotEvents
from ragstone.kernel.records import Usage

PIECES = ("Maize ", "needs ", "nitrogen\u00a0— ", "नाइट्रोजन", ".")
TEXT = "".join(PIECES)
ASKED = prompt("What does maize need?", nonce=None, reply=None)


async def failure_of(door: Door) -> tuple[CallFailed, list[str]]:
    heard: list[str] = []
    with pytest.raises(CallFailed) as caught:
        await door.stream(ASKED, heard.append)
    return caught.value, heard


@pytest.mark.long
async def test_pieces_come_as_they_are_written_and_make_the_reply(fake_openai, tmp_path):
    usage = {"prompt_tokens": 90, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 64}}
    fake_openai.script = always(stream(*PIECES, usage=usage))
    fake_openai.piece_s = 0.1  # far more than a busy machine halts
    heard: list[tuple[str, float]] = []
    budget = Budget()
    async with opened(fake_openai.settings(), tmp_path, budget=budget) as door:
        reply = await door.stream(ASKED, lambda piece: heard.append((piece, time.monotonic())))
    assert [piece for piece, _ in heard] == list(PIECES)
    assert heard[-1][1] - heard[0][1] >= 0.06  # 4 pieces of 0.1 s came after the first
    assert (reply.text, reply.value) == (TEXT, None)
    assert reply.usage == budget.usage == Usage(input=90, output=9, cached=64)
    assert reply.latency_s is not None
    assert reply.latency_s >= 0.08
    (body,) = fake_openai.bodies
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})


async def test_the_ledger_answers_in_one_piece_and_serves_ask_too(door, fake_openai):
    fake_openai.script = always(stream(*PIECES))
    heard: list[str] = []
    first = await door.stream(ASKED, lambda _piece: None)
    assert await door.stream(ASKED, heard.append) == first
    assert msgspec.structs.replace(await door.ask(ASKED), kept=False) == first
    assert heard == [TEXT]
    assert (fake_openai.n_requests, door.from_ledger) == (1, 2)


async def test_a_recorded_model_streams_what_the_ledger_has(says, fake_openai, tmp_path):
    fake_openai.script = always(stream(*PIECES))
    heard: list[str] = []
    async with opened(fake_openai.settings(), tmp_path) as door:
        await door.stream(ASKED, lambda _: None)
    async with opened(fake_openai.settings(), tmp_path, model=f"recorded/{FakeOpenAI.model}") as door:
        await door.stream(ASKED, heard.append)
        with pytest.raises(CallFailed) as caught:
            await door.stream(prompt("else", nonce=None, reply=None), heard.append)
        says(caught.value)
    assert (heard, fake_openai.n_requests) == ([TEXT], 1)


async def test_identical_streams_at_once_are_one_call(door, fake_openai):
    fake_openai.script = always(stream(*PIECES))
    fake_openai.piece_s = 0.01
    heard: list[list[str]] = [[], [], []]
    replies = await asyncio.gather(*(door.stream(ASKED, one.append) for one in heard))
    assert {reply.text for reply in replies} == {"".join(one) for one in heard} == {TEXT}
    assert fake_openai.n_requests == 1


async def test_a_stream_that_breaks_off_takes_nobody_with_it_who_waits_for_the_same(door, fake_openai):
    fake_openai.script = in_turn(stream("Maize ", events=b"", then="cut"), stream(*PIECES))
    heard: list[list[str]] = [[], []]
    first, second = await asyncio.gather(
        *(door.stream(ASKED, one.append) for one in heard), return_exceptions=True
    )
    assert isinstance(first, CallFailed)
    assert not isinstance(second, BaseException)
    assert (heard[0], heard[1], second.text) == (["Maize "], list(PIECES), TEXT)


async def test_an_endpoint_that_takes_no_notice_of_stream_says_all_at_once(door, fake_openai):
    fake_openai.streams = False
    fake_openai.script = always(TEXT)
    heard: list[str] = []
    reply = await door.stream(ASKED, heard.append)
    assert heard == [reply.text] == [TEXT]
    assert reply.usage.output > 0


@pytest.mark.parametrize("refused", [{"stream_options"}, {"stream"}, {"stream", "stream_options"}])
async def test_what_an_endpoint_refuses_is_left_away_and_that_is_remembered(door, refused, fake_openai):
    fake_openai.refuse = refused
    fake_openai.script = always(TEXT)
    for words in ("a", "b"):
        heard: list[str] = []
        reply = await door.stream(prompt(words, nonce=None, reply=None), heard.append)
        assert "".join(heard) == reply.text == TEXT
    assert fake_openai.n_requests == 3  # one was refused
    assert not refused & fake_openai.bodies[-1].keys()


class TestErrors:
    @pytest.mark.parametrize("then", ["cut", "end"])
    async def test_a_stream_that_breaks_off_is_not_asked_for_again_and_tells_what_was_said(
        self, door, then, fake_openai
    ):
        fake_openai.script = always(stream(*PIECES, events=b"", then=then))  # type: ignore[arg-type]
        failure, heard = await failure_of(door)
        assert (failure.status, failure.raw, failure.retryable) == ("error", TEXT, False)
        assert "broke off" in str(failure)
        assert "".join(heard) == TEXT
        assert fake_openai.n_requests == 1

    async def test_one_that_breaks_off_before_its_first_piece_is_asked_for_again(self, door, fake_openai):
        fake_openai.script = in_turn(
            stream(events=b"", then="cut"), cut_connection(), fail(500, "oops"), stream(*PIECES)
        )
        heard: list[str] = []
        with pytest.raises(CallFailed):  # three attempts, while it has never answered
            await door.stream(ASKED, heard.append)
        assert heard == []
        assert (await door.stream(ASKED, heard.append)).text == TEXT
        assert fake_openai.n_requests == 4

    async def test_an_error_in_the_middle_is_a_failure_with_its_words(self, door, fake_openai):
        error = b'data: {"error": {"message": "out of memory", "code": 500}}\n\n'
        fake_openai.script = always(stream("Maize ", events=error))
        failure, heard = await failure_of(door)
        assert "out of memory" in str(failure)
        assert (failure.raw, heard, fake_openai.n_requests) == ("Maize ", ["Maize "], 1)

    async def test_an_error_as_the_first_event_means_what_its_status_means(self, door, fake_openai):
        error = b'data: {"error": {"message": "slow down", "code": 429}}\n\n'
        fake_openai.script = in_turn(stream(events=error), stream(*PIECES))
        assert (await door.stream(ASKED, lambda _: None)).text == TEXT
        assert fake_openai.n_requests == 2

    @pytest.mark.long
    async def test_a_stream_that_stalls_is_a_timeout_though_comments_keep_it_open(
        self, fake_openai, tmp_path
    ):
        fake_openai.script = always(stream("Maize ", events=b": ping\n\n", then="hang"))
        async with opened(fake_openai.settings(timeout_s=1.0), tmp_path) as door:
            failure, heard = await failure_of(door)
        assert (failure.status, failure.raw, heard) == ("timeout", "Maize ", ["Maize "])
        assert fake_openai.n_requests == 1

    @pytest.mark.long
    async def test_a_long_stream_that_goes_on_may_take_longer_than_the_timeout(self, fake_openai, tmp_path):
        fake_openai.script = always(stream(*"abcdefghij"))
        fake_openai.piece_s = 0.12
        async with opened(fake_openai.settings(timeout_s=1.0), tmp_path) as door:
            assert (await door.stream(ASKED, lambda _: None)).text == "abcdefghij"

    async def test_a_hung_endpoint_is_a_timeout(self, fake_openai, tmp_path):
        fake_openai.script = always(hang())
        async with opened(fake_openai.settings(timeout_s=0.05), tmp_path) as door:
            failure, _ = await failure_of(door)
        assert failure.status == "timeout"

    async def test_a_web_page_is_no_reply(self, says, door, fake_openai):
        fake_openai.script = always(html())
        with pytest.raises(ModelError) as caught:
            await door.stream(ASKED, lambda _: None)
        says(caught.value)

    async def test_a_refusal_is_said_to_nobody(self, door, fake_openai):
        fake_openai.script = always(say("", refusal="I cannot help with that"))
        failure, heard = await failure_of(door)
        assert (failure.status, failure.raw, heard) == ("refused", "I cannot help with that", [])

    async def test_an_event_that_is_no_json_is_a_failure(self, door, fake_openai):
        fake_openai.script = always(stream("Maize ", events=b"data: {cut\n\n"))
        failure, _ = await failure_of(door)
        assert "cannot be read" in str(failure)

    async def test_a_cap_on_tokens_counts_a_broken_stream_as_the_most_that_it_can_have_used(
        self, fake_openai, tmp_path
    ):
        fake_openai.script = always(stream(*PIECES, events=b"", then="cut"))
        budget = Budget(Caps(tokens=200))  # one call may take 100 tokens and what its question has
        async with opened(fake_openai.settings(), tmp_path, budget=budget) as door:
            await failure_of(door)
            with pytest.raises(CallFailed, match="budget"):
                await door.stream(prompt("Another.", nonce=None, reply=None), lambda _: None)
        assert fake_openai.n_requests == 1


async def test_a_cancelled_stream_leaves_no_request_behind(fake_openai, tmp_path):
    fake_openai.script = always(stream(*PIECES, events=b"", then="hang"))
    heard: list[str] = []
    async with opened(fake_openai.settings(max_concurrency=1), tmp_path) as door:
        task = asyncio.create_task(door.stream(ASKED, heard.append))
        for _ in range(12_000):
            if len(heard) == len(PIECES):
                break
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for _ in range(12_000):
            if fake_openai.n_cut_off:
                break
            await asyncio.sleep(0.005)
        assert (fake_openai.n_cut_off, fake_openai.in_flight) == (1, 0)
        fake_openai.script = always(stream(*PIECES))  # the only slot is free again
        assert (await door.stream(ASKED, lambda _: None)).text == TEXT


async def test_a_prompt_whose_reply_has_a_type_is_no_stream(door):
    with pytest.raises(ValueError, match="free text"):
        await door.stream(prompt(), lambda _: None)


async def test_a_connection_is_used_again_after_a_stream(door, fake_openai):
    fake_openai.script = always(stream(*PIECES))
    for n in range(5):
        await door.stream(prompt(str(n), nonce=None, reply=None), lambda _: None)
    assert len(fake_openai.ports) == 1


class TestEvents:
    @given(
        st.lists(st.text("ab \u0939\r\n:d", max_size=8), min_size=1, max_size=5),
        st.sampled_from(["\n", "\r\n"]),
        st.data(),
    )
    def test_events_do_not_care_where_the_bytes_are_cut(self, texts, end, data):
        wanted = [json.dumps({"t": text}).encode() for text in texts]
        body = b"".join(b": ping" + end.encode() + b"data: " + one + end.encode() * 2 for one in wanted)
        cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6)))
        events = Events()
        found = [one for part in _parts(body, cuts) for one in events.feed(part)]
        assert found + events.end() == wanted

    def test_the_lines_of_one_event_belong_together(self):
        assert Events().feed(b'event: x\ndata: {"a":\ndata: 1}\nid: 3\n\n') == [b'{"a":\n1}']

    def test_an_event_without_its_empty_line_counts_at_the_end(self):
        events = Events()
        assert events.feed(b"data: [DONE]") == []
        assert events.end() == [b"[DONE]"]

    def test_a_body_of_something_else_is_given_back(self):
        with pytest.raises(NotEvents) as caught:
            Events().feed(b'{"choices": []}')
        assert caught.value.body == b'{"choices": []}'

    def test_an_event_without_an_end_is_given_up(self, says):
        events = Events()
        events.feed(b"data: x")
        with pytest.raises(CallFailed) as caught:
            events.feed(b"x" * MOST_BYTES)
        says(caught.value)


def _parts(body: bytes, cuts: list[int]) -> Iterator[bytes]:
    for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True):
        yield body[start:end]
