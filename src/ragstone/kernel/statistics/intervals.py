"""What intervals are made of: clusters of rows, Student's t, Wilson's and Newcombe's."""

import math
from collections.abc import Hashable, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

# Written out, for numpy.typing takes 4 ms to import.
Floats = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]
Codes = np.ndarray[tuple[Any, ...], np.dtype[np.intp]]
Clusters = Sequence[Hashable] | Codes
"""What each row belongs to: equal keys are one cluster."""


def cluster_codes(clusters: Clusters | None, n: int) -> Codes:
    """Return the cluster of each of n rows as a number from 0, in order of first appearance.

    clusters: one key a row, or the codes of some of these rows; None if every row stands alone.
    """
    if clusters is None:
        return np.arange(n, dtype=np.intp)
    if len(clusters) != n:
        raise ValueError(f"{len(clusters)} clusters for {n} values: give one for each")
    if isinstance(clusters, np.ndarray):
        _, first, places = np.unique(clusters, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[places]
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in clusters], dtype=np.intp)


def n_clusters(codes: Codes) -> int:
    """Return how many clusters there are."""
    return int(codes.max()) + 1 if codes.size else 0


def cluster_totals(columns: Floats, codes: Codes) -> Floats:
    """Return the sum of the rows of each cluster. columns: (rows, k). Returns (clusters, k)."""
    n = n_clusters(codes)
    return np.stack([np.bincount(codes, weights=column, minlength=n) for column in columns.T], axis=1)


def row_sums(table: Floats) -> Floats:
    """Return the sum of each row, (m, k) -> (m,): as a product, which for short rows is much faster."""
    return np.asarray(table @ np.ones(table.shape[1]))


def cell_totals(cells: Codes, n_cells: int, codes: Codes) -> Floats:
    """Return how often each cell occurs in each cluster, (clusters, n_cells). cells: (rows,), from 0."""
    n = n_clusters(codes)
    return np.bincount(codes * n_cells + cells, minlength=n * n_cells).reshape(n, n_cells).astype(np.float64)


def is_yes_no(values: Floats) -> bool:
    """Return whether every value is 0 or 1; it is so where there are none."""
    return bool(np.isin(values, (0.0, 1.0)).all())


FEW = 1, 2  # degrees of freedom whose quantiles have a closed form, and for which the series is too rough


def student_quantile(probability: float, df: int) -> float:
    """Return the quantile of Student's t with df degrees of freedom, at least 1.

    Exact for 1 and 2, else by the Cornish-Fisher series to the fourth order: for probabilities from 0.005 to
    0.995 within 0.8 % at 3 degrees of freedom and 0.1 % from 5 on (Abramowitz and Stegun 26.7.5).
    """
    if df < 1:
        raise ValueError(f"{df} degrees of freedom: Student's t has at least 1")
    if df == FEW[0]:
        return math.tan(math.pi * (probability - 0.5))
    if df == FEW[1]:
        return (2 * probability - 1) / math.sqrt(2 * probability * (1 - probability))
    z = NormalDist().inv_cdf(probability)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return float(z + sum(term / df**power for power, term in enumerate(terms, 1)))


def student_p(t: float, df: int) -> float:
    """Return the chance that Student's t with df degrees of freedom lies farther from 0 than t, on either
    side.

    The finite series of Abramowitz and Stegun 26.7.3 and 26.7.4; far out, where it loses its digits, at least
    1e-15.
    """
    if df < 1:
        raise ValueError(f"{df} degrees of freedom: Student's t has at least 1")
    angle = math.atan2(abs(t), math.sqrt(df))
    steps = np.arange(1 + df % 2, df - 2, 2, dtype=np.float64)
    series = 1.0 + float(np.cumprod(steps / (steps + 1) * math.cos(angle) ** 2).sum())
    if df % 2 == 0:
        inside = math.sin(angle) * series
    else:
        inside = 2 / math.pi * (angle + (math.sin(angle) * math.cos(angle) * series if df > 1 else 0.0))
    return max(1e-15, 1 - inside)


def wilson_interval(successes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of the proportion successes / n, within [0, 1].

    n: independent observations, more than 0; an effective number may be fractional. Unlike the textbook
    interval it is never empty, also at 0 and n successes (Wilson 1927; Brown, Cai and DasGupta 2001).
    """
    if not 0 <= successes <= n or n <= 0:
        raise ValueError(f"{successes} successes of {n}: a proportion needs 0 <= successes <= n, n > 0")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return low, high


def share_unseen(n: float, level: float = 0.95) -> float:
    """Return the share that something may have which none of n independent observations shows.

    It is the upper end of the Wilson interval of 0 of n. Of fewer than 7 observations that end is too low for
    what is said to be at most so much: where it is the share, more than 5 % of samples show nothing. There
    it is the exact bound, 1 − 0.05^(1/n).
    """
    return max(wilson_interval(0, n, level)[1], 1 - math.exp(math.log(1 - level) / n))


def wilson_size(share: float, width: float, level: float = 0.95) -> float:
    """Return how many observations with this share of successes give a Wilson interval of this width.

    share: from 0 to 1; width: more than 0 and less than 1. May be fractional.
    """
    z_squared = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    # The width, 2 z / (1 + z² u) * sqrt(share (1 - share) u + z² u² / 4), u = 1 / n: quadratic when squared.
    a = z_squared**2 * (1 - width**2)
    b = z_squared * (4 * share * (1 - share) - 2 * width**2)
    return float(2 * a / (math.sqrt(b * b + 4 * a * width**2) - b))


def difference_interval(
    first: tuple[float, float], second: tuple[float, float], level: float = 0.95
) -> tuple[float, float]:
    """Return the interval of the first proportion minus the second, within [-1, 1].

    first, second: (successes, n) of two independent samples, n more than 0. Of matched samples, such as an
    item and its altered copy, the interval is too wide rather than too narrow. From Wilson's intervals
    (Newcombe 1998, Statistics in Medicine 17:873, method 10).
    """
    share, other_share = first[0] / first[1], second[0] / second[1]
    low, high = wilson_interval(*first, level)
    other_low, other_high = wilson_interval(*second, level)
    difference = share - other_share
    return (
        difference - math.hypot(share - low, other_high - other_share),
        difference + math.hypot(high - share, other_share - other_low),
    )
