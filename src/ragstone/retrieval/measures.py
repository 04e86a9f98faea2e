"""What a ranking is worth to one question. The means over questions are taken in evaluate.py.

In all of them: `ranking` holds document ids, best first, no duplicates; `relevant` is not empty (a question
without relevant documents is left out and counted by the caller, and raises ValueError here); only the first
k places count, k >= 1. Unit: none, range [0, 1], 0 where no relevant document is in the first k.
"""

import math
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

Measure = Callable[[Sequence[str], AbstractSet[str], int], float]


def recall_at_k(ranking: Sequence[str], relevant: AbstractSet[str], k: int) -> float:
    """Return the share of the relevant documents that is in the first k places."""
    _check(relevant, k)
    return sum(document in relevant for document in ranking[:k]) / len(relevant)


def hit_at_k(ranking: Sequence[str], relevant: AbstractSet[str], k: int) -> float:
    """Return 1 if any relevant document is in the first k places, else 0. With one relevant, recall."""
    _check(relevant, k)
    return float(any(document in relevant for document in ranking[:k]))


def reciprocal_rank(ranking: Sequence[str], relevant: AbstractSet[str], k: int) -> float:
    """Return 1 / rank of the first relevant document. The mean is MRR (Voorhees 1999, TREC-8)."""
    _check(relevant, k)
    rank = first_rank(ranking[:k], relevant)
    return 1 / rank if rank else 0.0


def rank_score(ranking: Sequence[str], relevant: AbstractSet[str], k: int) -> float:
    """Return 1 for a relevant document in first place, falling by 1/k a place, 0 where it is absent.

    With k = 5: 1.0, 0.8, 0.6, 0.4, 0.2, and 0 from the sixth place on. Unlike the reciprocal rank it does
    not make the step from first to second place the largest one.
    """
    _check(relevant, k)
    rank = first_rank(ranking[:k], relevant)
    return 1 - (rank - 1) / k if rank else 0.0


def ndcg_at_k(ranking: Sequence[str], relevant: AbstractSet[str], k: int) -> float:
    """Return the normalised discounted cumulative gain, gains being 0 or 1 (Järvelin and Kekäläinen 2002).

    A relevant document in place r counts 1 / log2(r + 1); the sum is divided by the best that is possible
    with this many relevant documents in k places.
    """
    _check(relevant, k)
    gain = sum(_discount(rank) for rank, document in enumerate(ranking[:k], 1) if document in relevant)
    return gain / sum(_discount(rank) for rank in range(1, min(k, len(relevant)) + 1))


def first_rank(ranking: Sequence[str], relevant: AbstractSet[str]) -> int | None:
    """Return the place of the first relevant document, counted from 1; None where there is none."""
    return next((rank for rank, document in enumerate(ranking, 1) if document in relevant), None)


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _check(relevant: AbstractSet[str], k: int) -> None:
    if not relevant:
        raise ValueError("no relevant documents: leave the question out and count it, see evaluate.py")
    if k < 1:
        raise ValueError(f"k is {k}: at least the first place must count")


MEASURES: dict[str, Measure] = {
    "recall": recall_at_k,
    "hit": hit_at_k,
    "ndcg": ndcg_at_k,
    "mrr": reciprocal_rank,
    "rank_score": rank_score,
}
