"""Who is logged in: random tokens in a cookie, of which only the digest is kept."""

import hashlib
import secrets
from collections.abc import Callable

from ragstone.web.workbench.register import Register

TOLD_S = 60.0
"""A session that is used is written down so often, in seconds, not at each request."""


class Sessions:
    """The sessions of a register. lasting_s: seconds without a request after which one ends."""

    def __init__(self, register: Register, lasting_s: float, now: Callable[[], float]) -> None:
        self._register, self._lasting_s, self._now = register, lasting_s, now

    def begin(self, person: int) -> str:
        """Return the token of a new session: 256 random bits."""
        token, now = secrets.token_urlsafe(32), self._now()
        self._register.rows("DELETE FROM sessions WHERE seen <= ?", now - self._lasting_s)
        self._register.rows("INSERT INTO sessions VALUES (?, ?, ?, ?)", _digest(token), person, now, now)
        self._register.rows("UPDATE people SET seen = ? WHERE id = ?", now, person)
        return token

    def person(self, token: str) -> int | None:
        """Return whose session it is, and keep it alive; None where there is none or it has ended."""
        digest, now = _digest(token), self._now()
        row = self._register.row("SELECT person, seen FROM sessions WHERE token = ?", digest)
        if not row or row[1] <= now - self._lasting_s:
            return None
        if now - row[1] >= TOLD_S:
            self._register.rows("UPDATE sessions SET seen = ? WHERE token = ?", now, digest)
            self._register.rows("UPDATE people SET seen = ? WHERE id = ?", now, row[0])
        person: int = row[0]
        return person

    def end(self, token: str) -> None:
        """End one session."""
        self._register.rows("DELETE FROM sessions WHERE token = ?", _digest(token))

    def end_all(self, person: int) -> None:
        """End all sessions of somebody."""
        self._register.rows("DELETE FROM sessions WHERE person = ?", person)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
