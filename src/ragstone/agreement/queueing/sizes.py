"""How much a label of each answer would tell: what a draw with unequal chances goes by."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ragstone.agreement.pairing import Human, Key
from ragstone.errors import DataError
from ragstone.records import Judgement
from ragstone.statistics import Floats

FEWEST_LABELS = 20  # before that the residuals of labelled answers say less than the judge's own doubt
STRATA = 5
SHRUNK = 5.0  # labels that the residual of all answers counts beside those of a stratum


def uncertainty(row: Judgement, cut: float | None = None) -> float:
    """Return how unsure the judge was of an answer, 0 to 1; 0 for one that it has not scored.

    From what the judgement carries: the probabilities of its outcomes, or how often each came in several
    samples (the root of Gini's impurity, which for yes and no goes with the standard deviation of a coin);
    the spread of a jury's scores; else the nearness of the score to `cut`, on the scale of the judgement
    (default: its middle).
    """
    if row.score is None:
        return 0.0
    metadata = row.metadata or {}
    for name in ("probabilities", "frequencies"):
        counts = metadata.get(name)
        if isinstance(counts, dict) and (total := sum(counts.values())) > 0:
            k = max(2, len(counts))
            impurity = 1 - sum((count / total) ** 2 for count in counts.values())
            return math.sqrt(min(1.0, max(0.0, impurity) * k / (k - 1)))
    low, high = row.scale or (0.0, 1.0)
    if isinstance(spread := metadata.get("spread"), int | float):
        return min(1.0, float(spread) / (high - low))
    middle = (low + high) / 2 if cut is None else cut
    furthest = max(high - middle, middle - low)
    return max(0.0, 1 - abs(row.score - middle) / furthest)


def uncertain_sizes(rows: Sequence[Judgement], cut: float | None = None) -> Floats:
    """Return the square of each row's uncertainty, so that the draw keeps to the unsure ones.

    Raises DataError where the judge was equally sure of all.
    """
    found = np.array([uncertainty(row, cut) for row in rows]) ** 2
    scored = [size for size, row in zip(found, rows, strict=True) if row.score is not None]
    if not scored or max(scored) == min(scored):
        raise DataError(
            f"judge {rows[0].judge!r} is as sure of one answer as of any other, so none is the least "
            "certain. Draw at random, or judge with probabilities (NAME@token) or several samples "
            "(NAME@samples=5)."
        )
    return found


def disagreement_sizes(rows: Sequence[Judgement], others: Mapping[Key, Sequence[float]]) -> Floats:
    """Return how far the judges' scores of each answer lie apart, as a share of the scale.

    others: the scores of all judges of the metric, each on a scale of 0 to 1, by answer. Raises DataError
    where no answer has two, or all judges say the same throughout.
    """
    scores = [others.get((row.question_id, row.system), ()) for row in rows]
    if all(len(given) < 2 for given in scores):
        raise DataError(
            f"only one judge has scored answers for {rows[0].metric!r}, so no two can disagree. Judge with a "
            "second one of the same metric, or draw in another way."
        )
    apart = np.array([max(given) - min(given) if len(given) > 1 else 0.0 for given in scores])
    if not apart.any():
        raise DataError(
            f"the judges of {rows[0].metric!r} gave the same score to every answer. Draw in another way."
        )
    return apart


def residual_sizes(rows: Sequence[Judgement], humans: Mapping[Key, Human]) -> Floats:
    """Return how far people's score is expected to be from what the judge's score leads one to expect.

    That is the size for which the corrected mean has the least variance (Neyman 1934; Zrnic and Candès 2024,
    arXiv:2403.03208, proposition 1). With 20 labelled answers or more it is measured: the root mean square of
    the residuals of a straight line through human and judge scores, in up to five strata of the judge's
    uncertainty or, where all are as certain, of its score; a stratum with few labels leans to all of them.
    With fewer it is the judge's own uncertainty. Raises DataError where that is the same of all.
    """
    labelled = [
        (place, human.score)
        for place, row in enumerate(rows)
        if row.score is not None
        and (human := humans.get((row.question_id, row.system))) is not None
        and human.score is not None
    ]
    doubts = np.array([_deviation(row) for row in rows])
    if len(labelled) < FEWEST_LABELS:
        if doubts.max() == doubts.min():
            raise DataError(
                f"nothing tells where judge {rows[0].judge!r} errs: it is as sure of one answer as of any "
                f"other, and there are {len(labelled)} labels of its answers. Label {FEWEST_LABELS} or "
                "more drawn at random first, or judge with probabilities (NAME@token)."
            )
        return doubts
    scores = np.array([math.nan if row.score is None else row.score for row in rows])
    varying = len(np.unique(doubts[~np.isnan(scores)])) > 2
    strata = _strata(doubts if varying else scores, ~np.isnan(scores))
    at = np.array([place for place, _ in labelled])
    squares = _residuals(np.array([score for _, score in labelled]), scores[at]) ** 2
    sizes = np.zeros(len(rows))
    for stratum in np.unique(strata[strata >= 0]):
        inside = squares[strata[at] == stratum]
        mean = (inside.sum() + SHRUNK * squares.mean()) / (inside.size + SHRUNK)
        sizes[strata == stratum] = math.sqrt(mean)
    return sizes


def _deviation(row: Judgement) -> float:
    """Return the uncertainty; of a bare score, the standard deviation of a coin with that share."""
    metadata = row.metadata or {}
    if row.score is None or any(name in metadata for name in ("probabilities", "frequencies", "spread")):
        return uncertainty(row)
    low, high = row.scale or (0.0, 1.0)
    share = min(1.0, max(0.0, (row.score - low) / (high - low)))
    return 2 * math.sqrt(share * (1 - share))


def _strata(values: Floats, known: np.ndarray) -> np.ndarray:
    """Return the stratum of each value, from 0; -1 where none is known. Equal values are in one."""
    strata = np.full(len(values), -1)
    distinct = np.unique(values[known])
    if len(distinct) <= STRATA:
        edges = distinct[1:]
    else:
        edges = np.unique(np.quantile(values[known], np.arange(1, STRATA) / STRATA))
    strata[known] = np.searchsorted(edges, values[known], side="right")
    return strata


def _residuals(human: Floats, judge: Floats) -> Floats:
    """Return what the least-squares line leaves over."""
    centred = judge - judge.mean()
    spread = float(centred @ centred)
    slope = float(centred @ human) / spread if spread else 0.0
    return np.asarray(human - human.mean() - slope * centred)
