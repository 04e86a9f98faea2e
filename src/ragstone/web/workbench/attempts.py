"""How often somebody may try a password: from one address, and for one name."""

import asyncio
import ipaddress
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ragstone.assistant.api.limits import Limits
from ragstone.web.workbench.names import name_key
from ragstone.web.workbench.passwords import hash_password, is_password

WITHIN_S = 15 * 60.0
MOST_OF_ADDRESS, MOST_OF_NAME = 20, 10
AT_ONCE = 2
"""Passwords that are hashed at a time: each takes 64 MiB and a core."""


class Attempts:
    """Failed logins of late. now: seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._addresses = Limits(MOST_OF_ADDRESS, WITHIN_S)
        self._names = Limits(MOST_OF_NAME, WITHIN_S)
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="password")

    async def right(self, address: str, name: str, given: str, known: str | None) -> bool | None:
        """Return whether a password is right; None where too many were tried, and it is not looked at.

        known: the hash; None where nobody has the name, which takes as long. Only what fails is counted.
        """
        callers = ((self._addresses, network_of(address)), (self._names, name_key(name)[:100]))
        for limits, caller in callers:
            # Counted before it is known, so that many at once are not let in together.
            if limits.wait_s(caller, self._now()) is not None:
                return None
        loop = asyncio.get_running_loop()
        right = await loop.run_in_executor(self._threads, is_password, given, known)
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


def network_of(address: str) -> str:
    """Return what counts as one address: of IPv6 the network that one connection has."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return address
    return str(ipaddress.ip_network((int(found), 64), strict=False))
