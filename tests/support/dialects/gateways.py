"""Dialects of what stands before any of them, and what any of them may do; what a row says, see server.py."""

from functools import partial

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

row = partial(Dialect, model="openai/x")

GATEWAYS = (
    row(
        "proxy-bad-gateway",
        "https://github.com/hiyouga/LlamaFactory/issues/7866",
        once(page(502, "502 Bad Gateway")),
        n_calls=2,
    ),
    row(
        "proxy-gateway-timeout",
        "https://github.com/BerriAI/litellm/issues/9551",
        always(page(504, "504 Gateway Time-out")),
        status="error",
        says="HTTP 504: a web page, '504 Gateway Time-out'",
        n_calls=6,
    ),
    row(
        "proxy-cloudflare-timeout",
        "https://github.com/acheong08/ChatGPT/issues/447",
        always(page(524, "x.org | 524: A timeout occurred")),
        status="error",
        says="HTTP 524: a web page, 'x.org | 524: A timeout occurred'",
        n_calls=6,
    ),
    row(
        "proxy-redirect",
        "https://www.rfc-editor.org/rfc/rfc9110#name-301-moved-permanently",
        always(Response(b"", status=301, headers={"Location": "https://elsewhere.org/v1/chat/completions"})),
        status="stops",
        says=(
            "redirects (HTTP 301) to https://elsewhere.org/v1/chat/completions, which is "
            "not followed. Set base_url to the final address."
        ),
    ),
    row(
        "proxy-hangs",
        "https://github.com/danny-avila/LibreChat/issues/6081",
        always(Response(b"", then="hang")),
        status="timeout",
        says="did not answer in time",
        n_calls=3,
        settings={"timeout_s": 0.3},
    ),
    row(
        "proxy-retry-after-a-date",
        "https://www.rfc-editor.org/rfc/rfc9110#name-retry-after",
        once(lambda request: error("busy", status=503, headers={"Retry-After": date_after(-5)})),
        n_calls=2,
    ),
    row(
        "litellm-rate-limit",
        "https://github.com/jasonacox/TinyLLM/issues/17",
        always(
            error(
                "litellm.RateLimitError: AzureException RateLimitError - Please retry after "
                "86400 seconds.\nReceived Model Group=x\nAvailable Model Group Fallbacks=None",
                status=429,
                kind="throttling_error",
                code="429",
            )
        ),
        status="rate_limited",
        says="(wait 24 h)",
    ),
    row(
        "litellm-rate-limit-of-gemini",
        "https://github.com/continuedev/continue/issues/10290",
        always(
            error(
                'litellm.RateLimitError: VertexAIException - {"error": {"code": 429, '
                '"details": [{"retryDelay": "3000s"}]}}',
                status=429,
                kind="throttling_error",
                code="429",
            )
        ),
        status="rate_limited",
        says="(wait 50 min)",
    ),
    row(
        "litellm-temperature",
        "https://github.com/jentic/standard-agent/issues/31",
        without(
            "temperature",
            refusal=error(
                "litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0.0. "
                "Only temperature=1 is supported. To drop unsupported params set "
                "litellm.drop_params = True",
                code="400",
            ),
        ),
    ),
    row(
        "relay-error-is-a-detail",
        "https://github.com/vllm-project/vllm/issues/34340",
        always(reply({"detail": "Upstream[decode] error, b'{}'"}, status=400)),
        status="error",
        says="refused the request: Upstream[decode] error, b'{}'",
    ),
    row(
        "relay-words-in-another-field",
        "https://github.com/AQBot-Desktop/AQBot/issues/93",
        capped(
            131072,
            error(
                "Param Incorrect",
                kind="upstream_error",
                param="max_tokens is too large: 200100. This model supports at most 131072 "
                "completion tokens, whereas you provided 200100.",
                code="400",
            ),
        ),
        settings={"reasoning_tokens": 200_000},
    ),
    row(
        "reply-without-choices",
        "https://github.com/BerriAI/litellm/issues/36881",
        once(
            reply({"choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 0, "total_tokens": 50}})
        ),
        n_calls=2,
    ),
    row(
        "reply-never-has-choices",
        "https://github.com/BerriAI/litellm/issues/36881",
        always(reply({"choices": []})),
        status="error",
        says="a reply without choices",
        n_calls=6,
    ),
    row(
        "reply-without-content",
        "https://github.com/evalstate/fast-agent/issues/184",
        once(reply({"choices": [{"index": 0, "message": {"role": "assistant"}, "finish_reason": "stop"}]})),
        n_calls=2,
    ),
    row(
        "reply-without-usage",
        "https://platform.openai.com/docs/api-reference/chat-streaming/streaming",
        lambda request: chat(request, usage=None),
    ),
    row(
        "reply-with-usage-of-nulls",
        "https://platform.openai.com/docs/api-reference/chat-streaming/streaming",
        lambda request: chat(request, usage=NULLS),
    ),
    row(
        "reply-in-parts",
        "https://platform.openai.com/docs/api-reference/chat/object",
        lambda request: chat(request, [{"type": "text", "text": text_for(request)}]),
    ),
    row(
        "reply-cut",
        "https://github.com/BerriAI/litellm/issues/9551",
        once(lambda request: Response(chat(request).content[:-40])),
        n_calls=2,
    ),
    row(
        "reply-cut-behind-a-brace",
        "https://github.com/BerriAI/litellm/issues/9551",
        always(lambda request: Response(chat(request).content[:-1])),
        status="error",
        says="the reply is cut off",
        n_calls=6,
    ),
    row(
        "reply-broken-off",
        "https://github.com/BerriAI/litellm/issues/9551",
        once(Response(b'{"choices": [{"index": 0', headers={"Content-Length": "5000"}, then="cut")),
        n_calls=2,
    ),
    row(
        "verdict-with-a-key-twice",
        "https://www.rfc-editor.org/rfc/rfc8259#section-4",
        once(lambda request: chat(request, TWICE)),
        n_calls=2,
    ),
    row(
        "verdict-with-a-key-twice-for-good",
        "https://www.rfc-editor.org/rfc/rfc8259#section-4",
        always(lambda request: chat(request, TWICE)),
        status="unparsable",
        says="a JSON object that is broken",
        n_calls=2,
    ),
    row(
        "verdict-is-prose",
        "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/2115",
        always(lambda request: chat(request, "I would give it a 2.")),
        status="unparsable",
        says="no JSON object in the reply 'I would give it a 2.'",
        n_calls=2,
    ),
    row(
        "verdict-too-long",
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
    row(
        "stream-closed-early",
        "https://github.com/anomalyco/opencode/pull/40061",
        always(broken_stream),
        status="error",
        says="the reply broke off",
        ask=STREAM,
    ),
    row(
        "stream-ends-without-a-word",
        "https://github.com/anomalyco/opencode/pull/40061",
        once(events({"choices": [{"index": 0, "delta": {"role": "assistant"}}]}, end=b"")),
        n_calls=2,
        ask=STREAM,
    ),
    row(
        "stream-is-no-stream",
        "https://github.com/ggml-org/llama.cpp/tree/master/tools/server",
        lambda request: reply(
            {"choices": [{"index": 0, "message": {"content": "It is blue."}, "finish_reason": "stop"}]}
        ),
        ask=STREAM,
    ),
)
