"""Any provider that the optional package litellm knows; its errors become our statuses."""

import asyncio
import contextlib
import logging
import os
import re
import threading
import time
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any

import msgspec

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.errors import ModelError, optional_package
from ragstone.kernel.llm._reasoning import with_reasoning
from ragstone.kernel.llm.failures import CallFailed, Unreachable
from ragstone.kernel.llm.keys import hide
from ragstone.kernel.llm.limits import retry_after_s_of, wait_text
from ragstone.kernel.llm.prompt import CONTENT_FILTER, Completion, Prompt, read_logprobs
from ragstone.kernel.llm.providers import Provider
from ragstone.kernel.llm.transport import Dialect, Endpoint, Rephrase, Where, refused_extra
from ragstone.kernel.records import told_usage

DEFAULT_CONCURRENCY = 32  # litellm takes some ms of processor time a call: more at once gain nothing
DEFAULT_TIMEOUT_S = 60.0
PATIENCE_S = 120.0  # who asks to be left alone for longer has no quota left for today
# Ways to ask for JSON, the strictest first; a model that refuses one is asked by the next.
MODES = ("json_schema", "json_object", "text")
# Before it is imported: no price list from the network, no .env file read.
QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
}
FILTERED = {"content_filter", "content_policy_violation"}  # codes of errors that litellm does not tell apart
IMPORTING = threading.Lock()


@contextlib.asynccontextmanager
async def open_litellm(
    provider: Provider, model: str, settings: ModelSettings, where: Where
) -> AsyncIterator[Endpoint]:
    """Give the endpoint of a model named as litellm does, e.g. `anthropic/claude-sonnet-4-5`.

    The package is imported when the first call is made, so that a run which the ledger answers needs it
    not: then MissingExtra without it. The key is in the provider's own variable, or in the one that the
    settings name.
    """
    model, identity = f"{provider.prefix}{model}", f"{provider.name}/{model}"
    timeout_s = settings.timeout_s or DEFAULT_TIMEOUT_S
    key = os.environ.get(settings.api_key_env, "").strip() if settings.api_key_env else ""
    dialect = Dialect(modes=MODES, partial=True)
    loaded: list[ModuleType] = []

    async def send(prompt: Prompt) -> Completion:
        if settings.api_key_env and not key:
            raise ModelError(f"{identity}: no key. Set the environment variable {settings.api_key_env}.")
        if not loaded:
            loaded.append(await asyncio.to_thread(_load, model))
        litellm, form = loaded[0], dialect.copy()
        body = _body(prompt, form.way) | {"model": model, "timeout": timeout_s, "num_retries": 0}
        body |= {"api_key": key} if key else {}
        body |= {"api_base": settings.base_url} if settings.base_url else {}
        headers = {name: value.replace("{key}", key) for name, value in settings.headers.items()}
        body |= {"extra_headers": headers} if headers else {}
        body |= settings.extra
        started = time.perf_counter()
        try:
            async with asyncio.timeout(timeout_s):
                reply = await litellm.acompletion(**body, max_retries=0, drop_params=True)
        except TimeoutError:
            raise CallFailed("timeout", f"litellm/{model} did not answer in time", retryable=True) from None
        except litellm.exceptions.openai.OpenAIError as mistake:
            failure = _failure(model, mistake, key)
            if isinstance(failure, _Refused):
                field = refused_extra(str(failure), settings.extra)
                if field is not None:
                    reason = f"{where('extra', field)}: {field!r} of extra was refused. {failure}"
                    raise ModelError(reason) from None
                if dialect.learn_form(form, prompt):
                    raise Rephrase(str(failure)) from None
            raise failure from None
        dialect.took(form, prompt)
        return _completion(reply, prompt.top_logprobs, time.perf_counter() - started)

    address = f"@{re.sub(r'^https?://([^/@]*@)?', '', settings.base_url)}" if settings.base_url else ""
    concurrency = settings.max_concurrency or DEFAULT_CONCURRENCY
    try:
        yield Endpoint(
            identity=f"{identity}{address}", send=send, concurrency=concurrency, price=None, dialect=dialect
        )
    finally:
        for litellm in loaded:
            await litellm.close_litellm_async_clients()


class _Refused(CallFailed):
    """A request that the provider does not take as it is."""

    def __init__(self, message: str) -> None:
        super().__init__("error", message)


def _load(model: str) -> ModuleType:
    """Return the package, silent: no telemetry, no logging, no download of prices or tokenisers."""
    with IMPORTING:
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        with optional_package(f"the model litellm/{model}", "litellm"):
            import litellm
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.disable_hf_tokenizer_download = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    package: ModuleType = litellm
    return package


