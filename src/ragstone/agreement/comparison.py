"""On what footing a judge's scores and people's grades can be compared: grade by grade, in units, or in rank.

Nothing is cut or rescaled unless the caller says how: a yes/no label against a percentage needs a threshold,
labels on another scale need a mapping. Without them only order and correlation are compared.
"""

import msgspec
import numpy as np

from ragstone.statistics import Floats

MAX_GRADES = 11  # 0 to 10 is a scale of grades; more values than that are read as a continuous scale
YES_NO = (0.0, 1.0)
Scale = tuple[float, float] | None


class Comparison(msgspec.Struct, frozen=True, eq=False, kw_only=True):
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
) -> Comparison:
    """Return on what footing the two are compared; there is at least one pair.

    scale: the lowest and the highest score of the judge, if known. mapped: the caller has said which judge
    scores the labels stand for. threshold: a judge's score of at least this counts as 1, below as 0; it
    is for labels of 0 and 1 only, and a judge that says 0 or 1 itself does not need it. pairwise: the scores
    say which of two answers is better, and 0.5 is a tie: a grade like 0 and 1.
    """
    labels_yes_no = bool(np.isin(human, YES_NO).all())
    judge_yes_no = bool(np.isin(judge, YES_NO).all()) and scale in (None, YES_NO)
    if pairwise:
        return _on_scale(human, judge, scale, mapped)
    if labels_yes_no and judge_yes_no:
        return Comparison(human=human, judge=judge, raw=judge, categories=[*YES_NO], same_unit=True, notes=[])
    if labels_yes_no and threshold is not None:
        return _cut(human, judge, scale, threshold)
    if labels_yes_no and not mapped:
        return _in_rank(human, judge, f"The labels are 0 or 1 and {_span(judge, scale)}: give a threshold.")
    return _on_scale(human, judge, scale, mapped)


def _cut(human: Floats, judge: Floats, scale: Scale, threshold: float) -> Comparison:
    if scale and not scale[0] < threshold <= scale[1]:
        return _in_rank(human, judge, f"The threshold {threshold:g} does not apply: {_span(judge, scale)}.")
    return Comparison(
        human=human,
        judge=(judge >= threshold).astype(np.float64),
        raw=judge,
        categories=[*YES_NO],
        same_unit=True,
        threshold=threshold,
        notes=[f"A score of at least {threshold:g} counts as 1, below as 0; {_span(judge, scale)}."],
    )


def _on_scale(human: Floats, judge: Floats, scale: Scale, mapped: bool) -> Comparison:
    if scale and (human.min() < scale[0] or human.max() > scale[1]):
        note = (
            f"The labels hold {_values(human)} and {_span(judge, scale)}: give a mapping of label to score."
        )
        return _in_rank(human, judge, note, off_scale=True)
    seen = np.union1d(human, judge)
    if len(seen) <= MAX_GRADES and (scale is None or scale[1] - scale[0] < MAX_GRADES):
        categories = _grades(seen, scale)
        return Comparison(
            human=human, judge=judge, raw=judge, categories=categories, same_unit=True, notes=[]
        )
    if not mapped and len(np.unique(human)) <= MAX_GRADES:
        note = (
            f"The labels hold {_values(human)} and {_span(judge, scale)}: give a mapping of label to score."
        )
        return _in_rank(human, judge, note)
    note = f"Too many different scores to compare grade by grade: {_span(judge, scale)}."
    return Comparison(human=human, judge=judge, raw=judge, categories=[], same_unit=True, notes=[note])


def _grades(seen: Floats, scale: Scale) -> list[float]:
    """Return every grade of a scale of whole numbers, also those that nobody gave; else those seen."""
    if (seen == np.round(seen)).all():
        low, high = scale or (seen[0], seen[-1])
        return [float(grade) for grade in range(int(np.floor(low)), int(np.ceil(high)) + 1)]
    return [float(grade) for grade in seen]


def _in_rank(human: Floats, judge: Floats, note: str, *, off_scale: bool = False) -> Comparison:
    notes = [note, "Until then only order and correlation are compared: no exact agreement, no kappa."]
    return Comparison(
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
    shown = ", ".join(f"{value:g}" for value in values[:5])
    return f"{shown}, … {values[-1]:g}" if len(values) > 5 else shown
