"""A ledger in memory: of a session that serves people, whose words shall stay on no disk."""

from collections import OrderedDict

from ragstone.llm.claims import Turn
from ragstone.llm.prompt import Completion

MOST_RESPONSES = 2_000
MOST_CHARACTERS = 16_384  # of a response that is kept: all of them together stay below 2,000 times that


class MemoryLedger:
    """Responses by their content address, the last that were used; nothing of the prompts, and no file."""

    def __init__(self, most: int = MOST_RESPONSES) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, Completion] = OrderedDict()

    async def find(self, key: bytes, *, saved: bool = True, since: float = 0.0) -> Completion | None:  # noqa: ARG002 - as Ledger.find
        """Return the response stored under the key, or None where there is none any more.

        since: does not matter, for all that is here is of this session.
        """
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    async def turn(self, key: bytes, since: float = 0.0) -> Turn:
        """Return the response, or that the call may be made: nobody shares this ledger."""
        found = await self.find(key, since=since)
        return Turn(found, mine=found is None)

    def release(self, key: bytes) -> None:
        """Do nothing; see `turn`."""

    def earlier(self, model: str, most: int = 200) -> list[Completion]:  # noqa: ARG002 - as Ledger.earlier
        """Return nothing: it is not known which model said what."""
        return []

    async def put(self, key: bytes, model: str, completion: Completion, *, renewed: bool = False) -> None:  # noqa: ARG002
        """Keep a response in place of the one that was used least recently; a very long one is not kept."""
        if len(completion.text) > MOST_CHARACTERS or completion.logprobs is not None:
            return
        self._kept[key] = completion
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def close(self) -> None:
        """Forget everything."""
        self._kept.clear()
