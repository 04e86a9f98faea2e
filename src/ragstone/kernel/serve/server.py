"""A server: the socket that it listens on, and how it runs until it is told to stop."""

import asyncio
import contextlib
import errno
import gc
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator

from litestar.types import ASGIApp

from ragstone.kernel.config.serving import ServeSection
from ragstone.kernel.errors import ConfigError

GRACE_S = 20
"""Seconds that replies under way may still take after the server was told to stop."""
BACKLOG = 2048
SWITCH_S = 0.001
"""So long a thread that computes keeps the interpreter while the loop waits for it."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that is bound; port 0 takes a free one. Raises ConfigError with what to do."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host.strip("[]"), port))
    except OSError as mistake:
        bound.close()
        raise ConfigError(_unbound(host, port, mistake)) from None
    return bound


def _unbound(host: str, port: int, mistake: OSError) -> str:
    if mistake.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is taken by another server. Stop it, or choose another port with "
            "--port; --port 0 picks a free one."
        )
    if mistake.errno in (errno.EACCES, errno.EPERM):
        return f"you may not open port {port}: choose one above 1023 with --port."
    return f"cannot listen on {host!r}, port {port} ({mistake}). Check --host: 127.0.0.1 is this machine."


def address_of(bound: socket.socket) -> str:
    """Return the address of a socket as one opens it in a browser."""
    host, port = bound.getsockname()[:2]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{name}:{port}"


async def serve_app(
    app: ASGIApp, section: ServeSection, bound: socket.socket, ready: Callable[[str], None]
) -> None:
    """Serve until SIGTERM or Ctrl-C; replies under way may then still take 20 seconds.

    ready: is told the address when requests are answered.
    """
    import uvicorn

    from ragstone.kernel.serve._connections import limited

    config = uvicorn.Config(
        app,
        http=limited(section.max_connections),
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        forwarded_allow_ips=section.trusted_proxies,
        timeout_graceful_shutdown=GRACE_S,
        backlog=BACKLOG,
        lifespan="on",
    )

    class Server(uvicorn.Server):
        """Tells when it is ready; when it is told to stop it ends, and raises no signal once more."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready(address_of(bound))

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            # uvicorn's own raises the signal again at the end, which would kill the process before the log
            # and the session are closed.
            with _heard(lambda number: self.handle_exit(number, None)):
                yield

    with _no_long_waits():
        await Server(config).serve(sockets=[bound])


@contextlib.contextmanager
def _no_long_waits() -> Iterator[None]:
    """Let the loop have the interpreter soon within the block, whatever threads compute."""
    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    # What is there by now stays: else all requests wait some 0.2 s each time it is gone through.
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        sys.setswitchinterval(interval_s)
        gc.unfreeze()


@contextlib.contextmanager
def _heard(stop: Callable[[int], None]) -> Iterator[None]:
    """Call `stop` with SIGINT and SIGTERM within the block; a thread that is not the main one hears none."""
    loop = asyncio.get_running_loop()
    heard: list[int] = []
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C cancels this task
                loop.add_signal_handler(number, stop, number)
                heard.append(number)
    try:
        yield
    finally:
        for caught in heard:
            loop.remove_signal_handler(caught)
