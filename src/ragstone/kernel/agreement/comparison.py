"""One judge's scores beside people's grades: grade by grade, in units, or in rank.

Nothing is cut or rescaled unless the caller says how: a yes/no label against a percentage needs a threshold,
labels on another scale need a mapping. Without them only order and correlation are compared.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from ragstone.kernel.agreement.pairing import GradePairs, Human, Key, on_scale, pair
from ragstone.kernel.config import AgreementMeasure
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging.thresholds import fits, off_scale
from ragstone.kernel.records import OWN_THRESHOLD, YES_NO, Judgement
from ragstone.kernel.statistics import MAX_GRADES, Floats, exact_matches, is_yes_no
from ragstone.kernel.tables.labels import in_percent

Scale = tuple[float, float] | None


class GradeComparison(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Scores made comparable. human, judge: (n,). raw: the judge's scores as it gave them, (n,).

    categories: the grades that both use, empty if they cannot be compared grade by grade. same_unit: whether
    the judge's score minus the human's means anything. threshold: what the judge's scores were cut at.
    off_scale: the labels hold values that the judge cannot give. notes: for the reader, in plain sentences.
    """

    human: Floats
    judge: Floats
    raw: Floats
    categories: list[float]
    same_unit: bool
    threshold: float | None = None
    off_scale: bool = False
    notes: list[str]


def compare(
    human: Floats,
    judge: Floats,
    scale: Scale,
    *,
    mapped: bool,
    threshold: float | None,
    pairwise: bool = False,
    given: Floats | None = None,
) -> GradeComparison:
    """Return on what footing the two are compared; there is at least one pair.

    scale: the lowest and the highest score of the judge, if known. mapped: the caller has said which judge
    scores the labels stand for. threshold: a judge's score of at least this counts as 1, below as 0; it
    is for labels of 0 and 1 only, and a judge that says 0 or 1 itself does not need it. pairwise: the scores
    say which of two answers is better, and 0.5 is a tie: a grade like 0 and 1. given: every score that the
    judge gave, also to answers without a label, (m,): few labelled answers may all have 0 or 1 by chance.
    """
    every = judge if given is None else np.union1d(judge, given)
    labels_yes_no = is_yes_no(human)
    judge_yes_no = is_yes_no(every) and scale in (None, YES_NO)
    if not labels_yes_no:
        comparison = _on_scale(human, judge, every, scale, mapped)
        if threshold is None:
            return comparison
        unused = (
            f"The threshold {threshold:g} is not used: it is for labels of 0 and 1, and these are "
            f"{_values(human)}."
        )
        return msgspec.structs.replace(comparison, notes=[*comparison.notes, unused])
    if pairwise:
        return _on_scale(human, judge, every, scale, mapped)
    if judge_yes_no:
        return GradeComparison(
            human=human, judge=judge, raw=judge, categories=[*YES_NO], same_unit=True, notes=[]
        )
    if threshold is not None:
        return _cut(human, judge, scale, threshold)
    if not mapped:
        return _in_rank(human, judge, f"The labels are 0 or 1 and {_span(judge, scale)}: give a threshold.")
    return _on_scale(human, judge, every, scale, mapped)


def _cut(human: Floats, judge: Floats, scale: Scale, threshold: float) -> GradeComparison:
    if scale and not fits(threshold, scale):
        return _in_rank(human, judge, f"The threshold {threshold:g} does not apply: {_span(judge, scale)}.")
    return GradeComparison(
        human=human,
        judge=(judge >= threshold).astype(np.float64),
        raw=judge,
        categories=[*YES_NO],
        same_unit=True,
        threshold=threshold,
        notes=[f"A score of at least {threshold:g} counts as 1, below as 0; {_span(judge, scale)}."],
    )


