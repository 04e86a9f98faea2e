"""Several ways measured on the same rows: each pair of them tested, with one correction over all pairs."""

from collections.abc import Hashable, Sequence
from typing import Literal

import msgspec
import numpy as np

from ragstone.statistics.clusters import Floats, cluster_codes, cluster_totals
from ragstone.statistics.estimate import Estimate
from ragstone.statistics.holm import holm
from ragstone.statistics.mcnemar import mcnemar_p
from ragstone.statistics.mean import difference_estimates
from ragstone.statistics.signflip import flips_for, sign_flip_p_values

Test = Literal["McNemar", "sign-flip"]
Verdict = Literal["better", "worse", "cannot tell"]


class PairedTest(msgspec.Struct, frozen=True, kw_only=True):
    """One column against another. difference: mean of the first minus mean of the second, paired.

    p_holm: after Holm's correction over the `family` of tests made together. verdict: on the first: better
    (a higher mean) or worse where p_holm is at most alpha, else cannot tell, which is not "equal".
    """

    difference: Estimate
    test: Test
    p: float
    p_holm: float
    family: int
    verdict: Verdict


def paired_tests(
    values: Floats,
    pairs: Sequence[tuple[int, int]],
    clusters: Sequence[Hashable],
    *,
    alpha: float = 0.05,
    seed: int = 0,
) -> list[PairedTest]:
    """Return the test of each pair of columns, in the order of the pairs.

    values: (rows, k), at least one row. clusters: one key a row, equal for rows that are not independent.
    The test is McNemar's (exact) if all values are 0 or 1 and no two rows share a cluster; else a
    permutation test that flips the signs of differences, all rows of a cluster at once. Intervals are paired
    bootstraps, also by cluster; they know of no other comparison.
    """
    p_values, test = paired_p_values(values, pairs, clusters, alpha=alpha, seed=seed)
    differences = difference_estimates(values, pairs, clusters, seed=seed)
    adjusted = holm(p_values)
    return [
        PairedTest(
            difference=difference,
            test=test,
            p=float(p),
            p_holm=float(p_holm),
            family=len(pairs),
            verdict=_verdict(difference.value, float(p_holm), alpha),
        )
        for difference, p, p_holm in zip(differences, p_values, adjusted, strict=True)
    ]


def paired_p_values(
    values: Floats,
    pairs: Sequence[tuple[int, int]],
    clusters: Sequence[Hashable],
    *,
    alpha: float = 0.05,
    seed: int = 0,
) -> tuple[Floats, Test]:
    """Return the p-value of each pair of columns, without any correction, and the test; see paired_tests."""
    alone = len(set(clusters)) == len(clusters)
    if alone and np.isin(values, (0.0, 1.0)).all():
        more = [[int((values[:, a] > values[:, b]).sum()) for a, b in (p, p[::-1])] for p in pairs]
        return np.array([mcnemar_p(*counts) for counts in more]), "McNemar"
    totals = cluster_totals(values, cluster_codes(clusters, len(values)))
    flips = flips_for(len(pairs), alpha)
    return sign_flip_p_values(totals, pairs, seed=seed, flips=flips), "sign-flip"


def _verdict(difference: float, p_holm: float, alpha: float) -> Verdict:
    if p_holm > alpha:
        return "cannot tell"
    return "better" if difference > 0 else "worse"
