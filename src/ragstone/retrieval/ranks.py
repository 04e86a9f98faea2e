"""Scores -> the best places, ties settled the same way everywhere: the earlier chunk first."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

Hit = tuple[int, float]
"""A chunk's position in the corpus and its score."""


class Subset(msgspec.Struct, frozen=True):
    """The chunks that may be found: those with the tags `where`, at these positions (ascending)."""

    where: dict[str, str]
    positions: NDArray[np.int64]


Rank = Callable[[Sequence[str], int, Subset | None], Awaitable[list[list[Hit]]]]
"""Question texts, k, the chunks that may be found (None: all) -> for each text at most k hits, best first."""


DECIMALS = 6  # what float32 holds of a score near 1; the digits after depend on the processor


def top_hits(scores: NDArray[np.floating], k: int, among: Subset | None = None) -> list[Hit]:
    """Return the k highest scores as (position, score), best first; equal scores in order of position.

    scores: one per chunk, finite; rounded to DECIMALS before they are compared. All of them come back if k
    is larger than their number. among: only these positions count.
    """
    positions = np.arange(len(scores)) if among is None else among.positions
    scores = np.round(scores[positions].astype(np.float64), DECIMALS)
    candidates = np.arange(len(scores))
    if k < len(scores):
        kth_best = np.partition(scores, -k)[-k]
        candidates = np.flatnonzero(scores >= kth_best)
    order = np.argsort(-scores[candidates], kind="stable")[:k]
    return [(int(positions[at]), float(scores[at])) for at in candidates[order]]
