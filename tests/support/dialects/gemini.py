"""Dialects of Google Gemini's endpoint for the OpenAI protocol; what a row says, see server.py."""

from functools import partial

from tests.support.dialects.server import (
    Dialect,
    Response,
    always,
    chat,
    once,
    reply,
)
from tests.support.dialects.ways import STREAM, thinks, without


def gemini_error(status: int, state: str, words: str, **further: object) -> Response:
    """Return an error of Gemini's: a list of one."""
    return reply([{"error": {"code": status, "message": words, "status": state, **further}}], status=status)


row = partial(Dialect, model="gemini/gemini-3.8-flash")

GEMINI = (
    row(
        "gemini",
        "https://github.com/router-for-me/CLIProxyAPI/pull/5743",
        thinks(700, counted="total"),
    ),
    row(
        "gemini-thought-took-all",
        "https://github.com/stanford-crfm/helm/pull/3804",
        # No content at all in the message: 4,196 tokens went into thought.
        once(
            lambda request: reply(
                {
                    "choices": [{"index": 0, "message": {"role": "assistant"}, "finish_reason": "length"}],
                    "usage": {"prompt_tokens": 50, "completion_tokens": 0, "total_tokens": 4246},
                }
            )
        ),
        n_calls=2,
    ),
    row(
        "gemini-no-message",
        "https://github.com/google/generative-ai-docs/issues/235",
        once(
            reply(
                {
                    "choices": [{"index": 0, "message": None, "finish_reason": "length"}],
                    "usage": {"prompt_tokens": 50, "total_tokens": 4246},
                }
            )
        ),
        n_calls=2,
    ),
    row(
        "gemini-null-choices",
        "https://github.com/maximhq/bifrost/pull/2630",
        once(reply({"choices": None, "usage": {"prompt_tokens": 50, "total_tokens": 70}})),
        model="gemini/gemini-2.5-flash",
        n_calls=2,
    ),
    row(
        "gemini-rate-limit",
        "https://github.com/vercel/ai/blob/main/packages/google/src/__fixtures__/google-429-retry-info.json",
        once(
            gemini_error(
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota, please check your plan and billing details.",
                details=[{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.05s"}],
            )
        ),
        n_calls=2,
    ),
    row(
        "gemini-rate-limit-for-good",
        "https://github.com/n4ze3m/page-assist/issues/406",
        always(gemini_error(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).")),
        status="rate_limited",
        says="HTTP 429: Resource has been exhausted (e.g. check quota). (429)",
        n_calls=6,
    ),
    row(
        "gemini-wrong-key",
        "https://github.com/continuedev/continue/issues/10530",
        always(gemini_error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")),
        status="stops",
        says=(
            "refused the key (HTTP 400): API key not valid. Please pass a valid API key. "
            "(400). Check GEMINI_API_KEY."
        ),
    ),
    row(
        "gemini-no-logprobs",
        "https://github.com/mscraftsman/generative-ai/issues/135",
        without(
            "logprobs",
            refusal=gemini_error(
                400, "INVALID_ARGUMENT", "Logprobs is not enabled for models/gemini-2.5-pro"
            ),
        ),
        model="gemini/gemini-2.5-pro",
        ask={"top_logprobs": 5},
    ),
    row(
        "gemini-unknown-field",
        "https://github.com/FuzzAnything/PromptFuzz/issues/42",
        without(
            "reasoning",
            refusal=gemini_error(
                400,
                "INVALID_ARGUMENT",
                'Invalid JSON payload received. Unknown name "reasoning": Cannot find field.',
            ),
        ),
        status="stops",
        says=(
            "refused 'reasoning' of extra: Invalid JSON payload received. Unknown name "
            '"reasoning": Cannot find field.'
        ),
        n_calls=0,
        settings={"extra": {"reasoning": {"effort": "low"}}},
    ),
    row(
        "gemini-prompt-too-long",
        "https://github.com/lbjlaq/Antigravity-Manager/issues/341",
        always(
            gemini_error(
                400,
                "INVALID_ARGUMENT",
                "The input token count exceeds the maximum number of tokens allowed 1048576.",
            )
        ),
        status="error",
        says=(
            "refused the request: The input token count exceeds the maximum number of tokens allowed 1048576."
        ),
    ),
    row(
        "gemini-unsafe",
        "https://github.com/HKUDS/Vibe-Trading/pull/308",
        always(lambda request: chat(request, "", finish_reason="PROHIBITED_CONTENT")),
        status="refused",
        says="cut off by the provider's content filter",
    ),
    row(
        "gemini-unsafe-stream",
        "https://github.com/HKUDS/Vibe-Trading/pull/308",
        always(lambda request: chat(request, "", finish_reason="SAFETY")),
        status="refused",
        says="cut off by the provider's content filter",
        ask=STREAM,
    ),
)
