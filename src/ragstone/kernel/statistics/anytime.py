"""Intervals for a bounded mean and for kappa that hold at every look while labels come in (anytime-valid).

A gambler starts with 1 and bets, label by label, that the mean lies above m. His stakes are fixed beforehand,
and each label brings at worst the loss of the whole stake. If the mean is m or less, his capital ever reaches
1/alpha with a chance of at most alpha (Ville 1939). So the values against which neither he nor his twin, who
bets on below, has got so far are an interval that holds at all looks at once, whenever and why ever one
stops (Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting", JRSS B 86:1).
The capital is split over a grid of stakes, small ones for small differences, and the parts are summed.

Kappa is no mean, for the agreement expected by chance is a product of two means. For grades scaled to 0..1,
h of people and j of the judge, "kappa is k" (with quadratic weights; of two grades all weights are one) says

    (1 - k) (E h² + E j² - 2 E h E j) - E (h - j)² = 0,    2 E h E j = (s² - d²) / 2,
    s = E h + E j,    d = E h - E j.

Each square is put in place of its tangent at a guess: t s - t²/2 is at most s²/2, and equal to it for t = s.
What is left is linear, hence the mean of something bounded of each label. Against "kappa is k or less", a
wrong guess of d only makes the bet more cautious: it is the mean of the labels before. A wrong guess of s
would make it bolder: there the gambler must win whatever s is, and since he wins least near the mean of s so
far, it is enough to look there. Against "kappa is k or more", s and d change places.

Rows of one cluster are one observation, their sum over the number of rows of the largest cluster. Labels
drawn with unequal chances count by 1 / chance, over the largest such weight: so their expected value is 0
where that of all rows is. Both maxima are taken from the rows so far. That, and a cluster of which only a
part is labelled, is outside of Ville's guarantee; `python -m benchmarks.peeking` measures both.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import msgspec
import numpy as np

from ragstone.kernel.statistics.intervals import Clusters, Floats, cluster_codes, cluster_totals

Side = Literal["above", "below"]
Gains = tuple[Floats, Floats]
"""Of each cluster, (scenarios, clusters): what a stake of 1 brings, at least -1; and the most it can."""

STAKES: Floats = np.exp(np.linspace(np.log(0.1), np.log(1.0), 9))
"""In units of 1 / deviation of an observation that is -1 or the most it can be: for 20 to 1,000 labels."""

_HALVINGS = 30
_AROUND = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])  # standard errors around the mean of a nuisance parameter
_SMALL = 1e-9
FUTURES, FARTHEST = 200, 5_000  # simulated continuations, and labels of each at most


class Betting(msgspec.Struct, frozen=True, eq=False):
    """A quantity that is bet on. value: what the rows so far come to, None where it is undefined.

    lowest, highest: what it can be at all. gains: what each cluster brings a gambler who says that it lies
    above, or below, a given value. n, n_clusters: rows and clusters. unequal: drawn with unequal chances.
    """

    value: float | None
    lowest: float
    highest: float
    gains: Callable[[float, Side], Gains]
    n: int
    n_clusters: int
    unequal: bool


def bet_on_mean(
    values: Sequence[float] | Floats,
    bounds: tuple[float, float],
    clusters: Clusters | None = None,
    *,
    chances: Sequence[float] | Floats | None = None,
) -> Betting:
    """Return bets on the mean of values that lie within bounds, in their unit.

    values: (rows,). clusters: one key a row. chances: with which each row was drawn, above 0 and at most 1;
    None for equal ones, then their order does not matter. The mean is that of all rows there are, labelled or
    not. Raises ValueError for a value out of bounds.
    """
    low, high = bounds
    x = np.asarray(values, dtype=np.float64)
    if x.size and not (low - _SMALL <= x.min() and x.max() <= high + _SMALL):
        raise ValueError(f"values from {x.min():g} to {x.max():g}: the bounds are {low:g} to {high:g}")
    weights, codes, largest = _footing(x.size, clusters, chances)
    sums, sizes = cluster_totals(np.column_stack([weights * x, weights]), codes).T

    def gains(mean: float, side: Side) -> Gains:
        loss, most = (mean - low, high - mean) if side == "above" else (high - mean, mean - low)
        sign = 1.0 if side == "above" else -1.0
        loss = max(loss, _SMALL)
        return (sign * (sums - mean * sizes) / (loss * largest))[None, :], np.array([[most / loss]])

    value = min(high, max(low, float(sums.sum() / sizes.sum()))) if x.size else None  # beyond by rounding
    return Betting(value, low, high, gains, x.size, len(sums), _differ(chances))


def bet_on_kappa(
    human: Sequence[float] | Floats,
    judge: Sequence[float] | Floats,
    grades: Sequence[float],
    clusters: Clusters | None = None,
    *,
    chances: Sequence[float] | Floats | None = None,
) -> Betting:
    """Return bets on Cohen's kappa, for more than two grades with quadratic weights.

    human, judge: (rows,), in the order in which the labels came, each one of grades (ascending, two or more).
    clusters, chances: as in bet_on_mean. The value is None, and nothing is ever decided, where both always
    gave the same grade.
    """
    span = grades[-1] - grades[0]
    h, j = (np.asarray(own, dtype=np.float64) - grades[0] for own in (human, judge))
    h, j = h / span, j / span
    weights, codes, largest = _footing(h.size, clusters, chances)
    columns = np.column_stack([np.ones(h.size), h, j, h * h, j * j, h * j])
    totals = cluster_totals(weights[:, None] * columns, codes)
    before = np.cumsum(totals, axis=0) - totals
    guesses = _Guesses(
        s=(before[:, 1] + before[:, 2] + 1.0) / (before[:, 0] + 1.0),
        d=(before[:, 1] - before[:, 2]) / (before[:, 0] + 1.0),
        s_around=_near(h + j, weights),
        d_around=_near(h - j, weights),
    )
    gains = partial(_kappa_gains, totals / largest, guesses, len(grades) == 2)
    total, *sums = totals.sum(axis=0)
    h_sum, j_sum, hh, jj, hj = sums
    expected = hh + jj - 2 * h_sum * j_sum / total if h.size else 0.0
    value = float(1 - (hh + jj - 2 * hj) / expected) if expected > _SMALL else None
    value = None if value is None else min(1.0, max(-1.0, value))  # beyond by rounding alone
    return Betting(value, -1.0, 1.0, gains, h.size, len(totals), _differ(chances))


def _differ(chances: Sequence[float] | Floats | None) -> bool:
    return chances is not None and len(np.unique(chances)) > 1


class _Guesses(msgspec.Struct, frozen=True, eq=False):
    """Of the sum and the difference of the two means: before each cluster, and around what all come to."""

    s: Floats
    d: Floats
    s_around: Floats
    d_around: Floats


def _kappa_gains(totals: Floats, guesses: _Guesses, is_binary: bool, kappa: float, side: Side) -> Gains:
    """Return the gains of bets on kappa; scenarios are the nuisance values that a gambler must beat."""
    if side == "above":
        s, d = guesses.s_around[:, None], guesses.d[None, :]
    else:
        s, d = guesses.s[None, :], guesses.d_around[:, None]
    m, n = (s + d) / 2, (s - d) / 2  # guesses of E h and E j
    rest = 1 - kappa

    def brought(weight: Floats, h: Floats, j: Floats, hh: Floats, jj: Floats, hj: Floats) -> Floats:
        chance = hh + jj - 2 * n * h - 2 * m * j + 2 * m * n * weight
        return np.asarray(rest * chance - (hh + jj - 2 * hj))

    corners = np.array([[1.0, h, j, h, j, h * j] for h in (0.0, 1.0) for j in (0.0, 1.0)])
    at = np.stack([brought(*corner) + 0 * (m + n) for corner in corners])
    least, most = at.min(axis=0), at.max(axis=0)
    if not is_binary:  # between the corners it may lie lower, or higher: what is subtracted is 0 to 1
        free = at + (corners[:, 1] - corners[:, 2])[:, None, None] ** 2
        most = free.max(axis=0)
        least = least if kappa >= 0 else np.minimum(least, -1 - rest * (m - n) ** 2)
    loss, gain = (-least, most) if side == "above" else (most, -least)
    loss = np.maximum(loss, _SMALL)
    sign = 1.0 if side == "above" else -1.0
    return sign * brought(*totals.T) / loss, np.maximum(gain, _SMALL) / loss


def _near(values: Floats, weights: Floats) -> Floats:
    """Return values around the weighted mean, some of its standard errors apart."""
    if not values.size:
        return np.zeros(1)
    mean = np.average(values, weights=weights)
    error = np.sqrt((weights**2 * (values - mean) ** 2).sum()) / weights.sum()
    return np.asarray(mean + error * _AROUND)


def _footing(
    n: int, clusters: Clusters | None, chances: Sequence[float] | Floats | None
) -> tuple[Floats, np.ndarray[tuple[int, ...], np.dtype[np.intp]], float]:
    """Return the weight of each row, at most 1, its cluster, and the rows of the largest cluster."""
    codes = cluster_codes(clusters, n)
    largest = float(np.bincount(codes).max()) if n else 1.0
    if chances is None:
        return np.ones(n), codes, largest
    odds = 1 / np.asarray(chances, dtype=np.float64)
    return odds / odds.max(), codes, largest


def log_capital(gains: Gains) -> float:
    """Return the natural log of the gambler's capital, in the scenario that is worst for him."""
    parts = log_parts(gains).sum(axis=1)
    highest = parts.max(axis=-1)
    capitals = highest + np.log(np.exp(parts - highest[:, None]).mean(axis=-1))
    return float(capitals.min())