def _on_scale(human: Floats, judge: Floats, every: Floats, scale: Scale, mapped: bool) -> GradeComparison:
    if scale and (human.min() < scale[0] or human.max() > scale[1]):
        note = f"The labels are {_values(human)} and {_span(judge, scale)}: give a mapping of label to score."
        return _in_rank(human, judge, note, off_scale=True)
    seen = np.union1d(human, every)
    if len(seen) <= MAX_GRADES and (scale is None or scale[1] - scale[0] < MAX_GRADES):
        categories = [float(grade) for grade in seen]
        if (seen == np.round(seen)).all():  # every grade of a scale of whole numbers, also those nobody gave
            low, high = scale or (seen[0], seen[-1])
            categories = [float(grade) for grade in range(int(np.floor(low)), int(np.ceil(high)) + 1)]
        return GradeComparison(
            human=human, judge=judge, raw=judge, categories=categories, same_unit=True, notes=[]
        )
    if not mapped and len(np.unique(human)) <= MAX_GRADES:
        note = f"The labels are {_values(human)} and {_span(judge, scale)}: give a mapping of label to score."
        return _in_rank(human, judge, note)
    note = f"Too many different scores to compare grade by grade: {_span(judge, scale)}."
    return GradeComparison(human=human, judge=judge, raw=judge, categories=[], same_unit=True, notes=[note])


def _in_rank(human: Floats, judge: Floats, note: str, *, off_scale: bool = False) -> GradeComparison:
    notes = [note, "Until then it has no exact agreement and no kappa."]
    return GradeComparison(
        human=human,
        judge=judge,
        raw=judge,
        categories=[],
        same_unit=False,
        off_scale=off_scale,
        notes=notes,
    )


def _span(judge: Floats, scale: Scale) -> str:
    if scale:
        return f"this judge's scale is {scale[0]:g} to {scale[1]:g}"
    return f"this judge's scores go from {judge.min():g} to {judge.max():g}"


def _values(human: Floats) -> str:
    values = np.unique(human)
    listed = ", ".join(f"{value:g}" for value in values[:5])
    return f"{listed}, … {values[-1]:g}" if len(values) > 5 else listed


PREFERENCE = "preference"  # the metric of judges that say which of two answers is better


class JudgeId(msgspec.Struct, frozen=True):
    """What makes two judgements the work of one judge. A prompt with another version is another judge."""

    judge: str
    metric: str
    model: str
    prompt_version: int


class MeasuredJudge(msgspec.Struct, frozen=True, eq=False):
    """A judge's pairs and their footing; comparison is None if there is no pair."""

    judge: JudgeId
    scale: Scale
    pairs: GradePairs
    comparison: GradeComparison | None


def by_judge(judgements: Iterable[Judgement]) -> dict[JudgeId, list[Judgement]]:
    """Return the judgements of each judge, in order of first appearance."""
    rows_of: dict[JudgeId, list[Judgement]] = {}
    for row in judgements:
        judge = JudgeId(row.judge, row.metric, row.model, row.prompt_version)
        rows_of.setdefault(judge, []).append(row)
    return rows_of


def measure(
    judge: JudgeId,
    rows: Sequence[Judgement],
    humans: Mapping[Key, Human],
    *,
    mapped: bool,
    threshold: float | None,
) -> MeasuredJudge:
    """Return a judge's rows beside people's grades. mapped, threshold: see comparison.compare.

    Labels in percent say themselves where on the judge's scale they are; a threshold is for right and wrong.
    """
    scale = _scale(rows)
    labels = [label for human in humans.values() for label in human.labels]
    grades = {grade for human in humans.values() for grade in human.grades}
    # Where scores are cut, 0 % and 100 % alone are wrong and right, not shares.
    are_shares = in_percent(labels) and (threshold is None or not grades <= {*YES_NO})
    if scale and not mapped and are_shares:
        humans, mapped = on_scale(humans, scale), True
    pairs = pair(rows, humans)
    if not pairs.keys:
        return MeasuredJudge(judge, scale, pairs, None)
    comparison = compare(
        pairs.human,
        pairs.judge,
        scale,
        mapped=mapped,
        threshold=threshold,
        pairwise=judge.metric == PREFERENCE,
        given=np.array([row.score for row in rows if row.score is not None], dtype=np.float64),
    )
    return MeasuredJudge(judge, scale, pairs, comparison)


Threshold = float | Mapping[str, float] | None


