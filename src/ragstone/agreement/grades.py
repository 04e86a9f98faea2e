"""Grade by grade, and probability by probability: where does the judge go wrong?"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from ragstone.agreement.card import Calibration, GradeAgreement, ReliabilityBin, grade_name
from ragstone.agreement.comparison import YES_NO, Comparison, Scale
from ragstone.records import Judgement
from ragstone.statistics import (
    BINS,
    Clusters,
    Codes,
    Estimate,
    Floats,
    bootstrap_estimates,
    calibration_columns,
    cluster_codes,
    cluster_totals,
    mean_estimate,
    reliability_bins,
)

LONGEST_NAME = 24


def grade_agreements(
    comparison: Comparison, clusters: Clusters, *, seed: int, resamples: int
) -> list[GradeAgreement]:
    """Return recall and precision of each grade; empty where grades cannot be compared."""
    human, judge = comparison.human, comparison.judge
    codes = cluster_codes(clusters, len(human))

    def share(of: Floats, among: Floats, grade: float) -> Estimate | None:
        at = np.flatnonzero(among == grade)
        inside = codes[at]
        return mean_estimate((of[at] == grade).astype(float), inside, seed=seed, resamples=resamples)

    return [
        GradeAgreement(
            grade=grade,
            n_human=int((human == grade).sum()),
            n_judge=int((judge == grade).sum()),
            recall=share(judge, human, grade),
            precision=share(human, judge, grade),
        )
        for grade in comparison.categories
    ]


def grade_names(comparison: Comparison, metric: str, rows: Sequence[Judgement]) -> list[str]:
    """Return what each grade is called: by the metric, else by the judge's own labels, else its number.

    A judge's label counts if it always stands for the same score and is short. Labels of scores that were cut
    at a threshold are not those of the grades that came of it.
    """
    categories = comparison.categories
    labels: dict[float, set[str | None]] = {}
    for row in rows:
        if row.score is not None and comparison.threshold is None:
            labels.setdefault(row.score, set()).add(row.label)
    own = {score: next(iter(given)) or "" for score, given in labels.items() if len(given) == 1}
    known = [grade_name(metric, grade, categories) for grade in categories]
    return [
        own[grade]
        if name == f"{grade:g}" and 0 < len(own.get(grade, "")) <= LONGEST_NAME and _is_word(own[grade])
        else name
        for name, grade in zip(known, categories, strict=True)
    ]


def _is_word(label: str) -> bool:
    return any(character.isalpha() for character in label)


def calibration_of(
    comparison: Comparison, scale: Scale, clusters: Clusters, *, seed: int, resamples: int
) -> Calibration | None:
    """Return how far the judge's scores hold as probabilities; None unless they can be read so.

    That takes labels of 0 and 1, both present, and a scale of 0 to 1 or 0 to 100 on which the judge gives
    more than its two ends. The scores are those before any threshold.
    """
    labels, probabilities = comparison.human, _probabilities(comparison.raw, scale)
    if probabilities is None or set(np.unique(labels)) != set(YES_NO):
        return None
    columns, statistics = calibration_columns(probabilities, labels)
    codes = cluster_codes(clusters, len(labels))
    totals = cluster_totals(columns, codes)
    found = bootstrap_estimates(totals, statistics, len(labels), seed=seed, resamples=resamples)
    error, brier = found["expected calibration error"], found["Brier score"]
    if error is None or brier is None:
        return None
    bins = reliability_bins(probabilities)
    bin_of = partial(_bin, bins, probabilities, labels, clusters=codes, seed=seed, resamples=resamples)
    return Calibration(
        bins=[made for number in range(BINS) if (made := bin_of(number))],
        error=error,
        brier=brier,
        rate_brier=float(labels.mean() * (1 - labels.mean())),
    )


def _probabilities(raw: Floats, scale: Scale) -> Floats | None:
    top = scale[1] if scale else 1.0
    readable = scale in (None, (0, 1), (0, 100)) and raw.min() >= 0 and raw.max() <= top
    if not readable or np.isin(raw, (0.0, top)).all():
        return None
    return np.asarray(raw / top)


def _bin(
    bins: Codes,
    probabilities: Floats,
    labels: Floats,
    number: int,
    *,
    clusters: Codes,
    seed: int,
    resamples: int,
) -> ReliabilityBin | None:
    at = np.flatnonzero(bins == number)
    right = mean_estimate(labels[at], clusters[at], seed=seed, resamples=resamples)
    if right is None:
        return None
    mean = float(probabilities[at].mean())
    return ReliabilityBin(low=number / BINS, high=(number + 1) / BINS, mean=mean, right=right)
