"""An estimate: a value, the ends of its interval, and how many observations it rests on. Needs no array."""

from typing import Literal

import msgspec

FEW_CLUSTERS = 10  # below, intervals are too narrow: 91 % hold with 5 (docs/explanation/statistics.md)


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A value, its interval [low, high] at `level`, and the number of observations `n` it rests on.

    low and high are both None where no interval can be had: a single cluster, or resamples that do not vary.
    method: `components` for one that holds more noise than that of rows, see mean_components.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    method: Literal["wilson", "bootstrap", "student", "components"]
    level: float = 0.95


def negated(estimate: Estimate) -> Estimate:
    """Return a difference the other way round: the second minus the first."""
    low, high = (None if end is None else 0.0 - end for end in (estimate.high, estimate.low))
    return msgspec.structs.replace(estimate, value=0.0 - estimate.value, low=low, high=high)
