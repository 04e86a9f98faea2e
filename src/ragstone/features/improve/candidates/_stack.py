"""Scores of several judges + people's labels -> the weights of a stack, and what it says of unseen rows."""

from collections.abc import Sequence

import msgspec
import numpy as np

from ragstone.features.improve._thresholds import FOLDS, Flags, fit_cut
from ragstone.features.improve.candidates._isotonic import isotonic_curve
from ragstone.features.improve.candidates._logistic import Logistic, fit_logistic, sigmoid
from ragstone.kernel.judging.fields import JudgeFields, Member
from ragstone.kernel.judging.stack import StackJudge, StackMember, on_curve
from ragstone.kernel.statistics import Codes, Floats

PENALTIES = (0.1, 1.0, 10.0, 100.0)
SHOWN_DIGITS = 4  # of weights in a file: far below what labels can tell apart
LEAST = 10**-SHOWN_DIGITS
HALF = 0.5
EMPTY = np.empty((0, 2))


class StackRows(msgspec.Struct, frozen=True, eq=False):
    """Answers that people labelled. scores: (n, k), NaN where a member gave none. share: (n,), of yes, in
    [0, 1]. question: (n,), their questions, numbered: a question is never both fitted on and measured on."""

    scores: Floats
    share: Floats
    question: Codes

    def at(self, chosen: Flags) -> "StackRows":
        """Return some of the rows."""
        return StackRows(self.scores[chosen], self.share[chosen], self.question[chosen])


class StackWeights(msgspec.Struct, frozen=True, eq=False):
    """What is fitted. centre, spread, weight: (k,); weight is 0 for a member that teaches nothing.

    curve: (p, 2), points through which the probability goes, see isotonic_curve; of none it stays as it is.
    threshold: the probability from which on to say yes; penalty: the one that was chosen.
    """

    intercept: float
    centre: Floats
    spread: Floats
    weight: Floats
    threshold: float
    penalty: float
    curve: Floats = EMPTY

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probability of yes for rows of scores, (n, k) -> (n,)."""
        likely = sigmoid(self.intercept + standardised(scores, self.centre, self.spread) @ self.weight)
        return on_curve(likely, self.curve) if len(self.curve) else likely


def standardised(scores: Floats, centre: Floats, spread: Floats) -> Floats:
    """Return scores as distances from the centre in spreads; a missing one is at the centre."""
    return np.nan_to_num((scores - centre) / spread, nan=0.0)


def fit_stack(rows: StackRows, judges: Sequence[JudgeFields], *, seed: int = 0) -> StackWeights:
    """Return the weights of a stack of these judges, in the order of the columns of the scores.

    The penalty is the one whose rows are likeliest when each is predicted by a fit without its question. On
    these predictions the logits are then scaled (Platt 1999), so that the probability is calibrated, and the
    threshold is fitted. Raises ValueError where people said the same of all answers, or of those of all
    questions but one fold.
    """
    signs = signs_of(judges)
    crossed = {penalty: _crossed(rows, signs, penalty, seed) for penalty in PENALTIES}
    penalty = min(PENALTIES, key=lambda candidate: (_surprise(crossed[candidate], rows.share), -candidate))
    logits = crossed[penalty]
    scale = fit_logistic(logits[:, None], rows.share, signs=np.array([1]), penalty=1.0)
    centre, spread, fitted = _fitted(rows, signs, penalty)
    slope = float(scale.weights[0])
    weights = StackWeights(
        intercept=scale.intercept + slope * fitted.intercept,
        centre=centre,
        spread=spread,
        weight=slope * fitted.weights,
        threshold=HALF,
        penalty=penalty,
    )
    # The fits of several folds do not quite keep the order of one judge's scores, which a cut can rely on.
    alone = len(judges) == 1
    likely = weights.probabilities(rows.scores) if alone else sigmoid(scale.logits(logits[:, None]))
    return msgspec.structs.replace(weights, threshold=fit_cut(likely, rows.share >= HALF) or HALF)


def with_curve(weights: StackWeights, rows: StackRows) -> StackWeights:
    """Return the weights of one judge alone with the curve of isotonic regression on the rows it has scored.

    It moves probabilities and not verdicts, for the threshold moves along; only where that parts a pool, as
    good a one is taken that does not. A curve that does not rise is left out. (Several judges' curve on the
    rows that they were weighed on would flatter.)
    """
    heard = rows.at(np.asarray(~np.isnan(rows.scores).all(axis=1)))
    likely = weights.probabilities(heard.scores)
    # As they stand in a file; points that are one there are one.
    points = {
        round(before, SHOWN_DIGITS): _shown(after)
        for before, after in isotonic_curve(likely, heard.share).tolist()
    }
    curve = np.array(list(points.items()))
    if curve[0, 1] == curve[-1, 1]:
        return weights
    threshold, bent = float(on_curve(np.array(weights.threshold), curve)), on_curve(likely, curve)
    if ((bent >= threshold) != (likely >= weights.threshold)).any():
        threshold = fit_cut(bent, heard.share >= HALF) or HALF
    return msgspec.structs.replace(weights, curve=curve, threshold=threshold)


def fit_folds(rows: StackRows, judges: Sequence[JudgeFields], *, seed: int = 0) -> list[StackWeights]:
    """Return the weights of a stack fitted without the questions of each fold, in order; raises as fit_stack.

    Penalty, scale and threshold are chosen within each fold's other rows: nothing of a row tells on itself.
    """
    fold = folds_of(rows.question, seed)
    return [fit_stack(rows.at(fold != number), judges, seed=seed) for number in np.unique(fold)]


def crossed_probabilities(
    rows: StackRows, fits: Sequence[StackWeights], *, curved: bool = False, seed: int = 0
) -> tuple[Floats, Floats]:
    """Return the probability and the threshold of each row by a stack fitted without its question, (n,) each.

    fits: see fit_folds. curved: see with_curve; the curve, too, is of the other rows alone.
    """
    fold = folds_of(rows.question, seed)
    likely, threshold = np.zeros(len(fold)), np.zeros(len(fold))
    for number, fitted in zip(np.unique(fold), fits, strict=True):
        weights = with_curve(fitted, rows.at(fold != number)) if curved else fitted
        likely[fold == number] = weights.probabilities(rows.scores[fold == number])
        threshold[fold == number] = weights.threshold
    return likely, threshold


def stack_judge(
    name: str,
    members: Sequence[Member],
    weights: StackWeights,
    *,
    source: str,
    version: int = 1,
    metric: str | None = None,
    tuned_on: Sequence[str] = (),
    likely: Sequence[bool] = (),
) -> StackJudge:
    """Return the judge: members of weight 0 are left out, but for one. Raises ValueError if none is given.

    members: loaded, in the order of the scores. metric: by default that of the first member. likely: of each
    member, whether its log odds were weighed in place of its score; by default none.
    """
    if not members:
        raise ValueError("a stack needs a member")
    strongest = int(np.argmax(np.abs(weights.weight)))
    chosen = [n for n in range(len(members)) if round(weights.weight[n], SHOWN_DIGITS) or n == strongest]
    inputs = dict.fromkeys(name for n in chosen for name in members[n].inner.inputs)
    return StackJudge(
        name=name,
        version=version,
        metric=metric or members[0].inner.measures,
        inputs=list(inputs),
        scale=(0, 1),
        source=source,
        tuned_on=list(tuned_on),
        intercept=round(weights.intercept, SHOWN_DIGITS),
        curve=[(before, after) for before, after in weights.curve.tolist()],
        threshold=_shown(weights.threshold),
        members=[
            StackMember(
                judge=members[n].judge,
                model=members[n].model,
                loaded=members[n].loaded,
                weight=round(float(weights.weight[n]), SHOWN_DIGITS),
                centre=round(float(weights.centre[n]), SHOWN_DIGITS),
                spread=round(float(weights.spread[n]), SHOWN_DIGITS),
                unit="log odds" if likely and likely[n] else None,
            )
            for n in chosen
        ],
    )


def _shown(likely: float) -> float:
    return float(np.clip(round(likely, SHOWN_DIGITS), LEAST, 1 - LEAST))


def signs_of(judges: Sequence[JudgeFields]) -> Codes:
    """Return the sign that each judge's weight may have, (k,)."""
    return np.array([1 if judge.best == "highest" else -1 for judge in judges], dtype=np.int64)


