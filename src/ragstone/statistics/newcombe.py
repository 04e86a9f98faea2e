"""The interval of a difference of two proportions that does not need resampling."""

import math

from ragstone.statistics.wilson import wilson_interval


def difference_interval(
    first: tuple[float, float], second: tuple[float, float], level: float = 0.95
) -> tuple[float, float]:
    """Return the interval of the first proportion minus the second, within [-1, 1].

    first, second: (successes, n) of two independent samples, n more than 0. Of matched samples, such as an
    item and its altered copy, the interval is too wide rather than too narrow. From Wilson's intervals
    (Newcombe 1998, Statistics in Medicine 17:873, method 10).
    """
    one, other = first[0] / first[1], second[0] / second[1]
    one_low, one_high = wilson_interval(*first, level)
    other_low, other_high = wilson_interval(*second, level)
    difference = one - other
    return (
        difference - math.hypot(one - one_low, other_high - other),
        difference + math.hypot(one_high - one, other - other_low),
    )
