"""Dense search in a FAISS index: flat, so every similarity is computed, by inner product."""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ragstone.embedding.model import Vectors
from ragstone.errors import MissingExtra
from ragstone.retrieval.candidates import hits_among
from ragstone.retrieval.ranks import Hit, Subset


def search_by_faiss(passages: Vectors) -> Callable[[Vectors, int, Subset | None], list[list[Hit]]]:
    """Return a function that finds for each query its k nearest passages, as search_exactly does.

    Raises MissingExtra without the package faiss-cpu.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # its bindings cause some in newer Pythons
            import faiss
    except ImportError:
        raise MissingExtra("a dense retriever with index = 'faiss'", "faiss") from None
    index = faiss.IndexFlatIP(passages.shape[1])
    index.add(np.ascontiguousarray(passages))

    def search(queries: Vectors, k: int, among: Subset | None) -> list[list[Hit]]:
        chosen = None if among is None else faiss.IDSelectorBatch(among.positions)
        parameters = None if chosen is None else faiss.SearchParameters(sel=chosen)  # type: ignore[call-arg]

        def find(some: Vectors, depth: int) -> NDArray[np.int64]:
            found: NDArray[np.int64] = index.search(np.ascontiguousarray(some), depth, params=parameters)[1]
            return found

        n = len(passages) if among is None else len(among.positions)
        return hits_among(find, passages, queries, k, n)

    return search
