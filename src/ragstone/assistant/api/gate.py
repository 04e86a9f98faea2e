"""What stands before every route: whose key it is, how often and how much may be asked; and the headers."""

import asyncio
import base64
import contextlib
import hashlib
import hmac
import ipaddress
import math
from collections import deque
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import msgspec
from litestar import Litestar
from litestar.enums import ScopeType
from litestar.routes import HTTPRoute
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from ragstone.assistant.api.problems import MEDIA_TYPE, problem
from ragstone.assistant.api.state import AppState
from ragstone.config import parse_toml
from ragstone.errors import ConfigError, nearest

SHORTEST = 16
MAKE_ONE = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"

Keys = dict[str, bytes]
"""Name -> SHA-256 of the key."""


def read_keys(path: Path) -> dict[str, str]:
    """Return name -> key, of a file of `name = "key"` lines.

    Raises ConfigError for a file that cannot be read or holds no key, for a key that is no text, shorter than
    16 characters.
    """
    try:
        table = parse_toml(path.read_text(encoding="utf-8-sig"), path)
    except (OSError, UnicodeDecodeError) as mistake:
        raise ConfigError(f"keys_file {path}: cannot be read ({mistake}).") from None
    except ConfigError as mistake:
        raise ConfigError(f'keys_file {mistake} Its lines are name = "key".') from None
    if not table:
        raise ConfigError(f'keys_file {path}: holds no key. Write a line name = "key". {MAKE_ONE}')
    for name, key in table.items():
        if not isinstance(key, str) or len(key) < SHORTEST:
            raise ConfigError(
                f"keys_file {path}: {name} is not a text of at least {SHORTEST} characters. {MAKE_ONE}"
            )
    return table


def digests(keys: Mapping[str, str]) -> Keys:
    """Return the keys as they are held in memory. Raises ConfigError where two are the same."""
    held = {name: _digest(key) for name, key in keys.items()}
    for name, digest in held.items():
        twins = [other for other in held if other != name and held[other] == digest]
        if twins:
            raise ConfigError(f"the keys of {name} and {twins[0]} are the same: give each its own.")
    return held


