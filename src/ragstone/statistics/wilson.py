"""The interval of a proportion that does not need resampling."""

import math
from statistics import NormalDist


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


def wilson_size(share: float, width: float, level: float = 0.95) -> float:
    """Return how many observations with this share of successes give a Wilson interval of this width.

    share: from 0 to 1; width: more than 0 and less than 1. May be fractional.
    """
    z_squared = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    # The width, 2 z / (1 + z² u) * sqrt(share (1 - share) u + z² u² / 4), u = 1 / n: quadratic when squared.
    a = z_squared**2 * (1 - width**2)
    b = z_squared * (4 * share * (1 - share) - 2 * width**2)
    return float(2 * a / (math.sqrt(b * b + 4 * a * width**2) - b))
