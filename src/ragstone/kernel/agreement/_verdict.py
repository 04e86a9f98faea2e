"""A judge against cheap baselines, answer by answer, and its verdict in words."""

from collections.abc import Mapping, Sequence

import numpy as np

from ragstone.kernel.agreement._sentence_table import (
    HEADS,
    LEANINGS,
    NOTHING_SCORED,
    ORDER_OF_SYSTEMS,
    PEOPLE_AGREE,
    PEOPLE_AGREE_KAPPA_UNDEFINED,
    JudgeBesidePeople,
    Unscored,
    pairs_of,
)
from ragstone.kernel.agreement.card import Baseline, grade_name
from ragstone.kernel.agreement.comparison import GradeComparison
from ragstone.kernel.agreement.pairing import Key
from ragstone.kernel.records import Status
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import (
    Clusters,
    Estimate,
    Floats,
    cluster_codes,
    exact_matches,
    mcnemar_p,
    mean_estimate,
)

Hits = Mapping[Key, float]
"""Answer -> 1 if a judge gave the human grade, else 0."""


def constant_baseline(
    comparison: GradeComparison, clusters: Clusters, metric: str, *, seed: int, resamples: int
) -> Baseline | None:
    """Return the rival that always gives the most frequent human grade (the lowest of several).

    Its grade is taken from the same labels, which favours it a little. None if grades cannot be compared.
    """
    if not comparison.categories:
        return None
    grades, counts = np.unique(comparison.human, return_counts=True)
    grade = float(grades[counts.argmax()])
    return _baseline(
        f"always answering '{grade_name(metric, grade, comparison.categories)}'",
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
    difference = mean_estimate(judge - rival, clusters, seed=seed, resamples=resamples, proportion=False)
    if agreement is None or difference is None:
        return None
    return Baseline(
        name=name,
        n=len(judge),
        exact_agreement=agreement,
        judge=float(judge.mean()),
        difference=difference,
        better=_better(difference, judge - rival, clusters),
    )


def _better(difference: Estimate, differences: Floats, clusters: Clusters) -> bool | None:
    """Return whether the interval of the difference lies above 0.

    Where every answer tells the same of the two there is no interval: then McNemar's exact test decides, with
    each cluster counted once, at the same level.
    """
    if not differences.any():
        return False
    if difference.low is None or difference.high is None:
        n = len(np.unique(cluster_codes(clusters, len(differences))))
        return None if mcnemar_p(n, 0) > 1 - difference.level else bool(difference.value > 0)
    if difference.low <= 0 <= difference.high:
        return None
    return difference.low > 0


def better_than_all(baselines: Sequence[Baseline]) -> bool | None:
    """Return whether the judge beats every baseline; None if that cannot be told, or there is none."""
    answers = [baseline.better for baseline in baselines]
    if False in answers:
        return False
    return None if None in answers or not answers else True


def verdict(facts: JudgeBesidePeople) -> str:
    """Return whether the judge is worth having, and the numbers that say so.

    Without baselines grades could not be compared; then the verdict speaks of the order of the answers only.
    """
    first = say(facts, *HEADS)
    if facts.only is not None and first:
        return first
    ranking = "" if facts.ranking is None else say(pairs_of(facts.ranking), *ORDER_OF_SYSTEMS)
    people = say(facts, PEOPLE_AGREE, PEOPLE_AGREE_KAPPA_UNDEFINED)
    return " ".join(text for text in (first, say(facts, *LEANINGS), ranking, people) if text)


def nothing_scored(statuses: Mapping[Status, int], n_tuned: int = 0) -> str:
    """Return the verdict on a judge none of whose judgements can be compared."""
    return say(Unscored(statuses, n_tuned), NOTHING_SCORED)