def _body(prompt: Prompt, mode: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "messages": msgspec.to_builtins(prompt.messages),
    }
    sampling = {"max_tokens": prompt.limit, "temperature": prompt.temperature, "top_p": prompt.top_p}
    body |= {name: value for name, value in sampling.items() if value is not None}
    if prompt.top_logprobs is not None:
        body |= {"logprobs": True, "top_logprobs": prompt.top_logprobs}
    if prompt.form is None or prompt.schema is None or mode == "text":
        return body
    if mode == "json_object":
        return body | {"response_format": {"type": "json_object"}}
    name = re.sub(r"[^\w-]", "_", prompt.form.__name__, flags=re.ASCII)[:64]
    reply_schema = {"name": name, "strict": True, "schema": msgspec.json.decode(prompt.schema)}
    return body | {"response_format": {"type": "json_schema", "json_schema": reply_schema}}


def _completion(reply: Any, top_logprobs: int | None, latency_s: float) -> Completion:
    """Return what litellm's reply holds: an object whose optional fields are often not there at all."""
    if not reply.choices:
        raise Unreachable("litellm gave a reply without choices. Check base_url and the model's name.")
    choice = reply.choices[0]
    usage = getattr(reply, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    thought = getattr(getattr(usage, "completion_tokens_details", None), "reasoning_tokens", None)
    text, reasoning = choice.message.content or "", getattr(choice.message, "reasoning_content", None)
    refusal = (getattr(choice.message, "provider_specific_fields", None) or {}).get("refusal")
    filtered = CONTENT_FILTER if choice.finish_reason == "content_filter" else None
    logprobs = None
    if top_logprobs is not None:
        logprobs = read_logprobs(getattr(choice, "logprobs", None), top_logprobs)
    used = told_usage(
        getattr(usage, "prompt_tokens", None),
        getattr(usage, "completion_tokens", None),
        cached=getattr(details, "cached_tokens", None),
        reasoning=thought,
    )
    return Completion(
        text=text,
        reasoning=reasoning,
        finish_reason=choice.finish_reason,
        refusal=refusal or filtered,
        usage=with_reasoning(used, text, reasoning),
        latency_s=round(latency_s, 4),
        logprobs=logprobs,
    )


def _failure(model: str, mistake: Exception, key: str) -> ModelError:
    """Return what an error of litellm means: stop everything, try again, or give up this row.

    Errors are told by the names of their classes, the most particular first: those stay from version to
    version, while the tree of them changes.
    """
    kinds = {kind.__name__ for kind in type(mistake).__mro__}
    reason = hide(" ".join(str(mistake).split()), [key])[:400]
    message = f"litellm/{model}: {reason}"
    if kinds & {"AuthenticationError", "PermissionDeniedError"}:
        return ModelError(f"{message}. Check the key's environment variable.")
    if "NotFoundError" in kinds or "LLM Provider NOT provided" in message:
        return ModelError(f"{message}. Check the model's name: litellm/PROVIDER/MODEL.")
    if "PaymentRequiredError" in kinds or "insufficient_quota" in message:
        return ModelError(f"{message}. The account has no quota left.")
    if "ContentPolicyViolationError" in kinds or getattr(mistake, "code", None) in FILTERED:
        return CallFailed("refused", message, raw=message)
    if "ContextWindowExceededError" in kinds:
        return CallFailed("error", f"{message}. Give fewer or shorter contexts.")
    if kinds & {"Timeout", "APITimeoutError"}:
        return CallFailed("timeout", message, retryable=True)
    if "RateLimitError" in kinds:
        return _rate_limited(mistake, message)
    if kinds & {"BadRequestError", "UnprocessableEntityError"}:
        return _Refused(message)
    if "APIConnectionError" in kinds:
        return Unreachable(message)
    return CallFailed("error", message, retryable=True)


def _rate_limited(mistake: Exception, message: str) -> CallFailed:
    headers = getattr(mistake, "litellm_response_headers", None) or {}
    known = {name: str(value) for name, value in headers.items()}
    wait_headers = {"Retry-After": known.get("retry-after", ""), "Date": known.get("date", "")}
    retry_after_s = retry_after_s_of(wait_headers)
    if retry_after_s is None:
        return CallFailed("rate_limited", message, retryable=True)
    if retry_after_s > PATIENCE_S:
        return CallFailed("rate_limited", f"{message} (wait {wait_text(retry_after_s)})")
    return CallFailed("rate_limited", message, retryable=True, retry_after_s=retry_after_s)
