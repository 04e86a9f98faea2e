"""Scores -> the best places, ties settled the same way everywhere: the earlier chunk first."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Hit = tuple[int, float]
"""A chunk's position in the corpus and its score."""

Rank = Callable[[Sequence[str], int], list[list[Hit]]]
"""Question texts and k -> for each text at most k hits, best first."""


DECIMALS = 6  # what float32 holds of a score near 1; the digits after depend on the processor


def top_hits(scores: NDArray[np.floating], k: int) -> list[Hit]:
    """Return the k highest scores as (position, score), best first; equal scores in order of position.

    scores: one per chunk, finite; rounded to DECIMALS before they are compared. All of them come back if k
    is larger than their number.
    """
    scores = np.round(scores.astype(np.float64), DECIMALS)
    candidates = np.arange(len(scores))
    if k < len(scores):
        kth_best = np.partition(scores, -k)[-k]
        candidates = np.flatnonzero(scores >= kth_best)
    order = np.argsort(-scores[candidates], kind="stable")[:k]
    return [(int(at), float(scores[at])) for at in candidates[order]]
