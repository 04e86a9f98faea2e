"""A reply of the OpenAI protocol, whole or in pieces (server-sent events) -> a completion, or what its error
means.
"""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from typing import Any, NoReturn, Protocol

import aiohttp
import msgspec

from ragstone.kernel.llm._reasoning import with_reasoning
from ragstone.kernel.llm._site import CONNECT_S, Site, check_size, failures_of, raise_for, read_body
from ragstone.kernel.llm.failures import CallFailed, Unreachable
from ragstone.kernel.llm.prompt import CONTENT_FILTER, Completion, OnText, read_logprobs
from ragstone.kernel.records import Usage, count_of, figure_of, told_usage

Parts = str | list[Any] | None
"""The content of a message: a text, or parts of several kinds."""

MOST_BLANKS = 65_536  # before the first event
MOST_BYTES = 1_000_000  # of one event: a piece of text is some hundred
DRAIN_S = 0.1  # for the end of the response after its last event, so that the connection can be used again
EVENT_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


NOT_TOLD = msgspec.Raw(b"null")


class _Function(msgspec.Struct):
    arguments: str | dict[str, Any] | None = None


class _ToolCall(msgspec.Struct):
    function: _Function = msgspec.field(default_factory=_Function)


class _ChatMessage(msgspec.Struct):
    content: Parts = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None
    reasoning_content: str | None = None  # DeepSeek, vLLM, llama.cpp
    reasoning: str | None = None  # OpenRouter, Groq, Ollama, newer vLLM


class _Choice(msgspec.Struct):
    message: _ChatMessage | None = None
    finish_reason: str | None = None
    logprobs: msgspec.Raw = NOT_TOLD  # read only where they were asked for
    error: Any = None


class _ChatResponse(msgspec.Struct):
    choices: list[_Choice] | msgspec.UnsetType | None = msgspec.UNSET
    usage: msgspec.Raw = NOT_TOLD  # read apart: an odd count costs no reply
    error: Any = None


DECODER = msgspec.json.Decoder(_ChatResponse)
FILTERS = ("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii")


def read_reply(
    site: Site,
    status: int,
    content: bytes,
    top_logprobs: int | None,
    headers: Mapping[str, str] = {},
    *,
    tells_cost: bool = False,
    latency_s: float | None = None,
) -> Completion:
    """Return the completion in a reply. Raises what an error status means.

    tells_cost: whether the endpoint says what a call cost. latency_s: that it took, None where nobody timed
    it.
    """
    if status != 200:
        failed = _failed_generation(content, latency_s)
        if failed is not None:
            return failed
        raise_for(site, status, headers, content)
    try:
        decoded = DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as mistake:
        raise unreadable(site, content, mistake, "the OpenAI protocol") from None
    if decoded.error is not None:
        raise_error(site, content)
    if decoded.choices is msgspec.UNSET:
        raise unreadable(site, content, None, "the OpenAI protocol")
    if not decoded.choices:
        raise CallFailed("error", f"{site.name}: a reply without choices", retryable=True)
    choice = decoded.choices[0]
    if choice.error is not None:
        raise_error(site, msgspec.json.encode({"error": choice.error}))
    message = choice.message or _ChatMessage()
    spoken, thought = read_parts(message.content)
    reasoning = message.reasoning_content or message.reasoning or thought or None
    text = _arguments(message.tool_calls[0]) if message.tool_calls else spoken
    ended = ended_by(choice.finish_reason)
    counts = read_counts(decoded.usage)
    return Completion(
        text=text,
        reasoning=reasoning,
        finish_reason=ended,
        refusal=message.refusal or (CONTENT_FILTER if ended == "content_filter" else None),
        usage=with_reasoning(usage_of(counts), text, reasoning),
        latency_s=latency_s,
        logprobs=None if top_logprobs is None else read_logprobs(choice.logprobs, top_logprobs),
        cost_usd=figure_of(counts.get("cost")) if tells_cost else None,
    )


def read_parts(content: Parts) -> tuple[str, str]:
    """Return what the parts of a message say, and what they show of the model's thought."""
    if not isinstance(content, list):
        return content or "", ""
    text, thought = [], []
    for part in content:
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict):
            kind = part.get("type", "text")
            if kind == "text":
                text.append(str(part.get("text") or ""))
            elif kind in ("thinking", "reasoning"):
                inner = part.get("thinking") or part.get("text") or part.get("summary")
                thought.append(read_parts(inner if isinstance(inner, str | list) else None)[0])
    return "".join(text), "".join(thought)


def ended_by(reason: str | None) -> str | None:
    """Return the finish_reason in the words of OpenAI; Gemini passes its own on, in capitals."""
    known = (reason or "").casefold().partition(":")[0]
    return "content_filter" if known in FILTERS else "length" if known == "max_tokens" else reason


