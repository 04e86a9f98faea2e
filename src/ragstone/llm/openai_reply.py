"""A reply of the OpenAI protocol -> a completion, or what its error means."""

from collections.abc import Mapping
from typing import Any, NoReturn

import msgspec

from ragstone.llm.logprobs import read_logprobs
from ragstone.llm.prompt import CONTENT_FILTER, CallFailed, Completion
from ragstone.llm.reasoning import with_reasoning
from ragstone.llm.site import Site, raise_for
from ragstone.llm.transport import Unreachable
from ragstone.records import Usage

Parts = str | list[Any] | None
"""The content of a message: a text, or parts of several kinds."""


class _InputDetails(msgspec.Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _OutputDetails(msgspec.Struct):
    reasoning_tokens: int | None = None


class TokenCounts(msgspec.Struct):
    """The `usage` of a reply, in the fields of several providers."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None
    reasoning_tokens: int | None = None  # Together, Perplexity
    prompt_cache_hit_tokens: int | None = None  # DeepSeek
    cost: float | None = None  # OpenRouter


class _Function(msgspec.Struct):
    arguments: str | dict[str, Any] | None = None


class _ToolCall(msgspec.Struct):
    function: _Function = msgspec.field(default_factory=_Function)


class _Message(msgspec.Struct):
    content: Parts = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None
    reasoning_content: str | None = None  # DeepSeek, vLLM, llama.cpp
    reasoning: str | None = None  # OpenRouter, Groq, Ollama, newer vLLM


class _Choice(msgspec.Struct):
    message: _Message | None = None
    finish_reason: str | None = None
    logprobs: msgspec.Raw = msgspec.Raw(b"null")  # read only where they were asked for
    error: Any = None


class _Response(msgspec.Struct):
    choices: list[_Choice] | msgspec.UnsetType | None = msgspec.UNSET
    usage: TokenCounts | None = None
    error: Any = None


DECODER = msgspec.json.Decoder(_Response)
FILTERS = ("content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii")


def read_reply(
    site: Site,
    status: int,
    content: bytes,
    top_logprobs: int | None,
    headers: Mapping[str, str] = {},
    *,
    tells_cost: bool = False,
) -> Completion:
    """Return the completion in a reply, without its latency. Raises what an error status means.

    tells_cost: whether the endpoint says what a call cost.
    """
    if status != 200:
        failed = _failed_generation(content)
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
    message = choice.message or _Message()
    said, thought = read_parts(message.content)
    reasoning = message.reasoning_content or message.reasoning or thought or None
    text = _arguments(message.tool_calls[0]) if message.tool_calls else said
    ended = ended_by(choice.finish_reason)
    return Completion(
        text=text,
        reasoning=reasoning,
        finish_reason=ended,
        refusal=message.refusal or (CONTENT_FILTER if ended == "content_filter" else None),
        usage=with_reasoning(usage_of(decoded.usage), text, reasoning),
        latency_s=None,
        logprobs=None if top_logprobs is None else read_logprobs(choice.logprobs, top_logprobs),
        cost_usd=decoded.usage.cost if tells_cost and decoded.usage else None,
    )


def read_parts(content: Parts) -> tuple[str, str]:
    """Return what the parts of a message say, and what they show of the model's thought."""
    if not isinstance(content, list):
        return content or "", ""
    said, thought = [], []
    for part in content:
        if isinstance(part, str):
            said.append(part)
        elif isinstance(part, dict):
            kind = part.get("type", "text")
            if kind == "text":
                said.append(str(part.get("text") or ""))
            elif kind in ("thinking", "reasoning"):
                inner = part.get("thinking") or part.get("text") or part.get("summary")
                thought.append(read_parts(inner if isinstance(inner, str | list) else None)[0])
    return "".join(said), "".join(thought)


def ended_by(reason: str | None) -> str | None:
    """Return the finish_reason in the words of OpenAI; Gemini passes its own on, in capitals."""
    known = (reason or "").casefold().partition(":")[0]
    return "content_filter" if known in FILTERS else "length" if known == "max_tokens" else reason


def usage_of(given: TokenCounts | None) -> Usage:
    """Return the tokens that an endpoint tells; what it does not tell is 0.

    Some count the tokens of thought in the total alone (Gemini, Grok): they are paid for as output.
    """
    if given is None:
        return Usage()
    n_input, n_output = given.prompt_tokens or 0, given.completion_tokens or 0
    hidden = max(0, (given.total_tokens or 0) - n_input - n_output)
    inner, outer = given.prompt_tokens_details, given.completion_tokens_details
    thought = (outer.reasoning_tokens if outer else None) or given.reasoning_tokens or hidden
    n_output += hidden if n_output else 0
    return Usage(
        input=n_input,
        output=max(n_output, thought),
        cached=(inner.cached_tokens if inner else None) or given.prompt_cache_hit_tokens or 0,
        cache_written=(inner.cache_write_tokens if inner else None) or 0,
        reasoning=thought,
    )


def raise_error(site: Site, content: bytes) -> NoReturn:
    """Raise what an error means that came in place of a reply: by its HTTP status, where it names one."""
    found: Any = msgspec.json.decode(content)
    error = found.get("error") or found
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int | str) and str(code).isdecimal() and 400 <= int(code) < 600:
        raise_for(site, int(code), {}, content)
    raise CallFailed("error", f"{site.name}: {site.excerpt(content)}", retryable=True)


def _arguments(call: _ToolCall) -> str:
    given = call.function.arguments
    return given if isinstance(given, str) else msgspec.json.encode(given or {}).decode()


def _failed_generation(content: bytes) -> Completion | None:
    """Return the reply that a provider itself found not to be the JSON asked for (Groq), else None."""
    if b'"failed_generation"' not in content:
        return None
    try:
        error = msgspec.json.decode(content)["error"]
        return Completion(text=str(error["failed_generation"] or ""), finish_reason="stop", latency_s=None)
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError):
        return None


def unreadable(site: Site, content: bytes, mistake: Exception | None, protocol: str) -> CallFailed:
    """Return what a body means that is no reply: the beginning of one, or of somebody else."""
    if content.lstrip().startswith(b"{") and "truncated" in str(mistake):  # as msgspec says it
        told = f"{site.name}: the reply is cut off: {site.excerpt(content)}"
        return CallFailed("error", told, retryable=True)
    return Unreachable(
        f"{site.name} does not speak {protocol}: {site.excerpt(content)}. Check base_url ({site.hint})."
    )
