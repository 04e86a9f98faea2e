"""The server over HTTP: the address, and the key that every request has to carry."""

import asyncio
import secrets
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from ragstone.kernel.config import Settings
from ragstone.kernel.errors import optional_package
from ragstone.kernel.serve.keys import Keys, digests, name_of, read_keys

PORT = 8089
PATH = "/mcp"
MOST_BYTES = 200_000  # of a request: the longest that an agent has to say is a filter


def serve_http(
    server: MCPServer[Any],
    settings: Settings,
    host: str | None,
    port: int | None,
    say: Callable[[str], None],
) -> None:
    """Serve until Ctrl-C. Keys are those of [serve] keys_file; without one a key is made for this session.

    say: prints the address and that key. Raises what listen and read_keys raise.
    """
    with optional_package("serving over HTTP", "serve"):
        from ragstone.kernel.serve.server import address_of, listen, serve_app
    file = settings.serve.keys_file
    key = None if file else secrets.token_urlsafe(32)
    keys = digests({"session": key} if key else read_keys(settings.path(file or "")))
    bound = listen(host or settings.serve.host, PORT if port is None else port)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MOST_BYTES,
        # Whoever has the key may come from any host: a page of a browser that was led astray has none.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    if key:
        say(f"Key for this session: {key}")

    def ready(_: str) -> None:
        say(f"MCP server: {address_of(bound)}{PATH} (Authorization: Bearer KEY). Stop it with Ctrl-C.")

    asyncio.run(serve_app(with_keys(app, keys), settings.serve, bound, ready))


def with_keys(app: Callable[..., Any], keys: Keys) -> Callable[..., Any]:
    """Return the application for those alone who send one of the keys as `Authorization: Bearer KEY`."""

    async def checked(scope: dict[str, Any], receive: Any, send: Any) -> None:  # noqa: ANN401 - of ASGI
        if scope["type"] == "http":
            sent = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
            if name_of(keys, sent.decode("latin-1")) is None:
                await _refuse(send)
                return
        await app(scope, receive, send)

    return checked


async def _refuse(send: Callable[..., Any]) -> None:
    body = b'{"detail": "Send a key of this server: Authorization: Bearer KEY"}'
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"www-authenticate", b"Bearer"),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})
