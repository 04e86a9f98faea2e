"""What stands before every route: who may ask, how often, how much; and the headers of every response."""

import asyncio
import contextlib
import ipaddress
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

import msgspec
from litestar import Litestar
from litestar.enums import ScopeType
from litestar.routes import HTTPRoute
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from ragstone.assistant.api.desk import NEEDS_KEY, Desk
from ragstone.assistant.api.keys import as_bearer, name_of
from ragstone.assistant.api.limits import Limits
from ragstone.assistant.api.problems import MEDIA_TYPE, problem

HEALTH = "/health"
FREE = ("/", HEALTH, "/openapi.json", "/v1/settings")
FREE_UNDER = "/assets/"
UPLOADS = "/v1/documents"
BROWSED = "/monitor"
"""Pages for people: a browser asks for the key as a password. Elsewhere it would be sent unasked (CSRF)."""
ENVELOPE_KB = 64  # what a form adds to its file
BODY_TIMES = 16  # the messages of a client that sends the whole conversation
DRAINED = 16 << 20
DRAIN_S = 10.0
LOCAL_NAMES = ("localhost", "")
METHODS = b"GET, POST, DELETE, OPTIONS"

HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
STRICT = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")


class Turned(msgspec.Struct, frozen=True):
    """Why a request does not get in."""

    status: int
    detail: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Return whether an address is of this machine only."""
    host = host.strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def gated(app: ASGIApp, desk: Desk, methods: Mapping[str, Sequence[str]]) -> ASGIApp:
    """Return the app behind its gate. A request that is turned away reaches no route.

    methods: template of a path -> all that it takes, for OPTIONS.
    """
    limits = Limits(desk.serve.requests_per_minute)
    turnstile = asyncio.Lock()  # one request begins in each pass of the loop, so that no pass takes long

    async def gate(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await app(scope, receive, send)
            return
        started = desk.clocks.tick()
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        scope.setdefault("state", {})
        allowed = headers.get("origin", "") in desk.serve.cors_origins
        status = 500

        async def guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                sent = with_methods(scope, list(message["headers"]), methods)
                message["headers"] = _with_headers(sent, headers.get("origin", "") if allowed else None)
            await send(message)

        try:
            turned = _preflight(scope, headers, allowed) or _turned(scope, headers, desk, limits)
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
            _count(scope, desk, status, started)

    return gate


def methods_of(app: Litestar) -> dict[str, list[str]]:
    """Return the methods of each path, by its template."""
    return {route.path_format: sorted(route.methods) for route in app.routes if isinstance(route, HTTPRoute)}


def with_methods(
    scope: HTTPScope, headers: list[tuple[bytes, bytes]], methods: Mapping[str, Sequence[str]]
) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer; to OPTIONS with all methods of the path.

    Litestar's own answer has those of the first function of a path only.
    """
    taken = methods.get(str(scope.get("path_template")))
    if scope["method"] != "OPTIONS" or taken is None:
        return headers
    others = [one for one in headers if one[0].lower() != b"allow"]
    return [*others, (b"allow", ", ".join(taken).encode())]


def _count(scope: HTTPScope, desk: Desk, status: int, started: float) -> None:
    """Count the request under its route's template: paths that someone makes up must not become series."""
    route = str(scope.get("path_template") or "none")
    method = scope["method"] if route != "none" else "any"
    desk.metrics.requests.labels(route, method, status).inc()
    desk.metrics.latency.labels(route).observe(desk.clocks.tick() - started)


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
        return Turned(403, "pages of this site may not ask: cors_origins of [serve] lacks it")
    told = (
        (b"access-control-allow-methods", METHODS),
        (b"access-control-allow-headers", b"Authorization, Content-Type"),
        (b"access-control-max-age", b"600"),
    )
    return Turned(204, "", told)


