"""Any OpenAI-compatible endpoint, over aiohttp: hosted providers, vLLM, Ollama, llama.cpp's server."""

import contextlib
import email.utils
import functools
import os
import re
import time
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import aiohttp
import msgspec

from ragstone.config import ModelSettings
from ragstone.errors import ModelError
from ragstone.llm.keys import find_key
from ragstone.llm.logprobs import read_logprobs
from ragstone.llm.prices import list_price
from ragstone.llm.prompt import CallFailed, Completion, Prompt
from ragstone.llm.schema import encoded_schema, fill_nonce
from ragstone.llm.transport import Endpoint, Rephrase, Unreachable, Wire
from ragstone.records import Usage

DEFAULT_BASE_URL = "https://api.openai.com/v1"
DEFAULT_CONCURRENCY = 64
DEFAULT_TIMEOUT_S = 60.0
CONNECT_S = 10.0
FILE_S = 300.0  # the longest silence while a file of calls or results is on its way
# Who asks to be left alone for longer than this has no quota left for today: the row is given up.
PATIENCE_S = 120.0
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
    logprobs: msgspec.Raw = msgspec.Raw(b"null")  # read only where they were asked for


class _Response(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


DECODER = msgspec.json.Decoder(_Response)


class _Dialect:
    """What this endpoint has been found to understand; learnt from its refusals."""

    def __init__(self) -> None:
        self.mode = 0
        self.proven_mode: int | None = None
        self.tokens_field = "max_tokens"
        self.temperature = True
        self.logprobs = True

    def learn(self, message: str, asked: "_Dialect", prompt: Prompt) -> bool:
        """Return whether the request may be sent again in another form, after a refusal of this one."""
        text = message.casefold()
        if "max_completion_tokens" in text and asked.tokens_field == "max_tokens":
            self.tokens_field = "max_completion_tokens"
            return True
        if "logprob" in text and asked.logprobs and prompt.top_logprobs is not None:
            self.logprobs = False
            return True
        if "temperature" in text and asked.temperature:
            self.temperature = False
            return True
        # Once a way of asking has worked, a refusal is about this request (a long prompt, say).
        structured = prompt.reply is not None
        unproven = structured and asked.mode != self.proven_mode and asked.mode < len(MODES) - 1
        words = ("response_format", "json_schema", "schema", "tool", "json_object", "json mode", "grammar")
        if unproven and any(word in text for word in words):
            self.mode = max(self.mode, asked.mode + 1)
            return True
        return False

    def copy(self) -> "_Dialect":
        twin = _Dialect()
        twin.mode, twin.tokens_field, twin.temperature = self.mode, self.tokens_field, self.temperature
        twin.logprobs = self.logprobs
        return twin


@contextlib.asynccontextmanager
async def open_openai(model: str, settings: ModelSettings) -> AsyncIterator[Endpoint]:
    """Give the endpoint of a model; its connections are closed at the end of the block.

    The key is read from where the settings name, else from OPENAI_API_KEY (see keys.py); only OpenAI's own
    address demands one. Where it is missing, the first call that the ledger lacks raises ModelError.
    """
    base_url = (settings.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL).rstrip("/")
    key, remedy = find_key(settings)
    named = settings.api_key_env is not None or settings.api_key_file is not None
    demands_key = named or base_url == DEFAULT_BASE_URL
    no_key = (
        f"openai/{model}: no key. {remedy}, or point base_url (or OPENAI_BASE_URL) at an endpoint that needs "
        "none, such as Ollama or vLLM."
    )
    concurrency = settings.max_concurrency or DEFAULT_CONCURRENCY
    timeout = aiohttp.ClientTimeout(total=settings.timeout_s or DEFAULT_TIMEOUT_S, sock_connect=CONNECT_S)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    dialect = _Dialect()
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=concurrency, keepalive_timeout=60),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=timeout,
        headers=headers,
        trust_env=_behind_proxy(base_url),
    ) as session:
        site = _Site(session, base_url, key)

        async def send(prompt: Prompt) -> Completion:
            if not key and demands_key:
                raise ModelError(no_key)
            asked = dialect.copy()
            try:
                completion = await _post(site, _body(model, prompt, asked), prompt.top_logprobs)
            except _BadRequest as refusal:
                if dialect.learn(str(refusal), asked, prompt):
                    raise Rephrase(str(refusal)) from None
                raise CallFailed("error", f"{site.name} refused the request: {refusal}") from None
            if prompt.reply is not None:
                dialect.proven_mode = asked.mode
            return completion

        # Two servers may both call their model `default`: the ledger must not take one for the other.
        address = "" if base_url == DEFAULT_BASE_URL else f"@{site.name.partition('//')[2]}"
        price = list_price(base_url, model)
        identity = f"openai/{model}{address}"
        wire = _wire(site, model, dialect)
        yield Endpoint(identity=identity, send=send, concurrency=concurrency, price=price, wire=wire)


