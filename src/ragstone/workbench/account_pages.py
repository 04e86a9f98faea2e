"""How people come in and go, and their own account; for owners who may use the workbench, and the log."""

from collections.abc import Callable
from itertools import islice
from typing import Annotated, Any, get_args
from urllib.parse import quote

import msgspec
from litestar import Response, get, post
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery, QueryParameter, URLEncodedBody

from ragstone.kernel.config.serving import Role
from ragstone.kernel.errors import DataError
from ragstone.kernel.serve.frame import OWNER, ROOT, AtPerson, page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AppState, AtApp
from ragstone.workbench.accounts import Accounts, UserAccount, accounts_of
from ragstone.workbench.guard import HOME, Cookies, is_https, own_path
from ragstone.workbench.names import checked_name
from ragstone.workbench.passwords import attempts_of, check_password

WRONG = "Wrong name or password."
TOO_MANY = "Too many attempts: try again in 15 minutes."
NOT_THE_SAME = "The two passwords differ: type the same password twice."
NO_INVITATION = (
    "This link no longer works: it was used or revoked, or is more than 7 days old. Ask an owner for "
    "another one."
)
NO_ACCOUNTS = "Nobody logs in on a workbench that only this machine can reach: see docs/how-to/accounts.md."


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


class PasswordChange(msgspec.Struct, frozen=True):
    """What the form of a new password sends."""

    old: str
    password: str
    again: str


@get("/login")
async def login_page(request: AnyRequest, app: AtApp, next: FromQuery[str] = "") -> Response[str]:  # noqa: A002
    """Give the page on which one logs in; who is logged in goes on."""
    if app.part(accounts_of) is None or request.scope["state"].get("person"):
        return see_other(own_path(next))
    return _login(request, "", next)


@post("/login")
async def log_in(request: AnyRequest, app: AtApp, data: URLEncodedBody[Login]) -> Response[str]:
    """Begin a session; a wrong name and a wrong password are told alike, and take as long."""
    accounts = needed_accounts(app)
    account = accounts.find(data.name)
    known = account.password if account else None
    right = await app.part(attempts_of).right(address_of(request), data.name, data.password, known)
    if not right or account is None:
        # A name that nobody has may be a password that was typed into the wrong field.
        who = account.name if account else None
        app.audit(request, "login refused" if right is None else "login failed", name=who)
        problem, status = (TOO_MANY, 429) if right is None else (WRONG, 401)
        return _login(request, problem, data.next, name=data.name, status=status)
    return _enter(request, app, account, "login", own_path(data.next))


def _login(request: AnyRequest, problem: str, to: str, *, name: str = "", status: int = 200) -> Response[str]:
    return page(
        request, "workbench/login.html", "Log in", status=status, words=problem, next=own_path(to), name=name
    )


def _enter(
    request: AnyRequest, app: AppState, account: UserAccount, action: str, to: str = HOME
) -> Response[str]:
    """Begin a session with a token of its own; one that the browser had ends."""
    accounts = needed_accounts(app)
    if before := request.scope["state"].get("session"):
        accounts.end_session(before)
    cookie = Cookies({}, secure=is_https(app)).logged_in(accounts.begin_session(account.id))
    app.log.note(account.name, action, address_of(request), {"role": account.role})
    return see_other(to, cookie)


@get("/invite/{token:str}")
async def invitation_page(request: AnyRequest, app: AtApp, token: FromPath[str]) -> Response[str]:
    """Give the page on which an invitation is accepted."""
    return _invitation(request, app, token, "")


@post("/invite/{token:str}")
async def accept(
    request: AnyRequest, app: AtApp, token: FromPath[str], data: URLEncodedBody[Accepted]
) -> Response[str]:
    """Make the account of an invitation, or set a password anew, and log in."""
    accounts = needed_accounts(app)
    invitation = accounts.invitation(token)
    if invitation is None:
        return _invitation(request, app, token, "")
    try:
        if invitation.person is None:
            checked_name(data.name)
        _check_twice(data.password, data.again)
        account = accounts.accept(token, data.name, await app.part(attempts_of).hash(data.password))
    except DataError as mistake:
        return _invitation(request, app, token, str(mistake), name=data.name, status=422)
    action = "invitation accepted" if invitation.person is None else "password renewed"
    return _enter(request, app, account, action)


