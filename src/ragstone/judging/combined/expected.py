"""What to expect of a cascade with fitted thresholds: its agreement with people, in sample and out of it."""

import msgspec
import numpy as np
import numpy.typing as npt

from ragstone.judging.combined.cascade import CascadeJudge
from ragstone.judging.combined.fitting import FEWEST, Flags, Thresholds, decide, fit_cut, fit_unsure, sure_of
from ragstone.records import Usage
from ragstone.statistics import Estimate, Floats, difference_estimates, mean_estimate

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
    labelled answers that one of the judges did not score, by neither fitted nor measured. spent, dear_alone:
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
