"""A reply of the OpenAI protocol -> a completion, or what its error means."""

import msgspec

from ragstone.llm.logprobs import read_logprobs
from ragstone.llm.prompt import Completion
from ragstone.llm.site import Site, raise_for
from ragstone.llm.transport import Unreachable
from ragstone.records import Usage


class _Details(msgspec.Struct):
    cached_tokens: int | None = None


class TokenCounts(msgspec.Struct):
    """The `usage` of a reply."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None


class _Function(msgspec.Struct):
    arguments: str = ""


class _ToolCall(msgspec.Struct):
    function: _Function = msgspec.field(default_factory=_Function)


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: msgspec.Raw = msgspec.Raw(b"null")  # read only where they were asked for


class _Response(msgspec.Struct):
    choices: list[_Choice]
    usage: TokenCounts | None = None


DECODER = msgspec.json.Decoder(_Response)


def read_reply(
    site: Site, status: int, content: bytes, top_logprobs: int | None, retry_after: str | None = None
) -> Completion:
    """Return the completion in a reply, without its latency. Raises what an error status means."""
    if status != 200:
        raise_for(site, status, retry_after, content)
    try:
        decoded = DECODER.decode(content)
        choice = decoded.choices[0]
    except (msgspec.DecodeError, UnicodeDecodeError, IndexError, RecursionError):
        raise Unreachable(
            f"{site.name} does not speak the OpenAI protocol: {site.excerpt(content)}. "
            "base_url usually ends in /v1."
        ) from None
    tools = choice.message.tool_calls
    return Completion(
        text=tools[0].function.arguments if tools else choice.message.content or "",
        finish_reason=choice.finish_reason,
        refusal=choice.message.refusal or ("filtered" if choice.finish_reason == "content_filter" else None),
        usage=usage_of(decoded.usage),
        latency_s=None,
        logprobs=None if top_logprobs is None else read_logprobs(choice.logprobs, top_logprobs),
    )


def usage_of(given: TokenCounts | None) -> Usage:
    """Return the tokens that an endpoint tells; what it does not tell is 0."""
    if given is None:
        return Usage()
    details = given.prompt_tokens_details
    cached = (details.cached_tokens or 0) if details else 0
    return Usage(input=given.prompt_tokens or 0, output=given.completion_tokens or 0, cached=cached)
