"""The workbench and the assistant as one application: told apart by the path, each with its own gate."""

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


def side_by_side(workbench: Litestar, assistant: Litestar | None) -> ASGIApp:
    """Return what serves both. Without an assistant its address leads to the workbench.

    HEAD is answered as GET is, without the body.
    """

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":  # type: ignore[comparison-overlap]
            await _live([workbench, *([assistant] if assistant else [])], receive, send)
            return
        if scope["type"] == ScopeType.HTTP and scope["method"] == "HEAD":
            scope, send = {**scope, "method": "GET"}, _bodiless(send)
        if _is_ours(scope["path"]):
            await workbench(scope, receive, send)
        elif assistant is not None:
            await assistant(scope, receive, send)
        elif scope["type"] == ScopeType.HTTP:
            await _answer(scope, send)

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


async def _answer(scope: HTTPScope, send: Send) -> None:
    status, headers, body = MOVED if scope["path"] in ("", "/") else NOTHING
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
