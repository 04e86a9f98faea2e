"""A stage whose calls go through batches: it is run to hear its calls, until all are in the ledger."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from ragstone.engine.session import Session
from ragstone.errors import Stopped

Out = TypeVar("Out")

# A row asks up to four calls, each after the reply to the one before; as many again for batches that expire.
ROUNDS = 8


def in_rounds(
    rows: Callable[[], AsyncIterator[Out]], session: Session, asking: Callable[[], AsyncIterator[object]]
) -> AsyncIterator[Out]:
    """Yield the rows of a stage; in a session with batches, after their calls have come back.

    asking: makes those rows that ask a model, so that their calls are heard. A call that has not been
    answered after ROUNDS batches gives its row the status `error`; run again, and it is asked again.
    """
    return _after_rounds(rows, session, asking) if session.batching else rows()


async def _after_rounds(
    rows: Callable[[], AsyncIterator[Out]], session: Session, asking: Callable[[], AsyncIterator[object]]
) -> AsyncIterator[Out]:
    for _ in range(ROUNDS):
        with session.collecting():
            async for _row in asking():  # thrown away: what it was to be made from was only put off
                pass
        try:
            if not await session.models.submit():
                break
        except asyncio.CancelledError:
            raise Stopped(
                "stopped. The batches that were submitted go on at the provider, and their calls will be "
                "charged: run the same command again to pick them up."
            ) from None
    # All that was answered is in the ledger now, so the rows are those that single calls would have made.
    async for row in rows():
        yield row
