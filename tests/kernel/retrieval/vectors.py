"""Vectors with many equal similarities, and chunks with tags, for tests of indexes."""

import numpy as np

from ragstone.kernel.records import Chunk
from ragstone.kernel.retrieval.deps import chunk_tags
from ragstone.kernel.retrieval.ranks import Subset

CROPS = ("maize", "wheat", "black gram", 'a"b.c')


def tied_vectors(n: int, d: int, seed: int) -> np.ndarray:
    """Return n unit vectors, few of them different: each has one or two coordinates that are not 0."""
    draw = np.random.default_rng(seed)
    vectors = np.zeros((n, d), dtype=np.float32)
    for vector in vectors:
        vector[draw.integers(0, d, 2)] = draw.choice([-1.0, 1.0], 2)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def random_vectors(n: int, d: int, seed: int) -> np.ndarray:
    """Return n unit vectors, all different."""
    vectors = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def tagged_chunks(n: int) -> list[Chunk]:
    """Return n chunks: one or two crops each, none has every tenth; languages in turn."""
    return [
        Chunk(
            id=f"c{at}",
            document_id=f"d{at // 2}",
            text="words",
            start=0,
            end=5,
            metadata=None
            if at % 10 == 9
            else {"lang": ("en", "hi")[at % 2], "tags": {"crop": [CROPS[at % 4], CROPS[(at + at // 4) % 4]]}},
        )
        for at in range(n)
    ]


SUBSETS = ({"crop": "maize"}, {"crop": 'a"b.c', "lang": "hi"}, {"crop": "rice"}, {"lang": "en"})


def subsets(chunks: list[Chunk]) -> list[Subset | None]:
    """Return None and the subsets of some tags, one of them empty."""
    return [None, *(_subset(chunks, where) for where in SUBSETS)]


def _subset(chunks: list[Chunk], where: dict[str, str]) -> Subset:
    fitting = [
        at
        for at, chunk in enumerate(chunks)
        if all(value in chunk_tags(chunk, key) for key, value in where.items())
    ]
    return Subset(where, np.array(fitting, dtype=np.int64))


def same_hits(found: list, expected: list) -> bool:
    """Return whether the same places are found in the same order, with the same scores to five digits."""
    places = [[at for at, _ in hits] for hits in found] == [[at for at, _ in hits] for hits in expected]
    scores = [[score for _, score in hits] for hits in (*found, *expected)]
    halves = zip(scores[: len(found)], scores[len(found) :], strict=True)
    return places and all(np.allclose(one, other, atol=2e-6) for one, other in halves)