def read_counts(raw: msgspec.Raw) -> dict[str, Any]:
    """Return the `usage` of a reply as it was told; {} where it is no object."""
    try:
        counts = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return counts if isinstance(counts, dict) else {}


def usage_of(counts: dict[str, Any]) -> Usage:
    """Return the tokens that an endpoint tells, in the fields of several providers; see told_usage.

    Some count the tokens of thought in the total alone (Gemini, Grok): they are paid for as output.
    """
    n_input, n_output = counts.get("prompt_tokens"), counts.get("completion_tokens")
    counted = (count_of(n_input) or 0) + (count_of(n_output) or 0)
    hidden = max(0, (count_of(counts.get("total_tokens")) or 0) - counted)
    inner, outer = _part(counts, "prompt_tokens_details"), _part(counts, "completion_tokens_details")
    thought = (
        count_of(outer.get("reasoning_tokens"))
        or count_of(counts.get("reasoning_tokens"))  # Together, Perplexity
        or hidden
    )
    if n_output is None or count_of(n_output) is not None:
        n_output = count_of(n_output) or 0
        n_output = max(n_output + (hidden if n_output else 0), thought)
    return told_usage(
        n_input,
        n_output,
        cached=count_of(inner.get("cached_tokens")) or counts.get("prompt_cache_hit_tokens"),  # DeepSeek
        cache_written=inner.get("cache_write_tokens"),
        reasoning=thought,
    )


def _part(counts: dict[str, Any], name: str) -> dict[str, Any]:
    part = counts.get(name)
    return part if isinstance(part, dict) else {}


def raise_error(site: Site, content: bytes) -> NoReturn:
    """Raise what an error means that came in place of a reply: by its HTTP status, where it names one."""
    body: Any = msgspec.json.decode(content)
    error = body.get("error") or body
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int | str) and str(code).isdecimal() and 400 <= int(code) < 600:
        raise_for(site, int(code), {}, content)
    raise CallFailed("error", f"{site.name}: {site.excerpt(content)}", retryable=True)


def _arguments(call: _ToolCall) -> str:
    arguments = call.function.arguments
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments or {}).decode()


def _failed_generation(content: bytes, latency_s: float | None) -> Completion | None:
    """Return the reply that a provider itself found not to be the JSON asked for (Groq), else None."""
    if b'"failed_generation"' not in content:
        return None
    try:
        error = msgspec.json.decode(content)["error"]
        text = str(error["failed_generation"] or "")
        return Completion(text=text, finish_reason="stop", latency_s=latency_s)
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError):
        return None


def unreadable(site: Site, content: bytes, mistake: Exception | None, protocol: str) -> CallFailed:
    """Return what a body means that is no reply: the beginning of one, or of somebody else."""
    if content.lstrip().startswith(b"{") and "truncated" in str(mistake):  # as msgspec says it
        message = f"{site.name}: the reply is cut off: {site.excerpt(content)}"
        return CallFailed("error", message, retryable=True)
    return Unreachable(
        f"{site.name} does not speak {protocol}: {site.excerpt(content)}. Check base_url ({site.hint})."
    )


