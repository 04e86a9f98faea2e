"""A local server that answers as many kinds of endpoint as there are dialects, each below a path of its own.

What the dialects are stands in the other files of this folder. In a test, take the fixture `bench`
(tests/kernel/llm/conftest.py):

    async with bench.door(dialect, tmp_path) as door:
        await door.ask(prompt("Judge the odd row."))
    assert bench.requests[0].odd

A row whose words hold "odd" meets the oddity, every other row is answered as by a healthy endpoint: so a test
sees that one row's trouble is no other's.
"""

import asyncio
import contextlib
import email.utils
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec
from aiohttp import web
from tests.support.doors import opened, verdict
from tests.support.in_thread import in_thread
from tests.support.scripts import Body

from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.llm import Budget, Door
from ragstone.kernel.llm.providers import Provider, provider_of

KEY = "key-of-the-bench-0123456789"
HANG_S = 1.0
USAGE = {"prompt_tokens": 50, "completion_tokens": 20, "total_tokens": 70}


@dataclass(frozen=True)
class Request:
    """What an endpoint is asked. nth: of the requests for this row, from 0."""

    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Body
    nth: int = 0

    @property
    def row(self) -> str:
        """The words of the row: what its first message of a user says."""
        return next(str(one["content"]) for one in self.body["messages"] if one["role"] == "user")

    @property
    def odd(self) -> bool:
        """Whether the row is one that meets the oddity."""
        return "odd" in self.row

    @property
    def streams(self) -> bool:
        """Whether a stream is asked for."""
        return bool(self.body.get("stream"))


@dataclass(frozen=True)
class Response:
    """What an endpoint says. then: whether the connection ends well, is cut, or stays open without a word."""

    content: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    then: Literal["end", "cut", "hang"] = "end"


Respond = Callable[[Request], Response]
Outcome = Literal["scored", "unparsable", "refused", "rate_limited", "timeout", "error", "stops"]


@dataclass(frozen=True)
class Dialect:
    """One kind of endpoint.

    model: as ragstone.toml names it. source: where it is documented or was seen. status: what becomes of the
    odd row; `stops`: no call can succeed, and the run is stopped. says: words of the message. n_calls: how
    many requests that row takes. settings: of the model's table. ask: what the prompt differs in. base: the
    path of base_url below the dialect's own; None: that of the provider's.
    """

    name: str
    source: str
    respond: Respond
    model: str
    status: Outcome = "scored"
    says: str = ""
    n_calls: int = 1
    settings: dict[str, Any] = field(default_factory=dict)
    ask: dict[str, Any] = field(default_factory=dict)
    base: str | None = None

    @property
    def provider(self) -> Provider:
        """Whose dialect it is."""
        return provider_of(self.model)[0]

    @property
    def base_path(self) -> str:
        """The path of base_url below the dialect's own."""
        return urlsplit(self.provider.base_url).path if self.base is None else self.base

    @property
    def path(self) -> str:
        """The path of every call below the dialect's own."""
        if self.provider.dialect == "anthropic":
            return "/v1/messages"
        if self.provider.dialect == "azure" and self.base is None:
            return f"/openai/deployments/{self.model.partition('/')[2]}/chat/completions"
        return f"{self.base_path}/chat/completions"


class Bench:
    """The server of all dialects; the one whose settings were taken last is tried.

    requests: what was asked, in order. mended: every row is answered well from now on.
    """

    def __init__(self) -> None:
        self.address = ""
        self.mended = False
        self.requests: list[Request] = []
        self._dialect: Dialect | None = None

    def model(self, dialect: Dialect, **further: object) -> ModelSettings:
        """Return the table of the dialect's model."""
        self._dialect = dialect
        base_url = f"{self.address}/{dialect.name}{dialect.base_path}"
        return msgspec.convert({"base_url": base_url, **dialect.settings, **further}, ModelSettings)

    def settings(self, dialect: Dialect, **further: object) -> Settings:
        """Return the settings in which the dialect's model is this server."""
        return Settings(models={dialect.model: self.model(dialect, **further)})

    def door(
        self, dialect: Dialect, folder: Path, budget: Budget | None = None, **further: object
    ) -> AbstractAsyncContextManager[Door]:
        """Give the door to the dialect's model, its ledger in the folder: one command."""
        return opened(self.settings(dialect, **further), folder, dialect.model, budget)

    async def respond(self, asked: web.BaseRequest) -> web.StreamResponse:
        """Answer as the dialect that is tried."""
        dialect = self._dialect
        assert dialect is not None
        path = asked.path.removeprefix(f"/{dialect.name}")
        request = Request(
            path, dict(asked.query), asked.headers.copy(), msgspec.json.decode(await asked.read())
        )
        nth = sum(one.row == request.row for one in self.requests)
        request = Request(path, request.query, request.headers, request.body, nth)
        self.requests.append(request)
        said = misled(dialect, request) or (healthy if self.mended else dialect.respond)(request)
        if said.then == "hang":
            await asyncio.sleep(HANG_S)
        response = web.StreamResponse(
            status=said.status, headers={"Content-Type": kind_of(said), **said.headers}
        )
        if said.then != "cut" or said.content:
            await response.prepare(asked)
            await response.write(said.content)
        if said.then == "cut" and asked.transport is not None:
            await asyncio.sleep(0.02)  # what was written is read before the connection breaks
            asked.transport.abort()
        else:
            await response.write_eof()
        return response


