"""pass@k and pass^k of answers generated anew: chances that follow from n answers, of which c are right."""

import numpy as np

from ragstone.kernel.statistics.intervals import Floats


def any_of_k(n: Floats, c: Floats, k: int) -> Floats:
    """Return the chance that at least one of k answers is right: 1 - C(n - c, k) / C(n, k).

    n, c: (m,), answers to each question, at least k, and how many of them are right. Drawn without
    replacement, so the mean over questions is unbiased (pass@k: Chen et al. 2021, arXiv:2107.03374).
    """
    return 1.0 - all_of_k(n, n - c, k)


def all_of_k(n: Floats, c: Floats, k: int) -> Floats:
    """Return the chance that all of k answers are right: C(c, k) / C(n, k).

    n, c: see any_of_k. Unbiased as it is (pass^k: Yao et al. 2024, arXiv:2406.12045).
    """
    # Factor by factor, for the binomial coefficients of a thousand answers fit into no float.
    steps = np.arange(k, dtype=np.float64)
    factors = np.maximum(c[:, None] - steps, 0.0) / (n[:, None] - steps)
    return np.asarray(factors.prod(axis=1))
