"""Tokens, seconds and costs that somebody else tells: none of them comes in that cannot be, by any way.

A broken counter, or an endpoint that means ill, tells 10^19 tokens. That number ended the thread that writes
the ledger; so every way in is tried here with every such value.
"""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.support.fake_retriever import serving

from ragstone.kernel.config import HttpSystem, PythonSystem
from ragstone.kernel.engine.cluster.vllm import read_rows_of
from ragstone.kernel.llm import Message, Prompt, llamacpp
from ragstone.kernel.llm import _anthropic as anthropic
from ragstone.kernel.llm import _embeddings as embeddings
from ragstone.kernel.llm import _litellm as litellm
from ragstone.kernel.llm._batch_api import read_result
from ragstone.kernel.llm._batch_files import _Line
from ragstone.kernel.llm._openai_reply import StreamedReply, read_reply
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.records import MOST, Answer, Question, Usage, count_of, figure_of, told_usage
from ragstone.kernel.systems._http import http_prompt, open_http_system
from ragstone.kernel.systems.function import callee_of, function_prompt, open_function
from ragstone.kernel.tables import read_rows

# As they are written in JSON.
WRITTEN = ["1" + "0" * 19, "-1" + "0" * 20, "-1", "true", '"12"', "2.5", "1e300", "[1]", '{"a": 1}', "1e400"]
HERE = "@figure@"
ASKED = Prompt(messages=(Message("user", "?"),))
SITE: Any = SimpleNamespace(name="here", excerpt=repr)
INTERCHANGE = sorted((Path(__file__).parents[2] / "fixtures" / "interchange").glob("*.[jc]s*"))


def written(value: object, figure: str) -> bytes:
    """Return a value as JSON, with this text wherever the mark is."""
    return json.dumps(value).replace(f'"{HERE}"', figure).encode()


def given(figure: str) -> object:
    """Return the value that a client library makes of it."""
    return json.loads(figure)


def figures_of(usage: Usage) -> list[int]:
    return [usage.input, usage.output, usage.cached, usage.cache_written, usage.reasoning]


def check(completion: Completion) -> None:
    usage = completion.usage
    assert all(type(n) is int and 0 <= n <= MOST for n in figures_of(usage)), usage
    assert usage.cached + usage.cache_written <= usage.input
    assert usage.reasoning <= usage.output
    assert completion.cost_usd is None or 0 <= completion.cost_usd <= MOST
    assert completion.latency_s is None or 0 <= completion.latency_s <= MOST


