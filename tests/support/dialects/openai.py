"""Dialects of OpenAI; what a row says, see server.py."""

from functools import partial

from tests.support.dialects.server import (
    Dialect,
    always,
    chat,
    error,
    once,
)
from tests.support.dialects.ways import capped, openai_reasoner, thinks, without

row = partial(Dialect, model="openai/gpt-4o")

OPENAI = (
    row(
        "openai-reasoner",
        "https://github.com/griptape-ai/ComfyUI-Griptape/issues/312",
        openai_reasoner,
        model="openai/gpt-5.4-mini",
    ),
    row(
        "openai-reasoner-asked-for-logprobs",
        "https://github.com/vllm-project/vllm/pull/23319",
        openai_reasoner,
        model="openai/gpt-5.4-mini",
        ask={"top_logprobs": 5},
    ),
    row(
        "openai-reasoner-asked-for-a-temperature",
        "https://github.com/johny-b/llmcomp/issues/69",
        openai_reasoner,
        model="openai/gpt-5.4",
        settings={"temperature": 0.3},
    ),
    row(
        "openai-long-thought",
        "https://platform.openai.com/docs/guides/reasoning",
        thinks(6000),
        model="openai/o3",
    ),
    row(
        "openai-thought-without-end",
        "https://platform.openai.com/docs/guides/reasoning",
        always(thinks(10**9)),
        model="openai/o3",
        status="unparsable",
        # The name says that it thinks: 4,096 + 100 tokens at first, then 4 times the room.
        says=(
            "cut off at 16,484 tokens, of which 16,484 were reasoning. Give the model more "
            'room to think, e.g. reasoning_tokens = 65936 in [models."openai/o3"]'
        ),
        n_calls=2,
    ),
    row(
        "openai-unknown-field",
        "https://github.com/nashsu/llm_wiki/issues/336",
        without("thinking", refusal=error("Unrecognized request argument supplied: thinking")),
        model="openai/gpt-4.1",
        status="stops",
        says=(
            "refused 'thinking' of extra: Unrecognized request argument supplied: "
            "thinking. Change it, or remove it."
        ),
        n_calls=0,
        settings={"extra": {"thinking": {"type": "enabled"}}},
    ),
    row(
        "openai-limit-of-the-model",
        "https://github.com/tailcallhq/forgecode/issues/1185",
        capped(
            16384,
            error(
                "max_tokens is too large: 20100. This model supports at most 16384 completion "
                "tokens, whereas you provided 20100.",
                param="max_tokens",
                code="invalid_value",
            ),
        ),
        settings={"reasoning_tokens": 20_000},
    ),
    row(
        "openai-prompt-too-long",
        "https://github.com/mbchang/data-driven-characters/issues/6",
        always(
            error(
                "This model's maximum context length is 4097 tokens. However, your messages "
                "resulted in 4215 tokens. Please reduce the length of the messages.",
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
    row(
        "openai-prompt-too-long-for-gpt-5",
        "https://github.com/cline/cline/issues/5474",
        always(
            error(
                "Input tokens exceed the configured limit of 272000 tokens. Your messages "
                "resulted in 289650 tokens. Please reduce the length of the messages.",
                code="context_length_exceeded",
            )
        ),
        model="openai/gpt-5",
        status="error",
        says="Please reduce the length of the messages.",
        n_calls=7,  # 4,196 tokens, halved while room to think is left: 2098, 1049, 524, 262, 131, 100
    ),
    row(
        "openai-no-quota",
        "https://github.com/ChatGPTNextWeb/NextChat/issues/3123",
        always(
            error(
                "You exceeded your current quota, please check your plan and billing details.",
                status=429,
                kind="insufficient_quota",
                code="insufficient_quota",
            )
        ),
        status="stops",
        says="the account has no quota left: You exceeded your current quota, please check your plan",
    ),
    row(
        "openai-rate-limit-with-seconds",
        "https://platform.openai.com/docs/guides/rate-limits",
        once(
            error(
                "Rate limit reached for gpt-4o on requests per min",
                status=429,
                headers={"retry-after": "0.05"},
            )
        ),
        n_calls=2,
    ),
    row(
        "openai-rate-limit-with-words",
        "https://platform.openai.com/docs/guides/rate-limits",
        once(
            error(
                "Rate limit reached for gpt-4o: Limit 30000, Used 29000. Please try again in 60ms.",
                status=429,
                code="rate_limit_exceeded",
            )
        ),
        n_calls=2,
    ),
    row(
        "openai-rate-limit-for-good",
        "https://platform.openai.com/docs/guides/rate-limits",
        always(
            error("Rate limit reached for gpt-4o on requests per min", status=429, code="rate_limit_exceeded")
        ),
        status="rate_limited",
        says="HTTP 429: Rate limit reached for gpt-4o on requests per min",
        n_calls=6,
    ),
    row(
        "openai-cloudflare-in-json",
        "https://github.com/ferrislucas/promptr/issues/32",
        once(error("Gateway timeout.", status=524, kind="cf_gateway_timeout", code=524)),
        n_calls=2,
    ),
    row(
        "openai-refusal",
        "https://platform.openai.com/docs/guides/structured-outputs#refusals",
        always(lambda request: chat(request, "", refusal="I'm sorry, I can't assist with that request.")),
        status="refused",
        says="the model refused: I'm sorry, I can't assist with that request.",
    ),
    row(
        "openai-wrong-key",
        "https://platform.openai.com/docs/guides/error-codes",
        always(error("Incorrect API key provided: sk-12***6789.", status=401, code="invalid_api_key")),
        status="stops",
        says=(
            "refused the key (HTTP 401): Incorrect API key provided: sk-12***6789. "
            "(invalid_api_key). Check OPENAI_API_KEY."
        ),
    ),
    row(
        "openai-not-in-this-country",
        "https://platform.openai.com/docs/guides/error-codes",
        always(
            error(
                "Country, region, or territory not supported",
                status=403,
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
    row(
        "openai-unknown-model",
        "https://platform.openai.com/docs/guides/error-codes",
        always(
            error(
                "The model `gpt-4oo` does not exist or you do not have access to it.",
                status=404,
                code="model_not_found",
            )
        ),
        model="openai/gpt-4oo",
        status="stops",
        says=(
            "HTTP 404: The model `gpt-4oo` does not exist or you do not have access to it. "
            "(model_not_found). Check the model's name and base_url"
        ),
    ),
)
