"""Indexes of dense retrievers beside each other: `python -m benchmarks.dense [N_PASSAGES]`.

Prints for exact search, FAISS (flat) and Qdrant (embedded, in a folder) the seconds to index, to open the
index again, the questions answered in a second, and recall@5 against exact search, at 20,000 x 384. Vectors
are random, in 200 clusters. Timings are the best of three; Qdrant answers 100 questions, the others 1,000.
A server joins in where RAGSTONE_QDRANT_URL names one.
"""

import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.records import Chunk
from ragstone.kernel.retrieval._dense import search_by_faiss
from ragstone.kernel.retrieval.qdrant import QdrantPlace, search_by_qdrant
from ragstone.kernel.retrieval.ranks import Hit, Subset, search_exactly

N_NUMBERS = 384
K = 5

Search = Callable[[NDArray[np.float32], int, Subset | None], list[list[Hit]]]


def clustered(n: int, seed: int) -> NDArray[np.float32]:
    """Return n unit vectors in 200 clusters."""
    centres = np.random.default_rng(0).normal(size=(200, N_NUMBERS))
    draw = np.random.default_rng(seed)
    vectors = centres[draw.integers(0, 200, n)] + draw.normal(size=(n, N_NUMBERS))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


def timed(work: Callable[[], Search]) -> tuple[float, Search]:
    started = time.perf_counter()
    search = work()
    return time.perf_counter() - started, search


def main() -> None:
    """Print the table."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    passages, queries = clustered(n, 1), clustered(1000, 2)
    chunks = [Chunk(id=f"c{at}", document_id=f"d{at}", text="", start=0, end=0) for at in range(n)]
    right = [{at for at, _ in hits} for hits in search_exactly(passages, queries, K)]
    with tempfile.TemporaryDirectory() as folder:
        embedded = QdrantPlace(folder=Path(folder))
        rows: list[tuple[str, Callable[[], Search], int]] = [
            ("exact", lambda: partial(search_exactly, passages), 1000),
            ("faiss", lambda: search_by_faiss(passages), 1000),
            ("qdrant, folder", lambda: search_by_qdrant(passages, chunks, embedded), 100),
        ]
        if "RAGSTONE_QDRANT_URL" in os.environ:
            server = QdrantPlace(url=os.environ["RAGSTONE_QDRANT_URL"])
            rows.append(("qdrant, server", lambda: search_by_qdrant(passages, chunks, server), 1000))
        print(f"{n:,} x {N_NUMBERS}    index s   again s   questions/s   recall@{K}")
        for name, build, n_asked in rows:
            index_s, search = timed(build)
            del search
            gc.collect()
            again_s, search = timed(build)
            taken = []
            for _ in range(3):
                started = time.perf_counter()
                found = search(queries[:n_asked], K, None)
                taken.append(time.perf_counter() - started)
            recall = np.mean(
                [len({at for at, _ in one} & all_) / K for one, all_ in zip(found, right, strict=False)]
            )
            print(
                f"{name:<16} {index_s:>9.2f} {again_s:>9.2f} {n_asked / min(taken):>13,.0f} {recall:>10.3f}"
            )
            del search
            gc.collect()


if __name__ == "__main__":
    main()
