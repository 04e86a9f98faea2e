"""How well people agree with each other: what a judge can reach at best."""

from collections.abc import Iterable
from itertools import combinations

import msgspec
import numpy as np

from ragstone.agreement.card import HumanAgreement
from ragstone.agreement.comparison import MAX_GRADES
from ragstone.agreement.estimates import alpha_estimates, table_totals
from ragstone.agreement.pairing import Human
from ragstone.agreement.raters import Raters
from ragstone.statistics import (
    Estimate,
    bootstrap_estimates,
    exact_matches,
    kappa_of_cells,
    mean_estimate,
    quadratic,
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
    kappa: dict[str, Estimate | None] = {}
    if len(grades) <= MAX_GRADES:
        both_orders = np.concatenate([first, second]), np.concatenate([second, first])
        totals = table_totals(*both_orders, grades, clusters * 2)
        statistics = {"kappa": kappa_of_cells(grades, quadratic)}
        kappa = bootstrap_estimates(totals, statistics, len(pairs), seed=seed, resamples=resamples)
    return HumanAgreement(
        n_answers=len(several),
        exact_agreement=exact,
        kappa=kappa.get("kappa"),
    )


def with_alpha(
    people: HumanAgreement | None, raters: Raters | None, *, seed: int, resamples: int
) -> HumanAgreement | None:
    """Return the same with people's alpha on the answers of one judge, so that the two can be compared."""
    if people is None or raters is None:
        return people
    found = alpha_estimates(raters, judge=False, seed=seed, resamples=resamples)
    return msgspec.structs.replace(people, alpha={name: alpha for name, alpha in found.items() if alpha})