def _wire(site: "_Site", model: str, dialect: _Dialect) -> Wire:
    def decode(status: int, content: bytes, top_logprobs: int | None) -> Completion:
        try:
            return _read(site, status, content, top_logprobs)
        except _BadRequest as refusal:
            raise CallFailed("error", f"{site.name} refused the request: {refusal}") from None

    return Wire(
        name=site.name,
        encode=lambda prompt: _body(model, prompt, dialect),
        decode=decode,
        exchange=functools.partial(_send_file_or_body, site),
    )


class _Site:
    """An endpoint's address, and what must not be shown of it: the key, and a password in the address."""

    def __init__(self, session: aiohttp.ClientSession, base_url: str, key: str) -> None:
        self.session = session
        self.base_url = base_url
        self.name = re.sub(r"//[^/@]*@", "//", base_url)
        self._key = key

    def excerpt(self, content: bytes) -> str:
        """Return the message of an error body, or its first words, without the key."""
        words = _excerpt(content)
        return words.replace(self._key, "[the key]") if self._key else words


class _BadRequest(Exception):
    """HTTP 400 or 422 with the provider's words."""


def _behind_proxy(base_url: str) -> bool:
    """Return whether the environment names a proxy for it; aiohttp would look that up for every call."""
    address = urlsplit(base_url)
    return address.scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(
        address.hostname or ""
    )


def _body(model: str, prompt: Prompt, dialect: _Dialect) -> bytes:
    body: dict[str, Any] = {
        "model": model,
        "messages": prompt.messages,
        dialect.tokens_field: prompt.max_tokens,
    }
    if dialect.temperature:
        body["temperature"] = prompt.temperature
    if prompt.top_logprobs is not None and dialect.logprobs:
        body |= {"logprobs": True, "top_logprobs": prompt.top_logprobs}
    if prompt.reply is not None:
        schema = msgspec.Raw(fill_nonce(encoded_schema(prompt.reply, prompt.nonce is not None), prompt.nonce))
        name = re.sub(r"[^\w-]", "_", prompt.reply.__name__, flags=re.ASCII)[:64]
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


async def _post(site: _Site, body: bytes, top_logprobs: int | None) -> Completion:
    started = time.perf_counter()
    response, content = await _exchange(site, "POST", "/chat/completions", data=body)
    retry_after = response.headers.get("Retry-After")
    completion = _read(site, response.status, content, top_logprobs, retry_after)
    return msgspec.structs.replace(completion, latency_s=round(time.perf_counter() - started, 4))


async def _exchange(
    site: _Site,
    method: str,
    path: str,
    **request: Any,  # noqa: ANN401 - as aiohttp takes it
) -> tuple[aiohttp.ClientResponse, bytes]:
    """Return the response to a request, and its body. Raises CallFailed and ModelError for none."""
    try:
        async with site.session.request(method, site.base_url + path, **request) as response:
            return response, await response.read()
    except aiohttp.ConnectionTimeoutError:
        raise Unreachable(f"{site.name} cannot be reached (no connection within {CONNECT_S:g} s).") from None
    except TimeoutError:
        raise CallFailed("timeout", f"{site.name} did not answer in time", retryable=True) from None
    except aiohttp.ClientConnectorCertificateError as mistake:
        raise ModelError(
            f"{site.name}: its certificate does not verify ({mistake.certificate_error}). "
            "Set SSL_CERT_FILE to your authority's certificate."
        ) from None
    except (aiohttp.ClientError, OSError) as mistake:
        raise Unreachable(
            f"{site.name} cannot be reached ({mistake}). Is it running, and is base_url right?"
        ) from None


