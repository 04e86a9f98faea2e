"""What stands before every route: whose key it is, how often and how much may be asked; and the headers."""

import asyncio
from collections.abc import Mapping, Sequence
from urllib.parse import SplitResult, urlsplit

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.serve.headers import HEADERS, STRICT, is_loopback, with_methods
from ragstone.kernel.serve.keys import Keys, as_bearer, name_of
from ragstone.kernel.serve.limits import RequestLimits, drain
from ragstone.kernel.serve.problems import MEDIA_TYPE, problem
from ragstone_assistant.api.state import ChatState

HEALTH = "/health"
NEEDS_KEY = "a key is needed: send the header Authorization: Bearer KEY"
FREE = ("/", HEALTH, "/openapi.json", "/v1/settings")
FREE_UNDER = "/assets/"
UPLOADS = "/v1/documents"
BROWSED = "/monitor"
"""Pages for people: a browser asks for the key as a password. Elsewhere it would be sent unasked (CSRF)."""
ENVELOPE_KB = 64  # what a form adds to its file
BODY_TIMES = 16  # the messages of a client that sends the whole conversation
METHODS = b"GET, POST, DELETE, OPTIONS"


class Turned(msgspec.Struct, frozen=True):
    """Why a request does not get in."""

    status: int
    detail: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


