"""From scores and people's yes or no: from which score on a judge says yes, and where it is unsure."""

import math
from bisect import bisect_left
from itertools import pairwise
from statistics import NormalDist

import msgspec
import numpy as np
import numpy.typing as npt

from ragstone.statistics import Floats

Flags = npt.NDArray[np.bool_]

LEVEL = 0.95  # of the interval whose lower end must reach the agreement that is asked for
MOST_ENDS = 1000  # scores at which an interval may begin or end; of more than that, evenly spaced ones
DIGITS = 17  # of a float
FEWEST = 30  # answers handed on that the dear judge's cut is fitted on; with fewer, on all answers


class Thresholds(msgspec.Struct, frozen=True, kw_only=True):
    """What is fitted: from which score on each judge says yes, and which scores the cheap one hands on.

    dear_cut: fitted on the answers that are handed on. dear_alone_cut: on all, to compare with. unsure: ends
    included; None if all answers are to be handed on.
    """

    cheap_cut: float
    dear_cut: float
    dear_alone_cut: float
    unsure: tuple[float, float] | None


def fit_cut(scores: Floats, yes: Flags) -> float | None:
    """Return the score from which on a judge says yes, so that it agrees most often with people.

    It lies between two scores that were given, as a number with few digits. Of several that are equally good,
    the one nearest to the middle of them. None if all scores are the same: no cut parts them.
    """
    values, at = np.unique(scores, return_inverse=True)
    if len(values) < 2:
        return None
    n_yes = np.bincount(at, weights=yes, minlength=len(values))
    n_no = np.bincount(at, weights=~yes, minlength=len(values))
    # Right with the cut above value j: people's no up to j, and their yes beyond it.
    right = np.cumsum(n_no)[:-1] + (n_yes.sum() - np.cumsum(n_yes)[:-1])
    cuts = np.array([_between(low, high) for low, high in pairwise(values.tolist())])
    best = cuts[right == right.max()]
    middle = (best[0] + best[-1]) / 2
    return float(best[np.argmin(np.abs(best - middle))])


def _between(low: float, high: float) -> float:
    """Return the number nearest to the middle of the two with as few digits as lie between them."""
    middle = (low + high) / 2
    for digits in range(DIGITS):
        rounded = round(float(middle), digits)
        if low < rounded < high:
            return rounded
    return float(high)


def fit_unsure(scores: Floats, yes: Flags, cut: float, agreement: float) -> tuple[float, float] | None:
    """Return the interval of scores to hand on, ends included, so that the other answers agree with people.

    It is the one that hands on the fewest answers (then the shortest) among those for which the lower end of
    the 95 % Wilson interval of the agreement on the answers outside it is at least `agreement`. The interval
    counts answers as independent. [cut, cut], which holds no answer, if none need be handed on; None if no
    interval is enough, also for lack of labels.
    """
    right = (scores >= cut) == yes
    if _reached(np.array(len(right)), np.array(right.sum()), agreement):
        return cut, cut
    values, at = np.unique(scores, return_inverse=True)
    n = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=len(values)))])
    n_right = np.concatenate([[0], np.cumsum(np.bincount(at, weights=right, minlength=len(values)))])
    ends = np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_ENDS)).round().astype(np.int64))
    first, last = ends[:, None], ends[None, :]
    n_handed = n[last + 1] - n[first]
    n_decided, decided_right = n[-1] - n_handed, n_right[-1] - (n_right[last + 1] - n_right[first])
    enough = (first <= last) & _reached(n_decided, decided_right, agreement)
    if not enough.any():
        return None
    width = values[last] - values[first]
    places = np.argwhere(enough)
    order = np.lexsort([width[tuple(places.T)], n_handed[tuple(places.T)]])
    low, high = places[order[0]]
    return float(values[ends[low]]), float(values[ends[high]])


def most_agreement(scores: Floats, yes: Flags, cut: float) -> float:
    """Return the highest agreement, in steps of 0.005, for which fit_unsure finds an interval; 0 if none."""
    # The more is asked for, the fewer intervals are enough: so the steps that reach it come first.
    n_reached = bisect_left(range(1, 200), True, key=lambda n: fit_unsure(scores, yes, cut, n / 200) is None)
    return n_reached / 200


def _reached(n: npt.NDArray[np.int64], n_right: Floats, agreement: float) -> Flags:
    """Return where the lower end of the Wilson interval of n_right / n is at least the agreement.

    The Wilson interval holds the proportions that the score test does not reject, hence this form of it.
    """
    z = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    spread = math.sqrt(agreement * (1 - agreement)) * np.sqrt(n)
    return np.asarray((n > 0) & (n_right - n * agreement >= z * spread))


def sure_of(scores: Floats, unsure: tuple[float, float] | None) -> Flags:
    """Return which answers the cheap judge decides."""
    if unsure is None:
        return np.zeros(len(scores), dtype=np.bool_)
    return np.asarray((scores < unsure[0]) | (scores > unsure[1]))


def decide(thresholds: Thresholds, cheap: Floats, dear: Floats) -> tuple[Flags, Flags]:
    """Return what the cascade says of each answer, yes or not, and which answers the cheap judge decides."""
    decided = sure_of(cheap, thresholds.unsure)
    return np.where(decided, cheap >= thresholds.cheap_cut, dear >= thresholds.dear_cut), decided
