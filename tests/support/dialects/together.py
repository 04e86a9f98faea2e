"""Dialects of Together AI; what a row says, see server.py."""

from functools import partial

from tests.support.dialects.server import (
    Dialect,
    always,
    error,
    once,
    page,
)
from tests.support.dialects.ways import LONG, full, thinks

TOGETHER_ERRORS = "https://support.together.ai/articles/1067567273-error-codes-explanations-and-solutions"

row = partial(Dialect, model="together/meta-llama/x")

TOGETHER = (
    row(
        "together-reasoner",
        "https://github.com/anomalyco/models.dev/tree/dev/providers/togetherai/models",
        thinks(700, where="reasoning_content", counted="usage"),
        model="together/moonshotai/Kimi-K3",
    ),
    row(
        "together-both-names-of-thought",
        "https://github.com/vllm-project/vllm/pull/27752",
        thinks(700, where="both", counted="nowhere"),
        model="together/zai-org/GLM-5",
    ),
    row(  # the words are ours
        "together-too-long-by-403",
        TOGETHER_ERRORS,
        full(
            1100,
            error(
                "The combined total of the input token count and max_tokens parameter must be "
                "less than the context length of the model being queried.",
                status=403,
            ),
        ),
        n_calls=3,  # 4,100 tokens: 2,050, and 1,025, which fit
        settings=LONG,
    ),
    row(
        "together-prompt-too-long",
        "https://portkey.ai/error-library/input-validation-error-10151",
        always(
            error(
                "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. "
                "Given: 4215 `inputs` tokens and 100 `max_new_tokens`",
                kind="input_validation_error",
            )
        ),
        status="error",
        says="must be <= 4097. Given: 4215",
    ),
    row(  # the words are ours
        "together-no-money",
        TOGETHER_ERRORS,
        always(error("The account linked with the API key has reached its spending limit.", status=402)),
        status="stops",
        says="no quota left: The account linked with the API key has reached its spending limit.",
    ),
    row(  # the words are ours
        "together-overloaded",
        TOGETHER_ERRORS,
        once(error("Engine overloaded", status=503, kind="overloaded")),
        n_calls=2,
    ),
    row(
        "together-web-server-down",
        "https://pub.dev/documentation/together_ai_sdk/latest/together_ai_sdk/together_ai_sdk-library.html",
        always(page(520, "api.together.xyz | 520: Web server is returning an unknown error")),
        status="error",
        says="HTTP 520: a web page, 'api.together.xyz | 520: Web server is returning an unknown error'",
        n_calls=6,
    ),
)
