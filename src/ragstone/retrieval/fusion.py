"""Several rankings of the same question -> one."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Literal, TypeVar

import msgspec

from ragstone.records import Question, Ranking, RankingItem
from ragstone.retrieval.means import Search

RRF_K = 60
FUSED_DEPTH = 100  # each retriever's places that a fusion sees, if more than k are not asked for

Key = TypeVar("Key", bound=Hashable)

Place = tuple[str, str | None, int | None, int | None]
"""What makes two items the same: document, chunk, start, end."""


def fuse(searches: Sequence[Search], weights: Sequence[float], by: Literal["scores", "ranks"]) -> Search:
    """Return the search that fuses what these find, to a depth of at least FUSED_DEPTH."""

    async def search(questions: Sequence[Question], k: int) -> list[Ranking]:
        depth = max(k, FUSED_DEPTH)
        found = [await one(questions, depth) for one in searches]
        return [
            Ranking(
                question_id=question.id,
                retriever="",
                items=_fuse_items([ranking.items for ranking in of_question], weights, by, depth, k=k),
                metadata={key: value for one in of_question for key, value in (one.metadata or {}).items()}
                or None,
            )
            for question, of_question in zip(questions, zip(*found, strict=True), strict=True)
        ]

    return search


def _fuse_items(
    rankings: Sequence[Sequence[RankingItem]],
    weights: Sequence[float],
    by: Literal["scores", "ranks"],
    depth: int,
    *,
    k: int,
) -> list[RankingItem]:
    items: dict[Place, RankingItem] = {}
    places: list[list[tuple[Place, float]]] = []
    for ranking in rankings:
        own: dict[Place, float] = {}  # a retriever elsewhere may name a place twice: the first counts
        for item in ranking:
            items.setdefault(place_of(item), item)
            own.setdefault(place_of(item), item.score)
        places.append(list(own.items()))
    if by == "ranks":
        scores = reciprocal_rank_fusion(places, weights)
    else:
        scores = score_fusion(places, weights, depth)
    return [msgspec.structs.replace(items[place], score=score) for place, score in scores[:k]]


def place_of(item: RankingItem) -> Place:
    """Return what two items that are the same share, whatever their scores and the name of the chunk."""
    return item.document_id, item.chunk_id if item.start is None else None, item.start, item.end


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[tuple[Key, float]]], weights: Sequence[float]
) -> list[tuple[Key, float]]:
    """Return every key that any ranking names, with the sum of weight / (RRF_K + rank), best first.

    rankings: (key, score), best first, no key twice in one ranking. One weight a ranking. Equal
    sums in the order in which the rankings name the keys. Only ranks count, so rankings with scores of any
    unit fuse (Cormack, Clarke and Büttcher 2009, SIGIR; k = 60 there).
    """
    fused: dict[Key, list[float]] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, (key, _) in enumerate(ranking, 1):
            fused.setdefault(key, []).append(weight / (RRF_K + rank))
    return _best_first(fused)


def score_fusion(
    rankings: Sequence[Sequence[tuple[Key, float]]], weights: Sequence[float], depth: int = FUSED_DEPTH
) -> list[tuple[Key, float]]:
    """Return every key that any ranking names, with the weighted sum of its standard scores, best first.

    The scores of each ranking are brought to mean 0 and standard deviation 1. A key that it does not name
    counts as its last; where it has fewer than `depth` places it had nothing more to name, and such a key
    counts as one more of score 0 (or its last, if that is less). One weight a ranking. Ties as in
    reciprocal_rank_fusion. Standard scores stand up to outliers that scaling by best and last does not
    (Renda and Straccia 2003, SAC).
    """
    keys = list(dict.fromkeys(key for ranking in rankings for key, _ in ranking))
    fused: dict[Key, list[float]] = {key: [] for key in keys}
    for ranking, weight in zip(rankings, weights, strict=True):
        if ranking:
            standard, absent = _standardised(ranking, depth)
            for key in keys:
                fused[key].append(weight * standard.get(key, absent))
    return _best_first(fused)


def _standardised(ranking: Sequence[tuple[Key, float]], depth: int) -> tuple[dict[Key, float], float]:
    """Return the standard score of each key that a ranking names, and of those that it does not."""
    scores = [score for _, score in ranking]
    lowest = min(scores)
    if len(scores) < depth:
        lowest = min(0.0, lowest)
        scores = [*scores, lowest]
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    if not deviation:  # all alike, which still are more than what is not named
        return dict.fromkeys((key for key, _ in ranking), 0.0), -1.0
    return {key: (score - mean) / deviation for key, score in ranking}, (lowest - mean) / deviation


def _best_first(parts: Mapping[Key, Iterable[float]]) -> list[tuple[Key, float]]:
    # Rounded once, whatever the order of the terms: equal sums are equal.
    sums = ((key, math.fsum(terms)) for key, terms in parts.items())
    return sorted(sums, key=lambda hit: -hit[1])
