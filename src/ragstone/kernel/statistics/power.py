"""How large a difference on the same rows would be found, and how many rows it takes to find one.

A verdict "cannot tell" is worth what could have been told: the power of the test, which is the chance that
it finds a true difference of a given size.
"""

import functools
import math
from collections.abc import Callable
from statistics import NormalDist

import msgspec
import numpy as np

from ragstone.kernel.statistics.intervals import (
    Clusters,
    Codes,
    Floats,
    cluster_codes,
    cluster_totals,
    student_quantile,
)

POWER = 0.8  # found four times out of five: the custom since Cohen 1988
MOST_ROWS = 10_000_000  # beyond, no number of questions is named
EXACT_UP_TO = 2000.0  # rows on which the two differ, up to which McNemar's power is summed exactly
FINEST = 1e-6  # step of scores that is looked for
POINTS = 801  # of the integral over the standard deviation that a sample shows


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """How much the differences of n rows vary, which is what power rests on besides n.

    sd: standard deviation of the differences, the variance of their mean being
    design_effect * sd**2 / n. design_effect: how many times more the mean varies than if rows did not belong
    together (Kish 1965): 1 where each is a cluster of its own. changed: the share of rows that differ, where
    the test is McNemar's, which counts them; None for the permutation test. grain: the step of which all
    totals of clusters are multiples, next to 0 where there is none.
    """

    n: int
    n_clusters: int
    sd: float
    design_effect: float
    changed: float | None = None
    grain: float = 0.0


def spread_of(
    differences: Floats, clusters: Clusters | None = None, *, yes_no: bool = False
) -> Spread | None:
    """Return how much differences vary; None where that cannot be estimated from them.

    differences: one a row, first minus second. clusters: as of mean_estimate. yes_no: whether they are of
    0 and 1 and of rows that stand alone, so that McNemar's test is the one. It cannot be estimated from a
    single cluster, nor, unless yes_no, where all differences are equal.
    """
    n = len(differences)
    codes = cluster_codes(clusters, n)
    totals = cluster_totals(np.column_stack([differences, np.ones(n)]), codes)
    count, mean = len(totals), float(np.mean(differences))
    if yes_no:
        changed = float(np.mean(differences != 0))
        sd = math.sqrt(max(0.0, changed - mean**2))
        return Spread(n=n, n_clusters=n, sd=sd, design_effect=1.0, changed=changed)
    if count < 2 or np.ptp(differences) == 0:
        return None
    sd = float(np.std(differences, ddof=1))
    apart = totals[:, 0] - mean * totals[:, 1]
    variance = count / (count - 1) * float(apart @ apart) / n**2
    if variance <= 0:
        return None
    grain = float(np.gcd.reduce(np.round(np.abs(totals[:, 0]) / FINEST).astype(np.int64))) * FINEST
    return Spread(n=n, n_clusters=count, sd=sd, design_effect=variance * n / sd**2, grain=grain)


def paired_power(spread: Spread, difference: float, *, n: int | None = None, alpha: float = 0.05) -> float:
    """Return the chance that a true mean difference is found: a two-sided p-value of at most alpha.

    n: rows, in place of those of the spread, in clusters of the same size. McNemar's test: exactly, over how
    many rows differ and in which direction (Duffy 1984), with the share that differs as it is, or as
    large as the difference if that is larger; beyond 2,000 of them by the normal approximation (Connor 1987).
    The permutation test: as Student's t of the clusters, whose power it has in the limit (Hoeffding 1952),
    from the noncentral t distribution; a flip moves the sum by twice the grain or more, so half of that is
    lost on the way to the next p-value below alpha. 0 where no flip of so few clusters can reach alpha.
    """
    rows = spread.n if n is None else n
    if difference == 0:
        return alpha
    if spread.changed is not None:
        changed = max(spread.changed, abs(difference))
        exact = rows * changed <= EXACT_UP_TO
        return (_mcnemar_power if exact else _connor_power)(rows, changed, abs(difference), alpha)
    count = rows * spread.n_clusters / spread.n
    if count < 2 or 2 ** (1 - count) > alpha:
        return 0.0
    error = spread.sd * math.sqrt(spread.design_effect / rows)
    shift = max(0.0, abs(difference) - spread.grain / rows) / error
    return _t_power(shift, max(1, round(count) - 1), alpha)


def smallest_difference(
    spread: Spread, largest: float, *, alpha: float = 0.05, power: float = POWER
) -> float | None:
    """Return the smallest true difference that is found with this power; None if that is beyond `largest`."""

    def found(difference: float) -> bool:
        return paired_power(spread, difference, alpha=alpha) >= power

    if not found(largest):
        return None
    low, high = 0.0, largest
    while high - low > 1e-4 * largest:
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def needed_rows(
    spread: Spread, difference: float, *, alpha: float = 0.05, power: float = POWER
) -> int | None:
    """Return how many rows it takes to find a true difference with this power; None beyond ten million.

    McNemar's power rises in steps and falls a little between them, so of several numbers of rows around the
    threshold any may be returned.
    """
    if difference == 0:
        return None
    return _first(lambda n: paired_power(spread, difference, n=n, alpha=alpha) >= power)


