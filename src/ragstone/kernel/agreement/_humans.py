"""How well people agree with each other: in pairs, which a judge beside their median may exceed."""

from collections.abc import Iterable
from itertools import combinations

import msgspec
import numpy as np

from ragstone.kernel.agreement.card import HumanAgreement
from ragstone.kernel.agreement.estimates import Raters, alphas_of
from ragstone.kernel.agreement.pairing import Human
from ragstone.kernel.statistics import (
    MAX_GRADES,
    exact_matches,
    kappa_estimate,
    mean_estimate,
)


def human_agreement(humans: Iterable[Human], *, seed: int, resamples: int) -> HumanAgreement | None:
    """Return the agreement between annotators of the same answer, None if no answer has two.

    Every pair of annotators of an answer counts once; an estimate's n is the number of pairs. Intervals
    are clustered like the judge's. Alpha is of a judge's answers: see with_alpha.
    """
    several = [human for human in humans if len(human.grades) > 1]
    pairs = [(a, b, human.cluster) for human in several for a, b in combinations(human.grades, 2)]
    first = np.array([a for a, _, _ in pairs])
    second = np.array([b for _, b, _ in pairs])
    clusters = [cluster for _, _, cluster in pairs]
    exact = mean_estimate(exact_matches(first, second), clusters, seed=seed, resamples=resamples)
    if exact is None:
        return None
    grades = [float(grade) for grade in np.union1d(first, second)]
    kappa = None
    if len(grades) <= MAX_GRADES:
        kappa = kappa_estimate(
            first,
            second,
            grades,
            clusters,
            kind="quadratic kappa",
            both_orders=True,
            seed=seed,
            resamples=resamples,
        )
    return HumanAgreement(n_answers=len(several), exact_agreement=exact, kappa=kappa)


def with_alpha(
    people: HumanAgreement | None, raters: Raters | None, *, seed: int, resamples: int
) -> HumanAgreement | None:
    """Return the same with people's alpha on the answers of one judge, so that the two can be compared."""
    if people is None or raters is None:
        return people
    alphas = alphas_of(raters, judge=False, seed=seed, resamples=resamples)
    return msgspec.structs.replace(people, alpha={name: alpha for name, alpha in alphas.items() if alpha})
