"""How well a judge of support finds the answers that people call unsupported, for the benches of judges."""

from collections.abc import Mapping

from ragstone.kernel.agreement.comparison import GradeComparison
from ragstone.kernel.statistics import Clusters, Estimate
from ragstone.kernel.statistics.detection import detection_estimates

SUPPORT = "faithfulness"
OF = "unsupported"
DETECTION = tuple(f"{name} ({OF})" for name in ("F1", "precision", "recall"))
"""The measures, as cards and columns name them."""

AT_THRESHOLD = (
    f"F1, precision and recall ({OF}) are of finding the answers that people call unsupported, at the "
    "threshold of each judge. A threshold that was chosen on these answers makes them too high."
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
    estimates: Mapping[str, Estimate] = detection_estimates(
        wrong, called, clusters, seed=seed, resamples=resamples
    )
    return {f"{name} ({OF})": estimate for name, estimate in estimates.items()}
