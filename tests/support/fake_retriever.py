"""A local retriever behind HTTP, for tests: it answers what it is told, and notes what it was asked.

with serving() as fake:
    fake.script = lambda asked: {"results": [{"document_id": "d0", "text": "..."}]}
    settings = HttpSettings(url=fake.url)
"""

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from tests.support.in_thread import in_thread


@dataclass(frozen=True)
class Asked:
    """A request: method, path with query, headers, and the JSON body, if it has one."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Answered:
    """A reply that is no plain JSON with status 200."""

    status: int = 200
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class FakeRetriever:
    """The server; `script` may be set at any time. latency_s: how long a reply takes."""

    def __init__(self) -> None:
        self.script: Callable[[Asked], Any] = lambda _asked: {"results": []}
        self.latency_s = 0.0
        self.asked: list[Asked] = []
        self.in_flight = self.most_in_flight = 0
        self.url = ""

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request by the script."""
        content = await request.read()
        body = json.loads(content) if content else None
        asked = Asked(request.method, request.path_qs, dict(request.headers), body)
        self.asked.append(asked)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(self.latency_s)
        self.in_flight -= 1
        answered = self.script(asked)
        if isinstance(answered, Answered):
            return web.Response(status=answered.status, body=answered.content, headers=answered.headers)
        return web.json_response(answered)


@contextlib.contextmanager
def serving() -> Iterator[FakeRetriever]:
    """Give a server that runs in a thread of its own until the end of the block."""
    fake = FakeRetriever()
    with in_thread(fake.respond) as address:
        fake.url = f"{address}/search"
        yield fake
