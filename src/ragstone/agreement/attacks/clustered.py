"""A share of attempts, many on each row, with an interval that also holds for a dozen rows."""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from ragstone.statistics import Estimate, cluster_codes, cluster_totals, wilson_interval
from ragstone.statistics.clusters import Floats

LEVEL = 0.95


def clustered_share(flags: Sequence[bool], rows: Sequence[str]) -> Estimate | None:
    """Return the share of true flags with its Wilson interval on the effective number; None of no flags.

    rows: the row of each flag. A bootstrap gives nothing where all rows are alike, and a poor interval where
    nearly all are. So attempts count for less than their number by as much as rows differ more than chance
    (the design effect: Korn and Graubard 1998, with Student's quantile for the few rows that it is estimated
    from; Wilson's interval on it: Dean and Pagano 2015), never for more, and a row never for less than one.
    The design effect is estimated with one row more, on which half of the attempts flip: where flips are rare
    nearly all rows look alike, though they are not. Coverage in simulation: tests/agreement/attacks.
    """
    n = len(flags)
    if not n:
        return None
    columns = np.column_stack([np.asarray(flags, dtype=np.float64), np.ones(n)])
    totals = cluster_totals(columns, cluster_codes(rows, n))
    n_rows, share = len(totals), float(totals[:, 0].sum() / n)
    # Of a single row nobody can say how much rows differ: it counts once.
    independent = n / max(_design_effect(totals), 1.0) if n_rows > 1 else 1.0
    effective = max(independent, n_rows) * _narrowing(n_rows)
    low, high = wilson_interval(share * effective, effective, LEVEL)
    return Estimate(value=share, low=low, high=high, n=n, method="wilson", level=LEVEL)


def _design_effect(totals: Floats) -> float:
    """Return the variance of the share over that of independent attempts. totals: (flips, attempts)."""
    typical = float(totals[:, 1].mean())
    with_one_more = np.vstack([totals, [typical / 2, typical]])
    flips, attempts = with_one_more.T
    n, m = attempts.sum(), len(attempts)
    share = flips.sum() / n  # never 0 or 1, by the row that was added
    residuals = flips - share * attempts
    variance = m / (m - 1) * float(residuals @ residuals) / n**2
    return float(variance / (share * (1 - share) / n))


def _narrowing(n_rows: int) -> float:
    """Return (z / t)², t being Student's quantile for so many rows (Cornish and Fisher's expansion)."""
    z, freedom = NormalDist().inv_cdf(0.5 + LEVEL / 2), max(n_rows - 1, 1)
    t = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return (z / t) ** 2
