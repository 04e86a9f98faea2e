"""Dialects of Groq; what a row says, see server.py."""

from tests.support.dialects.server import (
    Dialect,
    always,
    error,
    once,
)
from tests.support.dialects.ways import CUT, capped, knows, thinks, without

JSON_FAILED = "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details."

GROQ = (
    Dialect(
        "groq-reasoner",
        "groq/openai/gpt-oss-120b",
        "https://github.com/groq/groq-python/blob/main/src/groq/types/chat/chat_completion_message.py",
        thinks(700, where="reasoning"),
    ),
    Dialect(
        "groq-raw-thought",
        "groq/qwen3.6-27b",
        "https://console.groq.com/docs/reasoning",
        thinks(3000, where="think", counted="nowhere"),
    ),
    Dialect(
        "groq-json-failed",
        "groq/llama-x",
        "https://github.com/build-with-groq/g1/pull/23",
        once(error(400, JSON_FAILED, code="json_validate_failed", failed_generation=CUT)),
        n_calls=2,
    ),
    Dialect(
        "groq-json-failed-for-good",
        "groq/llama-x",
        "https://github.com/thepersonalaicompany/amurex-backend/issues/38",
        always(error(400, JSON_FAILED, code="json_validate_failed", failed_generation="It is blue.")),
        status="unparsable",
        says="no JSON object in the reply 'It is blue.'",
        n_calls=2,
    ),
    Dialect(
        "groq-tool-failed",
        "groq/llama-x",
        "https://github.com/lucagrippa/obsidian-ai-tagger/issues/34",
        always(
            error(
                400,
                (
                    "Failed to call a function. Please adjust your prompt. See 'failed_generation' "
                    "for more details."
                ),
                code="tool_use_failed",
                failed_generation="",
            )
        ),
        status="unparsable",
        says="the reply is empty",
        n_calls=2,
    ),
    Dialect(  # the words are ours
        "groq-no-schema",
        "groq/llama-x",
        "https://github.com/vercel/ai/issues/7808 and https://github.com/vercel/ai/issues/7303",
        knows(
            "text",
            refusals={
                "json_schema": error(
                    400,
                    (
                        "'response_format' : one of the following must be "
                        "satisfied[('response_format.type' : value is not one of the allowed values "
                        "['text']) OR ('response_format.type' : value is not one of the allowed values "
                        "['json_object'])]"
                    ),
                ),
                "tool": error(400, "`tool calling` is not supported with this model"),
                "json_object": error(
                    400,
                    (
                        "'messages' must contain the word 'json' in some form, to use "
                        "'response_format' of type 'json_object'."
                    ),
                ),
            },
        ),
    ),
    Dialect(
        "groq-no-logprobs",
        "groq/llama-x",
        "https://github.com/groq/groq-python/issues/25",
        without("logprobs", refusal=error(400, "`logprobs` is not supported with this model")),
        ask={"top_logprobs": 5},
    ),
    Dialect(  # the words are ours
        "groq-unknown-field",
        "groq/llama-x",
        "https://github.com/ServiceStack/llms/issues/17",
        without("verbosity", refusal=error(400, "property 'verbosity' is unsupported")),
        status="stops",
        says="refused 'verbosity' of extra: property 'verbosity' is unsupported.",
        n_calls=0,
        settings={"extra": {"verbosity": "low"}},
    ),
    Dialect(
        "groq-limit-of-the-model",
        "groq/llama-3.1-8b-instant",
        "https://github.com/skapadia3214/groq-moa/issues/8",
        capped(8000, error(400, "max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000")),
        settings={"reasoning_tokens": 9000},
    ),
    Dialect(
        "groq-model-withdrawn",
        "groq/llama-3.1-8b-instant",
        "https://github.com/valentinfrlch/ha-llmvision/issues/311",
        always(
            error(
                400,
                (
                    "The model `llama-3.1-8b-instant` has been decommissioned and is no longer "
                    "supported. Please refer to https://console.groq.com/docs/deprecations"
                ),
                code="model_decommissioned",
            )
        ),
        status="stops",
        says="has been decommissioned and is no longer supported",
    ),
    Dialect(
        "groq-more-than-a-minute-gives",
        "groq/llama-3.3-70b-versatile",
        "https://github.com/cottongeeks/podscript/issues/20",
        always(
            error(
                413,
                (
                    "Request too large for model `llama-3.3-70b-versatile` on tokens per minute "
                    "(TPM): Limit 6000, Requested 10338, please reduce your message size and try "
                    "again."
                ),
                kind="tokens",
                code="rate_limit_exceeded",
            )
        ),
        status="error",
        says="Limit 6000, Requested 10338, please reduce your message size and try again.",
    ),
    Dialect(
        "groq-day-is-used-up",
        "groq/llama-3.3-70b-versatile",
        "https://github.com/continuedev/continue/issues/10920",
        always(
            error(
                429,
                (
                    "Rate limit reached for model `llama-3.3-70b-versatile` on tokens per day "
                    "(TPD): Limit 100000, Used 97050, Requested 3619. Please try again in "
                    "1h9m38.016s."
                ),
                code="rate_limit_exceeded",
            )
        ),
        status="rate_limited",
        says="(wait 4178 s)",  # 3600 + 9 * 60 + 38.016
    ),
    Dialect(
        "groq-rate-limit",
        "groq/llama-x",
        "https://console.groq.com/docs/rate-limits",
        once(
            error(
                429,
                (
                    "Rate limit reached for model `llama-x` on tokens per minute (TPM). Please try "
                    "again in 0.05s."
                ),
                code="rate_limit_exceeded",
                headers={"x-ratelimit-reset-requests": "2m59.56s", "x-ratelimit-reset-tokens": "172ms"},
            )
        ),
        n_calls=2,
    ),
    Dialect(  # the words are ours
        "groq-flex-is-full",
        "groq/llama-x",
        "https://console.groq.com/docs/flex-processing",
        once(error(498, "Flex tier capacity exceeded", code="capacity_exceeded")),
        n_calls=2,
        settings={"extra": {"service_tier": "flex"}},
    ),
    Dialect(  # the words are ours
        "groq-flex-is-full-for-good",
        "groq/llama-x",
        "https://www.developersdigest.tech/errors/api/groq-api/498-flex-tier-capacity-exceeded",
        always(error(498, "Flex tier capacity exceeded", code="capacity_exceeded")),
        status="rate_limited",
        says="HTTP 498: Flex tier capacity exceeded (capacity_exceeded)",
        n_calls=6,
    ),
    Dialect(  # the words are ours
        "groq-cancelled-on-its-way",
        "groq/llama-x",
        "https://www.developersdigest.tech/errors/api/groq-api",
        once(error(499, "Request Cancelled")),
        n_calls=2,
    ),
)
