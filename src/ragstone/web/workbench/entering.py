"""How people come in and go: login, invitation, their own account, logout."""

from urllib.parse import quote

import msgspec
from litestar import Response, get, post
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery, URLEncodedBody

from ragstone.errors import DataError
from ragstone.web.workbench.accounts import Account, Accounts
from ragstone.web.workbench.desk import AtWorkbench, Workbench
from ragstone.web.workbench.frame import ROOT, page
from ragstone.web.workbench.names import checked_name
from ragstone.web.workbench.passwords import check_password
from ragstone.web.workbench.person import AnyRequest, person_of
from ragstone.web.workbench.sites import HOME, own_path
from ragstone.web.workbench.visits import Cookies

WRONG = "This name and this password do not belong together."
TOO_MANY = "Too many attempts: try again in 15 minutes."
NOT_THE_SAME = "The two passwords differ: type the same one twice."
NO_INVITATION = (
    "This link is open no more: it was used or revoked, or 7 days have passed. Ask an owner for another one."
)
NO_ACCOUNTS = (
    "People log in here only where others than this machine reach the workbench: see docs/accounts.md."
)


class Login(msgspec.Struct, frozen=True):
    """What the form of the login sends."""

    name: str
    password: str
    next: str = ""


class Accepted(msgspec.Struct, frozen=True):
    """What the form of an invitation sends."""

    password: str
    again: str
    name: str = ""


class Changed(msgspec.Struct, frozen=True):
    """What the form of a new password sends."""

    old: str
    password: str
    again: str


@get("/login", include_in_schema=False)
async def login_page(request: AnyRequest, bench: AtWorkbench, next: FromQuery[str] = "") -> Response[str]:  # noqa: A002
    """Give the page on which one logs in; who is logged in goes on."""
    if bench.accounts is None or request.scope["state"].get("person"):
        return see_other(own_path(next))
    return _login(request, "", next)


@post("/login", include_in_schema=False)
async def log_in(request: AnyRequest, bench: AtWorkbench, data: URLEncodedBody[Login]) -> Response[str]:
    """Begin a session; a wrong name and a wrong password are told alike, and take as long."""
    accounts = accounts_of(bench)
    account = accounts.find(data.name)
    known = account.password if account else None
    right = await bench.attempts.right(address_of(request), data.name, data.password, known)
    if not right or account is None:
        # A name that nobody has may be a password that was typed into the wrong field.
        who = account.name if account else None
        bench.audit(request, "login refused" if right is None else "login failed", name=who)
        words, status = (TOO_MANY, 429) if right is None else (WRONG, 401)
        return _login(request, words, data.next, name=data.name, status=status)
    return _enter(request, bench, account, "login", own_path(data.next))


def _login(request: AnyRequest, words: str, to: str, *, name: str = "", status: int = 200) -> Response[str]:
    return page(request, "login.html", "Log in", status=status, words=words, next=own_path(to), name=name)


def _enter(
    request: AnyRequest, bench: Workbench, account: Account, action: str, to: str = HOME
) -> Response[str]:
    """Begin a session with a token of its own; one that the browser had ends."""
    accounts = accounts_of(bench)
    if before := request.scope["state"].get("session"):
        accounts.sessions.end(before)
    cookie = Cookies("", secure=bench.is_https).logged_in(accounts.sessions.begin(account.id))
    bench.log.note(account.name, action, address_of(request), {"role": account.role})
    return see_other(to, cookie)


@get("/invite/{token:str}", include_in_schema=False)
async def invitation_page(request: AnyRequest, bench: AtWorkbench, token: FromPath[str]) -> Response[str]:
    """Give the page on which an invitation is accepted."""
    return _invitation(request, bench, token, "")


