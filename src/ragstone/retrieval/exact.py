"""Exact search among vectors: every similarity is computed, in blocks."""

import numpy as np
from numpy.typing import NDArray

from ragstone.retrieval.ranks import Hit, Subset, top_hits_of_rows

BLOCK_CELLS = 2**24  # similarities held at once: 64 MB of float32


def search_exactly(
    passages: NDArray[np.float32], queries: NDArray[np.float32], k: int, among: Subset | None = None
) -> list[list[Hit]]:
    """Return for each query its k nearest passages by inner product, best first, equal ones in order.

    passages and queries: one vector a row, of the same length; with unit vectors the score is the cosine.
    All passages come back if k is larger than their number. among: only these positions count.
    """
    if among is not None:
        passages = passages[among.positions]
    block = max(1, BLOCK_CELLS // max(1, len(passages)))
    held = np.empty((min(block, len(queries)), len(passages)), dtype=np.float32)
    hits: list[list[Hit]] = []
    for start in range(0, len(queries), block):
        part = queries[start : start + block]
        hits += top_hits_of_rows(np.matmul(part, passages.T, out=held[: len(part)]), k)
    if among is None:
        return hits
    positions = among.positions.tolist()
    return [[(positions[at], score) for at, score in found] for found in hits]
