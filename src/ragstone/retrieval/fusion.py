"""Several rankings of the same question -> one."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

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
        fused = (
            _fuse_items([ranking.items for ranking in of_question], weights)
            for of_question in zip(*found, strict=True)
        )
        return [
            Ranking(question_id=question.id, retriever="", items=items[:k])
            for question, items in zip(questions, fused, strict=True)
        ]

    return search


def _fuse_items(
    rankings: Sequence[Sequence[RankingItem]], weights: Sequence[float] | None
) -> list[RankingItem]:
    items: dict[Place, RankingItem] = {}
    for ranking in rankings:
        for item in ranking:
            items.setdefault(place_of(item), item)
    places = [[(place_of(item), item.score) for item in ranking] for ranking in rankings]
    scores = reciprocal_rank_fusion(places) if weights is None else weighted_fusion(places, weights)
    return [
        RankingItem(
            document_id=items[place].document_id,
            chunk_id=items[place].chunk_id,
            start=items[place].start,
            end=items[place].end,
            score=score,
        )
        for place, score in scores
    ]


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
    fused: dict[Key, float] = {}
    for ranking in rankings:
        for rank, (key, _) in enumerate(ranking, 1):
            fused[key] = fused.get(key, 0.0) + 1 / (k + rank)
    return sorted(fused.items(), key=lambda hit: -hit[1])


def weighted_fusion(
    rankings: Sequence[Sequence[tuple[Key, float]]], weights: Sequence[float]
) -> list[tuple[Key, float]]:
    """Return every key that any ranking names, with the weighted sum of its scaled scores, best first.

    The scores of each ranking are scaled to [0, 1], its best being 1 and its last 0 (all 1, where they are
    equal); where it does not name a key it gives 0. One weight a ranking; sums are in their unit. Ties as
    in reciprocal_rank_fusion.
    """
    fused: dict[Key, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        scores = [score for _, score in ranking]
        low, width = min(scores, default=0.0), max(scores, default=0.0) - min(scores, default=0.0)
        for key, score in ranking:
            scaled = (score - low) / width if width else 1.0
            fused[key] = fused.get(key, 0.0) + weight * scaled
    return sorted(fused.items(), key=lambda hit: -hit[1])
