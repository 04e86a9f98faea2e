"""The scores of repeated answers: each question counts once, by the mean of its answers."""

import functools
import math
from array import array
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from ragstone.kernel.config import library_names, read_library
from ragstone.kernel.records import JOINT_SUFFIX, K_OF_N, OWN_THRESHOLD, Judgement, split_repeat
from ragstone.kernel.statistics import Estimate, Floats, is_yes_no, mean_estimate
from ragstone.kernel.statistics.passes import pass_estimates, share_estimate

ROOM = "ragstone.kernel.judging"
EACH_UP_TO = 10  # k of pass@k; beyond, the largest alone: a curve of a thousand points is no table
FAILED, NOT_APPLICABLE = math.inf, math.nan
"""In place of the score of an answer that has none."""

KOfN = tuple[int, int]


def k_of_n_of(row: Judgement) -> KOfN | None:
    """Return how many of how many answers to the question must pass, None where it does not say."""
    match (row.metadata or {}).get(K_OF_N):
        case [int(k), int(n)] if 1 <= k <= n:
            return k, n
    return None


def question_score(rows: Sequence[Judgement]) -> float | None:
    """Return the score of a question by the judgements of its answers: their mean, None without any.

    Where the question says that k of n must pass, see k_of_n_score.
    """
    needed = next((k_of_n for row in rows if (k_of_n := k_of_n_of(row))), None)
    in_order = [row.score for row in sorted(rows, key=lambda row: split_repeat(row.system)[1])]
    if needed is not None:
        return k_of_n_score(in_order, needed, rows[0].scale)
    scores = [score for score in in_order if score is not None]
    return sum(scores) / len(scores) if scores else None


def k_of_n_score(
    scores: Sequence[float | None], needed: KOfN, scale: tuple[float, float] | None
) -> float | None:
    """Return 1 if k of the first n answers pass, at or above the middle of the scale, else 0.

    scores: of the answers in order. None where fewer than n are there, or where it depends on an answer that
    has no score.
    """
    k, n = needed
    first, middle = scores[:n], sum(scale) / 2 if scale else 0.5
    n_passed = sum(score >= middle for score in first if score is not None)
    if len(first) < n or n_passed < k <= n_passed + first.count(None):
        return None
    return float(n_passed >= k)