@post("/invite/{token:str}", include_in_schema=False)
async def accept(
    request: AnyRequest, bench: AtWorkbench, token: FromPath[str], data: URLEncodedBody[Accepted]
) -> Response[str]:
    """Make the account of an invitation, or set a password anew, and log in."""
    accounts = accounts_of(bench)
    invitation = accounts.invitation(token)
    if invitation is None:
        return _invitation(request, bench, token, "")
    try:
        if invitation.person is None:
            checked_name(data.name)
        _check_twice(data.password, data.again)
        account = accounts.accept(token, data.name, await bench.attempts.hash(data.password))
    except DataError as mistake:
        return _invitation(request, bench, token, str(mistake), name=data.name, status=422)
    action = "invitation accepted" if invitation.person is None else "password renewed"
    return _enter(request, bench, account, action)


def _invitation(
    request: AnyRequest, bench: Workbench, token: str, words: str, *, name: str = "", status: int = 200
) -> Response[str]:
    invitation = accounts_of(bench).invitation(token)
    if invitation is None:
        return page(request, "wrong.html", "This link is open no more", status=404, words=NO_INVITATION)
    title = "New password" if invitation.person else "Welcome"
    values = {"invitation": invitation, "words": words, "name": name}
    return page(request, "invite.html", title, status=status, **values)


@get("/account", include_in_schema=False)
async def account_page(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give the page of one's own account."""
    person_of(request)
    accounts_of(bench)
    return page(request, "account.html", "Your account", words="", good=False)


@post("/account/password", include_in_schema=False)
async def change_password(
    request: AnyRequest, bench: AtWorkbench, data: URLEncodedBody[Changed]
) -> Response[str]:
    """Set one's own password; all sessions end but this one, which goes on under a new token."""
    person_of(request)
    accounts = accounts_of(bench)
    account: Account = request.scope["state"]["account"]
    right = await bench.attempts.right(address_of(request), account.name, data.old, account.password)
    try:
        if not right:
            bench.audit(request, "password not changed")
            raise DataError(TOO_MANY if right is None else "The password until now is another one.")
        _check_twice(data.password, data.again)
    except DataError as mistake:
        return page(request, "account.html", "Your account", status=422, words=str(mistake), good=False)
    accounts.set_password(account, await bench.attempts.hash(data.password))
    return _enter(request, bench, account, "password changed", f"{ROOT}/account")


def _check_twice(password: str, again: str) -> None:
    check_password(password)
    if password != again:
        raise DataError(NOT_THE_SAME)


@post("/logout", include_in_schema=False)
async def log_out(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """End this session."""
    accounts = accounts_of(bench)
    accounts.sessions.end(request.scope["state"]["session"])
    return _left(request, bench, "logout")


@post("/logout/everywhere", include_in_schema=False)
async def log_out_everywhere(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """End all sessions of this person."""
    account: Account = request.scope["state"]["account"]
    accounts_of(bench).sessions.end_all(account.id)
    return _left(request, bench, "logout everywhere")


def _left(request: AnyRequest, bench: Workbench, action: str) -> Response[str]:
    bench.audit(request, action)
    return see_other(f"{ROOT}/login", Cookies("", secure=bench.is_https).logged_out())


def accounts_of(bench: Workbench) -> Accounts:
    """Return the accounts. Raises NotFoundException where only this machine reaches the workbench."""
    if bench.accounts is None:
        raise NotFoundException(NO_ACCOUNTS)
    return bench.accounts


def address_of(request: AnyRequest) -> str:
    """Return where a request comes from."""
    return request.client.host if request.client else ""


def see_other(path: str, cookie: str | None = None) -> Response[str]:
    """Return what sends a browser to another page."""
    headers = {"Location": quote(path, safe="/?&=%+:;,@!~*'()$-._"), "Set-Cookie": cookie}
    return Response(
        "",
        status_code=303,
        media_type="text/plain",
        headers={name: one for name, one in headers.items() if one},
    )


ROUTES = (
    *(login_page, log_in, invitation_page, accept),
    *(account_page, change_password, log_out, log_out_everywhere),
)
