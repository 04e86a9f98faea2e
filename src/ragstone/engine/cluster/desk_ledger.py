"""The project's ledger as a worker sees it: the desk reads and writes it, for all of them."""

from ragstone.engine.cluster.messages import Find, FindAnswer, Put, Release
from ragstone.engine.cluster.speaking import Speaking
from ragstone.llm.prompt import Completion
from ragstone.llm.response_store import LedgerTurn


class DeskLedger:
    """As llm.AnyLedger. offline: no call is made, so that none has to be claimed."""

    def __init__(self, line: Speaking, *, offline: bool) -> None:
        self._line = line
        self._claiming = not offline
        self._claimed: set[bytes] = set()

    async def find(self, key: bytes, *, saved: bool = True, since: float = 0.0) -> Completion | None:
        """Return the response stored under the key, or that of a call which another worker makes; or None.

        Where it is None without a `since`, it is this worker's turn to make the call, until `release`.
        """
        return await self._find(key, self._claiming and not since, saved, since)

    async def _find(self, key: bytes, claim: bool, saved: bool, since: float) -> Completion | None:
        found = await self._line.ask(lambda n: Find(n, key, claim, saved, since))
        completion = found.completion if isinstance(found, FindAnswer) else None
        if completion is None and claim:
            self._claimed.add(key)
        return completion

    async def put(self, key: bytes, model: str, completion: Completion, *, renewed: bool = False) -> None:
        """Store a response; returns when it is committed. Raises DataError when it cannot be."""
        await self._line.ask(lambda n: Put(n, key, model, completion, renewed))
        self._claimed.discard(key)

    async def turn(self, key: bytes, since: float = 0.0) -> LedgerTurn:
        """Return the response, which may be waited for, or that it is this worker's turn."""
        completion = None if key in self._claimed else await self._find(key, True, True, since)
        return LedgerTurn(completion, mine=completion is None)

    def release(self, key: bytes) -> None:
        """Let another worker make the call, if it was not made."""
        if key in self._claimed:
            self._claimed.discard(key)
            self._line.tell(Release(key), hurry=True)

    def earlier(self, model: str, most: int = 200) -> list[Completion]:  # noqa: ARG002 - as Ledger.earlier
        """Return nothing: forecasts are made where the ledger is."""
        return []

    def close(self) -> None:
        """Do nothing: the desk closes the ledger."""
