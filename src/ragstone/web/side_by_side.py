"""The workbench and the assistant as one application: told apart by the path, each with its own gate."""

import re
from contextlib import AsyncExitStack

from litestar import Litestar
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from ragstone.web.workbench.frame import ROOT

MOVED = (307, [(b"location", f"{ROOT}/".encode()), (b"content-length", b"0")], b"")
NOTHING = (
    404,
    [(b"content-type", b"text/plain; charset=utf-8")],
    b"There is nothing here: see /workbench/\n",
)
NO_HOST = (400, NOTHING[1], b"The header Host must be a name or an address, and a port or none.\n")
HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[\w.-]*)(?::(\d{0,5}))?")
LAST_PORT = 65_535


def side_by_side(workbench: Litestar, assistant: Litestar | None) -> ASGIApp:
    """Return what serves both. Without an assistant its address leads to the workbench.

    HEAD is answered as GET is, without the body.
    """

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":  # type: ignore[comparison-overlap]
            await _live([workbench, *([assistant] if assistant else [])], receive, send)
            return
        if scope["type"] == ScopeType.HTTP and not _is_host(scope):
            await _answer(send, *NO_HOST)
            return
        if scope["type"] == ScopeType.HTTP and scope["method"] == "HEAD":
            scope, send = {**scope, "method": "GET"}, _bodiless(send)
        if _is_ours(scope["path"]):
            await workbench(scope, receive, send)
        elif assistant is not None:
            await assistant(scope, receive, send)
        elif scope["type"] == ScopeType.HTTP:
            await _answer(send, *(MOVED if scope["path"] in ("", "/") else NOTHING))

    return app


def _is_ours(path: str) -> bool:
    return path == ROOT or path.startswith(f"{ROOT}/")


async def _live(apps: list[Litestar], receive: Receive, send: Send) -> None:
    """Open what the applications own, and close it when the server ends."""
    await receive()
    async with AsyncExitStack() as stack:
        for one in apps:
            await stack.enter_async_context(one.lifespan())
        await send({"type": "lifespan.startup.complete"})  # type: ignore[typeddict-item]
        await receive()
    await send({"type": "lifespan.shutdown.complete"})  # type: ignore[typeddict-item]


def _is_host(scope: HTTPScope) -> bool:
    """Return whether a request names one host at most, in a way that all readers of it read alike."""
    hosts = [HOST.fullmatch(value) for name, value in scope["headers"] if name == b"host"]
    return len(hosts) <= 1 and all(one and int(one[1] or 0) <= LAST_PORT for one in hosts)


async def _answer(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _bodiless(send: Send) -> Send:
    """Return what sends a response without its body; a stream ends before it begins."""
    ended = False

    async def sent(message: Message) -> None:
        nonlocal ended
        if message["type"] != "http.response.body":
            await send(message)
        elif not ended:
            ended = True
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    return sent