def threshold_of(judge: JudgeId, threshold: Threshold, rows: Sequence[Judgement]) -> float | None:
    """Return where this judge's scores are cut. threshold: one for all judges, or judge -> its own.

    Without one it is the threshold of the judge's file, which the judgements of a stack carry.
    """
    chosen = threshold.get(judge.judge) if isinstance(threshold, Mapping) else threshold
    if chosen is not None:
        return chosen
    own = {(row.metadata or {}).get(OWN_THRESHOLD) for row in rows if row.score is not None}
    [only] = own if len(own) == 1 else [None]
    return only if isinstance(only, float) else None


def check_thresholds(threshold: Threshold, rows_of: Mapping[JudgeId, Sequence[Judgement]]) -> None:
    """Raise DataError for a threshold that is not a finite number, or lies off the scale of a judge it names.

    One for all judges may lie off the scale of some: their cards say so. A judge of several metrics needs one
    that fits one of them.
    """
    if not isinstance(threshold, Mapping):
        if threshold is not None and not math.isfinite(threshold):
            raise DataError(
                f"threshold {threshold:g} is not a finite number: give a score of the judges' scale."
            )
        return
    for name, cut in threshold.items():
        scales = [_scale(rows) for judge, rows in rows_of.items() if judge.judge == name]
        known = [scale for scale in scales if scale]
        if not known and not math.isfinite(cut):
            raise DataError(
                f"threshold {cut:g} of judge {name!r} is not a finite number: give one of its scores."
            )
        if known and len(known) == len(scales) and not any(fits(cut, scale) for scale in known):
            raise DataError(off_scale(name, cut, known[0]))


def _scale(rows: Sequence[Judgement]) -> Scale:
    return next((row.scale for row in rows if row.scale), None)


def hits(judge: MeasuredJudge) -> dict[Key, float]:
    """Return 1 for each answer that got the human grade, else 0; empty if grades cannot be compared."""
    if judge.comparison is None or not judge.comparison.categories:
        return {}
    matches = exact_matches(judge.comparison.human, judge.comparison.judge)
    return dict(zip(judge.pairs.keys, matches.tolist(), strict=True))


def worths(comparison: GradeComparison, measure: AgreementMeasure) -> Floats | None:
    """Return what each answer is worth, the more the better; None where the measure means nothing here.

    Their mean is the exact agreement, the mean difference below 0, or Spearman's correlation (the product of
    the two standardised ranks, less what an answer adds to their variances: without that the spread of
    differences is not that of the correlations, which standardise anew in each resample). Ranks are of the
    scores as the judge gave them: a threshold would take the order from one judge and leave it to another.
    """
    human, judge = comparison.human, comparison.judge
    if measure == "exact agreement":
        return exact_matches(human, judge) if comparison.categories else None
    if measure == "difference":
        return -np.abs(judge - human) if comparison.same_unit else None
    first, second = _standard_ranks(human), _standard_ranks(comparison.raw)
    if first is None or second is None:
        return None
    product = first * second
    correlation = float(product.mean())
    return product + correlation * (1 - (first**2 + second**2) / 2)


def _standard_ranks(values: Floats) -> Floats | None:
    """Return mid-ranks with mean 0 and variance 1; None where all values are the same."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - counts / 2)[codes]
    spread = float(ranks.std())
    return None if spread == 0 else np.asarray((ranks - ranks.mean()) / spread)


def choose_measure(
    rows: Sequence[GradeComparison], declared: AgreementMeasure | None
) -> tuple[AgreementMeasure, str]:
    """Return what cells are ordered by, and why. Raises DataError for a declared one that no cell has."""

    def able(measure: AgreementMeasure) -> list[bool]:
        return [worths(row, measure) is not None for row in rows]

    if declared is not None:
        if not any(able(declared)):
            reasons = " ".join(
                next((row.notes for row in rows if row.notes), ["Their scales differ: give mapping."])
            )
            raise DataError(
                f"[bench.judges] measure = {declared!r}: no judge can be compared by it. {reasons}"
            )
        return declared, "as measure of [bench.judges] says"
    if all(able("exact agreement")):
        return "exact agreement", "labels and scores are compared grade by grade"
    if all(able("difference")):
        return "difference", "labels and scores are values on one scale"
    return "Spearman", "only the order of the answers can be compared"