def _invitation(
    request: AnyRequest, app: AppState, token: str, problem: str, *, name: str = "", status: int = 200
) -> Response[str]:
    invitation = needed_accounts(app).invitation(token)
    if invitation is None:
        return page(
            request, "workbench/wrong.html", "This link no longer works", status=404, words=NO_INVITATION
        )
    title = "New password" if invitation.person else "Welcome"
    values = {"invitation": invitation, "words": problem, "name": name}
    return page(request, "workbench/invite.html", title, status=status, **values)


@get("/account")
async def account_page(request: AnyRequest, app: AtApp) -> Response[str]:
    """Give the page of one's own account."""
    needed_accounts(app)
    return page(request, "workbench/account.html", "Your account", words="", good=False)


@post("/account/password")
async def change_password(
    request: AnyRequest, app: AtApp, data: URLEncodedBody[PasswordChange]
) -> Response[str]:
    """Set one's own password; all sessions end but this one, which goes on under a new token."""
    accounts = needed_accounts(app)
    account: UserAccount = request.scope["state"]["account"]
    right = await app.part(attempts_of).right(address_of(request), account.name, data.old, account.password)
    try:
        if not right:
            app.audit(request, "password not changed")
            raise DataError(TOO_MANY if right is None else "The current password is wrong.")
        _check_twice(data.password, data.again)
    except DataError as mistake:
        return page(
            request, "workbench/account.html", "Your account", status=422, words=str(mistake), good=False
        )
    accounts.set_password(account, await app.part(attempts_of).hash(data.password))
    return _enter(request, app, account, "password changed", f"{ROOT}/account")


def _check_twice(password: str, again: str) -> None:
    check_password(password)
    if password != again:
        raise DataError(NOT_THE_SAME)


@post("/logout")
async def log_out(request: AnyRequest, app: AtApp) -> Response[str]:
    """End this session."""
    accounts = needed_accounts(app)
    accounts.end_session(request.scope["state"]["session"])
    return _left(request, app, "logout")


@post("/logout/everywhere")
async def log_out_everywhere(request: AnyRequest, app: AtApp) -> Response[str]:
    """End all sessions of this person."""
    account: UserAccount = request.scope["state"]["account"]
    needed_accounts(app).end_sessions(account.id)
    return _left(request, app, "logout everywhere")


def _left(request: AnyRequest, app: AppState, action: str) -> Response[str]:
    app.audit(request, action)
    return see_other(f"{ROOT}/login", Cookies({}, secure=is_https(app)).logged_out())


def needed_accounts(app: AppState) -> Accounts:
    """The accounts. Raises NotFoundException where only this machine reaches the workbench."""
    accounts = app.part(accounts_of)
    if accounts is None:
        raise NotFoundException(NO_ACCOUNTS)
    return accounts


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
        headers={name: value for name, value in headers.items() if value},
    )


A_PAGE = 50
PEOPLE = f"{ROOT}/people"
MAY = {
    "reader": "sees everything, changes nothing",
    "annotator": "also labels",
    "owner": "also changes judges, data sets and accounts",
}


class Invite(msgspec.Struct, frozen=True):
    """What the form of an invitation sends."""

    role: Role


class Numbered(msgspec.Struct, frozen=True):
    """An invitation."""

    id: int


class Named(msgspec.Struct, frozen=True):
    """Somebody."""

    name: str


class Roled(msgspec.Struct, frozen=True):
    """Somebody, and the role that they are to have."""

    name: str
    role: Role


@get("/people", guards=[OWNER])
async def people_page(request: AnyRequest, app: AtApp) -> Response[str]:
    """Give the page of accounts and invitations."""
    return _people(request, app)


