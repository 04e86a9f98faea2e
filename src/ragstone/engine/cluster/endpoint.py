"""What the desk knows of one endpoint: how fast all workers together may ask it, and whether it works."""

import random
from collections.abc import Callable

from ragstone.engine.cluster.messages import (
    Asks,
    Broken,
    CircuitOpened,
    Failed,
    Pause,
    ToWorker,
    Wants,
    Works,
)
from ragstone.engine.cluster.messages import SlotShare as Told
from ragstone.engine.cluster.sharing import Share, shares
from ragstone.errors import ModelError
from ragstone.llm.limits import Circuit, GivenUp, Pace, Slots
from ragstone.llm.prompt import CallFailed
from ragstone.llm.transport import AppFailed, Unreachable

FATAL: dict[str, type[ModelError]] = {"ModelError": ModelError, "GivenUp": GivenUp}

Tell = Callable[[str | None, ToWorker], None]
"""Sends a message to a worker; to all of them where it is None."""


class EndpointDesk:
    """The limits of an endpoint, shared out among those who ask it."""

    def __init__(self, asks: Asks, tell: Tell) -> None:
        draw = random.Random(0)
        self.name = asks.endpoint
        self.pace = {
            "calls": Pace(asks.requests_per_minute, draw),
            "tokens": Pace(asks.tokens_per_minute, draw),
        }
        self._tell = tell
        self._slots = Slots(asks.concurrency)
        self._circuit = Circuit()
        self._opened: CircuitOpened | None = None
        self._shares: dict[str, Share] = {}
        self._number = 0

    def join(self, worker: str) -> None:
        """Tell a worker that asks for the first time what the others know already."""
        self._shares.setdefault(worker, Share())
        if self._circuit.has_answered:
            self._tell(worker, Works(self.name))
        if self._opened is not None:
            self._tell(worker, self._opened)

    def leave(self, worker: str) -> None:
        """Give the others what a worker had that is gone."""
        if self._shares.pop(worker, None) is not None:
            self._deal()

    def wants(self, worker: str, said: Wants) -> None:
        """Note what a worker could use."""
        self._shares.setdefault(worker, Share()).hear(said.wanted, said.held, said.heard)
        self._deal()

    def went(self, accepted: int) -> None:
        """Count calls that were answered."""
        if not self._circuit.has_answered:
            self._tell(None, Works(self.name))
        self._circuit.answered()
        before = int(self._slots.allowed)
        for _ in range(accepted):
            self._slots.accepted()
        if int(self._slots.allowed) != before:
            self._deal()

    def refused(self) -> None:
        """Ask it less."""
        self._slots.refused()
        self._deal()

    def pause(self, seconds: float) -> None:
        """Let nobody ask it for so long."""
        for pace in self.pace.values():
            pace.pause(seconds)
        self._tell(None, Pause(self.name, seconds))

    def failed(self, said: Failed) -> None:
        """Count a failure of any worker; enough of them end the calls of all."""
        failure = _failure(said)
        try:
            if said.lost:
                self._circuit.call_lost(failure)
            else:
                self._circuit.attempt_failed(failure)
        except ModelError as why:
            self._end(why)

    def broken(self, said: Broken) -> None:
        """End the calls of all."""
        self._end(FATAL.get(said.kind, ModelError)(said.text))

    def _end(self, why: ModelError) -> None:
        if self._opened is None:
            self._opened = CircuitOpened(self.name, type(why).__name__, str(why))
            self._tell(None, self._opened)

    def _deal(self) -> None:
        """Share out anew: who has too much is told at once, who may have more as soon as it is free."""
        allowed = int(self._slots.allowed)
        target = shares({worker: share.wanted for worker, share in self._shares.items()}, allowed)
        free = allowed - sum(share.used for share in self._shares.values())
        for worker, share in self._shares.items():
            slots = target[worker]
            if slots > share.last:
                slots = max(share.last, min(slots, share.used + max(0, free)))
                free -= max(0, slots - share.used)
            if slots != share.last:
                self._number += 1
                share.tell(self._number, slots)
                self._tell(worker, Told(self.name, self._number, slots))


def _failure(said: Failed) -> CallFailed:
    if said.kind == "Unreachable":
        return Unreachable(said.text)
    kind = AppFailed if said.kind == "AppFailed" else CallFailed
    return kind(said.status, said.text)
