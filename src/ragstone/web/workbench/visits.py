"""The two cookies: of a session, and of a visit, which a browser has before anybody has logged in."""

import hashlib
import hmac
import secrets
from http.cookies import CookieError, SimpleCookie

VISIT, SESSION = "ragstone_visit", "ragstone_session"
VISIT_S = 400 * 86_400  # as long as browsers keep one


class Cookies:
    """The cookies of a request. secure: they go over https alone, and are of this host alone."""

    def __init__(self, header: str, *, secure: bool) -> None:
        self._secure = secure
        found = _read(header)
        self.session: str | None = found.get(self._name(SESSION))
        self._visit: str | None = found.get(self._name(VISIT))
        self._is_new = False

    def visit(self) -> str:
        """Return the token of this browser; a new one where it has none."""
        if not self._visit:
            self._visit, self._is_new = secrets.token_urlsafe(32), True
        return self._visit

    def made(self) -> bytes | None:
        """Return the header that keeps a new visit; None where there is none."""
        return self._set(VISIT, self.visit(), VISIT_S).encode() if self._is_new else None

    def logged_in(self, token: str) -> str:
        """Return the header that keeps a session: until the browser is closed, or the session ends."""
        return self._set(SESSION, token, None)

    def logged_out(self) -> str:
        """Return the header that forgets a session."""
        return self._set(SESSION, "", 0)

    def _name(self, name: str) -> str:
        return f"__Host-{name}" if self._secure else name

    def _set(self, name: str, value: str, age_s: int | None) -> str:
        age = "" if age_s is None else f"; Max-Age={age_s}"
        secure = "; Secure" if self._secure else ""
        return f"{self._name(name)}={value}; Path=/; HttpOnly; SameSite=Lax{age}{secure}"


def _read(header: str) -> dict[str, str]:
    try:
        return {name: one.value for name, one in SimpleCookie(header).items()}
    except CookieError:
        return {}


def token_of(visit: str) -> str:
    """Return what forms carry of a browser in which nobody has logged in: its cookie must be known."""
    return hashlib.sha256(b"csrf " + visit.encode("utf-8", "surrogateescape")).hexdigest()


def matches(token: str, given: str | None) -> bool:
    """Return whether a token is the right one, in a time that does not tell."""
    return given is not None and hmac.compare_digest(token.encode(), given.encode("utf-8", "surrogateescape"))
