"""What a Python function declares of itself as a judge."""

import math
import re
from collections.abc import Callable
from typing import Literal

import msgspec

from ragstone.kernel.errors import ConfigError

ATTRIBUTE = "__ragstone_judge__"  # of a function: its Declared
NAME = re.compile(r"[a-z][a-z0-9_]*")


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """What a function declares of itself; None is left to the judge's file, or is the default.

    source: what it rests on beside its file, such as the package of a metric and its version. Raises
    ConfigError for values that no judge can have.
    """

    name: str | None = None
    version: int = 1
    scale: tuple[float, float] | None = None
    best: Literal["highest", "lowest"] | None = None
    labels: dict[str, float] | None = None
    metric: str | None = None
    timeout_s: float | None = None
    at_once: int = 1
    source: str = ""

    def __post_init__(self) -> None:
        low, high = self.scale or (0, 1)
        off = [label for label, score in (self.labels or {}).items() if not low <= score <= high]
        mistakes = {
            f"scale={self.scale}: give the lowest score, then the highest, such as (0, 10)": not (
                math.isfinite(low) and math.isfinite(high) and low < high
            ),
            f"best={self.best!r}: give 'highest' or 'lowest'": self.best not in (None, "highest", "lowest"),
            "labels={}: give the score of each label, or leave labels out": self.labels == {},
            f"name={self.name!r}: write it in lower-case letters, digits and _": bool(
                self.name and not NAME.fullmatch(self.name)
            ),
            f"metric={self.metric!r}: write it in lower-case letters, digits and _": bool(
                self.metric and not NAME.fullmatch(self.metric)
            ),
            f"labels: {' and '.join(map(repr, off))} is off the scale {low:g} to {high:g}": bool(off),
            f"version={self.version}: give 1 or more": self.version < 1,
            f"timeout_s={self.timeout_s}: give seconds, more than 0": self.timeout_s is not None
            and not 0 < self.timeout_s < math.inf,
            f"at_once={self.at_once}: give 1 or more": self.at_once < 1,
        }
        for mistake, is_so in mistakes.items():
            if is_so:
                raise ConfigError(f"judge_function: {mistake}.")


def declared_by(function: Callable[..., object]) -> Declared:
    """Return what a function declares of itself: nothing, where nobody declared it."""
    declared = getattr(function, ATTRIBUTE, None)
    return declared if isinstance(declared, Declared) else Declared()
