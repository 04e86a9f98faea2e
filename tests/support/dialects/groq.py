"""Dialects of Groq; what a row says, see server.py."""

from functools import partial

from tests.support.dialects.server import (
    Dialect,
    always,
    error,
    once,
)
from tests.support.dialects.ways import CUT, capped, knows, thinks, without

JSON_FAILED = "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details."

row = partial(Dialect, model="groq/llama-x")

GROQ = (
    row(
        "groq-reasoner",
        "https://github.com/groq/groq-python/blob/main/src/groq/types/chat/chat_completion_message.py",
        thinks(700, where="reasoning"),
        model="groq/openai/gpt-oss-120b",
    ),
    row(
        "groq-raw-thought",
        "https://console.groq.com/docs/reasoning",
        thinks(3000, where="think", counted="nowhere"),
        model="groq/qwen3.6-27b",
    ),
    row(
        "groq-json-failed",
        "https://github.com/build-with-groq/g1/pull/23",
        once(error(JSON_FAILED, code="json_validate_failed", failed_generation=CUT)),
        n_calls=2,
    ),
    row(
        "groq-json-failed-for-good",
        "https://github.com/thepersonalaicompany/amurex-backend/issues/38",
        always(error(JSON_FAILED, code="json_validate_failed", failed_generation="It is blue.")),
        status="unparsable",
        says="no JSON object in the reply 'It is blue.'",
        n_calls=2,
    ),
    row(
        "groq-tool-failed",
        "https://github.com/lucagrippa/obsidian-ai-tagger/issues/34",
        always(
            error(
                "Failed to call a function. Please adjust your prompt. See 'failed_generation' "
                "for more details.",
                code="tool_use_failed",
                failed_generation="",
            )
        ),
        status="unparsable",
        says="the reply is empty",
        n_calls=2,
    ),
    row(  # the words are ours
        "groq-no-schema",
        "https://github.com/vercel/ai/issues/7808 and https://github.com/vercel/ai/issues/7303",
        knows(
            "text",
            refusals={
                "json_schema": error(
                    "'response_format' : one of the following must be "
                    "satisfied[('response_format.type' : value is not one of the allowed values "
                    "['text']) OR ('response_format.type' : value is not one of the allowed values "
                    "['json_object'])]"
                ),
                "tool": error("`tool calling` is not supported with this model"),
                "json_object": error(
                    "'messages' must contain the word 'json' in some form, to use "
                    "'response_format' of type 'json_object'."
                ),
            },
        ),
    ),
    row(
        "groq-no-logprobs",
        "https://github.com/groq/groq-python/issues/25",
        without("logprobs", refusal=error("`logprobs` is not supported with this model")),
        ask={"top_logprobs": 5},
    ),
    row(  # the words are ours
        "groq-unknown-field",
        "https://github.com/ServiceStack/llms/issues/17",
        without("verbosity", refusal=error("property 'verbosity' is unsupported")),
        status="stops",
        says="refused 'verbosity' of extra: property 'verbosity' is unsupported.",
        n_calls=0,
        settings={"extra": {"verbosity": "low"}},
    ),
    row(
        "groq-limit-of-the-model",
        "https://github.com/skapadia3214/groq-moa/issues/8",
        capped(8000, error("max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000")),
        model="groq/llama-3.1-8b-instant",
        settings={"reasoning_tokens": 9000},
    ),
    row(
        "groq-model-withdrawn",
        "https://github.com/valentinfrlch/ha-llmvision/issues/311",
        always(
            error(
                "The model `llama-3.1-8b-instant` has been decommissioned and is no longer "
                "supported. Please refer to https://console.groq.com/docs/deprecations",
                code="model_decommissioned",
            )
        ),
        model="groq/llama-3.1-8b-instant",
        status="stops",
        says="has been decommissioned and is no longer supported",
    ),
    row(
        "groq-more-than-a-minute-gives",
        "https://github.com/cottongeeks/podscript/issues/20",
        always(
            error(
                "Request too large for model `llama-3.3-70b-versatile` on tokens per minute "
                "(TPM): Limit 6000, Requested 10338, please reduce your message size and try "
                "again.",
                status=413,
                kind="tokens",
                code="rate_limit_exceeded",
            )
        ),
        model="groq/llama-3.3-70b-versatile",
        status="error",
        says="Limit 6000, Requested 10338, please reduce your message size and try again.",
    ),
    row(
        "groq-day-is-used-up",
        "https://github.com/continuedev/continue/issues/10920",
        always(
            error(
                "Rate limit reached for model `llama-3.3-70b-versatile` on tokens per day "
                "(TPD): Limit 100000, Used 97050, Requested 3619. Please try again in "
                "1h9m38.016s.",
                status=429,
                code="rate_limit_exceeded",
            )
        ),
        model="groq/llama-3.3-70b-versatile",
        status="rate_limited",
        says="(wait 70 min)",  # 3600 + 9 * 60 + 38.016 s
    ),
    row(
        "groq-rate-limit",
        "https://console.groq.com/docs/rate-limits",
        once(
            error(
                "Rate limit reached for model `llama-x` on tokens per minute (TPM). Please try "
                "again in 0.05s.",
                status=429,
                code="rate_limit_exceeded",
                headers={"x-ratelimit-reset-requests": "2m59.56s", "x-ratelimit-reset-tokens": "172ms"},
            )
        ),
        n_calls=2,
    ),
    row(  # the words are ours
        "groq-flex-is-full",
        "https://console.groq.com/docs/flex-processing",
        once(error("Flex tier capacity exceeded", status=498, code="capacity_exceeded")),
        n_calls=2,
        settings={"extra": {"service_tier": "flex"}},
    ),
    row(  # the words are ours
        "groq-flex-is-full-for-good",
        "https://www.developersdigest.tech/errors/api/groq-api/498-flex-tier-capacity-exceeded",
        always(error("Flex tier capacity exceeded", status=498, code="capacity_exceeded")),
        status="rate_limited",
        says="HTTP 498: Flex tier capacity exceeded (capacity_exceeded)",
        n_calls=6,
    ),
    row(  # the words are ours
        "groq-cancelled-on-its-way",
        "https://www.developersdigest.tech/errors/api/groq-api",
        once(error("Request Cancelled", status=499)),
        n_calls=2,
    ),
)
