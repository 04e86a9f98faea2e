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
