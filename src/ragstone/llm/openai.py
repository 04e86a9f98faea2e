"""Any OpenAI-compatible endpoint, over aiohttp: hosted providers, vLLM, Ollama, llama.cpp's server."""

import contextlib
import functools
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from ragstone.config import ModelSettings
from ragstone.llm.logprobs import read_logprobs
from ragstone.llm.prices import list_price
from ragstone.llm.prompt import CallFailed, Completion, Prompt
from ragstone.llm.schema import encoded_schema, fill_nonce
from ragstone.llm.site import CONNECT_S, Site, exchange, model_at, open_site, raise_for
from ragstone.llm.transport import BadRequest, Endpoint, Rephrase, Unreachable, Wire
from ragstone.records import Usage

DEFAULT_CONCURRENCY = 64
FILE_S = 300.0  # the longest silence while a file of calls or results is on its way
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

    Where its key is missing (see site.py), the first call that the ledger lacks raises ModelError.
    """
    concurrency = settings.max_concurrency or DEFAULT_CONCURRENCY
    dialect = _Dialect()
    async with open_site(model, settings, concurrency) as site:

        async def send(prompt: Prompt) -> Completion:
            site.check_key()
            asked = dialect.copy()
            try:
                completion = await _post(site, _body(model, prompt, asked), prompt.top_logprobs)
            except BadRequest as refusal:
                if dialect.learn(str(refusal), asked, prompt):
                    raise Rephrase(str(refusal)) from None
                raise CallFailed("error", f"{site.name} refused the request: {refusal}") from None
            if prompt.reply is not None:
                dialect.proven_mode = asked.mode
            return completion

        price = list_price(site.base_url, model)
        identity = model_at(site.base_url, model)
        wire = _wire(site, model, dialect)
        yield Endpoint(identity=identity, send=send, concurrency=concurrency, price=price, wire=wire)


def _wire(site: Site, model: str, dialect: _Dialect) -> Wire:
    def decode(status: int, content: bytes, top_logprobs: int | None) -> Completion:
        try:
            return _read(site, status, content, top_logprobs)
        except BadRequest as refusal:
            raise CallFailed("error", f"{site.name} refused the request: {refusal}") from None

    return Wire(
        name=site.name,
        encode=lambda prompt: _body(model, prompt, dialect),
        decode=decode,
        exchange=functools.partial(_send_file_or_body, site),
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


async def _post(site: Site, body: bytes, top_logprobs: int | None) -> Completion:
    started = time.perf_counter()
    response, content = await exchange(site, "POST", "/chat/completions", data=body)
    retry_after = response.headers.get("Retry-After")
    completion = _read(site, response.status, content, top_logprobs, retry_after)
    return msgspec.structs.replace(completion, latency_s=round(time.perf_counter() - started, 4))


async def _send_file_or_body(
    site: Site, method: str, path: str, content: bytes | Path | None
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
        response, found = await exchange(site, method, path, timeout=timeout, **request)
    return response.status, found


def _read(
    site: Site, status: int, content: bytes, top_logprobs: int | None, retry_after: str | None = None
) -> Completion:
    """Return the completion in a reply. Raises what an error status means."""
    if status != 200:
        raise_for(site, status, retry_after, content)
    try:
        decoded = DECODER.decode(content)
        choice = decoded.choices[0]
    except (msgspec.DecodeError, UnicodeDecodeError, IndexError, RecursionError):
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
