"""Dialects of what stands before any of them, and what any of them may do; what a row says, see server.py."""

from tests.support.dialects.server import (
    Dialect,
    Request,
    Response,
    always,
    chat,
    date_after,
    error,
    events,
    limit_of,
    once,
    page,
    reply,
    said,
    text_for,
)
from tests.support.dialects.ways import CUT, STREAM, TWICE, capped, without


def broken_stream(request: Request) -> Response:
    """Say half of it, and close the connection."""
    return Response(events(said("It is "), end=b"").content, then="cut")


# What any of them may do, and whoever stands before it.
NULLS = {
    "prompt_tokens": None,
    "completion_tokens": None,
    "total_tokens": None,
    "prompt_tokens_details": None,
}

GATEWAYS = (
    Dialect(
        "proxy-bad-gateway",
        "openai/x",
        "https://github.com/hiyouga/LlamaFactory/issues/7866",
        once(page(502, "502 Bad Gateway")),
        n_calls=2,
    ),
    Dialect(
        "proxy-gateway-timeout",
        "openai/x",
        "https://github.com/BerriAI/litellm/issues/9551",
        always(page(504, "504 Gateway Time-out")),
        status="error",
        says="HTTP 504: a web page, '504 Gateway Time-out'",
        n_calls=6,
    ),
    Dialect(
        "proxy-cloudflare-timeout",
        "openai/x",
        "https://github.com/acheong08/ChatGPT/issues/447",
        always(page(524, "x.org | 524: A timeout occurred")),
        status="error",
        says="HTTP 524: a web page, 'x.org | 524: A timeout occurred'",
        n_calls=6,
    ),
    Dialect(
        "proxy-redirect",
        "openai/x",
        "https://www.rfc-editor.org/rfc/rfc9110#name-301-moved-permanently",
        always(Response(b"", status=301, headers={"Location": "https://elsewhere.org/v1/chat/completions"})),
        status="stops",
        says=(
            "redirects (HTTP 301) to https://elsewhere.org/v1/chat/completions, which is "
            "not followed. Write the address that answers as base_url."
        ),
    ),
    Dialect(
        "proxy-hangs",
        "openai/x",
        "https://github.com/danny-avila/LibreChat/issues/6081",
        always(Response(b"", then="hang")),
        status="timeout",
        says="did not answer in time",
        n_calls=3,
        settings={"timeout_s": 0.3},
    ),
    Dialect(
        "proxy-retry-after-a-date",
        "openai/x",
        "https://www.rfc-editor.org/rfc/rfc9110#name-retry-after",
        once(lambda request: error(503, "busy", headers={"Retry-After": date_after(-5)})),
        n_calls=2,
    ),
    Dialect(
        "litellm-rate-limit",
        "openai/x",
        "https://github.com/jasonacox/TinyLLM/issues/17",
        always(
            error(
                429,
                (
                    "litellm.RateLimitError: AzureException RateLimitError - Please retry after "
                    "86400 seconds.\nReceived Model Group=x\nAvailable Model Group Fallbacks=None"
                ),
                kind="throttling_error",
                code="429",
            )
        ),
        status="rate_limited",
        says="(wait 86400 s)",
    ),
    Dialect(
        "litellm-rate-limit-of-gemini",
        "openai/x",
        "https://github.com/continuedev/continue/issues/10290",
        always(
            error(
                429,
                (
                    'litellm.RateLimitError: VertexAIException - {"error": {"code": 429, '
                    '"details": [{"retryDelay": "3000s"}]}}'
                ),
                kind="throttling_error",
                code="429",
            )
        ),
        status="rate_limited",
        says="(wait 3000 s)",
    ),
    Dialect(
        "litellm-temperature",
        "openai/x",
        "https://github.com/jentic/standard-agent/issues/31",
        without(
            "temperature",
            refusal=error(
                400,
                (
                    "litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0.0. "
                    "Only temperature=1 is supported. To drop unsupported params set "
                    "litellm.drop_params = True"
                ),
                code="400",
            ),
        ),
    ),
    Dialect(
        "relay-error-is-a-detail",
        "openai/x",
        "https://github.com/vllm-project/vllm/issues/34340",
        always(reply({"detail": "Upstream[decode] error, b'{}'"}, status=400)),
        status="error",
        says="refused the request: Upstream[decode] error, b'{}'",
    ),
    Dialect(
        "relay-words-in-another-field",
        "openai/x",
        "https://github.com/AQBot-Desktop/AQBot/issues/93",
        capped(
            131072,
            error(
                400,
                "Param Incorrect",
                kind="upstream_error",
                param=(
                    "max_tokens is too large: 200100. This model supports at most 131072 "
                    "completion tokens, whereas you provided 200100."
                ),
                code="400",
            ),
        ),
        settings={"reasoning_tokens": 200_000},
    ),
    Dialect(
        "reply-without-choices",
        "openai/x",
        "https://github.com/BerriAI/litellm/issues/36881",
        once(
            reply({"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 0, "total_tokens": 50}})
        ),
        n_calls=2,
    ),
    Dialect(
        "reply-never-has-choices",
        "openai/x",
        "https://github.com/BerriAI/litellm/issues/36881",
        always(reply({"choices": []})),
        status="error",
        says="a reply without choices",
        n_calls=6,
    ),
    Dialect(
        "reply-without-content",
        "openai/x",
        "https://github.com/evalstate/fast-agent/issues/184",
        once(reply({"choices": [{"index": 0, "message": {"role": "assistant"}, "finish_reason": "stop"}]})),
        n_calls=2,
    ),
    Dialect(
        "reply-without-usage",
        "openai/x",
        "https://platform.openai.com/docs/api-reference/chat-streaming/streaming",
        lambda request: chat(request, usage=None),
    ),
    Dialect(
        "reply-with-usage-of-nulls",
        "openai/x",
        "https://platform.openai.com/docs/api-reference/chat-streaming/streaming",
        lambda request: chat(request, usage=NULLS),
    ),
    Dialect(
        "reply-in-parts",
        "openai/x",
        "https://platform.openai.com/docs/api-reference/chat/object",
        lambda request: chat(request, [{"type": "text", "text": text_for(request)}]),
    ),
    Dialect(
        "reply-cut",
        "openai/x",
        "https://github.com/BerriAI/litellm/issues/9551",
        once(lambda request: Response(chat(request).content[:-40])),
        n_calls=2,
    ),
    Dialect(
        "reply-cut-behind-a-brace",
        "openai/x",
        "https://github.com/BerriAI/litellm/issues/9551",
        always(lambda request: Response(chat(request).content[:-1])),
        status="error",
        says="the reply is cut off",
        n_calls=6,
    ),
    Dialect(
        "reply-broken-off",
        "openai/x",
        "https://github.com/BerriAI/litellm/issues/9551",
        once(Response(b'{"choices": [{"index": 0', headers={"Content-Length": "5000"}, then="cut")),
        n_calls=2,
    ),
    Dialect(
        "verdict-with-a-key-twice",
        "openai/x",
        "https://www.rfc-editor.org/rfc/rfc8259#section-4",
        once(lambda request: chat(request, TWICE)),
        n_calls=2,
    ),
    Dialect(
        "verdict-with-a-key-twice-for-good",
        "openai/x",
        "https://www.rfc-editor.org/rfc/rfc8259#section-4",
        always(lambda request: chat(request, TWICE)),
        status="unparsable",
        says="a JSON object that is broken",
        n_calls=2,
    ),
    Dialect(
        "verdict-is-prose",
        "openai/x",
        "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2115",
        always(lambda request: chat(request, "I would give it a 2.")),
        status="unparsable",
        says="no JSON object in the reply 'I would give it a 2.'",
        n_calls=2,
    ),
    Dialect(
        "verdict-too-long",
        "openai/x",
        "https://platform.openai.com/docs/api-reference/chat/object",
        always(
            lambda request: chat(
                request,
                CUT,
                finish_reason="length",
                usage={"prompt_tokens": 50, "completion_tokens": limit_of(request)},
            )
        ),
        status="unparsable",
        says="cut off at 400 tokens. Raise max_tokens in the file of the judge or prompt.",
        n_calls=2,
    ),
    Dialect(
        "stream-closed-early",
        "openai/x",
        "https://github.com/anomalyco/opencode/pull/40061",
        always(broken_stream),
        status="error",
        says="the reply broke off",
        ask=STREAM,
    ),
    Dialect(
        "stream-ends-without-a-word",
        "openai/x",
        "https://github.com/anomalyco/opencode/pull/40061",
        once(events({"choices": [{"index": 0, "delta": {"role": "assistant"}}]}, end=b"")),
        n_calls=2,
        ask=STREAM,
    ),
    Dialect(
        "stream-is-no-stream",
        "openai/x",
        "https://github.com/ggml-org/llama.cpp/tree/master/tools/server",
        lambda request: reply(
            {"choices": [{"index": 0, "message": {"content": "It is blue."}, "finish_reason": "stop"}]}
        ),
        ask=STREAM,
    ),
)
