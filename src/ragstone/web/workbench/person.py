"""Who works at the workbench, and what they may do."""

from typing import Any, get_args

import msgspec
from litestar import Request
from litestar.exceptions import NotAuthorizedException, PermissionDeniedException

from ragstone.config.workbench import Role

ROLES: tuple[Role, ...] = get_args(Role)
ARTICLES: dict[Role, str] = {"reader": "a reader", "annotator": "an annotator", "owner": "an owner"}

AnyRequest = Request[Any, Any, Any]


class Person(msgspec.Struct, frozen=True):
    """Somebody who is logged in, or the one user of this machine. role: each may do what those before may."""

    name: str
    role: Role

    def may(self, role: Role) -> bool:
        """Return whether this person may do what needs that role."""
        return ROLES.index(self.role) >= ROLES.index(role)


def person_of(request: AnyRequest, needs: Role = "reader") -> Person:
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
