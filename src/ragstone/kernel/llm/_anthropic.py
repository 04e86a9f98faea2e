"""Anthropic's own protocol: the messages API, replies as a tool's arguments, what prompts share cached.

Written to https://docs.anthropic.com/en/api/messages (read 2026-11-22).
"""

import contextlib
import functools
import re
import time
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.llm._openai import DEFAULT_CONCURRENCY
from ragstone.kernel.llm._openai_reply import (
    NOT_TOLD,
    Events,
    NotEvents,
    post_stream,
    read_counts,
    unreadable,
)
from ragstone.kernel.llm._reasoning import with_reasoning
from ragstone.kernel.llm._site import DEFAULT_TIMEOUT_S, Site, exchange, open_site, raise_for
from ragstone.kernel.llm.failures import BadRequest, CallFailed
from ragstone.kernel.llm.prompt import Completion, OnText, Prompt
from ragstone.kernel.llm.providers import Provider, list_price
from ragstone.kernel.llm.transport import Dialect, Endpoint, Where, Wire, asked_in
from ragstone.kernel.records import Usage, count_of, told_usage

PATH = "/v1/messages"
PROTOCOL = "the protocol of Anthropic"
# Ways to ask for JSON, the strictest first. With thinking on no tool may be forced, nor at models that are
# newer than Opus 5: they are held to a schema.
MODES = ("tool", "schema", "offered tool", "text")
LEAST_KNOWN_LIMIT = 4096  # a limit is demanded: as high as every model takes it, where nobody names one
STOPS = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
}
CACHED = {"type": "ephemeral"}
STATUS_OF_ERROR = {"overloaded_error": 529, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504}


class _ContentBlock(msgspec.Struct):
    type: str
    text: str = ""
    thinking: str = ""
    input: msgspec.Raw = msgspec.Raw(b"{}")


class _MessageReply(msgspec.Struct):
    content: list[_ContentBlock]
    stop_reason: str | None = None
    usage: msgspec.Raw = NOT_TOLD


DECODER = msgspec.json.Decoder(_MessageReply)


@contextlib.asynccontextmanager
async def open_anthropic(
    provider: Provider, model: str, settings: ModelSettings, where: Where
) -> AsyncIterator[Endpoint]:
    """Give the endpoint of a model; its connections are closed at the end of the block."""
    concurrency = settings.max_concurrency or DEFAULT_CONCURRENCY
    silence_s = settings.timeout_s or DEFAULT_TIMEOUT_S
    thinking = settings.extra.get("thinking")
    thinks = isinstance(thinking, dict) and thinking.get("type") != "disabled"
    dialect = Dialect(modes=MODES, mode=int(thinks), temperature=not thinks)
    async with open_site(provider, model, settings, concurrency) as site:

        async def call(prompt: Prompt, hear: OnText | None) -> Completion:
            site.check_key()
            with asked_in(dialect, prompt, settings.extra, where, site.name) as form:
                body = _request(model, prompt, form, settings.extra)
                if hear is None:
                    return await _post(site, msgspec.json.encode(body))
                reply, body["stream"] = _StreamedMessage(site, hear), True
                return await post_stream(site, PATH, msgspec.json.encode(body), reply, silence_s)

        base_url = provider.address(settings)
        yield Endpoint(
            identity=provider.identity_of(model, base_url),
            send=functools.partial(call, hear=None),
            stream=call,
            concurrency=concurrency,
            price=list_price(base_url, model),
            wire=Wire(
                name=site.name,
                model=model,
                site=site,
                encode=lambda prompt: msgspec.json.encode(_request(model, prompt, dialect, settings.extra)),
                decode=functools.partial(_decode, site),
                batch_api=provider.batch_api,
                discount=provider.discount(settings),
            ),
            dialect=dialect,
        )


