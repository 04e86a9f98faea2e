"""Which disagreements teach most: far apart, from every system, and with reasons on both sides."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from ragstone.agreement.card import Disagreement
from ragstone.agreement.comparison import Comparison
from ragstone.agreement.pairing import Human, Pairs
from ragstone.statistics import Floats

MOST = 10
LONGEST = 600  # characters of a text that are kept


def instructive_disagreements(comparison: Comparison, pairs: Pairs) -> list[Disagreement]:
    """Return at most ten answers on which judge and people differ.

    The largest distance first; of equal ones those of systems that were shown less often, then those on which
    people agree with each other, then those that come with both reasons. Without a common unit the distance
    is that of the ranks, and answers less than half of the range apart are left out.
    """
    if comparison.same_unit:
        distances = np.abs(comparison.judge - comparison.human)
        least = 0.0
    else:
        distances = np.abs(_ranks(comparison.raw) - _ranks(comparison.human))
        least = 0.5
    places = [int(place) for place in np.flatnonzero(distances > least)]
    return [_told(pairs, place) for place in _chosen(distances, pairs, places)]


def _ranks(values: Floats) -> Floats:
    """Return the mid-rank of each value, from 0 to 1."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(((np.cumsum(counts) - counts / 2) / len(values))[codes])


def _chosen(distances: Floats, pairs: Pairs, places: Sequence[int]) -> list[int]:
    """Return the places of at most ten, taking turns among the systems where distances are equal."""
    by_distance: dict[float, list[int]] = defaultdict(list)
    for place in places:
        by_distance[round(float(distances[place]), 9)].append(place)
    chosen: list[int] = []
    for distance in sorted(by_distance, reverse=True):
        chosen += _in_turns(by_distance[distance], pairs, chosen)
        if len(chosen) >= MOST:
            break
    return chosen[:MOST]


def _in_turns(places: Sequence[int], pairs: Pairs, chosen: Sequence[int]) -> Iterator[int]:
    shown: dict[str, int] = defaultdict(int)
    for place in chosen:
        shown[pairs.systems[place]] += 1
    waiting: dict[str, list[int]] = defaultdict(list)
    for place in sorted(places, key=lambda place: _worth(pairs, place), reverse=True):
        waiting[pairs.systems[place]].append(place)
    for _ in range(min(MOST, len(places))):
        system = min((name for name in waiting if waiting[name]), key=lambda name: (shown[name], name))
        shown[system] += 1
        yield waiting[system].pop()


def _worth(pairs: Pairs, place: int) -> tuple[bool, bool, tuple[str, str]]:
    """Return what orders answers of one distance and one system, the best last taken first."""
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
