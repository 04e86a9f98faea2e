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
from ragstone.llm.openai_reply import read_reply
from ragstone.llm.openai_stream import post_stream
from ragstone.llm.prices import list_price
from ragstone.llm.prompt import CallFailed, Completion, OnText, Prompt
from ragstone.llm.schema import encoded_schema, fill_nonce
from ragstone.llm.site import CONNECT_S, DEFAULT_TIMEOUT_S, Site, exchange, model_at, open_site
from ragstone.llm.transport import BadRequest, Endpoint, Rephrase, Wire

DEFAULT_CONCURRENCY = 64
FILE_S = 300.0  # the longest silence while a file of calls or results is on its way
# Ways to ask for JSON, the strictest first; an endpoint that refuses one is asked by the next.
MODES = ("json_schema", "tool", "json_object", "text")


class _Dialect:
    """What this endpoint has been found to understand; learnt from its refusals."""

    def __init__(self) -> None:
        self.mode = 0
        self.proven_mode: int | None = None
        self.tokens_field = "max_tokens"
        self.temperature = True
        self.logprobs = True
        self.streams = True
        self.stream_usage = True

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

    def learn_stream(self, message: str, asked: "_Dialect") -> bool:
        """Return whether a stream may be asked for again in another form, after a refusal of this one."""
        text = message.casefold()
        if asked.stream_usage and ("stream_options" in text or "include_usage" in text):
            self.stream_usage = False
            return True
        if asked.streams and "stream" in text:
            self.streams = False
            return True
        return False

    def copy(self) -> "_Dialect":
        twin = _Dialect()
        twin.mode, twin.tokens_field, twin.temperature = self.mode, self.tokens_field, self.temperature
        twin.logprobs, twin.streams, twin.stream_usage = self.logprobs, self.streams, self.stream_usage
        return twin


@contextlib.asynccontextmanager
async def open_openai(model: str, settings: ModelSettings) -> AsyncIterator[Endpoint]:
    """Give the endpoint of a model; its connections are closed at the end of the block.

    Where its key is missing (see site.py), the first call that the ledger lacks raises ModelError.
    """
    concurrency = settings.max_concurrency or DEFAULT_CONCURRENCY
    silence_s = settings.timeout_s or DEFAULT_TIMEOUT_S
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

        async def stream(prompt: Prompt, hear: OnText) -> Completion:
            asked = dialect.copy()
            if not asked.streams:
                completion = await send(prompt)
                hear(completion.text)
                return completion
            site.check_key()
            try:
                return await post_stream(site, _body(model, prompt, asked, stream=True), hear, silence_s)
            except BadRequest as refusal:
                if dialect.learn_stream(str(refusal), asked) or dialect.learn(str(refusal), asked, prompt):
                    raise Rephrase(str(refusal)) from None
                raise CallFailed("error", f"{site.name} refused the request: {refusal}") from None

        price = list_price(site.base_url, model)
        identity = model_at(site.base_url, model)
        yield Endpoint(
            identity=identity,
            send=send,
            stream=stream,
            concurrency=concurrency,
            price=price,
            wire=_wire(site, model, dialect),
        )


def _wire(site: Site, model: str, dialect: _Dialect) -> Wire:
    def decode(status: int, content: bytes, top_logprobs: int | None) -> Completion:
        try:
            return read_reply(site, status, content, top_logprobs)
        except BadRequest as refusal:
            raise CallFailed("error", f"{site.name} refused the request: {refusal}") from None

    return Wire(
        name=site.name,
        encode=lambda prompt: _body(model, prompt, dialect),
        decode=decode,
        exchange=functools.partial(_send_file_or_body, site),
    )


def _body(model: str, prompt: Prompt, dialect: _Dialect, *, stream: bool = False) -> bytes:
    body: dict[str, Any] = {
        "model": model,
        "messages": prompt.messages,
        dialect.tokens_field: prompt.max_tokens,
    }
    if stream:
        body["stream"] = True
        if dialect.stream_usage:
            body["stream_options"] = {"include_usage": True}
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
    completion = read_reply(site, response.status, content, top_logprobs, retry_after)
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
