"""What stands before every page of the workbench: who asks, and whether the request is theirs.

On this machine alone there is one user and no login. What other sites have a browser send is turned away: by
the name of the host (DNS rebinding), by the origin, and by a token that only our own pages know. Where
others can reach the server, everything but the login, invitations and assets needs a session.
"""

import getpass
import re
from collections.abc import Mapping, Sequence
from typing import Any

from litestar import Request, Response
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from ragstone.assistant.api.gate import HEADERS as HEADERS_OF_ALL
from ragstone.assistant.api.gate import STRICT, with_methods
from ragstone.web.workbench.accounts import Accounts
from ragstone.web.workbench.desk import Workbench
from ragstone.web.workbench.forms import form_token
from ragstone.web.workbench.frame import ROOT, page
from ragstone.web.workbench.person import AnyRequest, Person
from ragstone.web.workbench.sites import Turned, asks_json, foreign, to_login
from ragstone.web.workbench.visits import Cookies, matches, token_of

FREE = re.compile(rf"{ROOT}/(login|invite/[\w-]+|assets/[\w.-]+)")
OWN = (f"{ROOT}/login", f"{ROOT}/logout", f"{ROOT}/logout/everywhere", f"{ROOT}/account/password")
"""What a reader may send too: it changes nothing but whether and how they log in."""
SAFE = ("GET", "HEAD", "OPTIONS")
REFERRER = (b"referrer-policy", b"same-origin")  # with "no-referrer" a browser hides the origin of a form
HEADERS = (
    *(one for one in HEADERS_OF_ALL if one[0] != REFERRER[0]),
    REFERRER,
    (b"cross-origin-opener-policy", b"same-origin"),
)
FORGED = "This page is older than your login, or not of this workbench: load it again, then send it again."
READS = "{name} is a reader here, and may change nothing. An owner can change that."


def guarded(app: ASGIApp, bench: Workbench, methods: Mapping[str, Sequence[str]]) -> ASGIApp:
    """Return the app with `person`, `csrf` and `accounts` (whether there are any) in their state.

    methods: template of a path -> all that it takes, for OPTIONS.
    """
    user = Person(bench.settings.workbench.annotator or getpass.getuser(), "owner")

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await send({"type": "websocket.close", "code": 1008, "reason": "there are none here"})
            return
        headers = _headers_of(scope)
        cookies = Cookies(headers.get("cookie", ""), secure=bench.is_https)
        state = scope.setdefault("state", {})
        state["accounts"] = bench.accounts is not None
        _identify(scope, cookies, bench.accounts, user)
        answering = _headed(scope, send, cookies, methods)
        turned = foreign(scope, headers, bench) or _unknown(scope, headers) or _too_large(headers, bench)
        if turned is None and scope["method"] not in SAFE:
            turned, receive = await _forged(scope, headers, receive)
        if turned is None:
            await app(scope, receive, answering)
        else:
            await _told(scope, turned)(scope, receive, answering)

    return guard


def _headers_of(scope: HTTPScope) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name = raw.decode("latin-1").lower()
        joint = f"{headers[name]}; " if name == "cookie" and name in headers else ""
        headers[name] = joint + value.decode("latin-1")
    return headers


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


def _unknown(scope: HTTPScope, headers: dict[str, str]) -> Turned | None:
    """Turn away who is not logged in, and a reader who sends anything."""
    person: Person | None = scope["state"].get("person")
    if person is None:
        return None if FREE.fullmatch(scope["path"]) else to_login(scope, headers)
    if scope["method"] in SAFE or person.may("annotator") or scope["path"] in OWN:
        return None
    return Turned(status=403, detail=READS.format(name=person.name), as_json=asks_json(headers))


def _too_large(headers: dict[str, str], bench: Workbench) -> Turned | None:
    """Turn away what says itself that it is too large; the application stops reading what does not say so."""
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length) > bench.most_bytes:
        detail = f"This has {int(length):,} bytes, and {bench.most_bytes:,} are taken."
        return Turned(status=413, detail=detail, as_json=asks_json(headers))
    return None


async def _forged(
    scope: HTTPScope, headers: dict[str, str], receive: Receive
) -> tuple[Turned | None, Receive]:
    """Turn away what does not carry the token of our pages; return what receives the request from here on."""
    given: str | None = headers.get("x-csrf-token")
    if given is None:
        given, receive = await form_token(headers.get("content-type", ""), receive)
    right = matches(scope["state"]["csrf"], given)
    return (None if right else Turned(status=403, detail=FORGED, as_json=asks_json(headers))), receive


def _headed(scope: HTTPScope, send: Send, cookies: Cookies, methods: Mapping[str, Sequence[str]]) -> Send:
    """Return what sends a response with the headers that all have, and the cookie of a new visit."""
    assets = scope["path"].startswith(f"{ROOT}/assets/")

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = with_methods(scope, list(message["headers"]), methods)
            present = {name.lower() for name, _ in headers}
            headers += HEADERS
            headers += [one for one in (STRICT, (b"cache-control", b"no-store")) if one[0] not in present]
            if not assets and (made := cookies.made()):
                headers.append((b"set-cookie", made))
            message["headers"] = headers
        await send(message)

    return sent


def _told(scope: HTTPScope, turned: Turned) -> ASGIApp:
    """Return what answers a request that is turned away: as JSON to a script, as a page to a browser."""
    request: AnyRequest = Request(scope)
    response: Response[Any]
    if turned.as_json:
        said = {"detail": turned.detail} | ({"login": turned.login} if turned.login else {})
        response = Response(said, status_code=turned.status)
    elif turned.login:
        response = Response(b"", status_code=303, headers={"Location": turned.login})
    else:
        response = page(request, "wrong.html", "This did not work", status=turned.status, words=turned.detail)
    return response.to_asgi_response(None, request)