def misled(dialect: Dialect, request: Request) -> Response | None:
    """Return the refusal of a request that has the wrong path, or its key in the wrong place."""
    if request.path != dialect.path:
        return error(f"no such path: {request.path}, but {dialect.path}", status=404)
    header = dialect.provider.key_header or "Authorization"
    if request.headers.get(header) != (KEY if dialect.provider.key_header else f"Bearer {KEY}"):
        return error(f"the key is not in the header {header}", status=401)
    if dialect.provider.dialect == "anthropic" and request.headers.get("anthropic-version") != "2023-06-01":
        return error("anthropic-version: header is required")
    if "/deployments/" in dialect.path and "api-version" not in request.query:
        return error("Resource not found", status=404)
    return None


def kind_of(said: Response) -> str:
    """Return the Content-Type that a body has."""
    if said.content.startswith((b"data:", b"event:", b":")):
        return "text/event-stream"
    return "text/html" if said.content.startswith(b"<") else "application/json"


@contextlib.contextmanager
def serving_dialects() -> Iterator[Bench]:
    """Give the server."""
    bench = Bench()
    with in_thread(bench.respond) as bench.address:
        yield bench


# Replies.


def reply(body: object, headers: Mapping[str, str] = {}, status: int = 200) -> Response:
    """Return a body of JSON."""
    return Response(msgspec.json.encode(body), status, dict(headers))


def healthy(request: Request) -> Response:
    """Return a good reply in the protocol of the request."""
    return message(request) if request.path.endswith("/messages") else chat(request)


def text_for(request: Request) -> str:
    """Return what answers a request: a verdict where its replies have a form, else words."""
    return verdict() if "Judge" in request.row else "It is blue."


def chat(
    request: Request,
    text: object = None,
    *,
    finish_reason: str | None = "stop",
    usage: object = USAGE,
    form: Mapping[str, object] = {},
    **fields: object,
) -> Response:
    """Return a reply of the OpenAI protocol, streamed where that is asked for.

    text: the content, by default a good one. fields: of the message, beside its content. form: of the reply,
    beside choices and usage.
    """
    content = text_for(request) if text is None else text
    said: dict[str, object] = {"role": "assistant", "content": content, **fields}
    if request.body.get("tools") and text is None:
        name = request.body["tools"][0]["function"]["name"]
        call = {"id": "call_0", "type": "function", "function": {"name": name, "arguments": content}}
        said |= {"content": None, "tool_calls": [call]}
    if request.streams:
        chunks: list[object] = [{"choices": [{"index": 0, "delta": said, "finish_reason": None}]}]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}]})
        return events(*chunks, {"choices": [], "usage": usage})
    choice = {"index": 0, "message": said, "finish_reason": finish_reason}
    whole = {"id": "chatcmpl-0", "object": "chat.completion", "created": 0, "choices": [choice]}
    return reply(whole | {"usage": usage, **form})


def events(*chunks: object, end: bytes = b"data: [DONE]\n\n") -> Response:
    """Return a stream of the OpenAI protocol; bytes among the chunks are sent as they are."""
    sent = [
        one if isinstance(one, bytes) else b"data: " + msgspec.json.encode(one) + b"\n\n" for one in chunks
    ]
    return Response(b"".join(sent) + end)


def said(text: str) -> dict[str, object]:
    """Return a chunk of a stream that says this."""
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}


