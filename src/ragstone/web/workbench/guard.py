"""What stands before every page of the workbench: who asks, and whether the request is theirs."""

import getpass

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from ragstone.web.workbench.desk import Workbench
from ragstone.web.workbench.person import Person


def guarded(app: ASGIApp, bench: Workbench) -> ASGIApp:
    """Return the app with `person` in the state of every request: on this machine, its one user."""
    user = Person(bench.settings.workbench.annotator or getpass.getuser(), "owner")

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.HTTP:
            scope.setdefault("state", {})["person"] = user
        await app(scope, receive, send)

    return guard
