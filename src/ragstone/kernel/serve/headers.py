"""Headers that every answer carries, the methods of a path, and whose addresses are this machine's."""

import ipaddress
from collections.abc import Mapping, Sequence
from functools import lru_cache

from litestar import Litestar
from litestar.routes import HTTPRoute
from litestar.types import HTTPScope

from ragstone.kernel.config import Settings

HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
STRICT = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Return whether an address is of this machine only."""
    host = host.strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def needs_accounts(settings: Settings) -> bool:
    """Whether others than who sits at this machine can reach the server."""
    return settings.serve.public_url is not None or not is_loopback(settings.serve.host)


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
    others = [header for header in headers if header[0].lower() != b"allow"]
    return [*others, (b"allow", ", ".join(taken).encode())]