def _turned(scope: HTTPScope, headers: Mapping[str, str], desk: Desk, limits: Limits) -> Turned | None:
    """Return why a request does not get in, if it does not; else note whose it is."""
    return (
        _foreign(scope, headers, desk)
        or _unknown_or_hasty(scope, headers, desk, limits)
        or _too_large(scope, headers, desk)
    )


def _foreign(scope: HTTPScope, headers: Mapping[str, str], desk: Desk) -> Turned | None:
    """Turn away what a page of another site has a browser send.

    Without keys a browser on this machine is all that it takes: a name that is made to point at this machine
    (DNS rebinding) is no name of ours, and a form of another site has another origin.
    """
    host = headers.get("host", "")
    if not desk.keys and is_loopback(desk.serve.host):
        name = _parts(f"//{host}").hostname or ""
        if name and not is_loopback(name):
            return Turned(403, f"{name!r} is no name of this machine; with a keys_file any name is served")
    origin = headers.get("origin")
    if origin is None or scope["method"] in ("GET", "HEAD") or origin in desk.serve.cors_origins:
        return None
    if _parts(origin).netloc != host:
        return Turned(403, "pages of other sites may not ask: cors_origins of [serve] lacks this one")
    return None


def _parts(address: str) -> SplitResult:
    """Return the parts of an address; of one that is none, a name that is nobody's."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("//unreadable.invalid")


def _unknown_or_hasty(
    scope: HTTPScope, headers: Mapping[str, str], desk: Desk, limits: Limits
) -> Turned | None:
    """Turn away who has no key, and who asks too often; wrong keys count against the address."""
    path = scope["path"]
    told_more = path == HEALTH and "authorization" in headers
    if (path in FREE or path.startswith(FREE_UNDER)) and not told_more:
        return None
    client = scope["client"]
    caller = f"address {client[0] if client else ''}"
    given, challenge = headers.get("authorization"), b"Bearer"
    if path == BROWSED or path.startswith(f"{BROWSED}/"):
        given, challenge = as_bearer(given), b'Basic realm="Ragstone", charset="UTF-8"'
    owner = name_of(desk.keys, given) if desk.keys else None
    scope["state"]["owner"] = owner
    if owner is not None:
        caller = f"key {owner}"
    wait_s = limits.wait_s(caller, desk.clocks.tick())
    if wait_s is not None:
        most = desk.serve.requests_per_minute
        detail = f"more than {most} requests a minute: come back in {wait_s} s"
        return Turned(429, detail, ((b"retry-after", str(wait_s).encode()),))
    if desk.keys and owner is None:
        return Turned(401, NEEDS_KEY, ((b"www-authenticate", challenge),))
    return None


def body_limit(path: str, desk: Desk) -> int:
    """Return how many bytes a request to a path may have."""
    if path == UPLOADS:
        return desk.serve.max_upload_mb * 1_000_000 + ENVELOPE_KB * 1024
    return desk.serve.max_question_kb * 1024 * BODY_TIMES


def _too_large(scope: HTTPScope, headers: Mapping[str, str], desk: Desk) -> Turned | None:
    """Turn away what says itself that it is too large, before any of it is read."""
    length = headers.get("content-length", "0")
    limit = body_limit(scope["path"], desk)
    if length.isdecimal() and int(length) > limit:
        return Turned(413, f"the request has {int(length):,} bytes, and {limit:,} are taken")
    return None


async def _turn_away(
    scope: HTTPScope, headers: Mapping[str, str], turned: Turned, receive: Receive, send: Send
) -> None:
    # A client that is still sending would see a broken connection in place of the answer.
    if "expect" not in headers:
        await _drain(receive)
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


async def _drain(receive: Receive) -> None:
    """Read up to 16 MB of what is sent, for 10 seconds at most, and forget it."""
    n_bytes, more = 0, True
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            while more and n_bytes < DRAINED:
                message = await receive()
                if message["type"] != "http.request":
                    return
                n_bytes += len(message["body"])
                more = message.get("more_body", False)
