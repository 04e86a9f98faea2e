"""Several ways measured on the same rows: each pair of them tested, with one correction over all pairs."""

import math
from collections.abc import Hashable, Sequence
from typing import Literal

import msgspec
import numpy as np

from ragstone.kernel.statistics.estimate import Estimate
from ragstone.kernel.statistics.intervals import Floats, cluster_codes, cluster_totals, is_yes_no
from ragstone.kernel.statistics.mean import difference_estimates


def mcnemar_p(n_first: int, n_second: int) -> float:
    """Return the two-sided p-value of McNemar's exact test, in (0, 1].

    n_first: rows where only the first is yes; n_second: where only the second is. Rows on which they agree
    say nothing. If neither were better, each of the n_first + n_second would be a fair coin, so this is
    twice the smaller tail of the binomial distribution. 1 without such rows (McNemar 1947).
    """
    if n_first < 0 or n_second < 0:
        raise ValueError(f"{n_first} and {n_second} rows: counts are not negative")
    n, few = n_first + n_second, min(n_first, n_second)
    # The largest term by logarithms, the others by their ratio to it: the coefficients exceed a float.
    logarithm = math.lgamma(n + 1) - math.lgamma(few + 1) - math.lgamma(n - few + 1) - n * math.log(2)
    ratio = tail = 1.0
    for k in range(few, 0, -1):
        ratio *= k / (n - k + 1)
        tail += ratio
    return min(1.0, 2 * math.exp(logarithm) * tail)


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """Return Holm's adjusted p-values, in the order given: (m,), each at least the raw one and at most 1.

    p_values: all tests of one family. Those whose adjusted value is at most alpha can be claimed together;
    the chance that any of them is false is at most alpha, however the tests depend on each other. The
    smallest is multiplied by m, the next by m - 1, and none falls below one before it (Holm 1979).
    """
    raw = np.asarray(p_values, dtype=np.float64)
    if not ((raw >= 0) & (raw <= 1)).all():
        raise ValueError("a p-value lies outside 0 to 1, or is not a number")
    ascending = np.argsort(raw, kind="stable")
    steps = np.minimum(1.0, raw[ascending] * np.arange(raw.size, 0, -1))
    adjusted = np.empty_like(raw)
    adjusted[ascending] = np.maximum.accumulate(steps)
    return adjusted


EXACT_UP_TO = 13  # clusters whose 2 ** n ways to flip are all tried: fewer than FLIPS
FLIPS = 10_000
BLOCK = 2**21  # signs that are held at a time