OPENAI_USAGES: list[dict[str, Any]] = [
    {"prompt_tokens": HERE, "completion_tokens": 5},
    {"prompt_tokens": 10, "completion_tokens": HERE},
    {"prompt_tokens": HERE, "completion_tokens": HERE, "total_tokens": HERE, "cost": HERE},
    {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": HERE, "cost": HERE},
    {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": HERE}},
    {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cache_write_tokens": HERE}},
    {"prompt_tokens": 10, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": HERE}},
    {"prompt_tokens": 10, "completion_tokens": 5, "reasoning_tokens": HERE, "prompt_cache_hit_tokens": HERE},
    {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": HERE},
]
CHAT = {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}


def by_openai(usage: object, figure: str) -> Completion:
    return read_reply(SITE, 200, written({**CHAT, "usage": usage}, figure), None, tells_cost=True)


def by_openai_stream(usage: object, figure: str) -> Completion:
    reply = StreamedReply(SITE, lambda _piece: None)
    first = written({"choices": [{"delta": {"content": "yes"}}]}, figure)
    last = written({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": usage}, figure)
    reply.take(b"data: " + first + b"\n\ndata: " + last + b"\n\n")
    return reply.completion()


def by_batch(usage: object, figure: str) -> Completion:
    wire: Any = SimpleNamespace(decode=lambda status, body, n: read_reply(SITE, status, body, n))
    line = written(
        {"custom_id": "00", "response": {"status_code": 200, "body": {**CHAT, "usage": usage}}}, figure
    )
    return read_result(wire, msgspec.json.decode(line, type=_Line).result(), None)


def by_llamacpp(usage: object, figure: str) -> Completion:
    if "1e400" in figure or not isinstance(usage, dict):
        pytest.skip("its own library makes the object")
    reply = {"choices": [{"message": {"content": "yes", "reasoning_content": ""}}]}
    told = json.loads(written(usage, figure))
    details = told.get("prompt_tokens_details")
    if details is not None and not isinstance(details, dict):
        pytest.skip("its own library makes the object")
    return llamacpp._completion({**reply, "usage": told}, Path("m.gguf"), 100, None, 0.1)


def by_litellm(usage: object, figure: str) -> Completion:
    def made(value: object) -> object:
        return SimpleNamespace(**{k: made(v) for k, v in value.items()}) if isinstance(value, dict) else value

    message = SimpleNamespace(content="yes")
    choice = SimpleNamespace(message=message, finish_reason="stop")
    reply = SimpleNamespace(choices=[choice], usage=made(json.loads(written(usage, figure))))
    return litellm._completion(reply, None, 0.1)


@pytest.mark.long
@pytest.mark.parametrize("figure", WRITTEN)
@pytest.mark.parametrize("usage", [*OPENAI_USAGES, HERE], ids=str)
@pytest.mark.parametrize("way", [by_openai, by_openai_stream, by_batch, by_llamacpp, by_litellm])
def test_a_count_that_cannot_be_is_absent_and_costs_no_reply(
    way: Callable[[object, str], Completion], usage: object, figure: str
) -> None:
    completion = way(usage, figure)
    assert completion.text == "yes"
    check(completion)


@pytest.mark.parametrize("figure", WRITTEN)
@pytest.mark.parametrize(
    "name",
    [
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "details",
        "all",
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_anthropics_counts_are_checked_too(name: str, figure: str, streamed: bool) -> None:
    usage: Any = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 2}
    more = {"details": {"output_tokens_details": {"thinking_tokens": HERE}}}.get(name, {name: HERE})
    usage = HERE if name == "all" else usage | more
    if streamed:
        reply = anthropic._StreamedMessage(SITE, lambda _piece: None)
        events = [
            {"type": "message_start", "message": {"usage": usage}},
            {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "yes"}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage},
            {"type": "message_stop"},
        ]
        for event in events:
            reply.take(b"data: " + written(event, figure) + b"\n\n")
        completion = reply.completion()
    else:
        content = written({"content": [{"type": "text", "text": "yes"}], "usage": usage}, figure)
        message = anthropic.DECODER.decode(content)
        completion = anthropic._completion(message, anthropic.read_counts(message.usage), 0.1)
    assert completion.text == "yes"
    check(completion)


@pytest.mark.parametrize("figure", WRITTEN)
async def test_those_of_embeddings_are_checked_too(figure, monkeypatch):
    body = {"data": [{"embedding": [1.0, 0.0]}], "usage": {"prompt_tokens": HERE, "total_tokens": HERE}}

    async def exchange(*_arguments, **_request):
        return SimpleNamespace(status=200, headers={}), written(body, figure)

    monkeypatch.setattr(embeddings, "exchange", exchange)
    site = SimpleNamespace(name="here", check_key=lambda: None, excerpt=repr)
    batch = await embeddings.post_texts(site, "m", ["a text"], None)
    assert all(0 <= n <= MOST for n in figures_of(batch.usage))


@pytest.mark.parametrize("figure", WRITTEN[:-1])  # a number that no JSON can be read of is no reply
async def test_those_of_an_application_are_checked_too(figure):
    told = {"answer": "yes", "in": given(figure), "usd": given(figure)}
    told |= {"steps": [{"tool": "look", "seconds": given(figure), "tokens": given(figure)}]}
    question = Question(id="q", question="?")
    with serving() as server:
        server.script = lambda _asked: told
        paths = {"input_tokens": "$.in", "output_tokens": "$.in", "cost_usd": "$.usd", "steps": "$.steps"}
        declared = HttpSystem(url=server.url, **paths)
        async with open_http_system("mine", declared) as endpoint:
            check(await endpoint.send(http_prompt(declared, question)))


@pytest.mark.parametrize("figure", [*map(given, WRITTEN), math.nan, math.inf, 10**400], ids=repr)
async def test_those_of_a_function_are_checked_too(figure):
    usage = {"input": figure, "output": figure, "cached": figure}
    mapping = {"answer": "yes", "usage": usage, "cost_usd": figure, "latency_s": figure}
    mapping = mapping if not isinstance(figure, str) else {**mapping, "cost_usd": None, "latency_s": None}
    row = Answer(question_id="-", answer="yes", usage=Usage(**usage), cost_usd=figure, latency_s=figure)
    for told in (mapping, row):
        _, callee = callee_of(lambda _question, told=told: told)
        async with open_function("mine", callee, PythonSystem(call="mine")) as endpoint:
            completion = await endpoint.send(function_prompt(callee, Question(id="q", question="?"), ""))
        check(completion)


@pytest.mark.parametrize("figure", [*map(given, WRITTEN), math.nan, np.int64(-3)], ids=repr)
def test_those_of_a_cluster_are_checked_too(figure):
    row = {"place": 0, "generated_text": "yes", "num_input_tokens": figure, "num_generated_tokens": figure}
    (answered,) = read_rows_of([row], [ASKED])
    assert answered.completion is not None
    check(answered.completion)
    (well,) = read_rows_of(
        [row | dict.fromkeys(("num_input_tokens", "num_generated_tokens"), np.int64(7))], [ASKED]
    )
    assert well.completion is not None
    assert well.completion.usage == Usage(input=7, output=7)


OF_FIGURES = (
    "token",
    "cost",
    "latency",
    "duration",
    "seconds",
    "usage",
    "count",
    "total_time",
    "completiontime",
    "price",
)


def spoiled(value: object, figure: object, named: str = "") -> object:
    """Return a row of another tool with this in place of every figure."""
    if isinstance(value, dict):
        return {name: spoiled(one, figure, f"{named}.{name}".casefold()) for name, one in value.items()}
    if isinstance(value, list):
        return [spoiled(one, figure, named) for one in value]
    is_number = isinstance(value, int | float) or (
        isinstance(value, str) and value.replace(".", "").isdigit()
    )
    return figure if is_number and any(word in named for word in OF_FIGURES) else value


def answers_in(path: Path) -> Iterator[Answer]:
    return iter(list(read_rows(path, Answer)))


@pytest.mark.long
@pytest.mark.parametrize("figure", [10**19, -1, True, "12", 2.5, 1e300, -1e20], ids=repr)
@pytest.mark.parametrize(
    "path", [one for one in INTERCHANGE if one.suffix != ".csv"], ids=lambda path: path.name
)
def test_those_of_other_tools_are_checked_too(path: Path, figure: object, tmp_path: Path) -> None:
    text = path.read_text()
    copy = tmp_path / path.name
    if path.suffix == ".json":
        copy.write_text(json.dumps(spoiled(json.loads(text), figure)))
    else:
        rows = [json.dumps(spoiled(json.loads(line), figure)) for line in text.splitlines()]
        copy.write_text("\n".join(rows))
    before, after = list(read_rows(path, Answer)), list(read_rows(copy, Answer))
    assert [row.answer for row in after] == [row.answer for row in before]
    most = MOST * 100  # of all calls of a trace together
    for row in after:
        assert row.usage is None or all(0 <= n <= most for n in figures_of(row.usage))
        assert row.cost_usd is None or 0 <= row.cost_usd <= most
        assert row.latency_s is None or 0 <= row.latency_s <= most
        for step in row.steps or ():
            assert step.seconds is None or 0 <= step.seconds <= MOST
            assert step.tokens is None or 0 <= step.tokens <= most


def test_a_figure_is_a_number_from_0_to_a_thousand_million():
    assert [figure_of(one) for one in (0, 12, 0.5, MOST, np.int64(3))] == [0, 12, 0.5, MOST, 3]
    odd = (-1, MOST + 1, 10**400, math.nan, math.inf, True, "12", None, [1])
    assert [figure_of(one) for one in odd] == [None] * len(odd)
    assert [count_of(one) for one in (12, 12.0, 12.5)] == [12, 12, None]


def test_where_one_count_cannot_be_a_budget_takes_the_call_for_the_most_that_it_can_use():
    assert told_usage(10, 10**19) == Usage()
    assert told_usage(None, 5) == Usage(output=5)
    # More of it from the cache than there is would make the rest of the input cost less than nothing.
    assert told_usage(10, 5, cached=10**8, reasoning=6) == Usage(input=10, output=5)
