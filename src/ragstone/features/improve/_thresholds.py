"""From which score on a judge says yes, where it is unsure, and what a cascade fitted so will do."""

import math
from bisect import bisect_left
from itertools import pairwise
from statistics import NormalDist

import msgspec
import numpy as np
import numpy.typing as npt

from ragstone.kernel.judging.combined import CascadeJudge
from ragstone.kernel.records import Usage
from ragstone.kernel.statistics import Estimate, Floats, difference_estimates, mean_estimate

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


FOLDS = 5


class FitFigures(msgspec.Struct, frozen=True, kw_only=True):
    """How a cascade, and each judge alone with its cut, agrees with people on some answers.

    n_decided: answers that the cheap judge decides, out of n_answers. decided: agreement on those; None if it
    decides none. cascade_minus_cheap, cascade_minus_dear: paired differences.
    """

    n_answers: int
    n_questions: int
    n_decided: int
    cascade: Estimate
    decided: Estimate | None
    cheap: Estimate
    dear: Estimate
    cascade_minus_cheap: Estimate
    cascade_minus_dear: Estimate


class CascadeFit(msgspec.Struct, frozen=True, kw_only=True):
    """A cascade whose thresholds were fitted on people's labels, and what it may be expected to do.

    judge: the cascade. agreement: what was asked for. in_sample: on the answers that it was fitted on, which
    flatters it. cross_validated: each answer decided with thresholds that were fitted without its question;
    None for fewer than two questions. n_folds_out: folds in which no interval reached the agreement, so that
    every answer was handed on. tested: on questions that were set apart; None if none were. n_left_out:
    labelled answers that one of the judges did not score, by neither fitted nor measured; n_tuned: those on
    whose questions one was tuned. spent, dear_alone:
    what the cascade would have taken for all these answers, and the dear judge alone; USD are None where a
    price is unknown.
    """

    judge: CascadeJudge
    agreement: float
    in_sample: FitFigures
    cross_validated: FitFigures | None
    n_folds_out: int
    tested: FitFigures | None
    n_left_out: int
    n_tuned: int = 0
    spent: Usage
    spent_usd: float | None
    dear_alone: Usage
    dear_alone_usd: float | None


class Scored(msgspec.Struct, frozen=True, eq=False):
    """Answers that both judges scored and people labelled, (n,) each; question: their questions, numbered."""

    cheap: Floats
    dear: Floats
    yes: Flags
    question: npt.NDArray[np.int64]

    def at(self, chosen: Flags) -> "Scored":
        """Return some of the answers."""
        return Scored(self.cheap[chosen], self.dear[chosen], self.yes[chosen], self.question[chosen])


def fit_thresholds(answers: Scored, agreement: float) -> Thresholds | None:
    """Return the thresholds, None if a judge gives all answers the same score.

    The dear judge's cut is fitted on the answers that it will be asked about: they are harder than the rest,
    and fewer of them are right.
    """
    cheap_cut, alone_cut = fit_cut(answers.cheap, answers.yes), fit_cut(answers.dear, answers.yes)
    if cheap_cut is None or alone_cut is None:
        return None
    unsure = fit_unsure(answers.cheap, answers.yes, cheap_cut, agreement)
    handed = answers.at(~sure_of(answers.cheap, unsure))
    handed_cut = fit_cut(handed.dear, handed.yes) if len(handed.yes) >= FEWEST else None
    return Thresholds(
        cheap_cut=cheap_cut,
        dear_cut=alone_cut if handed_cut is None else handed_cut,
        dear_alone_cut=alone_cut,
        unsure=unsure,
    )


def outcomes_of(thresholds: Thresholds, answers: Scored) -> Floats:
    """Return 1 or 0 for each answer, (n, 4): right by cascade, cheap and dear judge; decided by the cheap."""
    said, decided = decide(thresholds, answers.cheap, answers.dear)
    rights = (
        said == answers.yes,
        (answers.cheap >= thresholds.cheap_cut) == answers.yes,
        (answers.dear >= thresholds.dear_alone_cut) == answers.yes,
        decided,
    )
    return np.stack(rights, axis=1).astype(np.float64)


def figures_of(outcomes: Floats, question: npt.NDArray[np.int64], seed: int) -> FitFigures:
    """Return the figures of at least one answer."""
    cascade, cheap, dear, decided = outcomes.T
    clusters, sure = question.tolist(), decided == 1
    by_column = [mean_estimate(column, clusters, seed=seed) for column in (cascade, cheap, dear)]
    of_cascade, of_cheap, of_dear = (estimate for estimate in by_column if estimate is not None)
    minus_cheap, minus_dear = difference_estimates(outcomes, [(0, 1), (0, 2)], clusters, seed=seed)
    return FitFigures(
        n_answers=len(outcomes),
        n_questions=len(set(clusters)),
        n_decided=int(sure.sum()),
        cascade=of_cascade,
        decided=mean_estimate(cascade[sure], question[sure].tolist(), seed=seed),
        cheap=of_cheap,
        dear=of_dear,
        cascade_minus_cheap=minus_cheap,
        cascade_minus_dear=minus_dear,
    )


def cross_validate(answers: Scored, agreement: float, seed: int) -> tuple[FitFigures | None, int]:
    """Return the figures of thresholds fitted without the answer's question, and folds without an interval.

    None where there are fewer than two questions, or a fold on which nothing can be fitted.
    """
    questions = np.unique(answers.question)
    fold_of = {
        question: n for n, question in enumerate(np.random.default_rng(seed).permutation(questions).tolist())
    }
    fold = np.array([fold_of[question] % FOLDS for question in answers.question.tolist()])
    outcomes, n_out = np.zeros((len(fold), 4)), 0
    for number in range(min(FOLDS, len(questions))):
        thresholds = fit_thresholds(answers.at(fold != number), agreement)
        if thresholds is None:
            return None, n_out
        n_out += thresholds.unsure is None
        outcomes[fold == number] = outcomes_of(thresholds, answers.at(fold == number))
    return figures_of(outcomes, answers.question, seed), n_out
