"""Several rankings of the same question -> one."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from itertools import combinations, product
from typing import Literal, TypeVar

import msgspec

from ragstone.kernel.records import Chunk, Question, Ranking, RankingItem
from ragstone.kernel.retrieval.deps import Search

RRF_K = 60
WORDS, MEANING = 0.4, 0.6  # of `hybrid`, see RETRIEVERS in search.py
FUSED_DEPTH = 100  # each retriever's places that a fusion sees, if more than k are not asked for

Key = TypeVar("Key", bound=Hashable)

Place = tuple[str, str | None, int | None, int | None]
"""What makes two items the same: document, chunk, start, end."""

Span = tuple[str, int | None, int | None]
"""Where a piece stands: document, start, end."""


def fuse(
    searches: Sequence[Search],
    weights: Sequence[float],
    by: Literal["scores", "ranks"],
    chunks: Sequence[Chunk] | None = None,
) -> Search:
    """Return the search that fuses what these find, to a depth of at least FUSED_DEPTH.

    chunks: those of the corpus, where one of these searches may find other pieces, as one elsewhere does;
    None where none does. A question for which two of them find pieces that cannot meet, such as a chunk and
    its whole document, is fused by document: each document once, and `fused_by: document` in the metadata.
    """
    ours = None if chunks is None else {(chunk.document_id, chunk.start, chunk.end) for chunk in chunks}

    async def search(questions: Sequence[Question], k: int) -> list[Ranking]:
        depth = max(k, FUSED_DEPTH)
        by_search = [await each(questions, depth) for each in searches]
        fused = []
        for question, of_question in zip(questions, zip(*by_search, strict=True), strict=True):
            rankings = [ranking.items for ranking in of_question]
            metadata = {
                key: value for ranking in of_question for key, value in (ranking.metadata or {}).items()
            }
            if ours is not None and _cut_otherwise(rankings, ours):
                items = _fuse_documents(rankings, weights, by, depth)
                metadata["fused_by"] = "document"
            else:
                items = _fuse_pieces(rankings, weights, by, depth)
            fused.append(
                Ranking(question_id=question.id, retriever="", items=items[:k], metadata=metadata or None)
            )
        return fused

    return search


def _fuse_pieces(
    rankings: Sequence[Sequence[RankingItem]],
    weights: Sequence[float],
    by: Literal["scores", "ranks"],
    depth: int,
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
        scores = score_fusion(places, weights, [depth] * len(places))
    return [msgspec.structs.replace(items[at], score=score) for at, score in scores]


def _fuse_documents(
    rankings: Sequence[Sequence[RankingItem]],
    weights: Sequence[float],
    by: Literal["scores", "ranks"],
    depth: int,
) -> list[RankingItem]:
    """Return each document once: every ranking counts as that of its documents, each by its first item."""
    by_document: dict[
        str, list[tuple[int, RankingItem]]
    ] = {}  # document -> its first items, each with its rank
    documents: list[list[tuple[str, float]]] = []
    for ranking in rankings:
        first: dict[str, RankingItem] = {}
        for item in ranking:
            first.setdefault(item.document_id, item)
        for rank, (document, item) in enumerate(first.items(), 1):
            by_document.setdefault(document, []).append((rank, item))
        documents.append([(document, item.score) for document, item in first.items()])
    if by == "ranks":
        scores = reciprocal_rank_fusion(documents, weights)
    else:
        # A ranking that was full is so still, though it has fewer documents than it had pieces.
        pairs = zip(rankings, documents, strict=True)
        depths = [depth if len(ranking) < depth else len(own) for ranking, own in pairs]
        scores = score_fusion(documents, weights, depths)
    return [
        msgspec.structs.replace(_narrowest(by_document[document]), score=score) for document, score in scores
    ]


def _narrowest(items: Sequence[tuple[int, RankingItem]]) -> RankingItem:
    """Return the item that says best where in its document to read; of equal ones that of the best rank.

    A piece with its place comes first, then a passage whose place is not known, then what holds another of
    the pieces, or is the whole document. items: (rank, item) of one document.
    """

    def breadth(item: RankingItem) -> int:
        if item.start is None:
            return 1 if item.text or item.chunk_id else 2
        return 2 if any(_holds(item, other) for _, other in items) else 0

    return min(items, key=lambda ranked: (breadth(ranked[1]), ranked[0]))[1]


def _holds(item: RankingItem, other: RankingItem) -> bool:
    """Return whether a piece with its place holds another one of the same document, and more."""
    if item.start is None or item.end is None or other.start is None or other.end is None:
        return False
    inside = item.start <= other.start and other.end <= item.end
    return inside and (item.start, item.end) != (other.start, other.end)


def _cut_otherwise(rankings: Sequence[Sequence[RankingItem]], ours: Set[Span]) -> bool:
    """Return whether two rankings name pieces of one document that overlap, and none that is the same.

    Such pieces cannot meet, while those of a document that is a single piece in every cut do: by places these
    documents would come before all others. ours: the chunks of the corpus, which may overlap and still be of
    one cut.
    """
    named: list[dict[str, set[Place]]] = []
    for ranking in rankings:
        of_document: dict[str, set[Place]] = {}
        for item in ranking:
            of_document.setdefault(item.document_id, set()).add(place_of(item))
        named.append(of_document)
    return any(
        _clash(piece, other, ours)
        for spans, two in combinations(named, 2)
        for document in spans.keys() & two.keys()
        if spans[document].isdisjoint(two[document])
        for piece, other in product(spans[document], two[document])
    )


def _clash(piece: Place, other: Place, ours: Set[Span]) -> bool:
    """Return whether two places of one document overlap, as far as is known, and are not of one cut."""
    (document, chunk, start, end), (_, other_chunk, other_start, other_end) = piece, other
    if {(document, start, end), (document, other_start, other_end)} <= ours:
        return False
    if start is None or end is None or other_start is None or other_end is None:
        return not (chunk and other_chunk)  # two names of chunks elsewhere are two chunks
    return start < other_end and other_start < end


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
    rankings: Sequence[Sequence[tuple[Key, float]]], weights: Sequence[float], depths: Sequence[int]
) -> list[tuple[Key, float]]:
    """Return every key that any ranking names, with the weighted sum of its standard scores, best first.

    The scores of each ranking are brought to mean 0 and standard deviation 1. A key that it does not name
    counts as its last; where it has fewer places than its depth it had nothing more to name, and such a key
    counts as one more of score 0 (or its last, if that is less). One weight and depth a ranking. Ties as in
    reciprocal_rank_fusion. Standard scores stand up to outliers that scaling by best and last does not
    (Renda and Straccia 2003, SAC).
    """
    keys = list(dict.fromkeys(key for ranking in rankings for key, _ in ranking))
    fused: dict[Key, list[float]] = {key: [] for key in keys}
    for ranking, weight, depth in zip(rankings, weights, depths, strict=True):
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
