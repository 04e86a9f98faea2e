"""The frame of every page: head, navigation, who works here."""

from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import msgspec
from litestar import Response
from litestar.connection import ASGIConnection
from litestar.di import NamedDependency
from litestar.exceptions import ClientException, NotAuthorizedException, PermissionDeniedException
from litestar.handlers import BaseRouteHandler
from litestar.types import Guard

from ragstone.kernel.config import shipped
from ragstone.kernel.config.serving import Role
from ragstone.kernel.document.html import asset as report_asset
from ragstone.kernel.document.html import environment, policy_in
from ragstone.kernel.runs import wording
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment


ROLES: tuple[Role, ...] = get_args(Role)
ARTICLES: dict[Role, str] = {"reader": "a reader", "annotator": "an annotator", "owner": "an owner"}

QueryT = TypeVar("QueryT")


class Person(msgspec.Struct, frozen=True):
    """Somebody who is logged in, or the one user of this machine. role: each may do what those before may."""

    name: str
    role: Role

    def may(self, role: Role) -> bool:
        """Return whether this person may do what needs that role."""
        return ROLES.index(self.role) >= ROLES.index(role)


def person_of(request: ASGIConnection[Any, Any, Any, Any], needs: Role = "reader") -> Person:
    """Return who asks. Raises PermissionDeniedException (403) where their role does not allow it."""
    person: Person | None = request.scope["state"].get("person")
    if person is None:
        raise NotAuthorizedException("Log in first.")
    if not person.may(needs):
        raise PermissionDeniedException(
            f"{person.name} is {ARTICLES[person.role]} here: this needs {ARTICLES[needs]}. "
            "An owner can change that."
        )
    return person


def who_asks(request: AnyRequest) -> Person:
    """Return who asks: what a route gets as `person`."""
    return person_of(request)


AtPerson = NamedDependency[Person]


def _needs(role: Role) -> Guard:
    def guard(connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler) -> None:
        person_of(connection, role)

    return guard


ANNOTATOR, OWNER = _needs("annotator"), _needs("owner")
"""Guards of routes that a reader, or an annotator too, may not use. All others are for readers."""


def query_of(request: AnyRequest, kind: type[QueryT]) -> QueryT:
    """Return what an address asks for, in the fields of a struct. Raises ClientException (400)."""
    try:
        return msgspec.convert(dict(request.query_params), kind, strict=False)
    except msgspec.ValidationError as mistake:
        raise ClientException(f"The request is not valid. {mistake}.") from None


ROOT = "/workbench"

# No style and no script but the files of ours, and not one request to anywhere else.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def page(
    request: AnyRequest, template: str, title: str, /, *, status: int = 200, **values: object
) -> Response[str]:
    """A page made from a template, which extends frame.html.

    template: `features/label/item.html` is that file of the folder template in features/label; a bare name
    is one of this room. values: of the template, beside those of the frame: `title` and `heading` (the same,
    unless the words of a report card take the name), `person`, `csrf` (the token that every POST sends back,
    see assets/workbench.js), `accounts` (whether people log in), `sections` (of the navigation, that this
    person may open), `located` (the section and the place of this page, or None) and `here` (its path).
    Who serves the pages notes in the state of the request who asks, and what stands in the frame.
    """
    state = request.scope["state"]
    html = (
        templates()
        .get_template(template)
        .render(
            {"title": title, **values},
            heading=title,
            version=__version__,
            person=state.get("person"),
            accounts=state.get("accounts", False),
            csrf=state.get("form_token", ""),
            sections=state.get("sections", ()),
            located=state.get("located"),
            here=request.url.path,
            root=ROOT,
        )
    )
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    return Response(html, status_code=status, media_type="text/html", headers=headers)


def lone_page(html: str) -> Response[str]:
    """A page that is one file, as commands write it: its own policy holds, ours forbids its style."""
    headers = {"Content-Security-Policy": policy_in(html), "Cache-Control": "no-store"}
    return Response(html, media_type="text/html", headers=headers)


@cache
def templates() -> "Environment":
    """Return the templates: ours first, then those of the report, with its words; all values escaped."""
    from jinja2 import ChoiceLoader, FunctionLoader

    made = environment().overlay()
    wordings = {name: value for name, value in vars(wording).items() if callable(value)}
    made.globals = {**made.globals, **wordings, "at_time": at_time, "on_day": on_day}
    made.loader = ChoiceLoader([FunctionLoader(_template), FunctionLoader(report_asset)])
    return made


def at_time(seconds: float) -> str:
    """Return a time as `2026-11-22T02:47:32Z`, from seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def on_day(seconds: float) -> str:
    """Return a time as people read it, where this server is: `22 November 2026, 02:47`."""
    there = datetime.fromtimestamp(seconds, UTC).astimezone()
    return f"{there.day} {there:%B %Y, %H:%M}"


def _template(name: str) -> str | None:
    folder, _, name = name.rpartition("/")
    file = shipped("ragstone", *(folder or "kernel/serve").split("/"), "template", name)
    return file.read_text(encoding="utf-8") if file.is_file() else None