def sign_flip_p_values(
    totals: Floats, pairs: Sequence[tuple[int, int]], *, seed: int = 0, flips: int = FLIPS
) -> Floats:
    """Return the two-sided p-value of each pair of columns, in (0, 1]: (len(pairs),).

    totals: (clusters, k), the sums of k measures over each cluster of rows. pairs: which columns to compare.
    If neither of a pair were better, the difference of a cluster would be as likely with the other sign. So
    signs are flipped cluster by cluster; the p-value is the share of ways to flip whose summed difference
    is at least as large as that of the data. Up to 13 clusters that differ anywhere, all ways are tried,
    which is exact; beyond, `flips` of them at random (one draw serves all pairs), the data itself counted
    as one, so that no p-value is below 1 / (flips + 1) (Fisher 1935; Phipson and Smyth 2010).
    """
    if not pairs:
        return np.zeros(0)
    first, second = (np.array(side, dtype=np.intp) for side in zip(*pairs, strict=True))
    varying = totals[np.ptp(totals, axis=1) > 0]  # elsewhere a flip changes nothing
    n = len(varying)
    exact = n <= EXACT_UP_TO
    ways = 2**n if exact else flips
    rng = np.random.default_rng(seed)
    # Equal sums may differ in their last digits by the order of adding.
    observed = np.abs((varying[:, first] - varying[:, second]).sum(axis=0))
    reached = observed - 1e-9 * (1 + observed)
    count, whole = np.zeros(len(pairs)), varying.sum(axis=0)
    step = max(1, BLOCK // max(n, len(pairs)))
    for start in range(0, ways, step):
        at = np.arange(start, min(ways, start + step))
        bits = at[:, None] >> np.arange(n) & 1 if exact else rng.integers(2, size=(len(at), n), dtype=np.int8)
        sums = whole - 2.0 * (bits.astype(np.float64) @ varying)
        count += (np.abs(sums[:, first] - sums[:, second]) >= reached).sum(axis=0)
    return count / ways if exact else (count + 1) / (ways + 1)


def flips_for(n_tests: int, alpha: float) -> int:
    """Return how many flips let Holm's correction over so many tests find anything at level alpha.

    The smallest p-value, 1 / (flips + 1), times n_tests must be well below alpha: here a quarter of it.
    """
    return max(FLIPS, math.ceil(4 * n_tests / alpha))


Test = Literal["McNemar", "sign-flip"]
Verdict = Literal["better", "worse", "cannot tell"]
BoardPlace = Literal["best", "not distinguishable", "worse"]


def place_of(compared: Verdict | None) -> BoardPlace:
    """Return what a board says of one that was compared with its best; None: the best itself."""
    if compared is None:
        return "best"
    return "not distinguishable" if compared == "cannot tell" else "worse"


class PairedTest(msgspec.Struct, frozen=True, kw_only=True):
    """One column against another. difference: mean of the first minus mean of the second, paired.

    p_holm: after Holm's correction over the `family` of tests made together. verdict: on the first: better
    (a higher mean) or worse where p_holm is at most alpha, else cannot tell, which is not "equal".
    n_changed: rows whose two values differ; None in files of older versions. A difference of 0 without an
    interval does not say that there are none: rows of one cluster have no interval either.
    """

    difference: Estimate
    test: Test
    p: float
    p_holm: float
    family: int
    verdict: Verdict
    n_changed: int | None = None


def paired_tests(
    values: Floats,
    pairs: Sequence[tuple[int, int]],
    clusters: Sequence[Hashable],
    *,
    differences: Sequence[Estimate] | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> list[PairedTest]:
    """Return the test of each pair of columns, in the order of the pairs, with Holm's correction over all.

    values: (rows, k), at least one row. clusters: one key a row, equal for rows that are not independent.
    The test is McNemar's (exact) if all values are 0 or 1 and no two rows share a cluster; else a
    permutation test that flips the signs of differences, all rows of a cluster at once. Intervals are paired
    bootstraps, also by cluster; they know of no other comparison. differences: the intervals, where the
    caller has drawn them together with others.
    """
    p_values, test = paired_p_values(values, pairs, clusters, alpha=alpha, seed=seed)
    if differences is None:
        differences = difference_estimates(values, pairs, clusters, seed=seed)
    return [
        PairedTest(
            difference=difference,
            test=test,
            p=float(p),
            p_holm=float(p_holm),
            family=len(differences),
            verdict="cannot tell" if p_holm > alpha else "better" if difference.value > 0 else "worse",
            n_changed=int((values[:, first] != values[:, second]).sum()),
        )
        for (first, second), difference, p, p_holm in zip(
            pairs, differences, p_values, holm(p_values), strict=True
        )
    ]


def paired_p_values(
    values: Floats,
    pairs: Sequence[tuple[int, int]],
    clusters: Sequence[Hashable],
    *,
    alpha: float = 0.05,
    seed: int = 0,
) -> tuple[Floats, Test]:
    """Return the p-value of each pair of columns, without any correction, and the test; see paired_tests."""
    alone = len(set(clusters)) == len(clusters)
    if alone and is_yes_no(values):
        more = [[int((values[:, a] > values[:, b]).sum()) for a, b in (p, p[::-1])] for p in pairs]
        return np.array([mcnemar_p(*counts) for counts in more]), "McNemar"
    totals = cluster_totals(values, cluster_codes(clusters, len(values)))
    flips = flips_for(len(pairs), alpha)
    return sign_flip_p_values(totals, pairs, seed=seed, flips=flips), "sign-flip"
