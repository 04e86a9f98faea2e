"""Clients of the workbench, as pages of its own are: with the token that POSTs carry.

with opened(create_workbench(settings)) as client:          # the one user of this machine
    client.post("/workbench/label", json={...})

with peopled(settings) as people:                           # one that many reach, with accounts
    people.person("Ben", "reader").get("/workbench/")       # logged in
    people.visitor().get("/workbench/")                     # not
"""

import contextlib
import functools
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import httpx
import msgspec
from argon2 import PasswordHasher
from litestar import Litestar
from litestar.testing import TestClient

from ragstone.kernel.config import Settings
from ragstone.kernel.config.serving import Role
from ragstone.kernel.serve.headers import methods_of
from ragstone.kernel.serve.state import AppState
from ragstone.workbench import app as workbench_app
from ragstone.workbench import passwords
from ragstone.workbench.accounts import Accounts
from ragstone.workbench.guard import SESSION, VISIT, guarded, token_of
from ragstone.workbench.pages import SECTIONS
from ragstone.workbench.passwords import hash_password

ADDRESS = "http://127.0.0.1:8000"
LAN = "http://bench.lan:8000"
SEEN = "a-browser-that-was-here-before"
PASSWORD = "correct horse battery"

Client = TestClient[Litestar]


_ended: dict[int, list[tuple[Litestar, AppState]]] = {}


def create_workbench(settings: Settings, now: Callable[[], float] = time.time) -> Litestar:
    """Return what ragstone.workbench.app.create_workbench returns.

    To register the routes takes longer than most tests do. So those of an application that has ended serve
    another test, with its workbench made anew.
    """
    ended = _ended.setdefault(settings.serve.max_upload_mb, [])
    if ended:
        app, state = ended.pop()
        vars(state).update(vars(workbench_app.open_state(settings, now)))  # the routes hold this very one
        app.asgi_handler = guarded(app._create_asgi_handler(), state, methods_of(app), SECTIONS)
        return app
    state = workbench_app.open_state(settings, now)
    with mock.patch.object(workbench_app, "open_state", return_value=state):
        app = workbench_app.create_workbench(settings, now)
    app.on_shutdown.append(lambda: ended.append((app, state)))
    return app


def opened(app: Litestar) -> Client:
    """Return a client of the one user of this machine; it enters and leaves the application's life."""
    client = TestClient(app, base_url=ADDRESS)
    client.cookies.set(VISIT, SEEN)
    client.headers["X-CSRF-Token"] = token_of(SEEN)
    return client


@functools.cache
def _quick() -> PasswordHasher:
    """Return argon2id with the least work: tests make many hashes."""
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@functools.cache
def hashed() -> str:
    """Return the hash of PASSWORD; made once, for it takes long."""
    return hash_password(PASSWORD)


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def __call__(self) -> float:
        return self.at

    def move(self, *, days: float = 0, hours: float = 0, minutes: float = 0) -> None:
        self.at += 60 * (minutes + 60 * (hours + 24 * days))


class People:
    """A workbench that many reach. accounts: its file, opened once more."""

    def __init__(self, settings: Settings, stack: contextlib.ExitStack) -> None:
        self.clock = Clock()
        self.app = create_workbench(settings, self.clock)
        section = settings.workbench
        self.store: Path = settings.path(section.store)
        self.accounts = Accounts(self.store, section.session_hours, self.clock)
        stack.callback(self.accounts.close)
        self._served = stack.enter_context(TestClient(self.app))

    def visitor(self, base: str = LAN) -> httpx.Client:
        """Return the browser of somebody who is not logged in; redirects are not followed."""
        transport = self._served._transport  # of one application that lives once, for all browsers
        return httpx.Client(transport=transport, base_url=base)

    def add(self, name: str, role: Role) -> None:
        """Make an account whose password is PASSWORD."""
        self.accounts.accept(self.accounts.invite(role, "a test"), name, hashed())

    def person(self, name: str, role: Role) -> httpx.Client:
        """Return the browser of somebody who is logged in, made if there is none; with their token."""
        if self.accounts.find(name) is None:
            self.add(name, role)
        account = self.accounts.find(name)
        client = self.visitor()
        client.cookies.set(SESSION, self.accounts.begin_session(account.id))
        client.headers["X-CSRF-Token"] = self.accounts.csrf(account)
        return client

    def log(self) -> list[dict]:
        """Return the lines of the audit log."""
        return [msgspec.json.decode(line) for line in (self.store / "audit.jsonl").read_bytes().splitlines()]


@contextlib.contextmanager
def peopled(settings: Settings, **serve: object) -> Iterator[People]:
    """Give a workbench that listens beyond this machine. serve: further keys of `[serve]`."""
    chosen = msgspec.structs.replace(settings.serve, **{"host": "0.0.0.0", **serve})
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(passwords, "_hasher", _quick))
        passwords._nobodys.cache_clear()  # another test may have made it with the real parameters
        yield People(msgspec.structs.replace(settings, serve=chosen), stack)


def token_in(page: str) -> str:
    """Return the token that a page's POSTs carry."""
    return re.search(r'<meta name="csrf" content="(\w*)">', page)[1]


def send(client: httpx.Client, page: str, to: str | None = None, **fields: str):
    """Send the form of a page as a browser does, with its token; to: another path than the page's."""
    token = token_in(client.get(page).text)
    return client.post(to or page, data={"csrf": token, **fields})


def link_in(page: str) -> str:
    """Return the path of the invitation that a page shows."""
    return re.search(r'value="http[^"]*?(/workbench/invite/[\w-]+)"', page)[1]
