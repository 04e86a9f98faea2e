"""A number with its uncertainty: what every mean in Ragstone is shown as."""

from typing import Literal

import msgspec


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A value, its interval [low, high] at `level`, and the number of observations `n` it rests on.

    low and high are both None where no interval can be had: a single cluster, or resamples that do not vary.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    method: Literal["wilson", "bootstrap"]
    level: float = 0.95
