"""Anthropic's own protocol; what each of its models refuses stands in tests/support/dialects/anthropic.py."""

import msgspec
import pytest
from tests.support.dialects import BY_NAME
from tests.support.dialects.server import KEY, Dialect, Request, claude_error, message, message_events
from tests.support.dialects.server import Response as Said
from tests.support.doors import Verdict, prompt, verdict

from ragstone.kernel.config import Price
from ragstone.kernel.llm import Budget, CallFailed, Message, Prompt
from ragstone.kernel.records import Usage

PLAIN = BY_NAME["anthropic"]
CACHE = {"input_tokens": 10, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 200}
ASKED = Prompt(messages=(Message("user", "Say it."),))


def dialect(respond, **of_dialect) -> Dialect:
    return Dialect("claude", "https://docs.claude.com", respond, "anthropic/claude-x", base="", **of_dialect)


def judged(nonce: str, row: str = "row one") -> Prompt:
    """A judge's prompt: fixed instructions, and the row."""
    messages = (Message("system", "You judge."), Message("system", "By this rubric."), Message("user", row))
    return Prompt(messages=messages, reply=Verdict, nonce=nonce, max_tokens=100)


def answers_with(usage: dict, nonce: str = "n1"):
    def respond(request: Request) -> Said:
        name = request.body["tool_choice"]["name"]
        block = {
            "type": "tool_use",
            "id": "t",
            "name": name,
            "input": msgspec.Raw(verdict(nonce=nonce).encode()),
        }
        return message(request, block, stop_reason="tool_use", usage=usage)

    return respond


