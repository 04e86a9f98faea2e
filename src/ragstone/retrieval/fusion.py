"""Several rankings of the same question -> one."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from ragstone.records import Question, Ranking, RankingItem
from ragstone.retrieval.means import Search

RRF_K = 60
FUSED_DEPTH = 100  # each retriever's places that a fusion sees, if more than k are not asked for

Key = TypeVar("Key", bound=Hashable)

Place = tuple[str, str | None, int | None, int | None]
"""What makes two items the same: document, chunk, start, end."""


def fuse(searches: Sequence[Search], weights: Sequence[float] | None = None) -> Search:
    """Return the search that fuses what these find: by reciprocal ranks, or by weighted scores."""

    async def search(questions: Sequence[Question], k: int) -> list[Ranking]:
        depth = max(k, FUSED_DEPTH)
        found = [await one(questions, depth) for one in searches]
        return [
            Ranking(
                question_id=question.id,
                retriever="",
                items=_fuse_items([ranking.items for ranking in of_question], weights)[:k],
                metadata={key: value for one in of_question for key, value in (one.metadata or {}).items()}
                or None,
            )
            for question, of_question in zip(questions, zip(*found, strict=True), strict=True)
        ]

    return search


def _fuse_items(
    rankings: Sequence[Sequence[RankingItem]], weights: Sequence[float] | None
) -> list[RankingItem]:
    items: dict[Place, RankingItem] = {}
    places: list[list[tuple[Place, float]]] = []
    for ranking in rankings:
        own: dict[Place, float] = {}  # a retriever elsewhere may name a place twice: the first counts
        for item in ranking:
            items.setdefault(place_of(item), item)
            own.setdefault(place_of(item), item.score)
        places.append(list(own.items()))
    scores = reciprocal_rank_fusion(places) if weights is None else weighted_fusion(places, weights)
    return [msgspec.structs.replace(items[place], score=score) for place, score in scores]


def place_of(item: RankingItem) -> Place:
    """Return what two items that are the same share, whatever their scores."""
    return item.document_id, item.chunk_id, item.start, item.end


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[tuple[Key, float]]], k: int = RRF_K
) -> list[tuple[Key, float]]:
    """Return every key that any ranking names, with the sum of 1 / (k + rank), best first.

    rankings: (key, score), best first, no key twice in one ranking. Equal sums in the order in which the
    rankings name the keys. Only ranks count, so rankings with scores of any unit fuse (Cormack, Clarke and
    Büttcher 2009, SIGIR; k = 60 there).
    """
    fused: dict[Key, list[float]] = {}
    for ranking in rankings:
        for rank, (key, _) in enumerate(ranking, 1):
            fused.setdefault(key, []).append(1 / (k + rank))
    return _best_first(fused)


def weighted_fusion(
    rankings: Sequence[Sequence[tuple[Key, float]]], weights: Sequence[float]
) -> list[tuple[Key, float]]:
    """Return every key that any ranking names, with the weighted sum of its scaled scores, best first.

    The scores of each ranking are scaled to [0, 1], its best being 1 and its last 0 (all 1, where they are
    equal); where it does not name a key it gives 0. One weight a ranking; sums are in their unit. Ties as
    in reciprocal_rank_fusion.
    """
    fused: dict[Key, list[float]] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        scores = [score for _, score in ranking]
        low, width = min(scores, default=0.0), max(scores, default=0.0) - min(scores, default=0.0)
        for key, score in ranking:
            fused.setdefault(key, []).append(weight * ((score - low) / width if width else 1.0))
    return _best_first(fused)


def _best_first(parts: Mapping[Key, Iterable[float]]) -> list[tuple[Key, float]]:
    # Rounded once, whatever the order of the terms: equal sums are equal.
    sums = ((key, math.fsum(terms)) for key, terms in parts.items())
    return sorted(sums, key=lambda hit: -hit[1])
