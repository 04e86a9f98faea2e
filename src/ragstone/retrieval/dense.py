"""Dense search: by the similarity of vectors, over the index that is declared."""

import asyncio
from collections.abc import Sequence

from ragstone.config import DenseSettings
from ragstone.embedding import Embed
from ragstone.records import Chunk
from ragstone.retrieval.exact import search_exactly
from ragstone.retrieval.means import SearchMeans
from ragstone.retrieval.ranks import Hit, Rank, Subset


async def rank_by_vectors(
    chunks: Sequence[Chunk], texts: Sequence[str], declared: DenseSettings, means: SearchMeans
) -> Rank:
    """Return a function that ranks chunks by the cosine of their texts' vectors with the question's.

    texts: what each chunk is searched by. Every chunk is a hit: k larger than their number gives all.
    Scores are in [-1, 1].
    """
    embed = means.open_embedder(declared.embedder or means.embedder)
    return await rank_by_similarity(texts, embed)


async def rank_by_similarity(texts: Sequence[str], embed: Embed) -> Rank:
    """Return a function that ranks the texts by exact search."""
    passages = await asyncio.to_thread(embed, texts, "passage")

    async def rank(questions: Sequence[str], k: int, among: Subset | None) -> list[list[Hit]]:
        if not questions:
            return []
        queries = await asyncio.to_thread(embed, questions, "query")
        return await asyncio.to_thread(search_exactly, passages, queries, k, among)

    return rank
