"""Passwords: what one must be, its hash (argon2id), and a check that is as slow for nobody's."""

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from ragstone.errors import DataError, MissingExtra

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST, LONGEST = 10, 1000


def check_password(password: str) -> None:
    """Check that a password may be chosen. Raises DataError with what to do."""
    if len(_plain(password)) < SHORTEST:
        raise DataError(f"A password has {SHORTEST} characters at least: some words in a row will do.")
    if len(password) > LONGEST:
        raise DataError(f"A password has {LONGEST} characters at most.")


def hash_password(password: str) -> str:
    """Return its argon2id hash, with its salt and parameters; some 0.1 s of work."""
    return _hasher().hash(_plain(password))


def is_password(given: str, known: str | None) -> bool:
    """Return whether a password is the one of a hash. known: None, for a name that nobody has: never."""
    from argon2.exceptions import VerificationError

    try:
        right = _hasher().verify(known or _nobodys(), _plain(given[: LONGEST + 1]))
    except VerificationError:
        return False
    return right and known is not None


def _plain(password: str) -> str:
    """Return it as it is hashed: keyboards differ in how they compose letters."""
    return unicodedata.normalize("NFKC", password)


@cache
def _hasher() -> "PasswordHasher":
    try:
        from argon2 import PasswordHasher
    except ImportError:
        raise MissingExtra("an account", "serve") from None
    return PasswordHasher()


@cache
def _nobodys() -> str:
    return _hasher().hash("nobody has this password")
