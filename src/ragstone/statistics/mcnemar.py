"""Two yes/no measures of the same rows: is one more often yes?"""

import math


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
