"""Any OpenAI-compatible endpoint, over aiohttp: hosted providers, Azure, vLLM, Ollama, llama.cpp's server."""

import contextlib
import functools
import re
import time
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.llm._openai_reply import StreamedReply, post_stream, read_reply
from ragstone.kernel.llm._site import DEFAULT_TIMEOUT_S, Site, exchange, open_site
from ragstone.kernel.llm.failures import BadRequest, CallFailed
from ragstone.kernel.llm.prompt import Completion, OnText, Prompt
from ragstone.kernel.llm.providers import Provider, is_reasoner, list_price
from ragstone.kernel.llm.transport import Dialect, Endpoint, Where, Wire, asked_in

DEFAULT_CONCURRENCY = 64
PATH = "/chat/completions"


@contextlib.asynccontextmanager
async def open_openai(
    provider: Provider, model: str, settings: ModelSettings, where: Where
) -> AsyncIterator[Endpoint]:
    """Give the endpoint of a model; its connections are closed at the end of the block.

    Where its key is missing (see site.py), the first call that the ledger lacks raises ModelError.
    """
    concurrency = settings.max_concurrency or DEFAULT_CONCURRENCY
    silence_s = settings.timeout_s or DEFAULT_TIMEOUT_S
    # OpenAI's own reasoning models know one limit only.
    own = provider.name == "openai" and provider.address(settings) == provider.base_url
    one_limit = (own or provider.dialect == "azure") and is_reasoner(model)
    dialect = Dialect(tokens_field="max_completion_tokens") if one_limit else Dialect()
    async with open_site(provider, model, settings, concurrency) as site:
        chat = _ChatModel(site, model, settings.extra)

        async def send(prompt: Prompt) -> Completion:
            site.check_key()
            with asked_in(dialect, prompt, settings.extra, where, site.name) as form:
                started = time.perf_counter()
                response, content = await exchange(site, "POST", PATH, data=chat.body(prompt, form))
                return read_reply(
                    site,
                    response.status,
                    content,
                    prompt.top_logprobs,
                    response.headers,
                    tells_cost=provider.tells_cost,
                    latency_s=round(time.perf_counter() - started, 4),
                )

        async def stream(prompt: Prompt, hear: OnText) -> Completion:
            if not dialect.streams:
                completion = await send(prompt)
                hear(completion.text)
                return completion
            site.check_key()
            with asked_in(dialect, prompt, settings.extra, where, site.name, streamed=True) as form:
                body = chat.body(prompt, form, stream=True)
                return await post_stream(site, PATH, body, StreamedReply(site, hear), silence_s)

        base_url = provider.address(settings)
        yield Endpoint(
            identity=provider.identity_of(model, base_url),
            send=send,
            stream=stream,
            concurrency=concurrency,
            price=list_price(base_url, model),
            wire=Wire(
                name=site.name,
                model=model,
                site=site,
                encode=lambda prompt: chat.body(prompt, dialect),
                decode=chat.decode,
                batch_api=provider.batch_api,
                discount=provider.discount(settings),
            )
            if "batch" in provider.can
            else None,
            dialect=dialect,
        )


class _ChatModel(msgspec.Struct, frozen=True):
    """What all requests to one model share."""

    site: Site
    model: str
    extra: dict[str, Any]

    def body(self, prompt: Prompt, dialect: Dialect, *, stream: bool = False) -> bytes:
        """Return the body of a request."""
        body = _body(self.model, prompt, dialect, stream=stream)
        return msgspec.json.encode(body | self.extra if self.extra else body)

    def decode(self, status: int, content: bytes, top_logprobs: int | None) -> Completion:
        """Return the completion of a reply of the batch API. Raises CallFailed and ModelError."""
        try:
            return read_reply(self.site, status, content, top_logprobs)
        except BadRequest as refusal:
            raise CallFailed("error", f"{self.site.name} refused the request: {refusal}") from None


def _body(model: str, prompt: Prompt, dialect: Dialect, *, stream: bool) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "messages": prompt.messages}
    limit = dialect.limit(prompt)
    if limit is not None:
        body[dialect.tokens_field] = limit
    if stream:
        body["stream"] = True
        if dialect.stream_usage:
            body["stream_options"] = {"include_usage": True}
    if dialect.temperature and prompt.temperature is not None:
        body["temperature"] = prompt.temperature
    if dialect.top_p and prompt.top_p is not None:
        body["top_p"] = prompt.top_p
    if prompt.top_logprobs is not None and dialect.logprobs:
        body |= {"logprobs": True, "top_logprobs": prompt.top_logprobs}
    if prompt.form is not None:
        body |= _reply_form(prompt, prompt.form, dialect.way)
    return body


@functools.lru_cache(maxsize=256)
def _name_of(form: type) -> str:
    """Return what a schema is called, in letters that endpoints take."""
    return re.sub(r"[^\w-]", "_", form.__name__, flags=re.ASCII)[:64]


def _reply_form(prompt: Prompt, form: type, mode: str) -> dict[str, Any]:
    """Return the fields that ask for a reply of this form."""
    schema = msgspec.Raw(prompt.schema or b"null")
    name = _name_of(form)
    match mode:
        case "json_schema":
            reply_schema = {"name": name, "strict": True, "schema": schema}
            return {"response_format": {"type": "json_schema", "json_schema": reply_schema}}
        case "tool":
            return {
                "tools": [{"type": "function", "function": {"name": name, "parameters": schema}}],
                "tool_choice": {"type": "function", "function": {"name": name}},
            }
        case "json_object":
            return {"response_format": {"type": "json_object"}}
    return {}
