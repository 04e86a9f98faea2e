"""The difference of two systems that people would see, from few of their labels and a judge of all."""

import math
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from statistics import NormalDist
from typing import NamedTuple

import msgspec
import numpy as np

from ragstone.kernel.statistics.estimate import Estimate
from ragstone.kernel.statistics.intervals import Floats, student_p, student_quantile
from ragstone.kernel.statistics.power import POWER
from ragstone.kernel.statistics.ppi import (
    Labelled,
    influence,
    labelled_rows,
    point_estimate,
    power_tuning,
)

ADDED = 2
"""Pairs that are added to the variance: the judge wrong by the whole scale, once each way."""


class PoweredDifference(msgspec.Struct, frozen=True, kw_only=True):
    """The prediction-powered mean of paired differences, and what the labels alone say, in the labels' unit.

    p: two-sided, of a true difference of 0; it is at most 1 - level just where the interval leaves 0 out.
    None where there is no interval. weight, worth: as of PredictionPowered, counted in labelled pairs.
    to_halve: how many labelled pairs in all would make the interval half as wide; to_decide: how many would
    find a true difference of this size four times out of five; None where not even a label for every pair
    would.
    """

    corrected: Estimate
    human: Estimate
    p: float | None
    weight: float
    worth: float
    to_halve: int | None
    to_decide: int | None


class _Spread(NamedTuple):
    """What an interval follows from: the variance, its skew, third moment of what clusters move the
    estimate by over the second, and the degrees of freedom."""

    variance: float
    skew: float
    df: int


def prediction_powered_difference(
    human: Sequence[float] | Floats,
    judge: Sequence[float] | Floats,
    others: Sequence[float] | Floats,
    clusters: Sequence[Hashable] | None = None,
    *,
    width: float,
    shares: Sequence[float] | Floats | None = None,
    level: float = 0.95,
) -> PoweredDifference:
    """Return the mean difference that people would see in all pairs, with the judge's help.

    human, judge: B minus A of the labelled pairs, at least one; they must be a random sample of all pairs,
    each with the same chance or with one that shares make up for. others: the judge's differences of the
    pairs that are not labelled; without any the labels decide alone. clusters, shares: as of
    prediction_powered_mean. width: of people's scale, the largest difference there is.

    The estimate is mean(human) + weight * (mean(others) - mean(judge)), with the weight of least variance
    (Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453). It is right on average whatever the judge does:
    a taste for one side is in mean(judge) as it is in mean(others). The interval is Student's, with as many
    degrees of freedom as labelled clusters, less one for the mean and one for the weight. Where few pairs
    differ, or the judge errs in few, the labels show too small a variance, so it is taken as if two pairs
    more had shown the judge wrong by the whole scale, once each way (as Bonett and Price 2012, Journal of
    Educational and Behavioral Statistics 37:479, do for matched proportions): with one, a judge that
    favours B in 20 % of the answers makes equal systems "better" in 8 % where 30 pairs of 4,000 are
    labelled. The end on the side of rare large differences lies farther out, since the variance would be
    larger there (as in Wilson's interval; by the third moment, Johnson 1978). Nor does the judge make the
    variance larger than that of the labels alone. What it holds: benchmarks/comparing.py.
    """
    rows = labelled_rows(human, judge, others, clusters, shares)
    if width <= 0:
        raise ValueError(f"a scale that is {width:g} wide has no differences")
    weight = power_tuning(rows)
    alone, powered = _spread(rows, 0.0, width), _spread(rows, weight, width)
    if powered is None or (alone and powered.variance >= alone.variance):
        powered = alone._replace(df=powered.df, skew=powered.skew) if powered and alone else alone
    n, value = rows.human.size, point_estimate(rows, weight)
    limit = max(width, float(np.abs(rows.human).max()))
    outlook = _Outlook(value, powered, alone, n, rows.codes.size, level) if powered and alone else None
    plain = 1 / float(rows.parts @ rows.parts)  # pairs drawn with equal chances that are as good (Kish 1965)
    p = None
    if powered:  # at the variance of a true difference of 0, so that it agrees with the interval
        at_zero = powered.variance + max(0.0, -powered.skew * value)
        p = student_p(abs(value) / math.sqrt(at_zero), powered.df)
    return PoweredDifference(
        corrected=_estimate(value, powered, limit, rows.codes.size if weight else n, level),
        human=_estimate(point_estimate(rows, 0.0), alone, limit, n, level),
        p=p,
        weight=weight,
        worth=plain * (alone.variance / powered.variance if powered and alone else 1.0),
        to_halve=outlook.to_halve() if outlook else None,
        to_decide=outlook.to_decide() if outlook else None,
    )