def message(
    request: Request,
    *blocks: dict[str, object],
    stop_reason: str = "end_turn",
    usage: Mapping[str, object] = {"input_tokens": 50, "output_tokens": 20},
) -> Response:
    """Return a reply of Anthropic's protocol; by default the tool's arguments where a tool is forced."""
    if request.streams:
        return Response(b"".join(message_events(text_for(request), stop_reason=stop_reason, usage=usage)))
    if not blocks:
        blocks = ({"type": "text", "text": text_for(request)},)
        if (request.body.get("tool_choice") or {}).get("type") == "tool":
            name, arguments = request.body["tool_choice"]["name"], msgspec.Raw(text_for(request).encode())
            blocks = ({"type": "tool_use", "id": "toolu_0", "name": name, "input": arguments},)
            stop_reason = "tool_use"
    whole = {"id": "msg_0", "type": "message", "role": "assistant", "model": request.body["model"]}
    return reply(whole | {"content": blocks, "stop_reason": stop_reason, "usage": usage})


def message_events(
    text: str, *, thinking: str = "", stop_reason: str = "end_turn", usage: Mapping[str, object] = {}
) -> list[bytes]:
    """Return the events of a streamed reply, in the order of https://docs.claude.com/en/api/messages-streaming."""
    start: dict[str, object] = {
        "type": "message_start",
        "message": {"id": "msg_0", "content": [], "usage": {**usage, "output_tokens": 1}},
    }
    deltas: list[dict[str, object]] = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": thinking}}
    ]
    words = text.split(" ")
    deltas = deltas if thinking else []
    for place, word in enumerate(words):
        piece = word if place == len(words) - 1 else f"{word} "
        deltas.append(
            {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": piece}}
        )
    end: dict[str, object] = {
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason},
        "usage": {"output_tokens": usage.get("output_tokens", 20)},
    }
    block: dict[str, object] = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": ""},
    }
    whole: list[Mapping[str, Any]] = [
        start,
        {"type": "ping"},
        block,
        *deltas,
        {"type": "content_block_stop", "index": 0},
        end,
        {"type": "message_stop"},
    ]
    return [event(one) for one in whole]


def event(data: Mapping[str, Any]) -> bytes:
    """Return one event of Anthropic's protocol."""
    return b"event: " + str(data["type"]).encode() + b"\ndata: " + msgspec.json.encode(data) + b"\n\n"


# Errors.


def error(
    words: str,
    status: int = 400,
    *,
    kind: str = "invalid_request_error",
    param: str | None = None,
    code: object = None,
    headers: Mapping[str, str] = {},
    **further: object,
) -> Response:
    """Return an error in the envelope of OpenAI."""
    body = {"message": words, "type": kind, "param": param, "code": code, **further}
    return reply({"error": body}, status=status, headers=dict(headers))


def claude_error(
    words: str, status: int = 400, kind: str = "invalid_request_error", headers: Mapping[str, str] = {}
) -> Response:
    """Return an error in the envelope of Anthropic."""
    body = {
        "type": "error",
        "error": {"type": kind, "message": words},
        "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy",
    }
    return reply(body, status=status, headers=dict(headers))


def page(status: int, title: str) -> Response:
    """Return a web page of a gateway."""
    text = (
        "<!DOCTYPE "
        f"html>\n<html>\n<head><title>{title}</title></head>\n<body><center><h1>{title}</h1></center></body>\n</html>"
    )
    return Response(text.encode(), status=status)


def date_after(seconds: float) -> str:
    """Return the date of a header."""
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


# How an oddity comes.


def always(said: Response | Respond) -> Respond:
    """Answer the odd row so, and every other well."""
    return lambda request: healthy(request) if not request.odd else _of(said, request)


def once(said: Response | Respond) -> Respond:
    """Answer the first request of the odd row so, and every other well."""
    return lambda request: _of(said, request) if request.odd and request.nth == 0 else healthy(request)


def unless(fits: Callable[[Request], bool], refusal: Response) -> Respond:
    """Refuse every request that does not fit."""
    return lambda request: healthy(request) if fits(request) else refusal


def _of(said: Response | Respond, request: Request) -> Response:
    return said if isinstance(said, Response) else said(request)


def limit_of(request: Request) -> int:
    """Return the most tokens that a request lets the model say."""
    return int(request.body.get("max_completion_tokens") or request.body.get("max_tokens") or 1_000_000)
