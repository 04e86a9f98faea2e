"""Scores and outcomes as probabilities: how far they hold, and how often the surest verdicts are right."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from ragstone.kernel.agreement._probability_sentence_table import (
    OF_CALIBRATION,
    OF_LEAN,
    OF_SUREST,
    OF_VERDICT,
    ProbabilitiesBesidePeople,
)
from ragstone.kernel.agreement.comparison import GradeComparison, Scale
from ragstone.kernel.agreement.pairing import GradePairs
from ragstone.kernel.records import OWN_THRESHOLD, YES_NO, Judgement
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import (
    Calibration,
    Clusters,
    Estimate,
    Floats,
    SelectiveAccuracy,
    calibration_of,
    cluster_codes,
    selective_of,
)

HALF = 0.5
MOST_LEFT_OUT = 0.5  # share of the answers whose grade people give in between the judge's


class CardProbabilities(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a card on probabilities; see ReportCard."""

    calibration: Calibration | None = None
    selective: SelectiveAccuracy | None = None
    probability_of: Literal["label 1", "its grade"] = "label 1"
    probability_notes: list[str] = []


class _Verdicts(msgspec.Struct, frozen=True, eq=False):
    """Answers at `at`: probabilities and what they are of, how sure each verdict is, whether it is right."""

    of: Literal["label 1", "its grade"]
    at: Sequence[int]
    likely: Floats
    true: Floats
    sure: Floats
    right: Floats


def probabilities_beside(
    comparison: GradeComparison,
    pairs: GradePairs,
    scale: Scale,
    clusters: Clusters,
    *,
    seed: int,
    resamples: int,
) -> CardProbabilities:
    """Return how far the judge's scores hold as probabilities; nothing unless they can be read so.

    With labels of 0 and 1, both present, the score is the probability of 1: on a scale of 0 to 1 or 0 to 100
    on which the judge gives more than its two ends. The scores are those before any threshold; its verdict
    is 1 from the threshold on, without one from the middle on, and as sure as the probability of it. With
    other grades the judgements' own probabilities of outcomes (`metadata.probabilities`) are read: that of
    the likeliest grade, beside whether people give the same.
    """
    read = _yes_no(comparison, scale) or _of_grades(comparison.human, pairs.rows)
    if read is None:
        return CardProbabilities()
    inside = cluster_codes(cluster_codes(clusters, len(pairs.keys))[list(read.at)], len(read.at))
    drawn = {"seed": seed, "resamples": resamples}
    calibration = calibration_of(read.likely, read.true, inside, **drawn)
    selective = selective_of(read.sure, read.right, inside, **drawn)
    if calibration is None:
        return CardProbabilities()
    facts = ProbabilitiesBesidePeople(
        calibration=calibration,
        selective=selective,
        n=len(read.at),
        n_clusters=int(inside.max()) + 1,
        given=gives_probabilities(pairs.rows),
        middle=read.of == "label 1" and comparison.threshold is None,
    )
    tables = (OF_CALIBRATION, OF_LEAN, OF_SUREST, OF_VERDICT)
    told = (say(facts, *sentences) for sentences in tables)
    return CardProbabilities(
        calibration=calibration,
        selective=selective,
        probability_of=read.of,
        probability_notes=[sentence for sentence in told if sentence],
    )


def gives_probabilities(rows: Sequence[Judgement]) -> bool:
    """Return whether a judge's scores are meant as probabilities: read from a model's, or a stack's."""
    kept = [row.metadata or {} for row in rows if row.score is not None]
    return bool(kept) and all("probabilities" in row or OWN_THRESHOLD in row for row in kept)


def probability_estimates(
    comparison: GradeComparison,
    rows: Sequence[Judgement],
    scale: Scale,
    clusters: Clusters,
    *,
    seed: int,
    resamples: int,
) -> dict[str, Estimate]:
    """Return `calibration error` and `Brier score` of a judge that gives probabilities of a yes, or {}."""
    read = _yes_no(comparison, scale) if gives_probabilities(rows) else None
    if read is None:
        return {}
    calibration = calibration_of(read.likely, read.true, clusters, seed=seed, resamples=resamples)
    return estimates_of(calibration, rows)


def estimates_of(calibration: Calibration | None, rows: Sequence[Judgement]) -> dict[str, Estimate]:
    """Return what a bench shows of the calibration of a judge, by name; {} unless it gives probabilities.

    A judge that gives every answer the same probability has no calibration error here: it would be near 0,
    the best there is, where that is the share of right answers.
    """
    if calibration is None or not gives_probabilities(rows):
        return {}
    error = {} if calibration.distinct == 1 else {"calibration error": calibration.error}
    return {**error, "Brier score": calibration.brier}


def _yes_no(comparison: GradeComparison, scale: Scale) -> _Verdicts | None:
    labels, raw, top = comparison.human, comparison.raw, scale[1] if scale else 1.0
    readable = scale in (None, (0, 1), (0, 100)) and raw.min() >= 0 and raw.max() <= top
    if not readable or np.isin(raw, (0.0, top)).all() or set(np.unique(labels)) != set(YES_NO):
        return None
    likely = np.asarray(raw / top)
    yes = likely >= (HALF if comparison.threshold is None else comparison.threshold / top)
    return _Verdicts(
        of="label 1",
        at=range(len(labels)),
        likely=likely,
        true=labels,
        sure=np.where(yes, likely, 1 - likely),
        right=(yes == (labels == 1)).astype(np.float64),
    )


def _of_grades(human: Floats, rows: Sequence[Judgement]) -> _Verdicts | None:
    """Return the probability of each judgement's likeliest grade, and whether it is people's."""
    graded = [_grades_of(row) for row in rows]
    if not all(graded):
        return None
    offered = {grade for grades in graded for grade in grades}
    at = [n for n, grade in enumerate(human.tolist()) if grade in offered]
    if len(at) < MOST_LEFT_OUT * len(rows) or not at:
        return None
    likeliest = [max(graded[n].items(), key=lambda item: item[1]) for n in at]
    sure = np.array([likely for _, likely in likeliest])
    right = np.array([grade == human[n] for n, (grade, _) in zip(at, likeliest, strict=True)], np.float64)
    return _Verdicts(of="its grade", at=at, likely=sure, true=right, sure=sure, right=right)


def _grades_of(row: Judgement) -> Mapping[float, float]:
    """Return grade -> probability; empty where the outcomes are not numbers or their values none."""
    given = (row.metadata or {}).get("probabilities")
    if not isinstance(given, Mapping):
        return {}
    try:
        grades = {float(outcome): float(likely) for outcome, likely in given.items()}
    except (TypeError, ValueError):
        return {}
    return grades if all(0 <= likely <= 1 for likely in grades.values()) else {}
