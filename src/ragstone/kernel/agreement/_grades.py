"""Grade by grade and answer by answer: where does the judge go wrong?"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ragstone.kernel.agreement.card import Disagreement, GradeAgreement, grade_name
from ragstone.kernel.agreement.comparison import GradeComparison
from ragstone.kernel.agreement.pairing import GradePairs, Human
from ragstone.kernel.records import Judgement
from ragstone.kernel.statistics import (
    Clusters,
    Estimate,
    Floats,
    cluster_codes,
    is_yes_no,
    mean_estimate,
)

LONGEST_NAME = 24


def grade_agreements(
    comparison: GradeComparison, clusters: Clusters, *, seed: int, resamples: int
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


def grade_names(comparison: GradeComparison, metric: str, rows: Sequence[Judgement]) -> list[str]:
    """Return what each grade is called: by the metric, else by the judge's own labels, else its number.

    A judge's label counts if it always stands for the same score and is short. Labels of scores that were cut
    at a threshold are not those of the grades that came of it.
    """
    categories = comparison.categories
    labels: dict[float, set[str | None]] = {}
    for row in rows:
        if row.score is not None and comparison.threshold is None:
            labels.setdefault(row.score, set()).add(row.label)
    own = {score: next(iter(names)) or "" for score, names in labels.items() if len(names) == 1}
    known = [grade_name(metric, grade, categories) for grade in categories]
    return [
        own[grade]
        if name == f"{grade:g}"
        and 0 < len(own.get(grade, "")) <= LONGEST_NAME
        and any(map(str.isalpha, own[grade]))
        else name
        for name, grade in zip(known, categories, strict=True)
    ]


MOST = 10
LONGEST = 600  # characters of a text that are kept


def instructive_disagreements(comparison: GradeComparison, pairs: GradePairs) -> list[Disagreement]:
    """Return at most ten answers on which judge and people differ, the largest distance first.

    Distances are compared in tenths of the largest. Where they are equal, systems take turns, and with them
    the lenient and the harsh; a question is shown once as long as there are others; answers on which people
    agree with each other, and those that come with both reasons, are preferred. With a threshold the distance
    is that of the score from it; without a common unit it is that of the rank from people's rank, or from
    their 0 or 1, from half of the range on.
    """
    apart = comparison.judge - comparison.human
    if not comparison.same_unit:
        yes_no = is_yes_no(comparison.human)
        apart = _ranks(comparison.raw) - (comparison.human if yes_no else _ranks(comparison.human))
        apart[np.abs(apart) <= 0.5] = 0
    elif comparison.threshold is not None:
        apart = np.sign(apart) * (1e-9 + np.abs(comparison.raw - comparison.threshold))
    return [_disagreement(pairs, at) for at in _chosen(apart, pairs)]


def _ranks(values: Floats) -> Floats:
    """Return the mid-rank of each value, from 0 to 1."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(((np.cumsum(counts) - counts / 2) / len(values))[codes])


def _chosen(apart: Floats, pairs: GradePairs) -> list[int]:
    """Return the places of at most ten, in the order in which they are shown."""
    distances = np.abs(apart)
    tenths = np.ceil(10 * distances / (distances.max() or 1.0) - 1e-6)
    n_reasons = [
        bool(_reasons(human)) + bool(row.rationale)
        for human, row in zip(pairs.humans, pairs.rows, strict=True)
    ]
    chosen: list[int] = []
    for tenth in np.unique(tenths)[::-1]:
        waiting = [int(at) for at in np.flatnonzero((tenths == tenth) & (distances > 0))]
        waiting.sort(key=lambda at: (_divided(pairs.humans[at]), n_reasons[at] < 2, pairs.keys[at]))
        while waiting and len(chosen) < MOST:
            chosen.append(_next(waiting, apart, pairs, chosen))
            waiting.remove(chosen[-1])
    return chosen


def _next(waiting: Sequence[int], apart: Floats, pairs: GradePairs, chosen: Sequence[int]) -> int:
    """Return the first of those whose question, then system, then side was shown least often."""
    questions = Counter(pairs.clusters[at] for at in chosen)
    systems = Counter(pairs.systems[at] for at in chosen)
    sides = Counter(apart[at] > 0 for at in chosen)
    return min(
        waiting,
        key=lambda at: (
            questions[pairs.clusters[at]],
            systems[pairs.systems[at]],
            sides[apart[at] > 0],
        ),
    )


def _disagreement(pairs: GradePairs, at: int) -> Disagreement:
    row, human = pairs.rows[at], pairs.humans[at]
    return Disagreement(
        question_id=row.question_id,
        system=pairs.systems[at],
        human=float(pairs.human[at]),
        judge=float(pairs.judge[at]),
        grades=human.grades,
        divided=_divided(human),
        question=_text_of(human, "question"),
        answer=_text_of(human, "answer"),
        reference=_text_of(human, "reference"),
        human_reasons=_reasons(human),
        judge_reason=_cut(row.rationale) if row.rationale else None,
    )


def _divided(human: Human) -> bool:
    return len(set(human.grades)) > 1


def _reasons(human: Human) -> list[str]:
    return [_cut(label.rationale) for label in human.labels if label.rationale]


def _text_of(human: Human, field: str) -> str | None:
    for label in human.labels:
        value = (label.metadata or {}).get(field)
        if isinstance(value, list):
            value = " / ".join(str(part) for part in value)
        if isinstance(value, str) and value.strip():
            return _cut(value)
    return None


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST].rstrip() + "…"
