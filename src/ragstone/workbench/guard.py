"""What stands before every page of the workbench: who asks, and whether the request is theirs.

On this machine alone there is one user and no login. What other sites have a browser send is turned away: by
the name of the host (DNS rebinding), by the origin, and by a token that only our own pages know. Where
others can reach the server, everything but the login, invitations and assets needs a session.
"""

import getpass
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import msgspec
from litestar import Request, Response
from litestar.enums import RequestEncodingType, ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send
from litestar.types.asgi_types import HTTPRequestEvent, ReceiveMessage

from ragstone.kernel.serve.frame import ROOT, Person
from ragstone.kernel.serve.headers import HEADERS as HEADERS_OF_ALL
from ragstone.kernel.serve.headers import STRICT, is_loopback, with_methods
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AppState
from ragstone.workbench.accounts import Accounts, accounts_of
from ragstone.workbench.mistakes import wrong_page
from ragstone.workbench.pages import NavEntry, place_at

VISIT, SESSION = "ragstone_visit", "ragstone_session"
VISIT_S = 400 * 86_400  # as long as browsers keep one


class Cookies:
    """The cookies of a request. secure: they go over https alone, and are of this host alone."""

    def __init__(self, cookies: Mapping[str, str], *, secure: bool) -> None:
        self._secure = secure
        self.session: str | None = cookies.get(self._name(SESSION))
        self._visit: str | None = cookies.get(self._name(VISIT))
        self._is_new = False

    def visit(self) -> str:
        """Return the token of this browser; a new one where it has none."""
        if not self._visit:
            self._visit, self._is_new = secrets.token_urlsafe(32), True
        return self._visit

    def made(self) -> bytes | None:
        """Return the header that keeps a new visit; None where there is none."""
        return self._set(VISIT, self.visit(), VISIT_S).encode() if self._is_new else None

    def logged_in(self, token: str) -> str:
        """Return the header that keeps a session: until the browser is closed, or the session ends."""
        return self._set(SESSION, token, None)

    def logged_out(self) -> str:
        """Return the header that forgets a session."""
        return self._set(SESSION, "", 0)

    def _name(self, name: str) -> str:
        return f"__Host-{name}" if self._secure else name

    def _set(self, name: str, value: str, age_s: int | None) -> str:
        age = "" if age_s is None else f"; Max-Age={age_s}"
        secure = "; Secure" if self._secure else ""
        return f"{self._name(name)}={value}; Path=/; HttpOnly; SameSite=Lax{age}{secure}"


def token_of(visit: str) -> str:
    """Return what forms carry of a browser in which nobody has logged in: its cookie must be known."""
    return hashlib.sha256(b"csrf " + visit.encode("utf-8", "surrogateescape")).hexdigest()


def masked(token: str) -> str:
    """Return a token as a page carries it, another each time; see unmasked.

    Pages are compressed, and show what their address asks for: from the lengths of many, somebody who sees
    them pass could otherwise guess a text that is the same in all (BREACH: Gluck, Harris, Prado 2013).
    """
    mask = secrets.token_bytes(len(token))
    return (mask + bytes(a ^ b for a, b in zip(mask, token.encode("ascii"), strict=True))).hex()


def unmasked(sent: str) -> str:
    """Return the token that masked was given; a text that it has not made as it is."""
    try:
        mask, hidden = (part := bytes.fromhex(sent))[: len(part) // 2], part[len(part) // 2 :]
        return bytes(a ^ b for a, b in zip(mask, hidden, strict=True)).decode("ascii")
    except ValueError:
        return sent


def matches(token: str, sent: str | None) -> bool:
    """Return whether a token, masked or not, is the right one, in a time that does not tell."""
    if sent is None:
        return False
    tokens = (text.encode("utf-8", "surrogateescape") for text in (sent, unmasked(sent)))
    # Each is compared, so that the time does not tell which of them it was.
    return sum(hmac.compare_digest(token.encode(), text) for text in tokens) > 0


FORM_BYTES = 1 << 20
MOST_FIELDS = 1000


async def form_token(receive: Receive) -> tuple[str | None, Receive]:
    """Return the field `csrf` of a form, None where there is none; and what receives the whole form still.

    Litestar reads a form once it has found its route, which is later than this must be known.
    """
    messages: list[ReceiveMessage] = []
    body, more = b"", True
    while more and len(body) < FORM_BYTES:
        message = await receive()
        messages.append(message)
        if message["type"] != "http.request":
            break
        body += message["body"]
        more = bool(message.get("more_body", False))

    async def again() -> HTTPRequestEvent | ReceiveMessage:
        return messages.pop(0) if messages else await receive()

    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS)
    except ValueError:
        return None, again
    return next(iter(fields.get("csrf", [])), None), again


