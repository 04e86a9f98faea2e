"""Local HTTP servers in threads of their own, for tests whose own loop is busy or absent."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator

from aiohttp import web


@contextlib.contextmanager
def in_thread(
    respond: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]], port: int = 0
) -> Iterator[str]:
    """Give the address of a server that answers by `respond` until the end of the block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> web.ServerRunner:
        # Not 0, by which aiohttp waits for replies under way for ever.
        runner = web.ServerRunner(web.Server(respond), shutdown_timeout=0.01)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        return runner

    async def stop() -> None:
        for _ in range(5):  # a caller who hung up at once may only now be let in, and must be let go
            await asyncio.sleep(0)
        await runner.cleanup()
        for _ in range(5):
            await asyncio.sleep(0)

    runner = asyncio.run_coroutine_threadsafe(start(), loop).result()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def free_port() -> int:
    """Return a port for a server that is to come back at the same address."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


@contextlib.contextmanager
def app_in_thread(app: object, port: int = 0, **uvicorns: object) -> Iterator[str]:
    """Give the address of an ASGI application until the end of the block. uvicorns: options of uvicorn."""
    import uvicorn

    from ragstone.kernel.serve.server import address_of, listen

    bound = listen("127.0.0.1", port)
    config = uvicorn.Config(app, log_level="error", lifespan="on", **uvicorns)  # type: ignore[arg-type]
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])), daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        thread.join(0.01)
    try:
        yield address_of(bound)
    finally:
        server.should_exit = True
        thread.join(60)
        bound.close()
