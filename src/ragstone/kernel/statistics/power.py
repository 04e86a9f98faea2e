"""How large a difference on the same rows would be found, and how many rows it takes to find one.

A verdict "cannot tell" is worth what could have been told: the power of the test, which is the chance that
it finds a true difference of a given size.
"""

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
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    up = (1 + difference / changed) / 2  # of the rows that differ, the share that is in favour
    around = 8 * math.sqrt(n * changed * (1 - changed)) + 2
    counts = np.arange(max(0, math.floor(n * changed - around)), min(n, math.ceil(n * changed + around)) + 1)
    chances = _binomial(logs, n, counts, changed)
    rejected = (_rejects(logs, int(m), up, alpha) for m in counts)
    return min(1.0, float(sum(w * chance for w, chance in zip(chances, rejected, strict=True))))


def _rejects(logs: Floats, m: int, up: float, alpha: float) -> float:
    """Return the chance that of m rows that differ so many go one way that p is at most alpha."""
    at = np.arange(m + 1)
    tails = np.cumsum(_binomial(logs, m, at, 0.5))
    few = int(np.searchsorted(tails, alpha / 2 * (1 + 1e-12), side="right"))  # 0 to few - 1 are so few
    chances = _binomial(logs, m, at, up)
    return float(chances[:few].sum() + chances[m + 1 - few :].sum()) if few else 0.0


def _binomial(logs: Floats, n: int, at: Codes, share: float) -> Floats:
    """Return the chances of `at` successes of n. logs: logarithms of factorials."""
    if share >= 1:
        return np.asarray(at == n, dtype=np.float64)
    chosen = logs[n] - logs[at] - logs[n - at]
    return np.asarray(np.exp(chosen + at * math.log(share) + (n - at) * math.log1p(-share)))


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
    normal = NormalDist()
    tails = [1 - normal.cdf(quantile * x - shift) + normal.cdf(-quantile * x - shift) for x in s]
    return float(density @ np.array(tails) / density.sum())
