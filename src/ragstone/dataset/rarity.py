"""How unlike the others each text is."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragstone.corpus.lexical_vectors import lexical_vectors
from ragstone.embedding import Embed, Vectors

NEIGHBOURS = 5
MOST_COMPARED = 10_000  # texts that neighbours are looked for among; of more, as many at random
BLOCK = 2**24  # similarities that are held at once


def rarities(texts: Sequence[str], *, embed: Embed | None = None, seed: int = 0) -> NDArray[np.float64]:
    """Return for each text its mean cosine distance to the NEIGHBOURS texts nearest to it, from 0 to 1.

    By an embedder's vectors, else by the terms that texts share (lexical_vectors); one that shares no term
    with another has 1. Of more than MOST_COMPARED texts the neighbours are looked for among so many of them,
    drawn with the seed, so distances are a little larger in large logs, for all alike.
    """
    n = len(texts)
    found = np.ones(n)
    if n < 2:
        return found
    vectors: Vectors = embed(texts, "passage") if embed else lexical_vectors(texts, seed)
    if not vectors.shape[1]:
        return found
    among = np.arange(n)
    if n > MOST_COMPARED:
        among = np.sort(np.random.default_rng(seed).choice(n, MOST_COMPARED, replace=False))
    place = np.full(n, -1)
    place[among] = np.arange(len(among))
    k = min(NEIGHBOURS, len(among) - 1)
    others = np.ascontiguousarray(vectors[among].T)
    step = max(1, BLOCK // len(among))
    for begin in range(0, n, step):
        block = vectors[begin : begin + step]
        similarities = block @ others
        here = place[begin : begin + len(block)]
        rows = np.flatnonzero(here >= 0)
        similarities[rows, here[rows]] = -np.inf  # nothing is its own neighbour
        nearest = np.partition(similarities, len(among) - k, axis=1)[:, len(among) - k :]
        found[begin : begin + len(block)] = 1 - nearest.mean(axis=1, dtype=np.float64)
    found[~vectors.any(axis=1)] = 1.0
    return np.clip(np.round(found, 6), 0.0, 1.0)
