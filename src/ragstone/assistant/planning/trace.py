"""What has happened so far in one reply: it outlives a loop that is cut off."""

from typing import Literal

from ragstone.assistant.conversation import Doing, Emit, Step, Text
from ragstone.assistant.planning.state import NOTHING_USED, Chosen, Taken
from ragstone.assistant.tool import Observation
from ragstone.records import Usage

Status = Literal["done", "failed", "invalid"]


class Trace:
    """The steps, what they cost, and the text that the user has already seen.

    cost_usd: 0 while nothing was called; None as soon as a call has an unknown price.
    """

    def __init__(self, emit: Emit) -> None:
        self.taken: tuple[Taken, ...] = ()
        self.usage = NOTHING_USED
        self.cost_usd: float | None = 0.0
        self.heard = ""
        self._emit = emit

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps, oldest first."""
        return tuple(taken.step for taken in self.taken)

    def emit(self, event: Doing | Text) -> None:
        """Pass an event on, and remember what was read."""
        if isinstance(event, Text):
            self.heard += event.piece
        self._emit(event)

    def say(self, text: str) -> None:
        """Let the user hear what of this text was not heard yet."""
        rest = text.removeprefix(self.heard)
        if rest and text.startswith(self.heard):
            self.emit(Text(rest))

    def spend(self, usage: Usage, cost_usd: float | None) -> None:
        """Count calls; what made none costs nothing, whatever its price is said to be."""
        if usage.calls:
            self.usage += usage
            unknown = cost_usd is None or self.cost_usd is None
            self.cost_usd = None if unknown else (self.cost_usd or 0.0) + (cost_usd or 0.0)

    def invalid(self, chosen: Chosen, why: str) -> None:
        """Note an action that could not be taken."""
        self._note(chosen, why, "invalid")

    def closing(self, chosen: Chosen) -> None:
        """Note an action that ends the loop."""
        self._note(chosen, "", "done")

    def observed(self, chosen: Chosen, observation: Observation, latency_s: float) -> None:
        """Note what a tool brought, and count what it spent."""
        self.spend(observation.usage, observation.cost_usd)
        status: Status = "failed" if observation.failed else "done"
        self._note(chosen, observation.text, status, observation=observation, latency_s=latency_s)

    def _note(
        self,
        chosen: Chosen,
        text: str,
        status: Status,
        *,
        observation: Observation | None = None,
        latency_s: float = 0.0,
    ) -> None:
        step = Step(
            thought=chosen.thought,
            action=chosen.action,
            arguments=chosen.arguments,
            observation=text,
            status=status,
            latency_s=round(latency_s, 4),
        )
        self.taken = (*self.taken, Taken(step, observation))
