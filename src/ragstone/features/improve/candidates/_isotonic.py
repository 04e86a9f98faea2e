"""Values -> how often yes, as a curve that never falls: isotonic regression."""

import numpy as np

from ragstone.kernel.statistics.intervals import Floats


def isotonic_curve(values: Floats, share: Floats) -> Floats:
    """Return points (value, share of yes), (p, 2), of the curve of least squares that never falls.

    values: (n,), n > 0. share: (n,), of yes among people's answers, in [0, 1]. Values whose shares fall are
    pooled with their neighbours until none do (Ayer et al. 1955, Ann. Math. Stat. 26:641); the first and the
    last value of a pool are points. One yes more is counted at the lowest value and one no more at the
    highest: so no share is 0 or 1, which no number of labels can show.
    """
    levels, at = np.unique(values, return_inverse=True)
    n, yes = np.bincount(at).astype(np.float64), np.bincount(at, weights=share)
    yes[0] += 1
    n[0] += 1
    n[-1] += 1
    pools: list[tuple[float, float, float, float]] = []  # rows, their yes, first and last value
    for rows, n_yes, level in zip(n.tolist(), yes.tolist(), levels.tolist(), strict=True):
        pools.append((rows, n_yes, level, level))
        while len(pools) > 1 and pools[-2][1] * pools[-1][0] >= pools[-1][1] * pools[-2][0]:
            (more, more_yes, _, last), (fewer, fewer_yes, first, _) = pools.pop(), pools.pop()
            pools.append((fewer + more, fewer_yes + more_yes, first, last))
    points = [(end, n_yes / rows) for rows, n_yes, *ends in pools for end in dict.fromkeys(ends)]
    return np.array(points)
