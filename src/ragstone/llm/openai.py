"""Any OpenAI-compatible endpoint, over aiohttp: hosted providers, vLLM, Ollama, llama.cpp's server."""

import contextlib
import email.utils
import os
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import msgspec

from ragstone.config import ModelSettings
from ragstone.errors import ModelError
from ragstone.llm.prompt import CallFailed, Completion, Prompt
from ragstone.llm.schema import encoded_schema, fill_nonce
from ragstone.llm.transport import Endpoint, Unreachable
from ragstone.records import Usage

DEFAULT_BASE_URL = "https://api.openai.com/v1"
DEFAULT_CONCURRENCY = 64
DEFAULT_TIMEOUT_S = 60.0
RETRYABLE = {408, 409, 425, 429, 500, 502, 503, 504, 529}
# Ways to ask for JSON, the strictest first; an endpoint that refuses one is asked by the next.
MODES = ("json_schema", "tool", "json_object", "text")


class _Details(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None


class _Function(msgspec.Struct):
    arguments: str = ""


class _ToolCall(msgspec.Struct):
    function: _Function = msgspec.field(default_factory=_Function)


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Response(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


class _Dialect:
    """What this endpoint has been found to understand; learnt from its refusals."""

    def __init__(self) -> None:
        self.mode = 0
        self.tokens_field = "max_tokens"
        self.temperature = True

    def learn(self, message: str, asked: "_Dialect", structured: bool) -> bool:
        """Return whether the request may be sent again in another form, after a refusal of this one."""
        text = message.casefold()
        if "max_completion_tokens" in text and asked.tokens_field == "max_tokens":
            self.tokens_field = "max_completion_tokens"
            return True
        if "temperature" in text and asked.temperature:
            self.temperature = False
            return True
        words = ("response_format", "json_schema", "schema", "tool", "json_object", "json mode", "grammar")
        if structured and asked.mode < len(MODES) - 1 and any(word in text for word in words):
            self.mode = max(self.mode, asked.mode + 1)
            return True
        return False

    def copy(self) -> "_Dialect":
        twin = _Dialect()
        twin.mode, twin.tokens_field, twin.temperature = self.mode, self.tokens_field, self.temperature
        return twin


@contextlib.asynccontextmanager
async def open_openai(model: str, settings: ModelSettings) -> AsyncIterator[Endpoint]:
    """Give the endpoint of a model; its connections are closed at the end of the block.

    The key is read from the variable that the settings name, else OPENAI_API_KEY; only OpenAI's own
    address demands one. Raises ModelError when it is missing.
    """
    base_url = (settings.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL).rstrip("/")
    variable = settings.api_key_env or "OPENAI_API_KEY"
    key = os.environ.get(variable, "").strip()
    if not key and (settings.api_key_env or base_url == DEFAULT_BASE_URL):
        raise ModelError(
            f"openai/{model}: no key. Set the environment variable {variable}, or point base_url (or "
            "OPENAI_BASE_URL) at an endpoint that needs none, such as Ollama or vLLM."
        )
    concurrency = settings.max_concurrency or DEFAULT_CONCURRENCY
    timeout = aiohttp.ClientTimeout(total=settings.timeout_s or DEFAULT_TIMEOUT_S)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    connector = aiohttp.TCPConnector(limit=concurrency, keepalive_timeout=60)
    dialect = _Dialect()
    async with aiohttp.ClientSession(
        connector=connector, timeout=timeout, headers=headers, trust_env=True
    ) as session:

        async def send(prompt: Prompt) -> Completion:
            while True:
                asked = dialect.copy()
                try:
                    return await _post(session, base_url, _body(model, prompt, asked))
                except _BadRequest as refusal:
                    if not dialect.learn(str(refusal), asked, prompt.reply is not None):
                        raise CallFailed("error", f"{base_url} refused the request: {refusal}") from None

        yield Endpoint(identity=f"openai/{model}", send=send, concurrency=concurrency, price=None)


class _BadRequest(Exception):
    """HTTP 400 or 422 with the provider's words."""


def _body(model: str, prompt: Prompt, dialect: _Dialect) -> bytes:
    body: dict[str, Any] = {
        "model": model,
        "messages": prompt.messages,
        dialect.tokens_field: prompt.max_tokens,
    }
    if dialect.temperature:
        body["temperature"] = prompt.temperature
    if prompt.reply is not None:
        schema = msgspec.Raw(fill_nonce(encoded_schema(prompt.reply, prompt.nonce is not None), prompt.nonce))
        name = prompt.reply.__name__
        match MODES[dialect.mode]:
            case "json_schema":
                form = {"name": name, "strict": True, "schema": schema}
                body["response_format"] = {"type": "json_schema", "json_schema": form}
            case "tool":
                body["tools"] = [{"type": "function", "function": {"name": name, "parameters": schema}}]
                body["tool_choice"] = {"type": "function", "function": {"name": name}}
            case "json_object":
                body["response_format"] = {"type": "json_object"}
    return msgspec.json.encode(body)


async def _post(session: aiohttp.ClientSession, base_url: str, body: bytes) -> Completion:
    started = time.perf_counter()
    try:
        async with session.post(f"{base_url}/chat/completions", data=body) as response:
            content = await response.read()
    except TimeoutError:
        raise CallFailed("timeout", f"{base_url} did not answer in time", retryable=True) from None
    except aiohttp.ClientConnectorCertificateError as mistake:
        raise ModelError(
            f"{base_url}: its certificate does not verify ({mistake.certificate_error}). "
            "Set SSL_CERT_FILE to your authority's certificate."
        ) from None
    except (aiohttp.ClientError, OSError) as mistake:
        raise Unreachable(
            f"{base_url} cannot be reached ({mistake}). Is it running, and is base_url right?"
        ) from None
    if response.status != 200:
        _raise_for(response, content, base_url)
    try:
        decoded = msgspec.json.decode(content, type=_Response)
        choice = decoded.choices[0]
    except (msgspec.DecodeError, UnicodeDecodeError, IndexError):
        raise Unreachable(
            f"{base_url} does not speak the OpenAI protocol: {_excerpt(content)}. "
            "base_url usually ends in /v1."
        ) from None
    tools = choice.message.tool_calls
    return Completion(
        text=tools[0].function.arguments if tools else choice.message.content or "",
        finish_reason=choice.finish_reason,
        refusal=choice.message.refusal or ("filtered" if choice.finish_reason == "content_filter" else None),
        usage=_usage(decoded.usage),
        latency_s=round(time.perf_counter() - started, 4),
    )


def _usage(given: _Usage | None) -> Usage:
    if given is None:
        return Usage()
    details = given.prompt_tokens_details
    cached = (details.cached_tokens or 0) if details else 0
    return Usage(input=given.prompt_tokens or 0, output=given.completion_tokens or 0, cached=cached)


def _raise_for(response: aiohttp.ClientResponse, content: bytes, base_url: str) -> None:
    """Raise what an HTTP error means: stop everything, try again, or give up this row."""
    status, words = response.status, _excerpt(content)
    if status in (400, 422):
        raise _BadRequest(words)
    if status in (401, 403):
        raise ModelError(
            f"{base_url} refused the key (HTTP {status}): {words}. Check the key's environment variable."
        )
    if status in (404, 405):
        raise ModelError(
            f"{base_url}: HTTP {status}: {words}. Check the model's name and base_url (usually .../v1)."
        )
    if status == 429 and "insufficient_quota" in words:
        raise ModelError(f"{base_url}: the account has no quota left: {words}")
    raise CallFailed(
        "rate_limited" if status == 429 else "error",
        f"{base_url}: HTTP {status}: {words}",
        retryable=status in RETRYABLE,
        retry_after_s=_retry_after_s(response.headers.get("Retry-After")),
    )


def _retry_after_s(header: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for, given as seconds or as a date."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        try:
            return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
        except ValueError:
            return None


def _excerpt(content: bytes) -> str:
    """Return the message of an error body, or its first words."""
    try:
        error = msgspec.json.decode(content)
        error = error.get("error", error.get("detail", error))
        text = error.get("message") if isinstance(error, dict) else error
        code = f" ({error['code']})" if isinstance(error, dict) and error.get("code") else ""
        return f"{text}{code}"[:400]
    except (msgspec.DecodeError, UnicodeDecodeError, AttributeError):
        return " ".join(content[:200].decode("utf-8", "replace").split()) or "an empty reply"