def _first(enough: Callable[[int], bool]) -> int | None:
    """Return the first number that is enough, by doubling and halving."""
    high = 2
    while not enough(high):
        high *= 2
        if high > MOST_ROWS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _mcnemar_power(n: int, changed: float, difference: float, alpha: float) -> float:
    """Return the sum over how many rows differ of the chance that a two-sided exact test rejects."""
    up = (1 + difference / changed) / 2  # of the rows that differ, the share that is in favour
    around = 8 * math.sqrt(n * changed * (1 - changed)) + 2
    first, last = max(0, math.floor(n * changed - around)), min(n, math.ceil(n * changed + around))
    few = _so_few(alpha)[: last + 1]
    rejected = _fewer(few, up) + _fewer(few, 1 - up)
    return min(1.0, max(0.0, float(_chances(n, first, last, changed) @ rejected[first:])))


@functools.cache
def _so_few(alpha: float) -> Codes:
    """Return, for m rows that differ, how many counts of one way, from 0 on, give a p-value of at most alpha.

    m: from 0 to the most that EXACT_UP_TO leads to. One row more makes the least count that is too many so
    likely as half of this and of the one before it, so the number grows by 0 or 1.
    """
    most = math.ceil(EXACT_UP_TO + 8 * math.sqrt(EXACT_UP_TO)) + 3
    few, chance, tail = [0], 1.0, 1.0  # of the least count that is too many: its chance, and that of up to it
    for m in range(1, most + 1):
        k = few[-1]
        tail -= chance / 2
        chance *= m / (m - k) / 2
        if tail <= alpha / 2 * (1 + 1e-12):
            k += 1
            chance *= (m - k + 1) / k
            tail += chance
        few.append(k)
    return np.array(few)


def _fewer(few: Codes, share: float) -> Floats:
    """Return the chances of fewer than few[m] successes of m, m from 0 on.

    From m to m + 1 rows they fall by share * P(few[m] - 1 of m), and rise where one more is so few.
    """
    m = np.arange(len(few))
    lost = share * _binomial(m[:-1], few[:-1] - 1, share)
    won = np.where(few[1:] > few[:-1], _binomial(m[1:], few[:-1], share), 0.0)
    return np.concatenate([[0.0], np.cumsum(won - lost)])


def _binomial(n: Codes, at: Codes, share: float) -> Floats:
    """Return the chances of at[i] successes of n[i]: 0 where at[i] is below 0."""
    if share in (0, 1):
        return np.asarray(at == n * share, dtype=np.float64)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n[-1] + 1)))])  # of factorials
    k = np.maximum(at, 0)
    chosen = logs[n] - logs[k] - logs[n - k]
    return np.where(at < 0, 0.0, np.exp(chosen + k * math.log(share) + (n - k) * math.log1p(-share)))


def _chances(n: int, first: int, last: int, share: float) -> Floats:
    """Return the chances of first to last successes of n, which hold next to all, each by that before it."""
    if share >= 1:
        return np.asarray(np.arange(first, last + 1) == n, dtype=np.float64)
    at = np.arange(first, last)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - at) / (at + 1) * share / (1 - share)))])
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum())


def _connor_power(n: int, changed: float, difference: float, alpha: float) -> float:
    normal = NormalDist()
    beyond = difference * math.sqrt(n) - normal.inv_cdf(1 - alpha / 2) * math.sqrt(changed)
    vary = changed - difference**2
    return normal.cdf(beyond / math.sqrt(vary)) if vary > 0 else float(beyond > 0)


def _t_power(shift: float, df: int, alpha: float) -> float:
    """Return the chance that a noncentral t lies beyond Student's quantiles, on either side.

    The integral over s, the sample's standard deviation over the true one, of the normal tails beyond
    quantile * s - shift: s**2 * df follows chi-square.
    """
    quantile = student_quantile(1 - alpha / 2, df)
    s = np.linspace(1e-6, 1 + 10 / math.sqrt(2 * df), POINTS)
    log_density = (df - 1) * np.log(s) - df * s**2 / 2
    density = np.exp(log_density - log_density.max())
    z = np.concatenate([quantile * s - shift, quantile * s + shift]) / math.sqrt(2)
    above, below = np.array([math.erfc(x) / 2 for x in z.tolist()]).reshape(2, -1)
    return float(density @ (above + below) / density.sum())