def _people(
    request: AnyRequest, app: AppState, *, words: str = "", link: str = "", whose: str = ""
) -> Response[str]:
    """words: what did not work. link: of a new invitation, which is shown this once; whose: for whom."""
    accounts = app.part(accounts_of)
    return page(
        request,
        "workbench/people.html",
        "People",
        status=422 if words else 200,
        people=accounts.people() if accounts else [],
        invitations=accounts.invitations() if accounts else [],
        roles=get_args(Role),
        may=MAY,
        words=words,
        link=link,
        whose=whose,
    )


@get("/people/log", guards=[OWNER])
async def log_page(
    request: AnyRequest,
    app: AtApp,
    number: Annotated[int, QueryParameter(name="page", ge=1, le=1_000_000)] = 1,
) -> Response[str]:
    """Give a page of the audit log, newest first."""
    begin = (number - 1) * A_PAGE
    entries = list(islice(app.log.newest(), begin, begin + A_PAGE + 1))
    values: dict[str, Any] = {"entries": entries[:A_PAGE], "number": number, "more": len(entries) > A_PAGE}
    return page(request, "workbench/audit.html", "Audit log", **values)


@post("/people/invite", guards=[OWNER])
async def invite(
    request: AnyRequest, app: AtApp, person: AtPerson, data: URLEncodedBody[Invite]
) -> Response[str]:
    """Make an invitation and show its link, this once."""
    token = needed_accounts(app).invite(data.role, person.name)
    app.audit(request, "invited", role=data.role)
    return _people(request, app, link=_link(request, app, token), whose=f"a new {data.role}")


@post("/people/renew", guards=[OWNER])
async def renew(
    request: AnyRequest, app: AtApp, person: AtPerson, data: URLEncodedBody[Named]
) -> Response[str]:
    """Make a link by which somebody sets a new password, and show it, this once."""
    try:
        token = needed_accounts(app).renew(data.name, person.name)
    except DataError as mistake:
        return _people(request, app, words=str(mistake))
    app.audit(request, "password link made", name=data.name)
    return _people(request, app, link=_link(request, app, token), whose=data.name)


@post("/people/revoke", guards=[OWNER])
async def revoke(request: AnyRequest, app: AtApp, data: URLEncodedBody[Numbered]) -> Response[str]:
    """End an invitation that is open."""
    ended = needed_accounts(app).revoke(data.id)
    if ended:
        app.audit(request, "invitation revoked", role=ended.role, name=ended.person)
    return see_other(PEOPLE)


@post("/people/role", guards=[OWNER])
async def set_role(request: AnyRequest, app: AtApp, data: URLEncodedBody[Roled]) -> Response[str]:
    """Give somebody another role; the last owner stays one."""

    def change() -> None:
        before = needed_accounts(app).set_role(data.name, data.role)
        app.audit(request, "role changed", name=before.name, role=data.role, before=before.role)

    return _done(request, app, change)


@post("/people/remove", guards=[OWNER])
async def remove(request: AnyRequest, app: AtApp, data: URLEncodedBody[Named]) -> Response[str]:
    """Take somebody's account away, and end their sessions; not the last owner's."""

    def change() -> None:
        before = needed_accounts(app).remove(data.name)
        app.audit(request, "removed", name=before.name, role=before.role)

    return _done(request, app, change)


def _done(request: AnyRequest, app: AppState, change: Callable[[], None]) -> Response[str]:
    try:
        change()
    except DataError as mistake:
        return _people(request, app, words=str(mistake))
    return see_other(PEOPLE)


def _link(request: AnyRequest, app: AppState, token: str) -> str:
    """Return the address of an invitation, as this owner reaches the workbench."""
    public = app.settings.serve.public_url
    base = public.rstrip("/") if public else f"{request.url.scheme}://{request.headers.get('host', '')}"
    return invitation_link(base, token)


def invitation_link(base: str, token: str) -> str:
    """Return the address of an invitation. base: of the server, without a slash at its end."""
    return f"{base}{ROOT}/invite/{token}"


ROUTES = (
    *(login_page, log_in, invitation_page, accept),
    *(account_page, change_password, log_out, log_out_everywhere),
    *(people_page, log_page, invite, renew, revoke, set_role, remove),
)