async def _send_file_or_body(
    site: _Site, method: str, path: str, content: bytes | Path | None
) -> tuple[int, bytes]:
    """Return HTTP status and body of the reply to a request of the batch API; files may take their time."""
    request: dict[str, Any] = {"data": content}
    with contextlib.ExitStack() as stack:
        if isinstance(content, Path):
            form = aiohttp.FormData({"purpose": "batch"})
            file = stack.enter_context(content.open("rb"))
            form.add_field("file", file, filename=content.name, content_type="application/jsonl")
            payload = form()
            request = {"data": payload, "headers": {"Content-Type": payload.headers["Content-Type"]}}
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=FILE_S)
        response, found = await _exchange(site, method, path, timeout=timeout, **request)
    return response.status, found


def _read(
    site: _Site, status: int, content: bytes, top_logprobs: int | None, retry_after: str | None = None
) -> Completion:
    """Return the completion in a reply. Raises what an error status means."""
    if status != 200:
        _raise_for(site, status, retry_after, content)
    try:
        decoded = DECODER.decode(content)
        choice = decoded.choices[0]
    except (msgspec.DecodeError, UnicodeDecodeError, IndexError):
        raise Unreachable(
            f"{site.name} does not speak the OpenAI protocol: {site.excerpt(content)}. "
            "base_url usually ends in /v1."
        ) from None
    tools = choice.message.tool_calls
    return Completion(
        text=tools[0].function.arguments if tools else choice.message.content or "",
        finish_reason=choice.finish_reason,
        refusal=choice.message.refusal or ("filtered" if choice.finish_reason == "content_filter" else None),
        usage=_usage(decoded.usage),
        latency_s=None,
        logprobs=None if top_logprobs is None else read_logprobs(choice.logprobs, top_logprobs),
    )


def _usage(given: _Usage | None) -> Usage:
    if given is None:
        return Usage()
    details = given.prompt_tokens_details
    cached = (details.cached_tokens or 0) if details else 0
    return Usage(input=given.prompt_tokens or 0, output=given.completion_tokens or 0, cached=cached)


def _raise_for(site: _Site, status: int, retry_after: str | None, content: bytes) -> NoReturn:
    """Raise what an HTTP error means: stop everything, try again, or give up this row."""
    words = site.excerpt(content)
    if status in (400, 422):
        if "(content_filter)" in words:
            raise CallFailed("refused", f"{site.name} refused the text: {words}", raw=words)
        raise _BadRequest(words)
    if status in (401, 403):
        raise ModelError(
            f"{site.name} refused the key (HTTP {status}): {words}. Check the key's environment variable."
        )
    if status in (404, 405):
        raise ModelError(
            f"{site.name}: HTTP {status}: {words}. Check the model's name and base_url (usually .../v1)."
        )
    if status == 402 or (status == 429 and "insufficient_quota" in words):
        raise ModelError(f"{site.name}: the account has no quota left: {words}")
    retry_after_s = _retry_after_s(retry_after)
    patient = retry_after_s is None or retry_after_s <= PATIENCE_S
    raise CallFailed(
        "rate_limited" if status == 429 else "error",
        f"{site.name}: HTTP {status}: {words}" + ("" if patient else f" (wait {retry_after_s:.0f} s)"),
        retryable=patient and status in RETRYABLE,
        retry_after_s=retry_after_s if patient else None,
    )


def _retry_after_s(header: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for, given as seconds or as a date."""
    if not header:
        return None
    try:
        seconds = float(header)
        return max(0.0, seconds) if seconds == seconds else None  # NaN differs from itself
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
