"""The workbench as an ASGI application, below /workbench; and the assistant beside it, with its own gate."""

import contextlib
import re
import time
from collections.abc import Callable
from importlib import import_module
from typing import cast

from litestar import Litestar, Router
from litestar.config.compression import CompressionConfig
from litestar.di import Provide
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from ragstone.features.bench.finished import kind_of_bench
from ragstone.features.watch.collecting import TraceReceiver
from ragstone.kernel.config import Settings
from ragstone.kernel.extend import PageModule
from ragstone.kernel.serve.frame import ROOT, who_asks
from ragstone.kernel.serve.headers import methods_of
from ragstone.kernel.serve.requests import JsonRequest
from ragstone.kernel.serve.runs import Runs
from ragstone.kernel.serve.state import AppState
from ragstone.workbench.bare_files import links_in
from ragstone.workbench.guard import HOME, guarded
from ragstone.workbench.mistakes import error_page
from ragstone.workbench.pages import PAGES, SECTIONS

SMALLEST = 1_000  # bytes of an answer that is sent compressed
PACKED = f"^{ROOT}/assets/"  # compressed once, see asset_routes


def open_state(settings: Settings, now: Callable[[], float] = time.time) -> AppState:
    """What the pages of a project share; to be closed. now: seconds since 1970."""
    # The last, and always: where a run stands among them is its address, which queues of labels keep.
    folders = [*(settings.path(name) for name in settings.workbench.runs), links_in(settings)]
    return AppState(settings, Runs(folders, kind_of_bench, now), now)


def create_workbench(settings: Settings, now: Callable[[], float] = time.time) -> Litestar:
    """Return the application. Its pages stand below /workbench. now: seconds since 1970."""
    state = open_state(settings, now)
    app = Litestar(
        [_router(cast(PageModule, import_module(f"ragstone.{name}"))) for name in PAGES],
        dependencies={
            "app": Provide(lambda: state, sync_to_thread=False),
            "person": Provide(who_asks, sync_to_thread=False),
        },
        exception_handlers={Exception: error_page},
        compression_config=CompressionConfig("gzip", SMALLEST, gzip_compress_level=6, exclude=PACKED),
        on_shutdown=[state.close],
        logging_config=None,
        openapi_config=None,
        request_class=JsonRequest,
        request_max_body_size=state.most_bytes,
    )
    app.asgi_handler = guarded(app.asgi_handler, state, methods_of(app), SECTIONS)
    return app


def _router(module: PageModule) -> Router:
    providers = getattr(module, "GIVEN", {})
    return Router(
        ROOT,
        route_handlers=module.ROUTES,
        dependencies={name: Provide(give, sync_to_thread=True) for name, give in providers.items()},
    )


MOVED = (307, [(b"location", f"{ROOT}/".encode()), (b"content-length", b"0")], b"")
NOTHING = (
    404,
    [(b"content-type", b"text/plain; charset=utf-8")],
    b"There is nothing here: see /workbench/\n",
)
NO_HOST = (400, NOTHING[1], b"The header Host must be a name or an address, and a port or none.\n")
HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[\w.-]*)(?::(\d{0,5}))?")
LAST_PORT = 65_535


def side_by_side(
    workbench: Litestar, assistant: Litestar | None, traces: TraceReceiver | None = None
) -> ASGIApp:
    """Return what serves both. Without an assistant its address leads to the workbench.

    traces: takes what is sent to /v1/traces and /v1/logs. HEAD is answered as GET is, without the body.
    """

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":  # type: ignore[comparison-overlap]
            with contextlib.closing(traces) if traces else contextlib.nullcontext():
                await _live([workbench, *([assistant] if assistant else [])], receive, send)
            return
        if scope["type"] == ScopeType.HTTP and not _is_host(scope):
            await _answer(send, *NO_HOST)
            return
        if scope["type"] == ScopeType.HTTP and scope["method"] == "HEAD":
            scope, send = {**scope, "method": "GET"}, _bodiless(send)
        if traces is not None and scope["type"] == ScopeType.HTTP and traces.takes(scope["path"]):
            await traces(scope, receive, send)
        elif f"{scope['path']}/".startswith(HOME):
            await workbench(scope, receive, send)
        elif assistant is not None:
            await assistant(scope, receive, send)
        elif scope["type"] == ScopeType.HTTP:
            await _answer(send, *(MOVED if scope["path"] in ("", "/") else NOTHING))

    return app


async def _live(apps: list[Litestar], receive: Receive, send: Send) -> None:
    """Open what the applications own, and close it when the server ends."""
    await receive()
    async with contextlib.AsyncExitStack() as stack:
        for app in apps:
            await stack.enter_async_context(app.lifespan())
        await send({"type": "lifespan.startup.complete"})  # type: ignore[typeddict-item]
        await receive()
    await send({"type": "lifespan.shutdown.complete"})  # type: ignore[typeddict-item]


def _is_host(scope: HTTPScope) -> bool:
    """Return whether a request names one host at most, in a way that all readers of it read alike."""
    hosts = [HOST.fullmatch(value) for name, value in scope["headers"] if name == b"host"]
    return len(hosts) <= 1 and all(match and int(match[1] or 0) <= LAST_PORT for match in hosts)


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
