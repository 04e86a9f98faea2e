"""How a long stage tells how far it is: the engine counts, the caller draws."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import msgspec


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What a command has asked of models so far.

    made: calls sent, retries among them; in_flight: those that have not come back. spent_usd: what the
    calls made now have cost, without those from the ledger; None where a price is unknown.
    """

    made: int = 0
    in_flight: int = 0
    retries: int = 0
    spent_usd: float | None = 0.0


Advance = Callable[[], None]
Progress = Callable[[str, int | None, Callable[[], State]], AbstractContextManager[Advance]]
"""Name of the stage, number of rows if known, and a function that gives the state at any moment -> a context
that gives a function to call for each row."""


@contextlib.contextmanager
def silent(_stage: str, _total: int | None, _state: Callable[[], State] = State) -> Iterator[Advance]:
    """Show nothing."""
    yield lambda: None
