"""The scores of answers generated anew: each question counts once, by the mean of its answers."""

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging.fields import JOINT_SUFFIX
from ragstone.kernel.judging.variant import load_judge
from ragstone.kernel.records import OWN_THRESHOLD, Judgement
from ragstone.kernel.statistics import Estimate, Floats, mean_estimate
from ragstone.kernel.statistics.mean import mean_estimates
from ragstone.kernel.statistics.passes import all_of_k, any_of_k

EACH_UP_TO = 10  # k of pass@k; beyond, the largest alone: a curve of a thousand points is no table
FAILED, NOT_APPLICABLE = math.inf, math.nan
"""In place of the score of an answer that has none."""


def outcome_of(row: Judgement) -> float:
    """Return the score of a judgement, or what stands for one in `fold`."""
    if row.score is not None:
        return row.score
    return NOT_APPLICABLE if row.status == "not_applicable" else FAILED


class PassRate(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of k answers to a question: the chance that one of them passes, and that all do.

    at_least_one: pass@k, 1 - C(n - c, k) / C(n, k) for c of n answers that pass; every_one: pass^k,
    C(c, k) / C(n, k). Both are means over the questions with at least k scored answers.
    """

    k: int
    at_least_one: Estimate
    every_one: Estimate


class RepeatedScores(msgspec.Struct, frozen=True, kw_only=True):
    """What a mean over answers generated anew rests on.

    n_questions: questions with a judged answer. most: the highest number of a repeat; n_fewer: questions that
    have fewer answers. bounds: see bounds_of, over questions. passes_from: the score from which on an answer
    passes: the threshold of the judge's file, else the middle of its scale. passes: for k from 1; empty where
    the scale is unknown or its lowest score is the good one.
    """

    n_questions: int
    most: int
    n_fewer: int
    bounds: tuple[float, float] | None
    passes_from: float | None
    passes: list[PassRate]


def fold(
    first: Judgement,
    ids: Sequence[str],
    outcomes: Floats,
    most: int,
    clusters: Mapping[str, str],
    *,
    seed: int = 0,
) -> tuple[Estimate | None, RepeatedScores]:
    """Return the mean over questions of the mean over their answers, and what it rests on.

    first: one of the judgements. ids, outcomes: (n_rows,), the question of each and its score, FAILED or
    NOT_APPLICABLE. most: the highest number of a repeat. clusters: question id -> what it shares with others,
    of all that have a score.
    """
    codes: dict[str, int] = {}
    question = np.fromiter((codes.setdefault(name, len(codes)) for name in ids), dtype=np.intp)

    def counted(rows: Floats) -> Floats:
        return np.bincount(question, weights=rows, minlength=len(codes)).astype(np.float64)

    scored, failed = np.isfinite(outcomes), np.isposinf(outcomes)
    scores = np.where(scored, outcomes, 0.0)
    n_scored, n_failed, total = (counted(rows.astype(np.float64)) for rows in (scored, failed, scores))
    has = n_scored > 0
    groups = [clusters[name] for name, at in codes.items() if has[at]]
    unit = first.scale is None or first.scale == (0, 1)
    estimate = mean_estimate(total[has] / n_scored[has], groups, seed=seed, proportion=unit)
    bounds = None
    if failed.any() and first.scale:
        n = n_scored + n_failed
        low, high = (float(np.mean((total + n_failed * end)[n > 0] / n[n > 0])) for end in first.scale)
        bounds = low, high
    threshold = _passes_from(first, outcomes[scored])
    right = (
        counted((scored & (scores >= threshold)).astype(np.float64)) if threshold is not None else n_scored
    )
    return estimate, RepeatedScores(
        n_questions=len(codes),
        most=most,
        n_fewer=int(np.count_nonzero(np.bincount(question) < most)),
        bounds=bounds,
        passes_from=threshold,
        passes=[] if threshold is None else _pass_rates(n_scored[has], right[has], groups, seed),
    )


def _passes_from(first: Judgement, scores: Floats) -> float | None:
    """Return the score from which on an answer passes; None where nobody can tell."""
    try:
        if load_judge(first.judge.removesuffix(JOINT_SUFFIX)).best == "lowest":
            return None
    except ConfigError:  # a judge of another tool, or by a file: its highest score is the good one
        pass
    own = (first.metadata or {}).get(OWN_THRESHOLD)
    if isinstance(own, int | float):
        return float(own)
    if first.scale is not None:
        return sum(first.scale) / 2
    return 0.5 if scores.size and np.isin(scores, (0.0, 1.0)).all() else None


def _pass_rates(n: Floats, right: Floats, clusters: Sequence[str], seed: int) -> list[PassRate]:
    largest = int(n.max()) if n.size else 0
    rates = []
    for k in sorted({*range(1, min(largest, EACH_UP_TO) + 1), *([largest] if largest else [])}):
        has = n >= k
        groups = [cluster for cluster, inside in zip(clusters, has, strict=True) if inside]
        columns = {
            "at_least_one": any_of_k(n[has], right[has], k),
            "every_one": all_of_k(n[has], right[has], k),
        }
        rates.append(PassRate(k=k, **mean_estimates(columns, groups, seed=seed)))
    return rates
