"""Dialects of Together AI; what a row says, see server.py."""

from tests.support.dialects.server import (
    Dialect,
    always,
    error,
    once,
    page,
)
from tests.support.dialects.ways import LONG, full, thinks

TOGETHER_ERRORS = "https://support.together.ai/articles/1067567273-error-codes-explanations-and-solutions"

TOGETHER = (
    Dialect(
        "together-reasoner",
        "together/moonshotai/Kimi-K3",
        "https://github.com/anomalyco/models.dev/tree/dev/providers/togetherai/models",
        thinks(700, where="reasoning_content", counted="usage"),
    ),
    Dialect(
        "together-both-names-of-thought",
        "together/zai-org/GLM-5",
        "https://github.com/vllm-project/vllm/pull/27752",
        thinks(700, where="both", counted="nowhere"),
    ),
    Dialect(  # the words are ours
        "together-too-long-by-403",
        "together/meta-llama/x",
        TOGETHER_ERRORS,
        full(
            1100,
            error(
                403,
                (
                    "The combined total of the input token count and max_tokens parameter must be "
                    "less than the context length of the model being queried."
                ),
            ),
        ),
        n_calls=3,  # 4,100 tokens: 2,050, and 1,025, which fit
        settings=LONG,
    ),
    Dialect(
        "together-prompt-too-long",
        "together/meta-llama/x",
        "https://portkey.ai/error-library/input-validation-error-10151",
        always(
            error(
                400,
                (
                    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. "
                    "Given: 4215 `inputs` tokens and 100 `max_new_tokens`"
                ),
                kind="input_validation_error",
            )
        ),
        status="error",
        says="must be <= 4097. Given: 4215",
    ),
    Dialect(  # the words are ours
        "together-no-money",
        "together/meta-llama/x",
        TOGETHER_ERRORS,
        always(error(402, "The account linked with the API key has reached its spending limit.")),
        status="stops",
        says="no quota left: The account linked with the API key has reached its spending limit.",
    ),
    Dialect(  # the words are ours
        "together-overloaded",
        "together/meta-llama/x",
        TOGETHER_ERRORS,
        once(error(503, "Engine overloaded", kind="overloaded")),
        n_calls=2,
    ),
    Dialect(
        "together-web-server-down",
        "together/meta-llama/x",
        "https://pub.dev/documentation/together_ai_sdk/latest/together_ai_sdk/together_ai_sdk-library.html",
        always(page(520, "api.together.xyz | 520: Web server is returning an unknown error")),
        status="error",
        says="HTTP 520: a web page, 'api.together.xyz | 520: Web server is returning an unknown error'",
        n_calls=6,
    ),
)