def folds_of(question: Codes, seed: int) -> Codes:
    """Return the fold of each row, from 0: rows of one question are in one."""
    known, at = np.unique(question, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(known))
    return np.asarray(order[at] % min(FOLDS, max(len(known), 1)), dtype=np.int64)


def _fitted(rows: StackRows, signs: Codes, penalty: float) -> tuple[Floats, Floats, Logistic]:
    """Return centre and spread of the scores, and the regression on them."""
    is_known = ~np.isnan(rows.scores)
    n = np.maximum(is_known.sum(axis=0), 1)
    centre = np.where(is_known, rows.scores, 0).sum(axis=0) / n
    spread = np.sqrt((np.where(is_known, rows.scores - centre, 0) ** 2).sum(axis=0) / n)
    spread = np.where(spread > 0, spread, 1.0)
    features = standardised(rows.scores, centre, spread)
    return centre, spread, fit_logistic(features, rows.share, signs=signs, penalty=penalty)


def _crossed(rows: StackRows, signs: Codes, penalty: float, seed: int) -> Floats:
    """Return the log odds of each row by a regression fitted without its question."""
    fold, logits = folds_of(rows.question, seed), np.zeros(len(rows.share))
    for number in np.unique(fold):
        centre, spread, fitted = _fitted(rows.at(fold != number), signs, penalty)
        inside = fold == number
        logits[inside] = fitted.logits(standardised(rows.scores[inside], centre, spread))
    return logits


def _surprise(logits: Floats, share: Floats) -> float:
    """Return the mean negative log likelihood."""
    return float((np.logaddexp(0, logits) - share * logits).mean())