class _Delta(msgspec.Struct):
    content: Parts = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _ChunkChoice(msgspec.Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(msgspec.Struct):
    choices: list[_ChunkChoice] | None = None
    usage: msgspec.Raw = NOT_TOLD
    error: msgspec.Raw = NOT_TOLD
    object: str | None = None


CHUNKS = msgspec.json.Decoder(_Chunk)


class Streamed(Protocol):
    """A reply while it comes in. over: the endpoint has said that nothing follows."""

    over: bool

    def take(self, part: bytes) -> bool:
        """Take some bytes of the body; return whether an event came to its end. Raises its error."""
        ...

    def completion(self) -> Completion:
        """Return what came, without its latency. Raises CallFailed where the end is missing."""
        ...


async def post_stream(site: Site, path: str, body: bytes, reply: Streamed, silence_s: float) -> Completion:
    """Return the completion, which `reply` has passed on piece by piece, or whole if it came whole.

    silence_s: the longest time without an event; comments that only keep the connection open do not count.
    Raises what errors mean, also in the middle of the reply (`hear` knows how far it came), and BadRequest.
    """
    started = time.perf_counter()
    clock = asyncio.get_running_loop().time
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
    with failures_of(site):
        async with (
            asyncio.timeout(silence_s) as silence,
            site.session.post(site.url(path), data=body, timeout=timeout, allow_redirects=False) as response,
        ):
            if response.status != 200:
                raise_for(site, response.status, response.headers, await read_body(site, response))
            n_bytes = 0
            async for part in response.content.iter_any():
                n_bytes += len(part)
                check_size(site, n_bytes)
                if reply.take(part):
                    silence.reschedule(clock() + silence_s)
                if reply.over:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(DRAIN_S):
                            while not response.content.at_eof():
                                await response.content.readany()
                    break
    return msgspec.structs.replace(reply.completion(), latency_s=round(time.perf_counter() - started, 4))


class StreamedReply:
    """A reply of the OpenAI protocol while it comes in, see Streamed; `hear` is told what is said."""

    def __init__(self, site: Site, hear: OnText) -> None:
        self.over = False
        self._site = site
        self._hear = hear
        self._events = Events()
        self._whole: bytearray | None = None  # the body of an endpoint that does not stream
        self._pieces: list[str] = []
        self._thought: list[str] = []
        self._refusal: list[str] = []
        self._finish_reason: str | None = None
        self._usage: dict[str, Any] = {}

    def take(self, part: bytes) -> bool:
        """See Streamed."""
        if self._whole is not None:
            self._whole += part
            return True
        try:
            events = self._events.feed(part)
        except NotEvents as others:
            self._whole = bytearray(others.body)
            return True
        for data in events:
            self._event(data)
        return bool(events)

    def completion(self) -> Completion:
        """See Streamed."""
        if self._whole is None:
            try:
                for data in self._events.end():
                    self._event(data)
            except NotEvents as others:
                self._whole = bytearray(others.body)
        if self._whole is not None:
            completion = read_reply(self._site, 200, bytes(self._whole), None)
            if completion.refusal is None:
                self._hear(completion.text)
            return completion
        if not self.over and self._finish_reason is None:
            raise CallFailed("error", f"{self._site.name}: the reply broke off", retryable=True)
        text, thought = "".join(self._pieces), "".join(self._thought) or None
        filtered = CONTENT_FILTER if self._finish_reason == "content_filter" else None
        return Completion(
            text=text,
            reasoning=thought,
            finish_reason=self._finish_reason,
            refusal="".join(self._refusal) or filtered,
            usage=with_reasoning(usage_of(self._usage), text, thought),
            latency_s=None,
        )

    def _event(self, data: bytes) -> None:
        if self.over or data == b"[DONE]":
            self.over = True
            return
        try:
            chunk = CHUNKS.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            unreadable = f"{self._site.name}: an event that cannot be read: {self._site.excerpt(data)}"
            raise CallFailed("error", unreadable, retryable=True) from None
        if bytes(chunk.error) != b"null" or chunk.object == "error":
            raise_error(self._site, data)
        self._usage = read_counts(chunk.usage) or self._usage
        for choice in chunk.choices or ():
            self._finish_reason = ended_by(choice.finish_reason) or self._finish_reason
            if choice.delta is not None:
                self._say(choice.delta)

    def _say(self, delta: _Delta) -> None:
        self._refusal.append(delta.refusal or "")
        text, thought = read_parts(delta.content)
        self._thought.append(delta.reasoning_content or delta.reasoning or thought)
        if text:
            self._pieces.append(text)
            self._hear(text)


class NotEvents(Exception):
    """A body that is no stream of events; `body` is what came of it so far."""

    def __init__(self, body: bytes) -> None:
        super().__init__("no server-sent events")
        self.body = body


class Events:
    """Bytes -> the data of server-sent events, as the HTML standard reads them."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._begun = False

    def feed(self, part: bytes) -> list[bytes]:
        """Return the data of the events that these bytes complete.

        Raises NotEvents where the body begins with something else, CallFailed for an event without an end.
        """
        self._rest += part
        if not self._begun:
            head = self._rest.removeprefix(b"\xef\xbb\xbf").lstrip()
            if len(head) < len(b"event:") and b"\n" not in head and len(self._rest) < MOST_BLANKS:
                return []
            if not head.startswith(EVENT_FIELDS):
                raise NotEvents(self._rest)
            self._begun, self._rest = True, head
        if len(self._rest) + sum(map(len, self._data)) > MOST_BYTES:
            raise CallFailed("error", f"an event of more than {MOST_BYTES:,} bytes")
        lines = self._rest.splitlines(keepends=True)
        # Behind a carriage return the second half of the line's end may still be on its way.
        self._rest = b"" if lines and lines[-1].endswith(b"\n") else lines.pop() if lines else b""
        return self._of(lines)

    def end(self) -> list[bytes]:
        """Return the data of what is left when the body ends: some servers end without an empty line.

        Raises NotEvents for a body that was none, however short.
        """
        if not self._begun:
            raise NotEvents(self._rest)
        rest, self._rest = self._rest, b""
        return self._of([*rest.splitlines(), b""])

    def _of(self, lines: list[bytes]) -> list[bytes]:
        matches = []
        for line in lines:
            line = line.rstrip(b"\r\n")
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                matches.append(b"\n".join(self._data))
                self._data = []
        return matches
