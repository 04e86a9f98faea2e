"""How a worker's limits, budget and ledger speak to the desk."""

from collections.abc import Callable
from typing import Protocol

from ragstone.engine.cluster.messages import FindAnswer, Granted, ToDesk


class Speaking(Protocol):
    """As Line."""

    def tell(self, message: ToDesk, hurry: bool = False) -> None:
        """Say something that nobody waits for; hurry: at once, with what is said by then."""

    async def ask(self, question: Callable[[int], ToDesk], hurry: bool = False) -> FindAnswer | Granted:
        """Return the answer to a question, which is made with its number."""
