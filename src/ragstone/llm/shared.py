"""What callers of several machines share: limits of each endpoint and one budget, kept elsewhere."""

import random
from types import TracebackType
from typing import Protocol

import msgspec

from ragstone.config import ModelSettings
from ragstone.errors import ModelError
from ragstone.llm.limits import Circuit, Pace, Patience, Slots
from ragstone.llm.prompt import CallFailed


class AnySlots(Protocol):
    """As limits.Slots."""

    @property
    def refused_in_a_row(self) -> int:
        """Refusals since the endpoint last answered."""

    async def __aenter__(self) -> None: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def accepted(self) -> None:
        """The endpoint answered."""

    def refused(self) -> None:
        """The endpoint is overloaded."""


class AnyPace(Protocol):
    """As limits.Pace."""

    @property
    def limited(self) -> bool:
        """Whether there are so many units a minute at most."""

    async def wait(self, units: float = 1.0) -> None:
        """Return when `units` more may be spent."""

    def pause(self, seconds: float) -> None:
        """Let nobody start for so long."""


class AnyCircuit(Protocol):
    """As limits.Circuit."""

    @property
    def has_answered(self) -> bool:
        """Whether the endpoint ever answered."""

    def check(self) -> None:
        """Raise ModelError if the circuit is open."""

    def tries_again(self) -> bool:
        """Return whether this caller is the one to find out if the endpoint works again."""

    def stop(self) -> None:
        """Let no more calls pass."""

    def open(self, why: ModelError) -> None:
        """Let no more calls pass; `why` is what their callers are told."""

    def answered(self) -> None:
        """The endpoint works."""

    def attempt_failed(self, failure: CallFailed) -> None:
        """Count a failed attempt."""

    def call_lost(self, failure: CallFailed) -> None:
        """Count a call that is given up."""


class Limits(msgspec.Struct, frozen=True):
    """How fast one endpoint may be asked: calls at once, calls and tokens a minute, and when to give up."""

    slots: AnySlots
    calls: AnyPace
    tokens: AnyPace
    circuit: AnyCircuit


class Shared(Protocol):
    """What a worker's budget and callers take from those of all."""

    async def reserve(self, number: int, tokens: int, usd: float) -> None:
        """Reserve the most that a call can use, under a number of the caller's own.

        Raises CallFailed `over_budget` when a cap forbids it.
        """

    def settle(self, number: int, tokens: int, usd: float) -> None:
        """Replace a reservation by what the call used."""

    def limits(self, endpoint: str, concurrency: int, settings: ModelSettings, patience: Patience) -> Limits:
        """Return the limits of an endpoint, which hold for all who ask it."""


def own_limits(concurrency: int, settings: ModelSettings, patience: Patience, draw: random.Random) -> Limits:
    """Return limits of an endpoint that hold for this caller alone."""
    return Limits(
        Slots(concurrency),
        Pace(settings.requests_per_minute, draw),
        Pace(settings.tokens_per_minute, draw),
        Circuit(patience),
    )