def _spread(rows: Labelled, weight: float, width: float) -> _Spread | None:
    """Return how much the estimate varies; None of too few labelled clusters."""
    n = rows.human.size
    groups = len(np.unique(rows.codes[:n]))
    df = groups - (2 if weight else 1)
    if df < 1:
        return None
    moved = influence(rows, weight)
    totals = np.bincount(rows.codes[: moved.size], weights=moved)
    second = max(float(totals @ totals), float(moved @ moved))
    # Each moves the mean by width / n, where all have the same share.
    added = ADDED * width**2 * float(np.sum(rows.parts**3))
    variance = n / (n + ADDED) * (groups / df * second + added)
    return _Spread(variance, float(np.sum(totals**3)) / (second + added), df)


def _estimate(value: float, spread: _Spread | None, limit: float, n: int, level: float) -> Estimate:
    low = high = None
    if spread:
        squared = student_quantile(0.5 + level / 2, spread.df) ** 2
        # Where the variance at an end is that of the mean plus skew * distance: a quadratic in the distance.
        below, above = (squared * max(0.0, skew) / 2 for skew in (-spread.skew, spread.skew))
        low = max(-limit, value - below - math.sqrt(below**2 + squared * spread.variance))
        high = min(limit, value + above + math.sqrt(above**2 + squared * spread.variance))
    return Estimate(
        value=float(np.clip(value, -limit, limit)), low=low, high=high, n=n, method="student", level=level
    )


class _Outlook(NamedTuple):
    """What more labels of the same pairs would bring. As in ppi.py, the variance with k of M pairs labelled
    is a share `left` / k, what the judge leaves open, and a share (1 - left) / M, which more pairs alone
    make smaller.
    """

    value: float
    powered: _Spread
    alone: _Spread
    n: int
    n_rows: int
    level: float

    def _variance(self, k: int) -> float:
        of_labels, ratio = self.alone.variance, self.powered.variance / self.alone.variance
        done = self.n / self.n_rows
        left = min(1.0, max(0.0, (ratio - done) / (1 - done))) if ratio < 1 and done < 1 else 1.0
        return of_labels * self.n / k * (left + (1 - left) * k / self.n_rows)

    def _first(self, most: float) -> int | None:
        """Return how many labelled pairs bring the standard error down to this."""
        if math.sqrt(self._variance(self.n_rows)) > most:
            return None
        return self.n + bisect_left(
            range(self.n, self.n_rows), True, key=lambda k: math.sqrt(self._variance(k)) <= most
        )

    def to_halve(self) -> int | None:
        return self._first(math.sqrt(self._variance(self.n)) / 2)

    def to_decide(self) -> int | None:
        normal = NormalDist()
        return self._first(abs(self.value) / (normal.inv_cdf(0.5 + self.level / 2) + normal.inv_cdf(POWER)))


def labelled_pairs_for(sd: float, half: float, *, width: float, level: float = 0.95) -> int:
    """Return how many labelled pairs give an interval of ± half without a judge's help.

    sd: standard deviation of people's differences, in the unit of half and width. The interval is that of
    prediction_powered_difference.
    """
    z = NormalDist().inv_cdf(0.5 + level / 2)

    def enough(n: int) -> bool:
        return z * math.sqrt((n * sd**2 + ADDED * width**2) / (n * (n + ADDED))) <= half

    most = 2
    while not enough(most):
        most *= 2
    return bisect_left(range(most), True, lo=2, key=enough)
