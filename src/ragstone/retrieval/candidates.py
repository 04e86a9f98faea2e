"""An index's candidates -> hits whose order does not depend on the index."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from ragstone.embedding.model import Vectors
from ragstone.retrieval.ranks import DECIMALS, Hit

MORE = 16  # places beyond k that are looked at first: equal scores must not be cut apart

Find = Callable[[Vectors, int], Iterable[NDArray[np.int64]]]
"""Queries and a depth -> the positions of each one's nearest passages, in any order, at most so many."""


def hits_among(find: Find, passages: Vectors, queries: Vectors, k: int, n: int) -> list[list[Hit]]:
    """Return for each query its k nearest passages, best first, equal ones in order of position.

    n: how many passages may be found. Similarities are computed anew: those of an index differ in their last
    digits with the number of queries. Where those at the end of what was found may tie with the next, more
    are found.
    """
    hits: list[list[Hit]] = [[] for _ in queries]
    left, depth = list(range(len(queries))), min(n, k + MORE)
    while left and depth:
        tied = []
        for at, positions in zip(left, find(queries[left], depth), strict=True):
            scores = np.round(
                passages[positions].astype(np.float64) @ queries[at].astype(np.float64), DECIMALS
            )
            order = np.lexsort((positions, -scores))[:k]
            hits[at] = list(zip(positions[order].tolist(), scores[order].tolist(), strict=True))
            if len(positions) == depth < n and scores.min() >= hits[at][-1][1]:
                tied.append(at)
        left, depth = tied, min(n, 4 * depth)
    return hits
