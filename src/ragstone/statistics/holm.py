"""Several tests at once: p-values that keep the chance of even one false finding at the level asked for."""

from collections.abc import Sequence

import numpy as np

from ragstone.statistics.clusters import Floats


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """Return Holm's adjusted p-values, in the order given: (m,), each at least the raw one and at most 1.

    p_values: all tests of one family. Those whose adjusted value is at most alpha can be claimed together;
    the chance that any of them is false is at most alpha, however the tests depend on each other. The
    smallest is multiplied by m, the next by m - 1, and none falls below one before it (Holm 1979).
    """
    raw = np.asarray(p_values, dtype=np.float64)
    if not ((raw >= 0) & (raw <= 1)).all():
        raise ValueError("a p-value lies outside 0 to 1, or is no number")
    ascending = np.argsort(raw, kind="stable")
    steps = np.minimum(1.0, raw[ascending] * np.arange(raw.size, 0, -1))
    adjusted = np.empty_like(raw)
    adjusted[ascending] = np.maximum.accumulate(steps)
    return adjusted
