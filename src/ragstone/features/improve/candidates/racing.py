"""Candidates that ask a model: judged fold by fold, and stopped as soon as they are worse beyond doubt."""

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from ragstone.features.improve._labelled_sets import judge_labelled
from ragstone.features.improve._thresholds import Flags
from ragstone.features.improve.candidates.rows import CandidateResult, JudgeScores, LearningRows, cost_of
from ragstone.features.improve.learned import CandidateState
from ragstone.kernel.engine.session import Session
from ragstone.kernel.judging import Judge
from ragstone.kernel.records import Judgement
from ragstone.kernel.statistics.sequences import log_capitals, log_evidence

CUT_OFF = "the budget was spent before it was measured."
DOUBT = 0.05  # chance at most that a candidate is stopped which is as good as the judge as it is


async def judged(
    judge: Judge, rows: LearningRows, chosen: Flags, session: Session, model: str | None = None
) -> list[Judgement]:
    """Return the judgements of some rows, in their order, by a judge that may have been made with them."""
    answers = [rows.answers[n] for n in np.flatnonzero(chosen)]
    judgements = await judge_labelled(judge, answers, session, model=model)
    return [row for row in judgements if row.metric == judge.measures]


async def judged_whole(
    judge: Judge,
    rows: LearningRows,
    session: Session,
    model: str | None = None,
    yes_from: float | None = None,
) -> JudgeScores:
    """Return what a judge says of all rows. yes_from: the score from which on it says yes."""
    every = np.ones(len(rows.answers), dtype=np.bool_)
    judgements = await judged(judge, rows, every, session, model)
    return JudgeScores(judge=judge, judgements=judgements, yes_from=yes_from)


async def race(
    candidate: CandidateResult,
    judge_of: Callable[[int], Judge],
    folds: Sequence[int],
    rows: LearningRows,
    before: JudgeScores,
    session: Session,
) -> CandidateResult:
    """Return a candidate with what it says of the rows of these folds, up to the one after which it is out.

    judge_of: the judge that was made without the rows of a fold. It is out as soon as the evidence that it
    is worse than the judge as it is reaches 1 / DOUBT: that may be looked at after every fold
    (statistics/sequences.py).
    """
    n = len(rows.answers)
    scores, is_asked = np.full(n, np.nan), np.zeros(n, dtype=np.bool_)
    old = rows.worths(before.scores, before.yes_from)
    heard: list[Judgement] = []
    state: CandidateState = "measured"
    why = None
    for number in folds:
        inside = rows.fold == number
        judgements = await judged(judge_of(number), rows, inside, session)
        heard += judgements
        scores[inside] = [
            math.nan if judgement.score is None else judgement.score for judgement in judgements
        ]
        is_asked[inside] = True
        if any(judgement.status == "over_budget" for judgement in judgements):
            state, why = "over_budget", CUT_OFF
            break
        mine = rows.worths(scores, before.yes_from)
        group, behind = rows.group[is_asked], (old - mine)[is_asked] / rows.unit.span
        sums = np.bincount(group, weights=behind, minlength=1)[np.unique(group)]
        largest = float(np.bincount(rows.group).max())
        capital = log_capitals(np.clip(sums / largest, -1, 1)).sum(axis=0)
        if number != folds[-1] and log_evidence(capital) >= math.log(1 / DOUBT):
            state, why = "stopped", f"worse beyond doubt after {int(is_asked.sum())} answers."
            break
    cost = cost_of(heard)
    return msgspec.structs.replace(
        candidate,
        scores=scores,
        asked=is_asked,
        yes_from=np.full(n, np.nan if before.yes_from is None else before.yes_from),
        calls=cost.usage.calls / int(is_asked.sum()) if is_asked.any() else 0.0,
        cost=cost,
        state=state,
        why=why,
    )
