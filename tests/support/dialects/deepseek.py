"""Dialects of DeepSeek; what a row says, see server.py."""

from functools import partial

from tests.support.dialects.server import (
    Dialect,
    Request,
    Response,
    always,
    chat,
    error,
    events,
    once,
    said,
)
from tests.support.dialects.ways import STREAM, capped, knows, thinks, without
from tests.support.scripts import mode_of


def deepseek_thinker(request: Request) -> Response:
    """Answer as DeepSeek V4 does: it thinks unless told not to, and lets no tool be forced then."""
    refusals = {
        "json_schema": error("This response_format type is unavailable now", code="invalid_request_error"),
        "tool": error("Thinking mode does not support this tool_choice"),
    }
    refusal = refusals.get(mode_of(request.body))
    return refusal or thinks(700, where="reasoning_content")(request)


row = partial(Dialect, model="deepseek/deepseek-chat")

DEEPSEEK = (
    row(
        "deepseek-thinker",
        (
            "https://github.com/deepseek-ai/DeepSeek-V3/issues/1376 and "
            "https://github.com/llm-exe/llm-exe/issues/662"
        ),
        deepseek_thinker,
        model="deepseek/deepseek-v4-pro",
    ),
    row(
        "deepseek-no-json-in-the-prompt",
        "https://github.com/browserbase/stagehand/issues/1204",
        knows(
            "text",
            refusals={
                "json_schema": error(
                    "Failed to deserialize the JSON body into the target type: response_format: "
                    "response_format.type `json_schema` is unavailable now at line 1 column 12440",
                    status=422,
                ),
                "tool": error("Thinking mode does not support this tool_choice"),
                "json_object": error(
                    "Prompt must contain the word 'json' in some form to use 'response_format' of "
                    "type 'json_object'."
                ),
            },
        ),
    ),
    row(
        "deepseek-limit-of-the-model",
        "https://github.com/BerriAI/litellm/issues/5198",
        capped(4096, error("Invalid max_tokens value, the valid range of max_tokens is [1, 4096]")),
        settings={"reasoning_tokens": 8000},
    ),
    row(
        "deepseek-no-money",
        "https://github.com/Aider-AI/aider/issues/4851",
        always(error("Insufficient Balance", status=402, kind="unknown_error", code="invalid_request_error")),
        status="stops",
        says="the account has no quota left: Insufficient Balance",
    ),
    row(  # the words are ours
        "deepseek-no-logprobs",
        "https://apifox.com/apidoc/docs-site/5435161",
        without("logprobs", refusal=error("logprobs is not supported by deepseek-reasoner")),
        model="deepseek/deepseek-reasoner",
        ask={"top_logprobs": 5},
    ),
    row(
        "deepseek-empty-json",
        "https://api-docs.deepseek.com/guides/json_mode",
        once(lambda request: chat(request, "")),
        n_calls=2,
    ),
    row(
        "deepseek-keep-alive",
        "https://api-docs.deepseek.com/quick_start/rate_limit",
        lambda request: Response(b"\n\n\n\n" + chat(request).content),
    ),
    row(
        "deepseek-keep-alive-in-a-stream",
        "https://api-docs.deepseek.com/quick_start/rate_limit",
        lambda request: events(
            b": keep-alive\n\n" * 3,
            said("It is "),
            b": keep-alive\n\n",
            said("blue."),
            {
                "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
            },
        ),
        ask=STREAM,
    ),
)
