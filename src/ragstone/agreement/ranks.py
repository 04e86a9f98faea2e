"""Do the systems stand in the same order when the judge takes people's place?"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ragstone.agreement.card import Reversal, SystemRanking
from ragstone.statistics import (
    Clusters,
    Floats,
    Statistic,
    bootstrap_estimates,
    cluster_codes,
    cluster_totals,
    kendall_tau,
    resampled_totals,
)


def rank_systems(
    human: Floats,
    judge: Floats,
    systems: Sequence[str],
    clusters: Clusters,
    *,
    seed: int,
    resamples: int,
) -> SystemRanking | None:
    """Return the orders of the systems by people and by the judge; None for a single system.

    human, judge: (n,), in units of their own: only the order of the means counts. Systems with equal means
    keep the order of their first appearance, and count as tied. A resample that lacks a system is left out.
    """
    names = list(dict.fromkeys(systems))
    if len(names) < 2:
        return None
    number = {name: at for at, name in enumerate(names)}
    codes = np.array([number[system] for system in systems])
    inside = np.eye(len(names))[codes]
    columns = np.concatenate([inside * human[:, None], inside * judge[:, None], inside], axis=1)
    totals = cluster_totals(columns, cluster_codes(clusters, len(human)))
    people, judged = (_means(totals.sum(axis=0)[None, :], side)[0] for side in (0, 1))
    drawn = resampled_totals(totals, seed=seed, resamples=resamples)
    drawn = drawn[(drawn[:, 2 * len(names) :] > 0).all(axis=1)]
    gaps = _reversed_pairs(people, judged)
    found = bootstrap_estimates(
        totals,
        {f"{side} {pair}": _gap(side, pair, len(names)) for pair in gaps for side in (0, 1)},
        len(human),
        seed=seed,
        resamples=resamples,
    )
    reversals = [
        Reversal(better=names[pair[0]], worse=names[pair[1]], human=by_people, judge=by_judge)
        for pair in gaps
        if (by_people := found[f"0 {pair}"]) and (by_judge := found[f"1 {pair}"])
    ]
    return SystemRanking(
        by_people=[names[at] for at in np.argsort(-people, kind="stable")],
        by_judge=[names[at] for at in np.argsort(-judged, kind="stable")],
        tau=kendall_tau(people, judged),
        n_pairs=len(names) * (len(names) - 1) // 2,
        reversals=sorted(reversals, key=lambda one: -one.human.value),
        same_best=_same_best(_means(drawn, 0), _means(drawn, 1)),
    )


def _means(totals: Floats, side: int) -> Floats:
    """Return each system's mean by people (side 0) or by the judge (side 1): (m, systems)."""
    k = totals.shape[1] // 3
    return np.round(totals[:, side * k : (side + 1) * k] / totals[:, 2 * k :], 12)


def _same_best(people: Floats, judged: Floats) -> float:
    """Return the share of rows where both have the same best; of several best by the judge, their share."""
    best = people == people.max(axis=1, keepdims=True)
    chosen = judged == judged.max(axis=1, keepdims=True)
    return float(np.mean((best & chosen).sum(axis=1) / chosen.sum(axis=1)))


def _reversed_pairs(people: Floats, judged: Floats) -> list[tuple[int, int]]:
    """Return (better by people, worse by people) of each pair that the judge orders the other way."""
    pairs = [(a, b) if people[a] > people[b] else (b, a) for a, b in combinations(range(len(people)), 2)]
    return [(a, b) for a, b in pairs if people[a] > people[b] and judged[a] < judged[b]]


def _gap(side: int, pair: tuple[int, int], k: int) -> Statistic:
    """Return the difference of two systems' means as a function of the totals of k systems.

    side: 0 by people, 1 by the judge. NaN in a resample that lacks one of the two.
    """
    sums, counts = [side * k + system for system in pair], [2 * k + system for system in pair]

    def statistic(totals: Floats) -> Floats:
        there = totals[:, counts]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.where(there > 0, totals[:, sums] / there, np.nan)
        return np.asarray(means[:, 0] - means[:, 1])

    return statistic
