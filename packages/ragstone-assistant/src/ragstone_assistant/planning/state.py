"""What the agent knows when it chooses its next action, what it chooses, and what has happened so far."""

from collections.abc import Awaitable, Callable
from datetime import date
from typing import Literal

import msgspec

from ragstone.kernel.records import Usage
from ragstone_assistant._domain import Domain
from ragstone_assistant.conversation import Asked, Doing, Emit, LoopStep, TextPiece
from ragstone_assistant.tool import Observation

NOTHING_USED = Usage(calls=0)


class TakenStep(msgspec.Struct, frozen=True):
    """A step that was taken, and what the tool brought back; None where no tool was called."""

    step: LoopStep
    observation: Observation | None = None

    @property
    def done(self) -> Observation | None:
        """What a tool that could do it brought back; else None."""
        return self.observation if self.step.status == "done" else None


class AgentState(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation and the steps taken since its last turn.

    known: what the conversation holds of what could be asked for, e.g. {"place": "Nakuru"}.
    may_ask: whether the user may be asked something; not more than twice in a row. deadline: see Situation.
    """

    asked: Asked
    lang: str
    today: date
    domain: Domain = msgspec.field(default_factory=Domain)
    known: dict[str, str] = {}
    may_ask: bool = True
    deadline: float | None = None
    taken: tuple[TakenStep, ...] = ()

    @property
    def found(self) -> list[Observation]:
        """What tools have brought, oldest first; what only says that something is missing is nothing."""
        done = (taken.done for taken in self.taken)
        return [
            observation for observation in done if observation is not None and observation.missing is None
        ]

    @property
    def missing(self) -> str | None:
        """What the last tool could do nothing without."""
        called = [taken.observation for taken in self.taken if taken.observation is not None]
        return called[-1].missing if called else None


class ChosenAction(msgspec.Struct, frozen=True, kw_only=True):
    """The next action, as it was chosen: its name and its arguments may both be wrong."""

    action: str
    arguments: dict[str, object] = {}
    thought: str = ""
    usage: Usage = NOTHING_USED
    cost_usd: float | None = 0.0


class WrittenReply(msgspec.Struct, frozen=True, kw_only=True):
    """A reply that was written from observations."""

    text: str
    usage: Usage = NOTHING_USED
    cost_usd: float | None = 0.0


Choose = Callable[[AgentState], Awaitable[ChosenAction]]
"""Chooses what is done next. Raises CallFailed: `unparsable` where a model did not say it in the form asked
for, anything else where it cannot be asked."""

Write = Callable[[AgentState, Emit], Awaitable[WrittenReply]]
"""Writes the reply from what tools have brought; its text is heard while it is made. Raises as Choose."""


Status = Literal["done", "failed", "invalid"]


class Trace:
    """The steps, what they cost, and the text that the user has already seen.

    cost_usd: 0 while nothing was called; None as soon as a call has an unknown price.
    """

    def __init__(self, emit: Emit) -> None:
        self.taken: tuple[TakenStep, ...] = ()
        self.usage = NOTHING_USED
        self.cost_usd: float | None = 0.0
        self.heard = ""
        self._emit = emit

    @property
    def steps(self) -> tuple[LoopStep, ...]:
        """The steps, oldest first."""
        return tuple(taken.step for taken in self.taken)

    def emit(self, event: Doing | TextPiece) -> None:
        """Pass an event on, and remember what was read."""
        if isinstance(event, TextPiece):
            self.heard += event.piece
        self._emit(event)

    def say(self, text: str) -> None:
        """Let the user hear what of this text was not heard yet."""
        rest = text.removeprefix(self.heard)
        if rest and text.startswith(self.heard):
            self.emit(TextPiece(rest))

    def spend(self, usage: Usage, cost_usd: float | None) -> None:
        """Count calls; what made none costs nothing, whatever its price is said to be."""
        if usage.calls:
            self.usage += usage
            unknown = cost_usd is None or self.cost_usd is None
            self.cost_usd = None if unknown else (self.cost_usd or 0.0) + (cost_usd or 0.0)

    def invalid(self, chosen: ChosenAction, why: str) -> None:
        """Note an action that could not be taken."""
        self._note(chosen, why, "invalid")

    def closing(self, chosen: ChosenAction) -> None:
        """Note an action that ends the loop."""
        self._note(chosen, "", "done")

    def observed(self, chosen: ChosenAction, observation: Observation, latency_s: float) -> None:
        """Note what a tool brought, and count what it spent."""
        self.spend(observation.usage, observation.cost_usd)
        status: Status = "failed" if observation.failed else "done"
        self._note(chosen, observation.text, status, observation=observation, latency_s=latency_s)

    def _note(
        self,
        chosen: ChosenAction,
        text: str,
        status: Status,
        *,
        observation: Observation | None = None,
        latency_s: float = 0.0,
    ) -> None:
        step = LoopStep(
            thought=chosen.thought,
            action=chosen.action,
            arguments=chosen.arguments,
            observation=text,
            status=status,
            latency_s=round(latency_s, 4),
        )
        self.taken = (*self.taken, TakenStep(step, observation))
