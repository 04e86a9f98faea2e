"""The project's ledger as a worker sees it: the desk reads and writes it, for all of them."""

import contextlib
from collections.abc import AsyncIterator

from ragstone.engine.cluster.messages import Find, Found, Put, Release
from ragstone.engine.cluster.speaking import Speaking
from ragstone.llm.prompt import Completion


class DeskLedger:
    """As llm.ClaimingLedger. offline: no call is made, so that none has to be claimed."""

    def __init__(self, line: Speaking, *, offline: bool) -> None:
        self._line = line
        self._claiming = not offline
        self._claimed: set[bytes] = set()

    async def find(self, key: bytes, *, saved: bool = True) -> Completion | None:
        """Return the response stored under the key, or that of a call which another worker makes; or None.

        Where it is None, it is this worker's turn to make the call, until `claim` ends.
        """
        found = await self._line.ask(lambda n: Find(n, key, self._claiming, saved))
        completion = found.completion if isinstance(found, Found) else None
        if completion is None and self._claiming:
            self._claimed.add(key)
        return completion

    async def put(self, key: bytes, model: str, completion: Completion, *, renewed: bool = False) -> None:
        """Store a response; returns when it is committed. Raises DataError when it cannot be."""
        await self._line.ask(lambda n: Put(n, key, model, completion, renewed))
        self._claimed.discard(key)

    @contextlib.asynccontextmanager
    async def claim(self, key: bytes) -> AsyncIterator[Completion | None]:
        """Give None to the one who is to make the call; who comes later waits for it."""
        completion = None if key in self._claimed else await self.find(key)
        try:
            yield completion
        finally:
            if key in self._claimed:
                self._claimed.discard(key)
                self._line.tell(Release(key), hurry=True)

    def stored_at(self, key: bytes) -> float | None:  # noqa: ARG002 - as Ledger.stored_at
        """Return None: only the desk knows."""
        return None

    def earlier(self, model: str, most: int = 200) -> list[Completion]:  # noqa: ARG002 - as Ledger.earlier
        """Return nothing: forecasts are made where the ledger is."""
        return []

    def close(self) -> None:
        """Do nothing: the desk closes the ledger."""
