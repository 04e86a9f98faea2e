"""Who may log in: accounts, the invitations by which they are made, sessions; and the file of them."""

import hashlib
import hmac
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ragstone.kernel.config import Settings
from ragstone.kernel.config.serving import Role
from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.serve.headers import needs_accounts
from ragstone.kernel.serve.state import AppState
from ragstone.workbench.names import checked_name, look_alike, name_key

ACCOUNTS_FILE = "accounts.sqlite"
BUSY_S = 5.0

SCHEMA = """
CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS people (
    id INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, name TEXT NOT NULL, role TEXT NOT NULL,
    password TEXT NOT NULL, created REAL NOT NULL, seen REAL, removed REAL
);
CREATE TABLE IF NOT EXISTS invitations (
    id INTEGER PRIMARY KEY, token BLOB UNIQUE NOT NULL, role TEXT NOT NULL, person INTEGER,
    made_by TEXT NOT NULL, created REAL NOT NULL, expires REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS sessions (
    token BLOB PRIMARY KEY, person INTEGER NOT NULL, begun REAL NOT NULL, seen REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sessions_of ON sessions (person);
"""


class AccountsFile:
    """An open file of accounts; several processes may have it open."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / ACCOUNTS_FILE
        self._lock = threading.RLock()
        try:
            make_folder(folder)
            self.path.touch(mode=0o600)
            self.path.chmod(0o600)
            self._database = sqlite3.connect(
                self.path, timeout=BUSY_S, check_same_thread=False, isolation_level=None
            )
            self._database.executescript(f"BEGIN IMMEDIATE; {SCHEMA}")
            self._database.execute(
                "INSERT OR IGNORE INTO kept VALUES ('secret', ?)", (secrets.token_bytes(32),)
            )
            self._database.execute("COMMIT")
        except (OSError, sqlite3.Error) as mistake:
            raise DataError(
                f"{self.path}: accounts cannot be kept there ({mistake}). Make the folder writable, or name "
                "another as store in the table [workbench]."
            ) from None
        self.secret: bytes = self.row("SELECT value FROM kept WHERE name = 'secret'")[0]

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def rows(self, query: str, *values: object) -> list[tuple]:  # type: ignore[type-arg]
        """Return all rows of a query, or change something."""
        try:
            with self._lock:
                return self._database.execute(query, values).fetchall()
        except sqlite3.OperationalError as mistake:  # no room, read-only, held for long by another process
            raise DataError(f"{self.path}: cannot be written now ({mistake}).") from None

    def row(self, query: str, *values: object) -> tuple:  # type: ignore[type-arg]
        """Return the first row of a query; an empty one where there is none."""
        return next(iter(self.rows(query, *values)), ())

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make what is done in the block all or nothing, with no other process or thread in between."""
        with self._lock:
            self.rows("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self.rows("ROLLBACK")
                raise
            self.rows("COMMIT")


TOLD_S = 60.0
"""A session that is used is written down so often, in seconds, not at each request."""


DAY_S = 86_400.0
INVITED_S = 7 * DAY_S
OPEN_INVITATIONS = """
SELECT invitations.id, invitations.role, people.name, made_by, invitations.created, expires
FROM invitations LEFT JOIN people ON people.id = person AND removed IS NULL
WHERE expires > ? AND (person IS NULL OR people.id IS NOT NULL) AND (? IS NULL OR token = ?)
ORDER BY invitations.id
"""
NEW_INVITATION = """
INSERT INTO invitations (token, role, person, made_by, created, expires) VALUES (?, ?, ?, ?, ?, ?)
"""
AN_ACCOUNT = "SELECT id, name, role, password, created, seen FROM people WHERE removed IS NULL"


class UserAccount(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who may log in. seen: seconds since 1970 of the last request; None: there was none."""

    id: int
    name: str
    role: Role
    password: str
    created: float
    seen: float | None


class Invitation(msgspec.Struct, frozen=True, kw_only=True):
    """A link that is open still. person: whose password it sets anew; None: it makes an account."""

    id: int
    role: Role
    person: str | None
    made_by: str
    created: float
    expires: float


class Accounts:
    """The accounts of a workbench, in its store. now: seconds since 1970."""

    def __init__(self, folder: Path, session_hours: float, now: Callable[[], float] = time.time) -> None:
        self._register = AccountsFile(folder)
        self._now = now
        self._session_s = session_hours * 3600

    def close(self) -> None:
        """Close the file."""
        self._register.close()

    def people(self) -> list[UserAccount]:
        """Return all who may log in, by name."""
        return [_account(row) for row in self._register.rows(f"{AN_ACCOUNT} ORDER BY key")]

    def find(self, name: str) -> UserAccount | None:
        """Return who has a name, in whatever case it is written."""
        row = self._register.row(f"{AN_ACCOUNT} AND key = ?", name_key(name))
        return _account(row) if row else None

    def who(self, token: str | None) -> UserAccount | None:
        """Return whose session a token is, and keep it alive; None where it is none or has ended."""
        digest, now = _digest(token or ""), self._now()
        session = self._register.row("SELECT person, seen FROM sessions WHERE token = ?", digest)
        if not session or session[1] <= now - self._session_s:
            return None
        if now - session[1] >= TOLD_S:
            self._register.rows("UPDATE sessions SET seen = ? WHERE token = ?", now, digest)
            self._register.rows("UPDATE people SET seen = ? WHERE id = ?", now, session[0])
        row = self._register.row(f"{AN_ACCOUNT} AND id = ?", session[0])
        return _account(row) if row else None

    def begin_session(self, person: int) -> str:
        """Return the token of a new session: 256 random bits, of which the digest is kept."""
        token, now = secrets.token_urlsafe(32), self._now()
        self._register.rows("DELETE FROM sessions WHERE seen <= ?", now - self._session_s)
        self._register.rows("INSERT INTO sessions VALUES (?, ?, ?, ?)", _digest(token), person, now, now)
        self._register.rows("UPDATE people SET seen = ? WHERE id = ?", now, person)
        return token

    def end_session(self, token: str) -> None:
        """End one session."""
        self._register.rows("DELETE FROM sessions WHERE token = ?", _digest(token))

    def end_sessions(self, person: int) -> None:
        """End all sessions of somebody."""
        self._register.rows("DELETE FROM sessions WHERE person = ?", person)

    def csrf(self, account: UserAccount) -> str:
        """Return what every POST of theirs carries. It outlives a session, so that a page in which somebody
        wrote still works when they have logged in again; a change of password ends it.
        """
        text = f"csrf {account.id} {account.password}".encode()
        return hmac.new(self._register.secret, text, hashlib.sha256).hexdigest()

    def invite(self, role: Role, made_by: str) -> str:
        """Return the token of a new invitation, which makes one account within 7 days."""
        return self._invite(role, None, made_by)

    def invite_first(self, made_by: str) -> str | None:
        """Return the token of an owner's invitation where nobody has an account; earlier ones end."""
        with self._register.changing():
            if self._register.row("SELECT 1 FROM people WHERE removed IS NULL"):
                return None
            self._register.rows("DELETE FROM invitations WHERE person IS NULL AND role = 'owner'")
            return self._invite("owner", None, made_by)

    def renew(self, name: str, made_by: str) -> str:
        """Return the token of a link by which somebody sets a new password. Raises DataError."""
        account = self._known(name)
        self._register.rows("DELETE FROM invitations WHERE person = ?", account.id)
        return self._invite(account.role, account.id, made_by)

    def _invite(self, role: Role, person: int | None, made_by: str) -> str:
        token, now = secrets.token_urlsafe(32), self._now()
        self._register.rows("DELETE FROM invitations WHERE expires <= ?", now)
        expires = now + INVITED_S
        self._register.rows(NEW_INVITATION, _digest(token), role, person, made_by, now, expires)
        return token

    def invitations(self) -> list[Invitation]:
        """Return those that are open, oldest first."""
        return self._open()

    def invitation(self, token: str) -> Invitation | None:
        """Return the invitation of a token; None where it is none, was used or revoked, or has expired."""
        return next(iter(self._open(_digest(token))), None)

    def _open(self, digest: bytes | None = None) -> list[Invitation]:
        rows = self._register.rows(OPEN_INVITATIONS, self._now(), digest, digest)
        names = Invitation.__struct_fields__
        return [Invitation(**dict(zip(names, row, strict=True))) for row in rows]

    def revoke(self, number: int) -> Invitation | None:
        """End an invitation; return it, None where it is not open."""
        matching = [invitation for invitation in self.invitations() if invitation.id == number]
        self._register.rows("DELETE FROM invitations WHERE id = ?", number)
        return matching[0] if matching else None

    def accept(self, token: str, name: str, password: str) -> UserAccount:
        """Make the account of an invitation, or set the password anew, and end the invitation.

        password: its hash. Raises DataError for a name that is none or taken, and where the invitation is
        open no more.
        """
        with self._register.changing():
            invitation = self.invitation(token)
            if invitation is None:
                raise DataError("This invitation no longer works: ask an owner for another one.")
            self._register.rows("DELETE FROM invitations WHERE id = ?", invitation.id)
            if invitation.person is not None:
                account = self._known(invitation.person)
                self._register.rows("UPDATE people SET password = ? WHERE id = ?", password, account.id)
                self.end_sessions(account.id)
                return self._known(account.name)
            name = checked_name(name)
            if self._register.row("SELECT 1 FROM people WHERE key = ?", name_key(name)):
                raise DataError(f"The name {name} is taken: choose another one.")
            if any(look_alike(name, other) for (other,) in self._register.rows("SELECT name FROM people")):
                raise DataError(f"The name {name} looks like one that is taken: choose another one.")
            self._register.rows(
                "INSERT INTO people (key, name, role, password, created) VALUES (?, ?, ?, ?, ?)",
                *(name_key(name), name, invitation.role, password, self._now()),
            )
            return self._known(name)

    def set_password(self, account: UserAccount, password: str) -> None:
        """Set the hash of a password; all sessions of theirs end, and links that set it anew."""
        with self._register.changing():
            self._register.rows("UPDATE people SET password = ? WHERE id = ?", password, account.id)
            self._register.rows("DELETE FROM invitations WHERE person = ?", account.id)
            self.end_sessions(account.id)

    def set_role(self, name: str, role: Role) -> UserAccount:
        """Give somebody another role; return them as they were. Raises DataError for the last owner."""
        with self._register.changing():
            account = self._known(name)
            if role != "owner":
                self._check_not_last(account, "Make somebody else an owner first.")
            self._register.rows("UPDATE people SET role = ? WHERE id = ?", role, account.id)
            return account

    def remove(self, name: str) -> UserAccount:
        """Take somebody's account away, at once; return it. The name stays theirs: it stands on labels.

        Raises DataError for the last owner.
        """
        with self._register.changing():
            account = self._known(name)
            self._check_not_last(account, "Make somebody else an owner first.")
            self._register.rows(
                "UPDATE people SET removed = ?, password = '' WHERE id = ?", self._now(), account.id
            )
            self.end_sessions(account.id)
            return account

    def _known(self, name: str) -> UserAccount:
        account = self.find(name)
        if account is None:
            raise DataError(f"{name!r} has no account here. List the accounts with `ragstone people list`.")
        return account

    def _check_not_last(self, account: UserAccount, advice: str) -> None:
        others = [other for other in self.people() if other.role == "owner" and other.id != account.id]
        if account.role == "owner" and not others:
            raise DataError(f"{account.name} is the last owner. {advice}")


def accounts_of(state: AppState) -> Accounts | None:
    """The accounts of a workbench; None where only this machine reaches it."""
    if not needs_accounts(state.settings):
        return None
    return Accounts(state.store, state.settings.workbench.session_hours, state.now)


def open_accounts(settings: Settings) -> Accounts:
    """Return the accounts of a project; to be closed. Raises DataError where they cannot be kept."""
    section = settings.workbench
    return Accounts(settings.path(section.store), section.session_hours)


def _account(row: tuple) -> UserAccount:  # type: ignore[type-arg]
    return UserAccount(id=row[0], name=row[1], role=row[2], password=row[3], created=row[4], seen=row[5])


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
