"""Dialects of OpenRouter; what a row says, see server.py."""

from functools import partial

from tests.support.dialects.server import (
    Dialect,
    Response,
    always,
    chat,
    events,
    once,
    page,
    reply,
    said,
)
from tests.support.dialects.ways import STREAM, THOUGHT, knows, thinks, without


def router_error(status: int, words: str, **metadata: object) -> dict[str, object]:
    """Return an error of OpenRouter's, whose code is a number."""
    return {"error": {"code": status, "message": words, **({"metadata": metadata} if metadata else {})}}


ROUTER_ERRORS = "https://openrouter.ai/docs/api/reference/errors-and-debugging"
NO_ENDPOINT = (
    "No endpoints found that support tool use. To learn more about provider "
    "routing, visit: https://openrouter.ai/docs/guides/routing/provider-selection"
)
UPSTREAM = (
    '{"error":{"message":"Unsupported parameter: \'max_tokens\' is not supported '
    "with this model. Use 'max_completion_tokens' instead.\"}}"
)

row = partial(Dialect, model="openrouter/meta/llama-x")

OPENROUTER = (
    row(
        "openrouter",
        "https://openrouter.ai/docs/use-cases/reasoning-tokens",
        thinks(700, where="reasoning"),
        model="openrouter/deepseek/deepseek-r1",
    ),
    row(
        "openrouter-no-credits",
        ROUTER_ERRORS,
        always(
            reply(
                router_error(
                    402, "Insufficient credits. Add more using https://openrouter.ai/settings/credits"
                ),
                status=402,
            )
        ),
        status="stops",
        says="no quota left: Insufficient credits. Add more using https://openrouter.ai/settings/credits",
    ),
    row(
        "openrouter-moderation",
        "https://openrouter.ai/docs/api/errors",
        always(
            reply(
                router_error(
                    403,
                    "Input was flagged",
                    reasons=["violence"],
                    flagged_input="the odd",
                    provider_name="OpenAI",
                    model_slug="x",
                ),
                status=403,
            )
        ),
        status="refused",
        says="content filter refused the text: Input was flagged",
    ),
    row(  # the words are ours
        "openrouter-no-endpoint-with-tools",
        "https://github.com/musistudio/claude-code-router/issues/251",
        knows(
            "json_object",
            refusals={
                "json_schema": reply(
                    router_error(400, "json_schema response format is not supported by this provider"),
                    status=400,
                ),
                "tool": reply(router_error(404, NO_ENDPOINT), status=404),
            },
        ),
    ),
    row(
        "openrouter-unknown-model",
        "https://github.com/truefoundry/models/pull/826",
        always(reply(router_error(404, "No endpoints found for meta/llama-y."), status=404)),
        model="openrouter/meta/llama-y",
        status="stops",
        says="HTTP 404: No endpoints found for meta/llama-y. (404). Check the model's name",
    ),
    row(
        "openrouter-error-in-a-reply",
        ROUTER_ERRORS,
        once(
            reply(
                router_error(
                    502, "Provider returned error", provider_name="BaseTen", raw="upstream went away"
                )
            )
        ),
        n_calls=2,
    ),
    row(  # the words are ours
        "openrouter-error-in-a-choice",
        ROUTER_ERRORS,
        always(
            reply(
                {
                    "choices": [
                        {
                            "index": 0,
                            "message": {"role": "assistant", "content": ""},
                            "finish_reason": "error",
                        }
                        | router_error(502, "Upstream error from Chutes")
                    ]
                }
            )
        ),
        status="error",
        says="HTTP 502: Upstream error from Chutes (502)",
        n_calls=6,
    ),
    row(
        "openrouter-rate-limit-upstream",
        "https://github.com/open-webui/computer/issues/293",
        always(
            reply(
                router_error(
                    429,
                    "Provider returned error",
                    raw=(
                        "z-ai/glm-x is temporarily rate-limited upstream. Please retry shortly, or add "
                        "your own key to accumulate your rate limits"
                    ),
                    provider_name="BaseTen",
                ),
                status=429,
            )
        ),
        model="openrouter/z-ai/glm-x",
        status="rate_limited",
        says=(
            "Provider returned error (429): z-ai/glm-x is temporarily rate-limited "
            "upstream. Please retry shortly, or add your own key"
        ),
        n_calls=6,
    ),
    row(
        "openrouter-refusal-upstream",
        ROUTER_ERRORS + " and https://github.com/musistudio/claude-code-router/issues/173",
        without(
            "max_tokens",
            refusal=reply(
                router_error(400, "Provider returned error", raw=UPSTREAM, provider_name="OpenAI"), status=400
            ),
        ),
        model="openrouter/openai/x",
    ),
    row(  # the words are ours
        "openrouter-overloaded",
        ROUTER_ERRORS,
        once(reply(router_error(529, "Provider overloaded"), status=529, headers={"Retry-After": "0.05"})),
        n_calls=2,
    ),
    row(
        "openrouter-edge-timeout",
        ROUTER_ERRORS,
        once(page(524, "openrouter.ai | 524: A timeout occurred")),
        n_calls=2,
    ),
    row(
        "openrouter-blank-lines-first",
        "https://github.com/BerriAI/litellm/issues/9551",
        lambda request: Response(b"\n         \n\n         \n" + chat(request).content),
    ),
    row(
        "openrouter-stream-with-comments",
        "https://openrouter.ai/docs/api-reference/streaming",
        lambda request: events(
            b": OPENROUTER PROCESSING\n\n",
            b": OPENROUTER PROCESSING\n\n",
            {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "", "reasoning": THOUGHT}}]},
            said("It is "),
            b": OPENROUTER PROCESSING\n\n",
            said("blue."),
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        ),
        ask=STREAM,
    ),
    row(
        "openrouter-error-in-a-stream",
        "https://github.com/OpenRouterTeam/typescript-sdk/blob/main/src/models/chatstreamchunk.ts",
        always(
            events(
                said("It is "),
                router_error(502, "Provider disconnected unexpectedly")
                | {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]},
            )
        ),
        status="error",
        says="Provider disconnected unexpectedly (502)",
        ask=STREAM,
    ),
)