def _request(model: str, prompt: Prompt, form: Dialect, extra: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a request with the fields of the settings; what both say of one object is merged."""
    body = _body(model, prompt, form)
    both = {name: body[name] | extra[name] for name in body.keys() & extra if isinstance(extra[name], dict)}
    return body | extra | both


def _body(model: str, prompt: Prompt, dialect: Dialect) -> dict[str, Any]:
    """Return a request; what all rows share is marked, so that the provider keeps it in its cache."""
    system = [
        {"type": "text", "text": message.content} for message in prompt.messages if message.role == "system"
    ]
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": dialect.limit(prompt) or LEAST_KNOWN_LIMIT,
        "messages": [message for message in prompt.messages if message.role != "system"],
    }
    if prompt.shared:
        body["messages"][-1] = {
            "role": "user",
            "content": _marked(prompt.messages[-1].content, prompt.shared),
        }
    if system:
        body["system"] = [*system[:-1], system[-1] | {"cache_control": CACHED}]
    if dialect.temperature and prompt.temperature is not None:
        body["temperature"] = prompt.temperature
    if dialect.top_p and prompt.top_p is not None:
        body["top_p"] = prompt.top_p
    return body if prompt.form is None else body | _reply_form(prompt, prompt.form, dialect.way)


def _marked(text: str, ends: Sequence[int]) -> list[dict[str, Any]]:
    """Return a text in blocks; those that other prompts begin with too are marked for the cache."""
    blocks = [
        {"type": "text", "text": text[start:end], "cache_control": CACHED}
        for start, end in pairwise((0, *ends))
    ]
    return [*blocks, {"type": "text", "text": text[ends[-1] :]}]


def _reply_form(prompt: Prompt, form: type, mode: str) -> dict[str, Any]:
    """Return the fields that ask for a reply of this form: a tool's arguments, or a schema.

    Tools stand before the system message: one that differed from row to row would keep all of the prompt out
    of the cache.
    """
    schema = msgspec.Raw(prompt.schema or b"null")
    name = re.sub(r"[^\w-]", "_", form.__name__, flags=re.ASCII)[:64]
    tool = {"name": name, "description": "Give the reply.", "input_schema": schema}
    match mode:
        case "tool":
            forced = {"type": "tool", "name": tool["name"], "disable_parallel_tool_use": True}
            return {"tools": [tool], "tool_choice": forced}
        case "offered tool":
            return {"tools": [tool], "tool_choice": {"type": "auto"}}
        case "schema":
            return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
    return {}


async def _post(site: Site, body: bytes) -> Completion:
    started = time.perf_counter()
    response, content = await exchange(site, "POST", PATH, data=body)
    if response.status != 200:
        raise_for(site, response.status, response.headers, content)
    completion = _read(site, content)
    return msgspec.structs.replace(completion, latency_s=round(time.perf_counter() - started, 4))


def _decode(site: Site, status: int, content: bytes, _top_logprobs: int | None) -> Completion:
    """Return the completion of a reply of the batch API. Raises CallFailed and ModelError."""
    if status == 200:
        return _read(site, content)
    try:
        raise_for(site, status, {}, content)
    except BadRequest as refusal:
        raise CallFailed("error", f"{site.name} refused the request: {refusal}") from None


def _read(site: Site, content: bytes) -> Completion:
    try:
        message = DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as mistake:
        raise unreadable(site, content, mistake, PROTOCOL) from None
    return _completion(message, read_counts(message.usage), latency_s=None)


def _completion(message: _MessageReply, tokens: dict[str, Any], latency_s: float | None) -> Completion:
    tools = [block for block in message.content if block.type == "tool_use"]
    spoken = "".join(block.text for block in message.content if block.type == "text")
    thought = "".join(block.thinking for block in message.content if block.type == "thinking") or None
    text = bytes(tools[0].input).decode() if tools else spoken
    refusal = (spoken or "it ended its turn with `refusal`") if message.stop_reason == "refusal" else None
    return Completion(
        text=text,
        reasoning=thought,
        finish_reason=STOPS.get(message.stop_reason or "", message.stop_reason),
        refusal=refusal,
        usage=with_reasoning(_usage(tokens), text, thought),
        latency_s=latency_s,
    )


def _usage(reported: dict[str, Any]) -> Usage:
    """Return the tokens; `input_tokens` are those that the cache neither had nor took up."""
    apart = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    counts = [0 if reported.get(name) is None else count_of(reported[name]) for name in apart]
    details = reported.get("output_tokens_details")
    return told_usage(
        -1 if None in counts else sum(count or 0 for count in counts),
        reported.get("output_tokens"),
        cached=counts[1],
        cache_written=counts[2],
        reasoning=details.get("thinking_tokens") if isinstance(details, dict) else None,
    )


class _StreamEvent(msgspec.Struct):
    type: str
    message: msgspec.Raw = NOT_TOLD
    content_block: msgspec.Raw = NOT_TOLD
    delta: msgspec.Raw = NOT_TOLD
    usage: msgspec.Raw = NOT_TOLD
    error: msgspec.Raw = NOT_TOLD


class _StreamStart(msgspec.Struct):
    usage: msgspec.Raw = NOT_TOLD


class _StreamDelta(msgspec.Struct):
    type: str = ""
    text: str = ""
    thinking: str = ""
    stop_reason: str | None = None


class _StreamFailure(msgspec.Struct):
    type: str = ""
    message: str = ""


class _StreamedMessage:
    """A reply of free text while it comes in, see Streamed."""

    def __init__(self, site: Site, hear: OnText) -> None:
        self.over = False
        self._site, self._hear = site, hear
        self._events = Events()
        self._said: list[str] = []
        self._thought: list[str] = []
        self._tokens: dict[str, Any] = {}
        self._stop: str | None = None

    def take(self, part: bytes) -> bool:
        """See Streamed."""
        try:
            events = self._events.feed(part)
        except NotEvents as others:
            raise unreadable(self._site, others.body, None, PROTOCOL) from None
        for data in events:
            self._event(data)
        return bool(events)

    def completion(self) -> Completion:
        """See Streamed."""
        if not self.over and self._stop is None:
            raise CallFailed("error", f"{self._site.name}: the reply broke off", retryable=True)
        blocks = [
            _ContentBlock("thinking", thinking="".join(self._thought)),
            _ContentBlock("text", text="".join(self._said)),
        ]
        return _completion(_MessageReply(blocks, self._stop), self._tokens, latency_s=None)

    def _event(self, data: bytes) -> None:
        try:
            event = msgspec.json.decode(data, type=_StreamEvent)
            self._read(event)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            unreadable = f"{self._site.name}: an event that cannot be read: {self._site.excerpt(data)}"
            raise CallFailed("error", unreadable, retryable=True) from None

    def _read(self, event: _StreamEvent) -> None:
        match event.type:
            case "message_start":
                self._count(msgspec.json.decode(event.message, type=_StreamStart).usage)
            case "content_block_delta":
                delta = msgspec.json.decode(event.delta, type=_StreamDelta)
                if delta.text:
                    self._said.append(delta.text)
                    self._hear(delta.text)
                self._thought.append(delta.thinking)
            case "message_delta":
                self._stop = msgspec.json.decode(event.delta, type=_StreamDelta).stop_reason or self._stop
                self._count(event.usage)
            case "message_stop":
                self.over = True
            case "error":
                failure = msgspec.json.decode(event.error, type=_StreamFailure)
                raise_for(
                    self._site,
                    STATUS_OF_ERROR.get(failure.type, 500),
                    {},
                    msgspec.json.encode({"error": failure}),
                )

    def _count(self, tokens: msgspec.Raw) -> None:
        """Take over the counts that an event tells; the last one counts the whole reply."""
        self._tokens |= {name: n for name, n in read_counts(tokens).items() if n is not None}
