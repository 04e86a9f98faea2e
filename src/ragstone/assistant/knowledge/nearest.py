"""The passages that are nearest to a question by their vectors: asked of a server, or compared here."""

import threading

import msgspec
import numpy as np

from ragstone.assistant.knowledge.points import Points
from ragstone.assistant.knowledge.snapshot import Positions, Snapshot
from ragstone.embedding.model import Vectors
from ragstone.retrieval.exact import search_exactly
from ragstone.retrieval.ranks import Hit, Subset


class _Held(msgspec.Struct, frozen=True):
    """The vectors of one snapshot's passages, and the position of each."""

    revision: int
    positions: Positions
    vectors: Vectors


class Nearest:
    """Searches a server, or the vectors of a folder, which are read once for each state of the passages.

    A folder's client compares vectors as this does, but reads a filter point by point: 128 ms for 5,000
    points, where the snapshot knows the positions already. A class: the vectors outlive a call.
    """

    def __init__(self, points: Points) -> None:
        self._points = points
        self._reading = threading.Lock()
        self._held: _Held | None = None

    def __call__(self, vector: Vectors, depth: int, snapshot: Snapshot, subset: Subset | None) -> list[Hit]:
        """Return the positions of the nearest passages and their similarity, best first.

        Raises what Points.nearest and Points.vectors raise.
        """
        if self._points.embedded:
            return _compared(vector, depth, self._vectors(snapshot, len(vector)), subset)
        found = self._points.nearest(vector, depth, {} if subset is None else subset.where)
        return [(snapshot.by_point[name], score) for name, score in found if name in snapshot.by_point]

    def _vectors(self, snapshot: Snapshot, n_numbers: int) -> _Held:
        with self._reading:
            held = self._held
            if held is None or held.revision != snapshot.revision or held.vectors.shape[1] != n_numbers:
                positions, vectors = self._points.vectors(n_numbers, snapshot.by_point)
                held = self._held = _Held(snapshot.revision, positions, vectors)
            return held


def _compared(vector: Vectors, depth: int, held: _Held, subset: Subset | None) -> list[Hit]:
    rows = None
    if subset is not None:
        allowed = np.zeros(
            1 + max(held.positions.max(initial=0), subset.positions.max(initial=0)), dtype=bool
        )
        allowed[subset.positions] = True
        rows = Subset(subset.where, np.flatnonzero(allowed[held.positions]))
    [hits] = search_exactly(held.vectors, vector[np.newaxis], depth, rows)
    return [(int(held.positions[row]), score) for row, score in hits]
