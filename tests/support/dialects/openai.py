"""Dialects of OpenAI; what a row says, see server.py."""

from tests.support.dialects.server import (
    Dialect,
    always,
    chat,
    error,
    once,
)
from tests.support.dialects.ways import capped, openai_reasoner, thinks, without

OPENAI = (
    Dialect(
        "openai-reasoner",
        "openai/gpt-5.4-mini",
        "https://github.com/griptape-ai/ComfyUI-Griptape/issues/312",
        openai_reasoner,
    ),
    Dialect(
        "openai-reasoner-asked-for-logprobs",
        "openai/gpt-5.4-mini",
        "https://github.com/vllm-project/vllm/pull/23319",
        openai_reasoner,
        ask={"top_logprobs": 5},
    ),
    Dialect(
        "openai-reasoner-asked-for-a-temperature",
        "openai/gpt-5.4",
        "https://github.com/johny-b/llmcomp/issues/69",
        openai_reasoner,
        settings={"temperature": 0.3},
    ),
    Dialect(
        "openai-long-thought",
        "openai/o3",
        "https://platform.openai.com/docs/guides/reasoning",
        thinks(6000),
    ),
    Dialect(
        "openai-thought-without-end",
        "openai/o3",
        "https://platform.openai.com/docs/guides/reasoning",
        always(thinks(10**9)),
        status="unparsable",
        # The name says that it thinks: 4,096 + 100 tokens at first, then 4 times the room.
        says=(
            "cut off at 16,484 tokens, of which 16,484 were reasoning. Give the model more "
            'room to think, e.g. reasoning_tokens = 65936 in [models."openai/o3"]'
        ),
        n_calls=2,
    ),
    Dialect(
        "openai-unknown-field",
        "openai/gpt-4.1",
        "https://github.com/nashsu/llm_wiki/issues/336",
        without("thinking", refusal=error(400, "Unrecognized request argument supplied: thinking")),
        status="stops",
        says=(
            "refused 'thinking' of extra: Unrecognized request argument supplied: "
            "thinking. Change it, or take it out."
        ),
        n_calls=0,
        settings={"extra": {"thinking": {"type": "enabled"}}},
    ),
    Dialect(
        "openai-limit-of-the-model",
        "openai/gpt-4o",
        "https://github.com/tailcallhq/forgecode/issues/1185",
        capped(
            16384,
            error(
                400,
                (
                    "max_tokens is too large: 20100. This model supports at most 16384 completion "
                    "tokens, whereas you provided 20100."
                ),
                param="max_tokens",
                code="invalid_value",
            ),
        ),
        settings={"reasoning_tokens": 20_000},
    ),
    Dialect(
        "openai-prompt-too-long",
        "openai/gpt-4o",
        "https://github.com/mbchang/data-driven-characters/issues/6",
        always(
            error(
                400,
                (
                    "This model's maximum context length is 4097 tokens. However, your messages "
                    "resulted in 4215 tokens. Please reduce the length of the messages."
                ),
                param="messages",
                code="context_length_exceeded",
            )
        ),
        status="error",
        says=(
            "refused the request: This model's maximum context length is 4097 tokens. "
            "However, your messages resulted in 4215 tokens. Please reduce the length of "
            "the messages."
        ),
    ),
    Dialect(
        "openai-prompt-too-long-for-gpt-5",
        "openai/gpt-5",
        "https://github.com/cline/cline/issues/5474",
        always(
            error(
                400,
                (
                    "Input tokens exceed the configured limit of 272000 tokens. Your messages "
                    "resulted in 289650 tokens. Please reduce the length of the messages."
                ),
                code="context_length_exceeded",
            )
        ),
        status="error",
        says="Please reduce the length of the messages.",
        n_calls=7,  # 4,196 tokens, halved while room to think is left: 2098, 1049, 524, 262, 131, 100
    ),
    Dialect(
        "openai-no-quota",
        "openai/gpt-4o",
        "https://github.com/ChatGPTNextWeb/NextChat/issues/3123",
        always(
            error(
                429,
                "You exceeded your current quota, please check your plan and billing details.",
                kind="insufficient_quota",
                code="insufficient_quota",
            )
        ),
        status="stops",
        says="the account has no quota left: You exceeded your current quota, please check your plan",
    ),
    Dialect(
        "openai-rate-limit-with-seconds",
        "openai/gpt-4o",
        "https://platform.openai.com/docs/guides/rate-limits",
        once(
            error(429, "Rate limit reached for gpt-4o on requests per min", headers={"retry-after": "0.05"})
        ),
        n_calls=2,
    ),
    Dialect(
        "openai-rate-limit-with-words",
        "openai/gpt-4o",
        "https://platform.openai.com/docs/guides/rate-limits",
        once(
            error(
                429,
                "Rate limit reached for gpt-4o: Limit 30000, Used 29000. Please try again in 60ms.",
                code="rate_limit_exceeded",
            )
        ),
        n_calls=2,
    ),
    Dialect(
        "openai-rate-limit-for-good",
        "openai/gpt-4o",
        "https://platform.openai.com/docs/guides/rate-limits",
        always(error(429, "Rate limit reached for gpt-4o on requests per min", code="rate_limit_exceeded")),
        status="rate_limited",
        says="HTTP 429: Rate limit reached for gpt-4o on requests per min",
        n_calls=6,
    ),
    Dialect(
        "openai-cloudflare-in-json",
        "openai/gpt-4o",
        "https://github.com/ferrislucas/promptr/issues/32",
        once(error(524, "Gateway timeout.", kind="cf_gateway_timeout", code=524)),
        n_calls=2,
    ),
    Dialect(
        "openai-refusal",
        "openai/gpt-4o",
        "https://platform.openai.com/docs/guides/structured-outputs#refusals",
        always(lambda request: chat(request, "", refusal="I'm sorry, I can't assist with that request.")),
        status="refused",
        says="the model refused: I'm sorry, I can't assist with that request.",
    ),
    Dialect(
        "openai-wrong-key",
        "openai/gpt-4o",
        "https://platform.openai.com/docs/guides/error-codes",
        always(error(401, "Incorrect API key provided: sk-12***6789.", code="invalid_api_key")),
        status="stops",
        says=(
            "refused the key (HTTP 401): Incorrect API key provided: sk-12***6789. "
            "(invalid_api_key). Check OPENAI_API_KEY."
        ),
    ),
    Dialect(
        "openai-not-in-this-country",
        "openai/gpt-4o",
        "https://platform.openai.com/docs/guides/error-codes",
        always(
            error(
                403,
                "Country, region, or territory not supported",
                code="unsupported_country_region_territory",
            )
        ),
        status="stops",
        says=(
            "HTTP 403): Country, region, or territory not supported "
            "(unsupported_country_region_territory). Check OPENAI_API_KEY, and what its "
            "account may use."
        ),
    ),
    Dialect(
        "openai-unknown-model",
        "openai/gpt-4oo",
        "https://platform.openai.com/docs/guides/error-codes",
        always(
            error(
                404,
                "The model `gpt-4oo` does not exist or you do not have access to it.",
                code="model_not_found",
            )
        ),
        status="stops",
        says="Check the model's name and base_url",
    ),
)
