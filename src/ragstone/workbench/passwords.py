"""Passwords: what one must be, its hash (argon2id), and how often somebody may try one."""

import asyncio
import ipaddress
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

from ragstone.kernel.errors import DataError, optional_package
from ragstone.kernel.serve.limits import RequestLimits
from ragstone.kernel.serve.state import AppState
from ragstone.workbench.names import name_key

if TYPE_CHECKING:
    from argon2 import PasswordHasher


SHORTEST, LONGEST = 10, 1000


def check_password(password: str) -> None:
    """Check that a password may be chosen. Raises DataError with what to do."""
    if len(_plain(password)) < SHORTEST:
        raise DataError(f"A password has at least {SHORTEST} characters: several words in a row will do.")
    if len(password) > LONGEST:
        raise DataError(f"A password has at most {LONGEST} characters.")


def hash_password(password: str) -> str:
    """Return its argon2id hash, with its salt and parameters; some 0.1 s of work."""
    return _hasher().hash(_plain(password))


def is_password(password: str, known: str | None) -> bool:
    """Return whether a password is the one of a hash. known: None, for a name that nobody has: never."""
    from argon2.exceptions import VerificationError

    try:
        right = _hasher().verify(known or _nobodys(), _plain(password[: LONGEST + 1]))
    except VerificationError:
        return False
    return right and known is not None


def _plain(password: str) -> str:
    """Return it as it is hashed: keyboards differ in how they compose letters."""
    return unicodedata.normalize("NFKC", password)


@cache
def _hasher() -> "PasswordHasher":
    with optional_package("an account", "serve"):
        from argon2 import PasswordHasher
    return PasswordHasher()


@cache
def _nobodys() -> str:
    return _hasher().hash("nobody has this password")


WITHIN_S = 15 * 60.0
MOST_OF_ADDRESS, MOST_OF_NAME = 20, 10
AT_ONCE = 2
"""Passwords that are hashed at a time: each takes 64 MiB and a core."""


class Attempts:
    """Failed logins of late. now: seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._addresses = RequestLimits(MOST_OF_ADDRESS, WITHIN_S)
        self._names = RequestLimits(MOST_OF_NAME, WITHIN_S)
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="password")

    async def right(self, address: str, name: str, password: str, known: str | None) -> bool | None:
        """Return whether a password is right; None where too many were tried, and it is not looked at.

        known: the hash; None where nobody has the name, which takes as long. Only what fails is counted.
        """
        callers = ((self._addresses, network_of(address)), (self._names, name_key(name)[:100]))
        for limits, caller in callers:
            # Counted before it is known, so that many at once are not let in together.
            if limits.wait_s(caller, self._now()) is not None:
                return None
        loop = asyncio.get_running_loop()
        right = await loop.run_in_executor(self._threads, is_password, password, known)
        if right:
            for limits, caller in callers:
                limits.take_back(caller)
        return right

    async def hash(self, password: str) -> str:
        """Return the hash of a password, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, hash_password, password)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False)


def attempts_of(app: AppState) -> Attempts:
    """The attempts to log in to a workbench."""
    return Attempts(app.now)


def network_of(address: str) -> str:
    """Return what counts as one address: of IPv6 the network that one connection has."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    return str(ipaddress.ip_network((int(parsed), 64), strict=False))