def name_of(keys: Keys, header: str | None) -> str | None:
    """Return whose key an `Authorization` header carries; None for no key and for a wrong one.

    All keys are compared, each in constant time, so that the time taken tells nothing.
    """
    scheme, _, given = (header or "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    digest = _digest(given.strip())
    found = [name for name, known in keys.items() if hmac.compare_digest(known, digest)]
    return found[0] if found else None


def as_bearer(header: str | None) -> str | None:
    """Return a header by which a browser gives a password as one that gives it as a key; others unchanged.

    The user name is not looked at. Raises nothing: what cannot be read is no key.
    """
    scheme, _, given = (header or "").partition(" ")
    if scheme.lower() != "basic":
        return header
    try:
        decoded = base64.b64decode(given.strip(), validate=True).decode("utf-8", "surrogateescape")
    except ValueError:
        return None
    return f"Bearer {decoded.partition(':')[2]}"


def check_admins(admins: list[str], keys: Keys) -> None:
    """Check that the administrators have keys. Raises ConfigError."""
    for name in admins:
        if name not in keys:
            hint = nearest(name, keys) if keys else "There is no keys_file."
            raise ConfigError(f"[serve] admin_keys: {name!r} has no key. {hint}")


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


MINUTE_S = 60.0


class RequestLimits:
    """Knows when each caller asked of late: never more than `most` times in any `within_s` seconds."""

    def __init__(self, most: int, within_s: float = MINUTE_S) -> None:
        self._most, self._within_s = most, within_s
        self._asked: dict[str, deque[float]] = {}
        self._swept = 0.0

    def wait_s(self, caller: str, now: float) -> int | None:
        """Count a request; return the whole seconds to wait where it is one too many, which counts not."""
        self._sweep(now)
        times = self._asked.setdefault(caller, deque())
        while times and now - times[0] >= self._within_s:
            times.popleft()
        if len(times) >= self._most:
            wait_s = max(1, math.ceil(times[0] + self._within_s - now))
            return wait_s + (now + wait_s - times[0] < self._within_s)  # sums of floats may fall short
        times.append(now)
        return None

    def take_back(self, caller: str) -> None:
        """Count the last request of a caller no more."""
        if times := self._asked.get(caller):
            times.pop()

    def _sweep(self, now: float) -> None:
        """Forget, once in that time, who has not asked within it."""
        if now - self._swept >= self._within_s:
            self._swept = now
            self._asked = {
                who: times for who, times in self._asked.items() if times and times[-1] > now - self._within_s
            }


HEALTH = "/health"
NEEDS_KEY = "a key is needed: send the header Authorization: Bearer KEY"
FREE = ("/", HEALTH, "/openapi.json", "/v1/settings")
FREE_UNDER = "/assets/"
UPLOADS = "/v1/documents"
BROWSED = "/monitor"
"""Pages for people: a browser asks for the key as a password. Elsewhere it would be sent unasked (CSRF)."""
ENVELOPE_KB = 64  # what a form adds to its file
BODY_TIMES = 16  # the messages of a client that sends the whole conversation
DRAINED = 16 << 20
DRAIN_S = 10.0
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


def gated(app: ASGIApp, app_state: AppState, methods: Mapping[str, Sequence[str]]) -> ASGIApp:
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
            _count(scope, app_state, status, started)

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


def _count(scope: HTTPScope, app_state: AppState, status: int, started: float) -> None:
    """Count the request under its route's template: paths that someone makes up must not become series."""
    route = str(scope.get("path_template") or "none")
    method = scope["method"] if route != "none" else "any"
    app_state.metrics.requests.labels(route, method, status).inc()
    app_state.metrics.latency.labels(route).observe(app_state.clocks.tick() - started)


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


def _turned(
    scope: HTTPScope, headers: Mapping[str, str], app_state: AppState, limits: RequestLimits
) -> Turned | None:
    """Return why a request does not get in, if it does not; else note whose it is."""
    return (
        _foreign(scope, headers, app_state)
        or _unknown_or_hasty(scope, headers, app_state, limits)
        or _too_large(scope, headers, app_state)
    )


def _foreign(scope: HTTPScope, headers: Mapping[str, str], app_state: AppState) -> Turned | None:
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
        return Turned(403, "pages of other sites may not ask: cors_origins of [serve] lacks this one")
    return None


def _parts(address: str) -> SplitResult:
    """Return the parts of an address; of one that is none, a name that is nobody's."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("//unreadable.invalid")


def _unknown_or_hasty(
    scope: HTTPScope, headers: Mapping[str, str], app_state: AppState, limits: RequestLimits
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
    owner = name_of(app_state.keys, given) if app_state.keys else None
    scope["state"]["owner"] = owner
    if owner is not None:
        caller = f"key {owner}"
    wait_s = limits.wait_s(caller, app_state.clocks.tick())
    if wait_s is not None:
        most = app_state.serve.requests_per_minute
        detail = f"more than {most} requests a minute: come back in {wait_s} s"
        return Turned(429, detail, ((b"retry-after", str(wait_s).encode()),))
    if app_state.keys and owner is None:
        return Turned(401, NEEDS_KEY, ((b"www-authenticate", challenge),))
    return None


def body_limit(path: str, app_state: AppState) -> int:
    """Return how many bytes a request to a path may have."""
    if path == UPLOADS:
        return app_state.serve.max_upload_mb * 1_000_000 + ENVELOPE_KB * 1024
    return app_state.serve.max_question_kb * 1024 * BODY_TIMES


def _too_large(scope: HTTPScope, headers: Mapping[str, str], app_state: AppState) -> Turned | None:
    """Turn away what says itself that it is too large, before any of it is read."""
    length = headers.get("content-length", "0")
    limit = body_limit(scope["path"], app_state)
    if length.isdecimal() and int(length) > limit:
        return Turned(413, f"the request has {int(length):,} bytes, and {limit:,} are taken")
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


async def drain(receive: Receive) -> None:
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