class PassRate(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of k answers to a question: the chance that one of them passes, and that all do.

    at_least_one: pass@k, 1 - C(n - c, k) / C(n, k) for c of n answers that pass; every_one: pass^k,
    C(c, k) / C(n, k). Both are means over the questions with at least k scored answers.
    """

    k: int
    at_least_one: Estimate
    every_one: Estimate


class RepeatedScores(msgspec.Struct, frozen=True, kw_only=True):
    """What a mean over repeated answers rests on.

    n_questions: questions with a judged answer. most: the highest number of a repeat; n_fewer: questions that
    have fewer answers. bounds: see bounds_of, over questions. passes_from: the score from which on an answer
    passes: the threshold of the judge's file, else the middle of its scale. passes: for k from 1; empty where
    the scale is unknown or its lowest score is the good one. n_k_of_n: questions that say how many of their
    answers must pass, which count 1 or 0; n_short: those of them that have fewer answers than they name, and
    do not count.
    """

    n_questions: int
    most: int
    n_fewer: int
    bounds: tuple[float, float] | None
    passes_from: float | None
    passes: list[PassRate]
    n_k_of_n: int = 0
    n_short: int = 0


class RepeatedRows:
    """What `fold` needs of every judgement of a judge and a system, in little room."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.outcomes = array("d")
        self.numbers = array("I")
        self.needed: dict[str, KOfN] = {}
        self.most = 1

    def add(self, row: Judgement, number: int) -> None:
        """Count one judgement. number: of the repeat."""
        self.ids.append(row.question_id)
        without = NOT_APPLICABLE if row.status == "not_applicable" else FAILED
        self.outcomes.append(without if row.score is None else row.score)
        self.numbers.append(number)
        self.most = max(self.most, number)
        if needed := k_of_n_of(row):
            self.needed[row.question_id] = needed


def fold(
    first: Judgement,
    rows: RepeatedRows,
    clusters: Mapping[str, str],
    *,
    seed: int = 0,
) -> tuple[Estimate | None, RepeatedScores]:
    """Return the mean over questions of the mean over their answers, and what it rests on.

    first: one of the judgements. clusters: question id -> what it shares with others, of all that have a
    score.
    """
    outcomes, questions = np.frombuffer(rows.outcomes), _Questions(rows, first.scale)

    def shared(chosen: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> list[str]:
        return [clusters.get(name, name) for name, at in questions.codes.items() if chosen[at]]

    scores, failed = questions.scores(outcomes), np.isposinf(outcomes)
    has, unit = np.isfinite(scores), first.scale is None or first.scale == (0, 1)
    if unit and has.any() and is_yes_no(outcomes[np.isfinite(outcomes)]):
        n_answers = max(has.sum(), np.isfinite(outcomes).sum())
        estimate: Estimate | None = share_estimate(scores[has], float(n_answers), shared(has), seed=seed)
    else:
        estimate = mean_estimate(scores[has], shared(has), seed=seed, proportion=unit)
    bounds = None
    if failed.any() and first.scale:
        low, high = (questions.scores(np.where(failed, end, outcomes)) for end in first.scale)
        if np.isfinite(low).any():
            bounds = float(np.nanmean(low)), float(np.nanmean(high))
    scored = np.isfinite(outcomes)
    threshold = _passes_from(first, outcomes[scored])
    n_scored = questions.sums(scored.astype(np.float64))
    n_passed = questions.sums((scored & (outcomes >= (threshold or 0.0))).astype(np.float64))
    some = n_scored > 0
    return estimate, RepeatedScores(
        n_questions=len(questions.codes),
        most=rows.most,
        n_fewer=int(np.count_nonzero(np.bincount(questions.of_row) < rows.most)),
        bounds=bounds,
        passes_from=threshold,
        passes=[] if threshold is None else _pass_rates(n_scored[some], n_passed[some], shared(some), seed),
        n_k_of_n=len(rows.needed),
        n_short=sum(len(questions.k_of_n_rows[name]) < n for name, (_, n) in rows.needed.items()),
    )


class _Questions:
    """The rows of each question. codes: question id -> its number. of_row: the question of each row.

    k_of_n_rows: of the questions of whose answers k of n must pass, by their repeat.
    """

    def __init__(self, rows: RepeatedRows, scale: tuple[float, float] | None) -> None:
        self._needed, self._scale = rows.needed, scale
        self.codes: dict[str, int] = {}
        codes = self.codes
        self.of_row = np.fromiter((codes.setdefault(name, len(codes)) for name in rows.ids), dtype=np.intp)
        self.k_of_n_rows: dict[str, list[int]] = {name: [] for name in rows.needed}
        for at, name in enumerate(rows.ids if rows.needed else ()):
            if name in self.k_of_n_rows:
                self.k_of_n_rows[name].append(at)
        for own in self.k_of_n_rows.values():
            own.sort(key=rows.numbers.__getitem__)

    def sums(self, values: Floats) -> Floats:
        """Return the sum of the values of each question's rows."""
        return np.bincount(self.of_row, weights=values, minlength=len(self.codes)).astype(np.float64)

    def scores(self, outcomes: Floats) -> Floats:
        """Return the score of each question, NaN where it has none."""
        scored = np.isfinite(outcomes)
        n, total = self.sums(scored.astype(np.float64)), self.sums(np.where(scored, outcomes, 0.0))
        scores: Floats = np.divide(total, n, out=np.full(len(self.codes), np.nan), where=n > 0)
        for name, own in self.k_of_n_rows.items():
            known = [score if math.isfinite(score) else None for score in outcomes[own].tolist()]
            decided = k_of_n_score(known, self._needed[name], self._scale)
            scores[self.codes[name]] = math.nan if decided is None else decided
        return scores


@functools.cache
def lowest_is_best(judge: str) -> bool:
    """Return whether the lowest score is the good one of a judge that ships, by its name on a row.

    Of a judge of another tool, or by a file, the highest score is taken to be the good one. Under a threshold
    1 means that an answer passes, whichever end is good.
    """
    name, _, options = judge.removesuffix(JOINT_SUFFIX).partition("@")
    return (
        "threshold=" not in options
        and name in library_names(ROOM, "library")
        and read_library(ROOM, f"{name}.toml").get("best") == "lowest"
    )


def _passes_from(first: Judgement, scores: Floats) -> float | None:
    """Return the score from which on an answer passes; None where nobody can tell."""
    if lowest_is_best(first.judge):
        return None
    own = (first.metadata or {}).get(OWN_THRESHOLD)
    if isinstance(own, int | float):
        return float(own)
    if first.scale is not None:
        return sum(first.scale) / 2
    return 0.5 if scores.size and is_yes_no(scores) else None


def _pass_rates(n: Floats, right: Floats, clusters: Sequence[str], seed: int) -> list[PassRate]:
    largest = int(n.max()) if n.size else 0
    rates = []
    for k in sorted({*range(1, min(largest, EACH_UP_TO) + 1), *([largest] if largest else [])}):
        has = n >= k
        groups = [cluster for cluster, inside in zip(clusters, has, strict=True) if inside]
        at_least_one, every = pass_estimates(n[has], right[has], k, groups, seed=seed)
        rates.append(PassRate(k=k, at_least_one=at_least_one, every_one=every))
    return rates