def log_parts(gains: Gains) -> Floats:
    """Return what each cluster adds to the log capital of each stake: (scenarios, clusters, stakes)."""
    brought, most = gains
    stakes = 1 - np.exp(-STAKES / np.sqrt(most)[..., None])
    return np.asarray(np.log1p(brought[..., None] * stakes))


def anytime_interval(bets: Betting, level: float = 0.95) -> tuple[float, float]:
    """Return the interval that holds the true value at every look with chance `level`, low and high."""
    if bets.value is None:
        return bets.lowest, bets.highest
    return (
        _end(bets, "above", bets.lowest, bets.value, level),
        _end(bets, "below", bets.highest, bets.value, level),
    )


def _end(bets: Betting, side: Side, outside: float, inside: float, level: float) -> float:
    """Return the value between the two up to which the gambler has refuted, by halving."""
    wanted = _wanted(level)
    if log_capital(bets.gains(outside, side)) < wanted:
        return outside
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        if log_capital(bets.gains(middle, side)) >= wanted:
            outside = middle
        else:
            inside = middle
    return outside


def _wanted(level: float) -> float:
    """Return the log capital at which a value is refuted: half of the error for each side."""
    return float(np.log(2 / (1 - level)))


def labels_to_decide(bets: Betting, bar: float, level: float = 0.95, seed: int = 0) -> int | None:
    """Return about how many more labels tell on which side of the bar the value lies; None beyond 5,000.

    The median of 200 continuations in which the labels to come are drawn, whole clusters with replacement,
    from those so far. 0 where it is decided. It says nothing of the chance that the labels to come differ
    from those so far; of fewer than some 20 it is a rough guess.
    """
    wanted, rng = _wanted(level), np.random.default_rng(seed)
    sides: tuple[Side, Side] = ("above", "below")
    scenarios = [log_parts(bets.gains(bar, side)) for side in sides]
    worst = [int(np.exp(own.sum(axis=1)).mean(axis=-1).argmin()) for own in scenarios]
    parts = np.stack([own[at] for own, at in zip(scenarios, worst, strict=True)])
    a_cluster = bets.n / bets.n_clusters
    capitals = np.repeat(parts.sum(axis=1)[:, None], FUTURES, axis=1)  # (sides, futures, stakes)
    undecided = np.ones(FUTURES, dtype=bool)
    step = max(1, bets.n_clusters // 50)
    taken = 0
    while True:
        highest = capitals.max(axis=-1)
        logs = highest + np.log(np.exp(capitals - highest[..., None]).mean(axis=-1))
        undecided &= (logs < wanted).all(axis=0)
        if 2 * undecided.sum() <= FUTURES:
            return round(taken * a_cluster)
        if taken * a_cluster > FARTHEST:
            return None
        drawn = rng.integers(0, bets.n_clusters, (FUTURES, step))
        capitals = capitals + parts[:, drawn].sum(axis=2)
        taken += step
