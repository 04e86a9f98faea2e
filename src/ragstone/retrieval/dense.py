"""Dense search: exact cosine similarity, computed in blocks."""

import asyncio
from collections.abc import Sequence

from ragstone.embedding import Embed
from ragstone.retrieval.ranks import Hit, Rank, Subset, top_hits

BLOCK_CELLS = 2**25  # similarities held at once: 128 MB of float32


def rank_by_similarity(texts: Sequence[str], embed: Embed) -> Rank:
    """Return a function that ranks the texts by the cosine of their vectors with the question's.

    Every text is a hit: k larger than their number gives all. Scores are in [-1, 1].
    """
    passages = embed(texts, "passage")

    async def rank(questions: Sequence[str], k: int, among: Subset | None) -> list[list[Hit]]:
        if not questions:
            return []
        queries = await asyncio.to_thread(embed, questions, "query")
        block = max(1, BLOCK_CELLS // len(texts))
        hits: list[list[Hit]] = []
        for start in range(0, len(queries), block):
            similarities = queries[start : start + block] @ passages.T
            hits += [top_hits(row, k, among) for row in similarities]
        return hits

    return rank