HOME = f"{ROOT}/"
ENDED = "You are no longer logged in. Log in again, in another tab if you wrote something here."
PROXIED = (
    "This request came through a proxy, but this workbench serves only this machine. Set public_url in the "
    "table "
    "[serve] of ragstone.toml to the address that people open; they then log in."
)
OF_PROXIES = {
    *("forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "client-ip", "true-client-ip"),
    *("cf-connecting-ip", "cf-ray", "fastly-client-ip", "fly-client-ip", "x-envoy-external-address"),
    *("x-original-host", "x-original-forwarded-for", "x-azure-clientip", "x-appengine-user-ip"),
    *("tailscale-user-login", "x-proxyuser-ip", "x-original-url"),
}
"""What proxies and tunnels add, beside all that begins with x-forwarded-; a browser sends none of them."""
OTHER_SITE = "This request came from another site, so it was refused."


def is_https(app: AppState) -> bool:
    """Whether people reach the workbench over https."""
    return (app.settings.serve.public_url or "").startswith("https:")


class TurnedAway(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request does not get in. login: where to go first."""

    status: int = 403
    detail: str
    login: str | None = None


def foreign(request: AnyRequest, app: AppState) -> TurnedAway | None:
    """Turn away what a page of another site has a browser send, and names that are none of ours."""
    host, public = request.headers.get("host", ""), app.settings.serve.public_url
    name = _hostname(host)
    if app.part(accounts_of) is None:
        if any(header in OF_PROXIES or header.startswith("x-forwarded-") for header in request.headers):
            return TurnedAway(detail=PROXIED)
        if not is_loopback(name):
            return TurnedAway(detail=f"{name!r} is not a name of this machine.")
    elif public is not None and name != urlsplit(public).hostname and not is_loopback(name):
        return TurnedAway(detail=f"{name!r} is not the address of this workbench: it is {public}.")
    ours = {host.lower()} | ({urlsplit(public).netloc.lower()} if public else set())
    return TurnedAway(detail=OTHER_SITE) if _is_of_another_site(request, ours) else None


def _is_of_another_site(request: AnyRequest, ours: set[str]) -> bool:
    """Return whether another site had this sent. ours: what stands behind the scheme of our origins."""
    headers = request.headers
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if request.method in ("GET", "HEAD"):
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


def asks_json(request: AnyRequest) -> bool:
    """Return whether a script asks, not somebody who opens a page or sends a form."""
    headers = request.headers
    kinds = headers.get("accept", ""), headers.get("content-type", "")
    return any("application/json" in kind for kind in kinds) or "x-csrf-token" in headers


def to_login(request: AnyRequest) -> TurnedAway:
    """Return where to log in, and back from there to the page that was asked for, or that a form is on."""
    if request.method in ("GET", "HEAD") and not asks_json(request):
        query = request.scope["query_string"].decode("latin-1")
        back = request.scope["path"] + (f"?{query}" if query else "")
    else:
        referrer = urlsplit(request.headers.get("referer", ""))
        same = referrer.netloc == request.headers.get("host", "")
        back = f"{referrer.path}?{referrer.query}" if same and referrer.query else referrer.path * same
    back = own_path(back)
    login = f"{ROOT}/login" + (f"?next={quote(back, safe='/')}" if back != HOME else "")
    return TurnedAway(status=401, detail=ENDED, login=login)


def own_path(path: str) -> str:
    """Return a path to go to after the login, if it is one of ours; else that of the first page."""
    ours = path.startswith(HOME) and path.isprintable() and not set(path) & set('\\<>"') and "//" not in path
    return path if ours else HOME


FREE = re.compile(rf"{ROOT}/(login|invite/[\w-]+|assets/[\w.-]+)")
OWN = (f"{ROOT}/login", f"{ROOT}/logout", f"{ROOT}/logout/everywhere", f"{ROOT}/account/password")
"""What a reader may send too: it changes nothing but whether and how they log in."""
SAFE = ("GET", "HEAD", "OPTIONS")
REFERRER = (b"referrer-policy", b"same-origin")  # with "no-referrer" a browser hides the origin of a form
HEADERS = (
    *(header for header in HEADERS_OF_ALL if header[0] != REFERRER[0]),
    REFERRER,
    (b"cross-origin-opener-policy", b"same-origin"),
)
FORGED = "This page is older than your login, or from another workbench: reload it, then send it again."
READS = "{name} is a reader here and cannot change anything. An owner can change that."


def guarded(
    inner: ASGIApp,
    app: AppState,
    methods: Mapping[str, Sequence[str]],
    sections: Sequence[NavEntry],
) -> ASGIApp:
    """Return the app with what every page shows in the state of its requests, see kernel/serve/frame.py.

    methods: template of a path -> all that it takes, for OPTIONS. sections: of the navigation.
    """
    accounts = app.part(accounts_of)
    user = Person(app.settings.workbench.annotator or getpass.getuser(), "owner")

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await send({"type": "websocket.close", "code": 1008, "reason": "there are none here"})
            return
        request: AnyRequest = Request(scope)
        cookies = Cookies(request.cookies, secure=is_https(app))
        state = scope.setdefault("state", {})
        state["accounts"] = accounts is not None
        _identify(scope, cookies, accounts, user)
        person: Person | None = state.get("person")
        state["sections"] = [section for section in sections if person and person.may(section.role)]
        state["located"] = place_at(request.url.path, state["sections"])
        state["form_token"] = masked(state["csrf"])
        answering = _headed(scope, send, cookies, methods)
        turned = foreign(request, app) or _unknown(request) or _too_large(request, app)
        if turned is None and scope["method"] not in SAFE:
            sent: str | None = request.headers.get("x-csrf-token")
            if sent is None and request.content_type[0] == RequestEncodingType.URL_ENCODED:
                sent, receive = await form_token(receive)
            turned = None if matches(state["csrf"], sent) else TurnedAway(detail=FORGED)
        if turned is None:
            await inner(scope, receive, answering)
        else:
            await _refusal(request, turned)(scope, receive, answering)

    return guard


def _identify(scope: HTTPScope, cookies: Cookies, accounts: Accounts | None, user: Person) -> None:
    """Note who asks, if they are known, and the token that what they send must carry."""
    state = scope["state"]
    state.pop("person", None)
    if accounts is None:
        state["person"], state["csrf"] = user, token_of(cookies.visit())
        return
    account = accounts.who(cookies.session)
    if account is None:
        state["csrf"] = token_of(cookies.visit())
    else:
        state["person"], state["csrf"] = Person(account.name, account.role), accounts.csrf(account)
    state["account"], state["session"] = account, cookies.session


def _unknown(request: AnyRequest) -> TurnedAway | None:
    """Turn away who is not logged in, and a reader who sends anything."""
    person: Person | None = request.scope["state"].get("person")
    path = request.scope["path"]
    if person is None:
        return None if FREE.fullmatch(path) else to_login(request)
    if request.method in SAFE or person.may("annotator") or path in OWN:
        return None
    return TurnedAway(detail=READS.format(name=person.name))


def _too_large(request: AnyRequest, app: AppState) -> TurnedAway | None:
    """Turn away what says itself that it is too large; the application stops reading what does not say so."""
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > app.most_bytes:
        detail = f"This has {int(length):,} bytes; the limit is {app.most_bytes:,}."
        return TurnedAway(status=413, detail=detail)
    return None


def _headed(scope: HTTPScope, send: Send, cookies: Cookies, methods: Mapping[str, Sequence[str]]) -> Send:
    """Return what sends a response with the headers that all have, and the cookie of a new visit."""
    assets = scope["path"].startswith(f"{ROOT}/assets/")

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = with_methods(scope, list(message["headers"]), methods)
            present = {name.lower() for name, _ in headers}
            headers += HEADERS
            headers += [
                header for header in (STRICT, (b"cache-control", b"no-store")) if header[0] not in present
            ]
            if not assets and (made := cookies.made()):
                headers.append((b"set-cookie", made))
            message["headers"] = headers
        await send(message)

    return sent


def _refusal(request: AnyRequest, turned: TurnedAway) -> ASGIApp:
    """Return what answers a request that is turned away: as JSON to a script, as a page to a browser."""
    response: Response[Any]
    if asks_json(request):
        problem = {"detail": turned.detail} | ({"login": turned.login} if turned.login else {})
        response = Response(problem, status_code=turned.status)
    elif turned.login:
        response = Response(b"", status_code=303, headers={"Location": turned.login})
    else:
        response = wrong_page(request, turned.status, turned.detail)
    return response.to_asgi_response(None, request)
