"""`ragstone people`: who may log in at the workbench, from the terminal of who runs the server."""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from ragstone.kernel.config.serving import Role
from ragstone.kernel.console.options import AsJson, Config
from ragstone.kernel.console.printing import say, show, show_json, told_plainly

if TYPE_CHECKING:
    from ragstone.kernel.config import Settings
    from ragstone.workbench.accounts import Accounts


Name = Annotated[str, typer.Argument(help="The name of an account.")]

people = typer.Typer(
    name="people",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Who may log in at the workbench: accounts, invitations, roles.",
)


class ListedPerson(msgspec.Struct, frozen=True, kw_only=True):
    """An account. seen: the day of the last visit (UTC), None for none."""

    name: str
    role: str
    seen: str | None


class ListedInvitation(msgspec.Struct, frozen=True, kw_only=True):
    """An invitation that is open. person: whose password it renews, None for a new account."""

    role: str
    person: str | None
    by: str
    expires: str | None


class PeopleOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What `ragstone people list --json` prints."""

    people: list[ListedPerson]
    invitations: list[ListedInvitation]


def list_(*, json: AsJson = False, config: Config = None) -> None:
    """List accounts and open invitations."""
    with _opened(config) as (accounts, _):
        people, invited = accounts.people(), accounts.invitations()
    if json:
        rows = [ListedPerson(name=entry.name, role=entry.role, seen=_day(entry.seen)) for entry in people]
        links = [
            ListedInvitation(
                role=entry.role, person=entry.person, by=entry.made_by, expires=_day(entry.expires)
            )
            for entry in invited
        ]
        show_json(PeopleOutput(people=rows, invitations=links))
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for head in ("name", "role", "last seen"):
        table.add_column(head, overflow="fold")
    for entry in people:
        table.add_row(entry.name, entry.role, _day(entry.seen) or "never")
    show(table)
    for link in invited:
        what = f"a new password of {link.person}" if link.person else f"a new {link.role}"
        say(f"An invitation is open until {_day(link.expires)}: {what}, by {link.made_by}.")


def invite(
    *,
    role: Annotated[Role, typer.Option("--role", help="What they may do.")] = "annotator",
    config: Config = None,
) -> None:
    """Print a link with which one person can create an account; it works once, within 7 days.

    Examples:

    - `ragstone people invite --role reader`
    """
    with _opened(config) as (accounts, settings):
        token = accounts.invite(role, _me())
        _note(settings, "invited", role=role)
        _show_link(settings, token)


def renew(name: Name, *, config: Config = None) -> None:
    """Print a link with which a person can set a new password; it works once, within 7 days."""
    with _opened(config) as (accounts, settings):
        token = accounts.renew(name, _me())
        _note(settings, "password link made", name=name)
        _show_link(settings, token)


def remove(name: Name, *, config: Config = None) -> None:
    """Delete an account; its owner is logged out at once. Labels keep the name."""
    with _opened(config) as (accounts, settings):
        before = accounts.remove(name)
        _note(settings, "removed", name=before.name, role=before.role)
    say(f"{before.name} ({before.role}) can no longer log in.")


def role(
    name: Name,
    role: Annotated[Role, typer.Argument(help="What they may do from now on.")],
    *,
    config: Config = None,
) -> None:
    """Change the role of an account, from its next request on."""
    with _opened(config) as (accounts, settings):
        before = accounts.set_role(name, role)
        _note(settings, "role changed", name=before.name, role=role, before=before.role)
    say(f"{before.name}: role changed from {before.role} to {role}.")


@contextmanager
def _opened(config: Path | None) -> "Iterator[tuple[Accounts, Settings]]":
    from ragstone.kernel.config import load_settings
    from ragstone.kernel.errors import optional_package

    with optional_package("`ragstone people`", "serve"):
        from ragstone.workbench.accounts import open_accounts

    settings = load_settings(config)
    accounts = open_accounts(settings)
    try:
        yield accounts, settings
    finally:
        accounts.close()


def _note(settings: "Settings", action: str, **facts: str) -> None:
    import time

    from ragstone.kernel.serve.audit import AuditLog

    AuditLog(settings.path(settings.workbench.store), time.time).note(_me(), action, "terminal", facts)


def _me() -> str:
    return f"{getpass.getuser()} at the terminal"


def _show_link(settings: "Settings", token: str) -> None:
    from ragstone.workbench.account_pages import invitation_link

    serve = settings.serve
    base = (serve.public_url or f"http://{serve.host}:{serve.port}").rstrip("/")
    typer.echo(invitation_link(base, token))  # not by rich, which would break a long line


def _day(seconds: float | None) -> str | None:
    from datetime import UTC, datetime

    return None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"


for _command in (invite, renew, remove, role):
    people.command()(told_plainly(_command))
people.command("list")(told_plainly(list_))
