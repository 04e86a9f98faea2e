"""Which requests are of our own pages, and where people are sent who must log in first."""

from urllib.parse import quote, urlsplit

import msgspec
from litestar.types import HTTPScope

from ragstone.assistant.api.gate import is_loopback
from ragstone.web.workbench.desk import Workbench
from ragstone.web.workbench.frame import ROOT

HOME = f"{ROOT}/"
ENDED = "You are logged in no more: log in again, in another tab if you wrote something here."
PROXIED = (
    "This came through a proxy, and here is a workbench for this machine alone. Set public_url in the table "
    "[serve] of ragstone.toml to the address that people open; they then log in."
)
OF_PROXIES = frozenset(
    {
        *(
            "forwarded",
            "via",
            "x-real-ip",
            "x-client-ip",
            "x-cluster-client-ip",
            "client-ip",
            "true-client-ip",
        ),
        *("cf-connecting-ip", "cf-ray", "fastly-client-ip", "fly-client-ip", "x-envoy-external-address"),
        *("x-original-host", "x-original-forwarded-for", "x-azure-clientip", "x-appengine-user-ip"),
        *("tailscale-user-login", "x-proxyuser-ip", "x-original-url"),
    }
)
"""What proxies and tunnels add, beside all that begins with x-forwarded-; a browser sends none of them."""
OTHER_SITE = "A page of another site sent this, and that is not taken."


class Turned(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request does not get in. login: where to go first; as_json: a script asked."""

    status: int
    detail: str
    login: str | None = None
    as_json: bool = False


def foreign(scope: HTTPScope, headers: dict[str, str], bench: Workbench) -> Turned | None:
    """Turn away what a page of another site has a browser send, and names that are none of ours."""
    host = headers.get("host", "")
    script = asks_json(headers)
    public = bench.settings.serve.public_url
    name = _hostname(host)
    if bench.accounts is None:
        if OF_PROXIES & headers.keys() or any(one.startswith("x-forwarded-") for one in headers):
            return Turned(status=403, detail=PROXIED, as_json=script)
        if not is_loopback(name):
            return Turned(status=403, detail=f"{name!r} is no name of this machine.", as_json=script)
    elif public is not None and name != urlsplit(public).hostname and not is_loopback(name):
        detail = f"{name!r} is not the address of this workbench: it is {public}."
        return Turned(status=403, detail=detail, as_json=script)
    if _is_of_another_site(scope, headers, _origins(host, public)):
        return Turned(status=403, detail=OTHER_SITE, as_json=script)
    return None


def _origins(host: str, public: str | None) -> set[str]:
    """Return what stands behind the scheme of the origins that are ours."""
    return {host.lower()} | ({urlsplit(public).netloc.lower()} if public else set())


def _is_of_another_site(scope: HTTPScope, headers: dict[str, str], ours: set[str]) -> bool:
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if scope["method"] in ("GET", "HEAD"):
        # A link may lead here; an image, a script or a frame of another site may not.
        return site in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate"
    if site is not None and site != "same-origin":
        return True
    if origin is None or (origin == "null" and site == "same-origin"):
        return False
    return origin.partition("://")[2].lower() not in ours


def _hostname(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def asks_json(headers: dict[str, str]) -> bool:
    """Return whether a script asks, not somebody who opens a page or sends a form."""
    kinds = headers.get("accept", ""), headers.get("content-type", "")
    return any("application/json" in kind for kind in kinds) or "x-csrf-token" in headers


def to_login(scope: HTTPScope, headers: dict[str, str]) -> Turned:
    """Return where to log in, and back from there to the page that was asked for, or that a form is on."""
    if scope["method"] in ("GET", "HEAD") and not asks_json(headers):
        query = scope["query_string"].decode("latin-1")
        back = scope["path"] + (f"?{query}" if query else "")
    else:
        referrer = urlsplit(headers.get("referer", ""))
        same = referrer.netloc == headers.get("host", "")
        back = f"{referrer.path}?{referrer.query}" if same and referrer.query else referrer.path * same
    back = own_path(back)
    login = f"{ROOT}/login" + (f"?next={quote(back, safe='/')}" if back != HOME else "")
    return Turned(status=401, detail=ENDED, login=login, as_json=asks_json(headers))


def own_path(path: str) -> str:
    """Return a path to go to after the login, if it is one of ours; else that of the first page."""
    ours = path.startswith(HOME) and path.isprintable() and not set(path) & set('\\<>"') and "//" not in path
    return path if ours else HOME
