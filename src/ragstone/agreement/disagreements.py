"""Which disagreements teach most: far apart, from every system, and with reasons on both sides."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ragstone.agreement.card import Disagreement
from ragstone.agreement.comparison import YES_NO, Comparison
from ragstone.agreement.pairing import Human, Pairs
from ragstone.statistics import Floats

MOST = 10
LONGEST = 600  # characters of a text that are kept


def instructive_disagreements(comparison: Comparison, pairs: Pairs) -> list[Disagreement]:
    """Return at most ten answers on which judge and people differ, the largest distance first.

    Distances are compared in tenths of the largest. Where they are equal, systems take turns, and with them
    the lenient and the harsh; a question is shown once as long as there are others; answers on which people
    agree with each other, and those that come with both reasons, are preferred. With a threshold the distance
    is that of the score from it; without a common unit it is that of the rank from people's rank, or from
    their 0 or 1, from half of the range on.
    """
    apart = comparison.judge - comparison.human
    if not comparison.same_unit:
        yes_no = np.isin(comparison.human, YES_NO).all()
        apart = _ranks(comparison.raw) - (comparison.human if yes_no else _ranks(comparison.human))
        apart[np.abs(apart) <= 0.5] = 0
    elif comparison.threshold is not None:
        apart = np.sign(apart) * (1e-9 + np.abs(comparison.raw - comparison.threshold))
    return [_told(pairs, place) for place in _chosen(apart, pairs)]


def _ranks(values: Floats) -> Floats:
    """Return the mid-rank of each value, from 0 to 1."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(((np.cumsum(counts) - counts / 2) / len(values))[codes])


def _chosen(apart: Floats, pairs: Pairs) -> list[int]:
    """Return the places of at most ten, in the order in which they are shown."""
    distances = np.abs(apart)
    tenths = np.ceil(10 * distances / (distances.max() or 1.0) - 1e-6)
    chosen: list[int] = []
    for tenth in np.unique(tenths)[::-1]:
        waiting = [int(place) for place in np.flatnonzero((tenths == tenth) & (distances > 0))]
        waiting.sort(key=lambda place: _worth(pairs, place))
        while waiting and len(chosen) < MOST:
            chosen.append(_next(waiting, apart, pairs, chosen))
            waiting.remove(chosen[-1])
    return chosen


def _next(waiting: Sequence[int], apart: Floats, pairs: Pairs, chosen: Sequence[int]) -> int:
    """Return the first of those whose question, then system, then side was shown least often."""
    questions = Counter(pairs.clusters[place] for place in chosen)
    systems = Counter(pairs.systems[place] for place in chosen)
    sides = Counter(apart[place] > 0 for place in chosen)
    return min(
        waiting,
        key=lambda place: (
            questions[pairs.clusters[place]],
            systems[pairs.systems[place]],
            sides[apart[place] > 0],
        ),
    )


def _worth(pairs: Pairs, place: int) -> tuple[bool, bool, tuple[str, str]]:
    """Return what orders answers of one distance, the best first."""
    human = pairs.humans[place]
    n_reasons = bool(_reasons(human)) + bool(pairs.rows[place].rationale)
    return _divided(human), n_reasons < 2, pairs.keys[place]


def _told(pairs: Pairs, place: int) -> Disagreement:
    row, human = pairs.rows[place], pairs.humans[place]
    return Disagreement(
        question_id=row.question_id,
        system=pairs.systems[place],
        human=float(pairs.human[place]),
        judge=float(pairs.judge[place]),
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
