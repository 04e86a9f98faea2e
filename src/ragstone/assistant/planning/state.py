"""What the agent knows when it chooses its next action, and what it chooses."""

from collections.abc import Awaitable, Callable
from datetime import date

import msgspec

from ragstone.assistant.conversation import Asked, Emit, Step
from ragstone.assistant.tool import Observation
from ragstone.records import Usage

NOTHING_USED = Usage(calls=0)


class Taken(msgspec.Struct, frozen=True):
    """A step that was taken, and what the tool brought back; None where no tool was called."""

    step: Step
    observation: Observation | None = None

    @property
    def done(self) -> Observation | None:
        """What a tool that could do it brought back; else None."""
        return self.observation if self.step.status == "done" else None


class State(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation and the steps taken since its last turn.

    known: what the conversation holds of what could be asked for, e.g. {"crop": "maize", "place": "Nakuru"}.
    may_ask: whether the user may be asked something; not more than twice in a row.
    """

    asked: Asked
    lang: str
    today: date
    known: dict[str, str] = {}
    may_ask: bool = True
    taken: tuple[Taken, ...] = ()

    @property
    def found(self) -> list[Observation]:
        """What tools have brought, oldest first; what only says that something is missing is nothing."""
        done = (taken.done for taken in self.taken)
        return [found for found in done if found is not None and found.missing is None]

    @property
    def missing(self) -> str | None:
        """What the last tool could do nothing without."""
        called = [taken.observation for taken in self.taken if taken.observation is not None]
        return called[-1].missing if called else None


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The next action, as it was chosen: its name and its arguments may both be wrong."""

    action: str
    arguments: dict[str, object] = {}
    thought: str = ""
    usage: Usage = NOTHING_USED
    cost_usd: float | None = 0.0


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A reply that was written from observations."""

    text: str
    usage: Usage = NOTHING_USED
    cost_usd: float | None = 0.0


Choose = Callable[[State], Awaitable[Chosen]]
"""Chooses what is done next. Raises CallFailed: `unparsable` where a model did not say it in the form asked
for, anything else where it cannot be asked."""

Write = Callable[[State, Emit], Awaitable[Written]]
"""Writes the reply from what tools have brought; its text is heard while it is made. Raises as Choose."""
