"""How well a judge of support finds the answers that people call unsupported, for the benches of judges."""

import numpy as np

from ragstone.kernel.agreement.comparison import GradeComparison
from ragstone.kernel.statistics import (
    RESAMPLES,
    Clusters,
    Estimate,
    Floats,
    cluster_codes,
    cluster_totals,
    is_yes_no,
)
from ragstone.kernel.statistics.bootstrap import bootstrap_estimates

SUPPORT = "faithfulness"
OF = "unsupported"
DETECTION = tuple(f"{name} ({OF})" for name in ("F1", "precision", "recall"))
"""The measures, as cards and columns name them."""

AT_THRESHOLD = (
    f"F1, precision and recall ({OF}) measure how well each judge finds the answers that people call "
    "unsupported, at its threshold. A threshold that was chosen on these answers makes them too high."
)
"""Said where one of the measures is shown: a published F1 is of other answers, with another share of them."""


def detection_of(
    metric: str, comparison: GradeComparison, clusters: Clusters, *, seed: int, resamples: int
) -> dict[str, Estimate]:
    """Return the measures of a judge of support; none of another metric, or without grades of yes and no.

    An answer is a hit that people grade 0 and the judge, cut at its threshold, does too.
    """
    if metric != SUPPORT or len(comparison.categories) != 2:
        return {}
    wrong, called = (1.0 - grades for grades in (comparison.human, comparison.judge))
    estimates = detection_estimates(wrong, called, clusters, seed=seed, resamples=resamples)
    return {f"{name} ({OF})": estimate for name, estimate in estimates.items()}


def detection_estimates(
    so: Floats, called: Floats, clusters: Clusters | None = None, *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Estimate]:
    """Return `F1`, `precision` and `recall` with intervals over whole clusters, those that are defined.

    so, called: (n,), 0 and 1: what an item is, and what a judge calls it. Precision is the share of those
    called so that are; recall the share of those that are so that are called it; F1 their harmonic mean, 0
    where no item is both. Undefined, and left out, is precision where none is called so, recall where none is
    so, and F1 where neither. Unit: none, in [0, 1]. F1 depends on the share of items that are so: values of
    two data sets do not compare (van Rijsbergen 1979). Raises ValueError for other values, and for lengths
    that differ.
    """
    if so.size != called.size or not (is_yes_no(so) and is_yes_no(called)):
        raise ValueError("detection is of pairs of 0 and 1")
    totals = cluster_totals(
        np.stack([so * called, called, so], axis=1), cluster_codes(clusters, so.size)
    )  # of a cluster: hits, called so, so

    def share(hits: Floats, of: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(of > 0, hits / of, np.nan)

    estimates = bootstrap_estimates(
        totals,
        {
            "F1": lambda sums: share(2 * sums[:, 0], sums[:, 1] + sums[:, 2]),
            "precision": lambda sums: share(sums[:, 0], sums[:, 1]),
            "recall": lambda sums: share(sums[:, 0], sums[:, 2]),
        },
        so.size,
        seed=seed,
        resamples=resamples,
    )
    return {name: estimate for name, estimate in estimates.items() if estimate}