def gated(app: ASGIApp, app_state: ChatState, methods: Mapping[str, Sequence[str]]) -> ASGIApp:
    """Return the app behind its gate. A request that is turned away reaches no route.

    methods: template of a path -> all that it takes, for OPTIONS.
    """
    limits = RequestLimits(app_state.serve.requests_per_minute)
    turnstile = asyncio.Lock()  # one request begins in each pass of the loop, so that no pass takes long

    async def gate(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await app(scope, receive, send)
            return
        started = app_state.clocks.tick()
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        scope.setdefault("state", {})
        allowed = headers.get("origin", "") in app_state.serve.cors_origins
        status = 500

        async def guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                sent = with_methods(scope, list(message["headers"]), methods)
                message["headers"] = _with_headers(sent, headers.get("origin", "") if allowed else None)
            await send(message)

        try:
            turned = _preflight(scope, headers, allowed) or _turned(scope, headers, app_state, limits)
            if turned is not None:
                await _turn_away(scope, headers, turned, receive, guarded)
            else:
                if scope["path"] != HEALTH:
                    async with turnstile:
                        await asyncio.sleep(0)
                await app(scope, receive, guarded)
        finally:
            if work := scope["state"].get("work"):
                work.cancel()
            # Counted by the route's template: paths that someone makes up must not become series.
            route = str(scope.get("path_template") or "none")
            method = scope["method"] if route != "none" else "any"
            app_state.metrics.requests.labels(route, method, status).inc()
            app_state.metrics.latency.labels(route).observe(app_state.clocks.tick() - started)

    return gate


def _with_headers(headers: list[tuple[bytes, bytes]], origin: str | None) -> list[tuple[bytes, bytes]]:
    present = {name.lower() for name, _ in headers}
    headers += HEADERS
    if STRICT[0] not in present:
        headers.append(STRICT)
    if b"cache-control" not in present:
        headers.append((b"cache-control", b"no-store"))
    if origin is not None:
        exposed = (b"access-control-expose-headers", b"Retry-After")
        headers += [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin"), exposed]
    return headers


def _preflight(scope: HTTPScope, headers: Mapping[str, str], allowed: bool) -> Turned | None:
    """Return the answer to a browser that asks whether a page of another site may ask."""
    if scope["method"] != "OPTIONS" or "access-control-request-method" not in headers:
        return None
    if not allowed:
        return Turned(403, "pages of this site may not ask: add it to cors_origins in [serve]")
    cors = (
        (b"access-control-allow-methods", METHODS),
        (b"access-control-allow-headers", b"Authorization, Content-Type"),
        (b"access-control-max-age", b"600"),
    )
    return Turned(204, "", cors)


def _turned(
    scope: HTTPScope, headers: Mapping[str, str], app_state: ChatState, limits: RequestLimits
) -> Turned | None:
    """Return why a request does not get in, if it does not; else note whose it is."""
    return (
        _foreign(scope, headers, app_state)
        or _unknown_or_hasty(scope, headers, app_state, limits)
        or _too_large(scope, headers, app_state)
    )


def _foreign(scope: HTTPScope, headers: Mapping[str, str], app_state: ChatState) -> Turned | None:
    """Turn away what a page of another site has a browser send.

    Without keys a browser on this machine is all that it takes: a name that is made to point at this machine
    (DNS rebinding) is no name of ours, and a form of another site has another origin.
    """
    host = headers.get("host", "")
    if not app_state.keys and is_loopback(app_state.serve.host):
        name = _parts(f"//{host}").hostname or ""
        if name and not is_loopback(name):
            return Turned(403, f"{name!r} is not a name of this machine; with a keys_file any name is served")
    origin = headers.get("origin")
    if origin is None or scope["method"] in ("GET", "HEAD") or origin in app_state.serve.cors_origins:
        return None
    if _parts(origin).netloc != host:
        return Turned(403, "pages of other sites may not ask: add this one to cors_origins in [serve]")
    return None


def _parts(address: str) -> SplitResult:
    """Return the parts of an address; of one that is none, a name that is nobody's."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("//unreadable.invalid")


def _unknown_or_hasty(
    scope: HTTPScope, headers: Mapping[str, str], app_state: ChatState, limits: RequestLimits
) -> Turned | None:
    """Turn away who has no key, and who asks too often; wrong keys count against the address."""
    path = scope["path"]
    told_more = path == HEALTH and "authorization" in headers
    if (path in FREE or path.startswith(FREE_UNDER)) and not told_more:
        return None
    client = scope["client"]
    caller = f"address {client[0] if client else ''}"
    key, challenge = headers.get("authorization"), b"Bearer"
    if path == BROWSED or path.startswith(f"{BROWSED}/"):
        key, challenge = as_bearer(key), b'Basic realm="Ragstone", charset="UTF-8"'
    owner = name_of(app_state.keys, key) if app_state.keys else None
    scope["state"]["owner"] = owner
    if owner is not None:
        caller = f"key {owner}"
    wait_s = limits.wait_s(caller, app_state.clocks.tick())
    if wait_s is not None:
        most = app_state.serve.requests_per_minute
        detail = f"more than {most} requests per minute: try again in {wait_s} s"
        return Turned(429, detail, ((b"retry-after", str(wait_s).encode()),))
    if app_state.keys and owner is None:
        return Turned(401, NEEDS_KEY, ((b"www-authenticate", challenge),))
    return None


def body_limit(path: str, app_state: ChatState) -> int:
    """Return how many bytes a request to a path may have."""
    if path == UPLOADS:
        return app_state.serve.max_upload_mb * 1_000_000 + ENVELOPE_KB * 1024
    return app_state.serve.max_question_kb * 1024 * BODY_TIMES


def _too_large(scope: HTTPScope, headers: Mapping[str, str], app_state: ChatState) -> Turned | None:
    """Turn away what says itself that it is too large, before any of it is read."""
    length = headers.get("content-length", "0")
    limit = body_limit(scope["path"], app_state)
    if length.isdecimal() and int(length) > limit:
        return Turned(413, f"the request has {int(length):,} bytes; the limit is {limit:,}")
    return None


async def _turn_away(
    scope: HTTPScope, headers: Mapping[str, str], turned: Turned, receive: Receive, send: Send
) -> None:
    # A client that is still sending would see a broken connection in place of the answer.
    if "expect" not in headers:
        await drain(receive)
    body = b""
    if turned.detail:
        body = msgspec.json.encode(problem(scope["path"], turned.status, turned.detail))
    of_body = [(b"content-type", MEDIA_TYPE.encode())] if body else []
    length = [(b"content-length", str(len(body)).encode())]
    await send(
        {
            "type": "http.response.start",
            "status": turned.status,
            "headers": [*of_body, *length, *turned.headers],
        }
    )
    await send(
        {"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body, "more_body": False}
    )


def check_admins(admins: list[str], keys: Keys) -> None:
    """Check that the administrators have keys. Raises ConfigError."""
    for name in admins:
        if name not in keys:
            hint = nearest(name, keys) if keys else "There is no keys_file."
            raise ConfigError(f"[serve] admin_keys: {name!r} has no key. {hint}")