async def test_a_call_carries_version_key_limit_and_a_forced_tool(bench, tmp_path):
    async with bench.door(PLAIN, tmp_path) as door:
        assert (await door.ask(prompt("Judge row one."))).value.score == 2
    (request,) = bench.requests
    assert request.path == "/v1/messages"
    assert (request.headers["x-api-key"], request.headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "Authorization" not in request.headers
    body = request.body
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("claude-sonnet-4-5", 100, 0.0)
    assert body["messages"] == [{"role": "user", "content": "Judge row one."}]
    assert body["tool_choice"] == {"type": "tool", "name": "Verdict", "disable_parallel_tool_use": True}


async def test_what_all_rows_share_is_marked_and_the_same_to_the_byte(bench, tmp_path):
    both = dialect(lambda request: answers_with(CACHE, "n1" if "one" in request.row else "n2")(request))
    async with bench.door(both, tmp_path) as door:
        await door.ask(judged("n1", "row one"))
        await door.ask(judged("n2", "row two"))
    first, second = (one.body for one in bench.requests)
    assert first["system"] == [
        {"type": "text", "text": "You judge."},
        {"type": "text", "text": "By this rubric.", "cache_control": {"type": "ephemeral"}},
    ]
    assert {name: first[name] for name in first if name != "messages"} == {
        name: second[name] for name in second if name != "messages"
    }
    assert list(first["tools"][0]["input_schema"]["properties"]) == ["nonce", "reason", "score"]
    assert "n1" not in str(first["tools"])


async def test_what_judges_of_a_row_share_is_marked_block_by_block(bench, tmp_path):
    both = dialect(answers_with(CACHE, "n1"))
    words = "the contexts\n\nthe question\n\nthe task"
    shared = Prompt(
        messages=(Message("system", "You judge."), Message("user", words)),
        reply=Verdict,
        nonce="n1",
        max_tokens=100,
        shared=(14, 28),
    )
    async with bench.door(both, tmp_path) as door:
        await door.ask(shared)
        assert door.key_of(shared) == door.key_of(msgspec.structs.replace(shared, shared=()))
    (message,) = bench.requests[0].body["messages"]
    marked = {"cache_control": {"type": "ephemeral"}}
    assert message["content"] == [
        {"type": "text", "text": "the contexts\n\n", **marked},
        {"type": "text", "text": "the question\n\n", **marked},
        {"type": "text", "text": "the task"},
    ]


async def test_cached_and_written_tokens_are_counted_and_priced(bench, tmp_path):
    claude, budget = dialect(answers_with({**CACHE, "output_tokens": 20})), Budget()
    price = {"input": 3.0, "output": 15.0, "cached": 0.3, "cache_write": 3.75}
    async with bench.door(claude, tmp_path, budget, price_usd_per_million=price) as door:
        reply = await door.ask(judged("n1"))
    # input_tokens are those that are neither read from the cache nor written to it: 10 + 1,000 + 200.
    assert reply.usage == Usage(input=1210, output=20, cached=1000, cache_written=200)
    # 10 * 3 + 1,000 * 0.3 + 200 * 3.75 + 20 * 15 = 1,380 millionths of a dollar.
    assert reply.cost_usd == pytest.approx(0.00138)
    assert budget.usd == pytest.approx(0.00138)
    assert door.price == Price(**price)


class TestWays:
    @pytest.mark.parametrize(
        ("refusals", "way"),
        [
            ([], "tool"),
            (['tool_choice: type "tool" and "any" are not supported for this model.'], "schema"),
            (["tool_choice: not supported", "compiled grammar is too large"], "offered tool"),
            (["tool_choice: not supported", "output_config: no such field", "tools: not supported"], "text"),
        ],
    )
    async def test_a_way_that_is_refused_gives_way_to_the_next(self, refusals, way, bench, tmp_path):
        def respond(request: Request) -> Said:
            if len(bench.requests) <= len(refusals):
                return claude_error(refusals[len(bench.requests) - 1])
            return message(request)

        claude = dialect(respond)
        async with bench.door(claude, tmp_path) as door:
            await door.ask(prompt("Judge row one."))
            await door.ask(prompt("Judge row two."))
        ways = [way_of(one) for one in bench.requests]
        assert ways == [*["tool", "schema", "offered tool", "text"][: len(refusals) + 1], way]

    async def test_arguments_of_an_offered_tool_are_the_reply(self, bench, tmp_path):
        grammar = BY_NAME["anthropic-grammar-too-large"]
        tool = {"type": "tool_use", "id": "t", "name": "Verdict", "input": msgspec.Raw(verdict().encode())}

        def respond(request: Request) -> Said:
            said = grammar.respond(request)
            if said.status != 200:
                return said
            return message(request, {"type": "text", "text": "I will."}, tool, stop_reason="tool_use")

        claude = dialect(respond)
        async with bench.door(claude, tmp_path) as door:
            assert (await door.ask(prompt("Judge row one."))).value.score == 2

    async def test_a_temperature_that_was_asked_for_is_told_when_it_is_dropped(self, bench, tmp_path, caplog):
        claude = BY_NAME["anthropic-no-temperature"]
        for folder, settings, n_told in (("a", {}, 0), ("b", {"temperature": 0.3}, 1)):
            bench.requests.clear()
            caplog.clear()
            async with bench.door(claude, tmp_path / folder, **settings) as door:
                await door.ask(prompt("Judge row one."))
            assert ["temperature" in one.body for one in bench.requests] == [True, False]
            assert len([one for one in caplog.records if "takes no temperature" in one.message]) == n_told

    async def test_thinking_in_extra_has_room_of_its_own_and_no_forced_tool(self, bench, tmp_path):
        claude = BY_NAME["anthropic-thinking"]
        async with bench.door(claude, tmp_path) as door:
            reply = await door.ask(prompt("Judge row one."))
        (request,) = bench.requests  # nothing was refused
        assert request.body["max_tokens"] == 2000 + 100
        assert way_of(request) == "schema"
        assert "temperature" not in request.body
        assert reply.usage == Usage(input=50, output=320, reasoning=300)

    async def test_fields_of_one_object_stand_together(self, bench, tmp_path):
        claude = BY_NAME["anthropic-no-forced-tool"]
        async with bench.door(claude, tmp_path, extra={"output_config": {"effort": "low"}}) as door:
            await door.ask(prompt("Judge row one."))
        assert bench.requests[-1].body["output_config"].keys() == {"effort", "format"}


def way_of(request: Request) -> str:
    if "output_config" in request.body:
        return "schema"
    if "tools" not in request.body:
        return "text"
    return {"tool": "tool", "auto": "offered tool"}[request.body["tool_choice"]["type"]]


@pytest.mark.parametrize(
    ("reason", "finish_reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "pause_turn"),
    ],
)
async def test_stop_reasons_are_those_of_the_ledger(reason, finish_reason, bench, tmp_path):
    claude = dialect(
        lambda request: message(request, {"type": "text", "text": "It is blue."}, stop_reason=reason)
    )
    async with bench.door(claude, tmp_path) as door:
        completion = await door.endpoint.send(ASKED)
    assert (completion.text, completion.finish_reason) == ("It is blue.", finish_reason)


class TestStream:
    async def test_pieces_are_passed_on_and_thought_is_not(self, bench, tmp_path):
        usage = {"input_tokens": 10, "cache_read_input_tokens": 40, "output_tokens": 60}
        said = b"".join(message_events("It is blue.", thinking="Hm. " * 20, usage=usage))
        claude, pieces = dialect(lambda request: Said(said)), []
        async with bench.door(claude, tmp_path) as door:
            reply = await door.stream(ASKED, pieces.append)
        assert bench.requests[0].streams
        assert pieces == ["It ", "is ", "blue."]
        # The last count of output is of the whole reply, 80 of whose 91 characters are thought: 52.7 of 60.
        assert reply.usage == Usage(input=50, output=60, cached=40, reasoning=53)

    async def test_an_error_event_keeps_what_was_said(self, says, bench, tmp_path):
        claude = BY_NAME["anthropic-stream-overloaded"]
        async with bench.door(claude, tmp_path) as door:
            with pytest.raises(CallFailed) as caught:
                await door.stream(
                    Prompt(messages=(Message("user", "Say the odd row."),)), lambda _piece: None
                )
            says(caught.value)
        assert caught.value.raw == "It "

    async def test_a_refusal_is_refused(self, bench, tmp_path):
        claude = dialect(lambda request: Said(b"".join(message_events("", stop_reason="refusal"))))
        async with bench.door(claude, tmp_path) as door:
            with pytest.raises(CallFailed) as caught:
                await door.stream(ASKED, lambda _piece: None)
        assert caught.value.status == "refused"

    async def test_a_body_of_something_else_is_told(self, says, bench, tmp_path):
        claude = dialect(lambda request: Said(b"<html><title>Welcome</title></html>"))
        async with bench.door(claude, tmp_path) as door:
            with pytest.raises(Exception) as caught:
                await door.stream(ASKED, lambda _piece: None)
            says(caught.value)
