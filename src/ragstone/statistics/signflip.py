"""Differences on the same rows: would they be as large if it were chance which of the two is which?"""

import math
from collections.abc import Sequence

import numpy as np

from ragstone.statistics.clusters import Floats

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
    count = np.zeros(len(pairs))
    step = max(1, BLOCK // max(n, len(pairs)))
    for start in range(0, ways, step):
        at = np.arange(start, min(ways, start + step))
        bits = at[:, None] >> np.arange(n) & 1 if exact else rng.integers(2, size=(len(at), n), dtype=np.int8)
        sums = (1.0 - 2.0 * bits) @ varying
        count += (np.abs(sums[:, first] - sums[:, second]) >= reached).sum(axis=0)
    return count / ways if exact else (count + 1) / (ways + 1)


def flips_for(n_tests: int, alpha: float) -> int:
    """Return how many flips let Holm's correction over so many tests find anything at level alpha.

    The smallest p-value, 1 / (flips + 1), times n_tests must be well below alpha: here a quarter of it.
    """
    return max(FLIPS, math.ceil(4 * n_tests / alpha))
