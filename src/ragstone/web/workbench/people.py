"""Who may use the workbench, for owners: accounts, invitations, and the audit log."""

from collections.abc import Callable
from itertools import islice
from typing import Annotated, Any

import msgspec
from litestar import Response, get, post
from litestar.params import QueryParameter, URLEncodedBody

from ragstone.config.workbench import Role
from ragstone.errors import DataError
from ragstone.web.workbench.desk import AtWorkbench, Workbench
from ragstone.web.workbench.entering import accounts_of, see_other
from ragstone.web.workbench.frame import ROOT, page
from ragstone.web.workbench.person import ROLES, AnyRequest, person_of

A_PAGE = 50
PEOPLE = f"{ROOT}/people"
MAY = {
    "reader": "looks at everything, changes nothing",
    "annotator": "labels too",
    "owner": "changes judges, data sets and accounts too",
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


@get("/people", include_in_schema=False)
async def people_page(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give the page of accounts and invitations."""
    person_of(request, "owner")
    return _people(request, bench)


def _people(
    request: AnyRequest, bench: Workbench, *, words: str = "", link: str = "", whose: str = ""
) -> Response[str]:
    """words: what did not work. link: of a new invitation, which is shown this once; whose: for whom."""
    accounts = bench.accounts
    return page(
        request,
        "people.html",
        "People",
        status=422 if words else 200,
        people=accounts.people() if accounts else [],
        invitations=accounts.invitations() if accounts else [],
        roles=ROLES,
        may=MAY,
        words=words,
        link=link,
        whose=whose,
    )


@get("/people/log", include_in_schema=False)
async def log_page(
    request: AnyRequest,
    bench: AtWorkbench,
    number: Annotated[int, QueryParameter(name="page", ge=1, le=1_000_000)] = 1,
) -> Response[str]:
    """Give a page of the audit log, newest first."""
    person_of(request, "owner")
    begin = (number - 1) * A_PAGE
    entries = list(islice(bench.log.newest(), begin, begin + A_PAGE + 1))
    values: dict[str, Any] = {"entries": entries[:A_PAGE], "number": number, "more": len(entries) > A_PAGE}
    return page(request, "audit.html", "Audit log", **values)


@post("/people/invite", include_in_schema=False)
async def invite(request: AnyRequest, bench: AtWorkbench, data: URLEncodedBody[Invite]) -> Response[str]:
    """Make an invitation and show its link, this once."""
    owner = person_of(request, "owner")
    token = accounts_of(bench).invite(data.role, owner.name)
    bench.audit(request, "invited", role=data.role)
    return _people(request, bench, link=_link(request, bench, token), whose=f"a new {data.role}")


@post("/people/renew", include_in_schema=False)
async def renew(request: AnyRequest, bench: AtWorkbench, data: URLEncodedBody[Named]) -> Response[str]:
    """Make a link by which somebody sets a new password, and show it, this once."""
    owner = person_of(request, "owner")
    try:
        token = accounts_of(bench).renew(data.name, owner.name)
    except DataError as mistake:
        return _people(request, bench, words=str(mistake))
    bench.audit(request, "password link made", name=data.name)
    return _people(request, bench, link=_link(request, bench, token), whose=data.name)


@post("/people/revoke", include_in_schema=False)
async def revoke(request: AnyRequest, bench: AtWorkbench, data: URLEncodedBody[Numbered]) -> Response[str]:
    """End an invitation that is open."""
    person_of(request, "owner")
    ended = accounts_of(bench).revoke(data.id)
    if ended:
        bench.audit(request, "invitation revoked", role=ended.role, name=ended.person)
    return see_other(PEOPLE)


@post("/people/role", include_in_schema=False)
async def set_role(request: AnyRequest, bench: AtWorkbench, data: URLEncodedBody[Roled]) -> Response[str]:
    """Give somebody another role; the last owner stays one."""
    person_of(request, "owner")

    def change() -> None:
        before = accounts_of(bench).set_role(data.name, data.role)
        bench.audit(request, "role changed", name=before.name, role=data.role, before=before.role)

    return _done(request, bench, change)


@post("/people/remove", include_in_schema=False)
async def remove(request: AnyRequest, bench: AtWorkbench, data: URLEncodedBody[Named]) -> Response[str]:
    """Take somebody's account away, and end their sessions; not the last owner's."""
    person_of(request, "owner")

    def change() -> None:
        before = accounts_of(bench).remove(data.name)
        bench.audit(request, "removed", name=before.name, role=before.role)

    return _done(request, bench, change)


def _done(request: AnyRequest, bench: Workbench, change: Callable[[], None]) -> Response[str]:
    try:
        change()
    except DataError as mistake:
        return _people(request, bench, words=str(mistake))
    return see_other(PEOPLE)


def _link(request: AnyRequest, bench: Workbench, token: str) -> str:
    """Return the address of an invitation, as this owner reaches the workbench."""
    public = bench.settings.serve.public_url
    base = public.rstrip("/") if public else f"{request.url.scheme}://{request.headers.get('host', '')}"
    return invitation_link(base, token)


def invitation_link(base: str, token: str) -> str:
    """Return the address of an invitation. base: of the server, without a slash at its end."""
    return f"{base}{ROOT}/invite/{token}"


ROUTES = (people_page, log_page, invite, renew, revoke, set_role, remove)
