"""The judge against cheap rivals, answer by answer: is it worth its price?"""

from collections.abc import Mapping, Sequence

import numpy as np

from ragstone.agreement.card import Baseline, grade_name
from ragstone.agreement.comparison import Comparison
from ragstone.agreement.estimates import mean_difference
from ragstone.agreement.pairing import Key
from ragstone.statistics import Clusters, Estimate, Floats, exact_matches, mean_estimate

Hits = Mapping[Key, float]
"""Answer -> 1 if a judge gave the human grade, else 0."""


def constant_baseline(
    comparison: Comparison, clusters: Clusters, metric: str, *, seed: int, resamples: int
) -> Baseline | None:
    """Return the rival that always gives the most frequent human grade (the lowest of several).

    Its grade is taken from the same labels, which favours it a little. None if grades cannot be compared.
    """
    if not comparison.categories:
        return None
    grades, counts = np.unique(comparison.human, return_counts=True)
    grade = float(grades[counts.argmax()])
    return _baseline(
        f"always answering '{grade_name(metric, grade)}'",
        exact_matches(comparison.human, comparison.judge),
        exact_matches(comparison.human, np.full_like(comparison.human, grade)),
        clusters,
        seed=seed,
        resamples=resamples,
    )


def best_rival(
    own: Hits, rivals: Sequence[tuple[str, Hits]], clusters: Mapping[Key, str], *, seed: int, resamples: int
) -> Baseline | None:
    """Return the rival with the highest exact agreement on the answers that it shares with the judge.

    own: the judge's hits. rivals: name and hits of each. clusters: of the judge's answers. Of equal rivals
    the first; picking the best on the same labels favours it a little. None if no answer is shared.
    """
    best: tuple[float, str, Floats, list[Key]] | None = None
    for name, hits in rivals:
        keys = [key for key in own if key in hits]
        theirs = np.array([hits[key] for key in keys])
        if keys and (best is None or theirs.mean() > best[0]):
            best = float(theirs.mean()), name, theirs, keys
    if best is None:
        return None
    _, name, theirs, keys = best
    judge = np.array([own[key] for key in keys])
    return _baseline(name, judge, theirs, [clusters[key] for key in keys], seed=seed, resamples=resamples)


def _baseline(
    name: str, judge: Floats, rival: Floats, clusters: Clusters, *, seed: int, resamples: int
) -> Baseline | None:
    agreement = mean_estimate(rival, clusters, seed=seed, resamples=resamples)
    difference = mean_difference(judge - rival, clusters, seed=seed, resamples=resamples)
    if agreement is None or difference is None:
        return None
    return Baseline(
        name=name,
        n=len(judge),
        exact_agreement=agreement,
        judge=float(judge.mean()),
        difference=difference,
        better=_better(difference, alike=bool((judge == rival).all())),
    )


def _better(difference: Estimate, *, alike: bool) -> bool | None:
    if alike:
        return False
    if difference.low is None or difference.high is None or difference.low <= 0 <= difference.high:
        return None
    return difference.low > 0
