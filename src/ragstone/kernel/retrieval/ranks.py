"""Scores -> the best places, ties settled the same way everywhere: the earlier chunk first."""

from collections.abc import Awaitable, Callable, Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.config import Similarity
from ragstone.kernel.embedding.model import Vectors, widened

Hit = tuple[int, float]
"""A chunk's position in the corpus and its score."""


class Subset(msgspec.Struct, frozen=True):
    """The chunks that may be found: those with the tags `where`, at these positions (ascending)."""

    where: dict[str, str]
    positions: NDArray[np.int64]


Rank = Callable[[Sequence[str], int, Subset | None], Awaitable[list[list[Hit]]]]
"""Question texts, k, the chunks that may be found (None: all) -> for each text at most k hits, best first."""

DECIMALS = 6  # what float32 holds of a score near 1; the digits after depend on the processor
_TIE = 2 * 10**-DECIMALS  # more than any two scores differ that are rounded to the same
_GROUPS = 1024  # of scores in a row, of which the maxima are compared first


def top_hits_of_rows(
    scores: NDArray[np.floating], k: int, among: Subset | None = None, *, least: float | None = None
) -> list[list[Hit]]:
    """Return the k highest scores of each row as (position, score), best first; equal ones in their order.

    scores: one row a question, one column a chunk; finite; rounded to DECIMALS before they are compared. All
    of a row come back if k is larger than their number. among: only these positions count; a score below
    `least` is no hit.

    The maxima of groups of scores tell which groups can hold one of the k highest, and only these are
    looked at one by one: the work is one pass over the scores, whatever k is.
    """
    if among is not None:
        scores = scores[:, among.positions]
    rows, columns, values = _candidates(scores, k, -np.inf if least is None else least)
    values = np.round(values.astype(np.float64), DECIMALS)
    order = np.lexsort((columns, -values, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    starts = np.searchsorted(rows, np.arange(len(scores) + 1))
    positions = columns if among is None else among.positions[columns]
    hits = list(zip(positions.tolist(), values.tolist(), strict=True))
    ends = np.minimum(starts[1:], starts[:-1] + k)
    return [hits[start:end] for start, end in zip(starts[:-1].tolist(), ends.tolist(), strict=True)]


def _candidates(
    scores: NDArray[np.floating], k: int, least: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.floating]]:
    """Return rows, columns and values of scores among which are the k highest of each row, ties included."""
    n_rows, n = scores.shape
    width = max(1, n // max(_GROUPS, 4 * k))
    n_groups = n // width
    # Column c belongs to group c % n_groups, so that the maximum is one of long rows, side by side.
    grouped = scores[:, : n_groups * width].reshape(n_rows, width, n_groups)
    highest = grouped.max(axis=1)
    rest = scores[:, n_groups * width :]  # fewer than `width`
    bounds = np.full((n_rows, 1), least, dtype=scores.dtype)
    if k < n_groups:
        kth_best = np.partition(highest, n_groups - k, axis=1)[:, n_groups - k, np.newaxis]
        bounds = np.maximum(bounds, kth_best - scores.dtype.type(_TIE))
    rows, groups = np.divmod(np.flatnonzero(highest >= bounds), max(1, n_groups))
    values = grouped[rows, :, groups]
    at, places = np.divmod(np.flatnonzero(values >= bounds[rows]), width)
    rest_rows, rest_columns = np.nonzero(rest >= bounds)
    return (
        np.concatenate([rows[at], rest_rows]),
        np.concatenate([places * n_groups + groups[at], rest_columns + n_groups * width]),
        np.concatenate([values[at, places], rest[rest_rows, rest_columns]]),
    )


BLOCK_CELLS = 2**24  # similarities held at once: 64 MB of float32
BLOCK_PASSAGES = 8192  # that are widened at once: 12 MB at 384 numbers
NARROWED_FROM = 2**27  # numbers, 0.5 GB: below that the time to widen them is worth more than the room


class Narrow(msgspec.Struct, frozen=True, eq=False):
    """Unit vectors in 16 bits a number, and what each is multiplied by to be of length 1."""

    half: NDArray[np.float16]
    scales: NDArray[np.float32]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.half)

    def __getitem__(self, positions: NDArray[np.int64]) -> "Narrow":
        """Return those at these positions."""
        return Narrow(self.half[positions], self.scales[positions])

    def cosines(self, queries: Vectors, out: Vectors) -> Vectors:
        """Return (queries, passages) similarities, in `out`."""
        for start in range(0, len(self), BLOCK_PASSAGES):
            part = slice(start, start + BLOCK_PASSAGES)
            out[:, part] = queries @ self.half[part].astype(np.float32).T
        out *= self.scales
        return out


def narrowed(passages: Vectors, least: int = NARROWED_FROM) -> Vectors | Narrow:
    """Return many unit vectors in half the room, where they were made of 16 bits; others as they are.

    least: numbers from which on it is worth it.
    """
    if passages.size < least:
        return passages
    half = passages.astype(np.float16)
    lengths = np.empty(len(passages), dtype=np.float32)
    for start in range(0, len(passages), BLOCK_PASSAGES):
        part = slice(start, start + BLOCK_PASSAGES)
        wide = half[part].astype(np.float32)
        lengths[part] = np.linalg.norm(wide, axis=1)
        if not np.array_equal(widened(half[part]), passages[part]):
            return passages
    lengths[lengths == 0] = 1
    return Narrow(half, np.float32(1) / lengths)


def search_exactly(
    passages: Vectors | Narrow,
    queries: Vectors,
    k: int,
    among: Subset | None = None,
    *,
    similarity: Similarity = "cosine",
) -> list[list[Hit]]:
    """Return for each query its k nearest passages, best first, equal ones in order.

    passages and queries: one vector a row, of the same length; for the cosine they are unit vectors. All
    passages come back if k is larger than their number. among: only these positions count.
    """
    if among is not None:
        passages = passages[among.positions]
    block = max(1, BLOCK_CELLS // max(1, len(passages)))
    scores = np.empty((min(block, len(queries)), len(passages)), dtype=np.float32)
    hits: list[list[Hit]] = []
    for start in range(0, len(queries), block):
        part = queries[start : start + block]
        out = scores[: len(part)]
        if isinstance(passages, Narrow):
            hits += top_hits_of_rows(passages.cosines(part, out), k)
        elif similarity == "cosine":
            hits += top_hits_of_rows(np.matmul(part, passages.T, out=out), k)
        else:
            hits += top_hits_of_rows(similarities(part, passages, similarity), k)
    if among is None:
        return hits
    positions = among.positions.tolist()
    return [[(positions[at], score) for at, score in of_query] for of_query in hits]


def similarities(queries: Vectors, passages: Vectors, similarity: Similarity) -> NDArray[np.float64]:
    """Return (queries, passages) scores: the inner product, or for `l2` minus the squared distance.

    In 64 bits: with vectors of any length 32 do not hold DECIMALS.
    """
    rows, columns = queries.astype(np.float64), passages.astype(np.float64)
    dots: NDArray[np.float64] = rows @ columns.T
    if similarity != "l2":
        return dots
    lengths: tuple[NDArray[np.float64], ...] = (np.sum(rows**2, axis=1), np.sum(columns**2, axis=1))
    return 2 * dots - lengths[0][:, np.newaxis] - lengths[1]


MORE = 16  # places beyond k that are looked at first: equal scores must not be cut apart
Find = Callable[[Vectors, int], Iterable[NDArray[np.int64]]]
"""Queries and a depth -> the positions of each one's nearest passages, in any order, at most so many."""


def hits_among(
    find: Find, passages: Vectors, queries: Vectors, k: int, n: int, *, similarity: Similarity = "cosine"
) -> list[list[Hit]]:
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
            [scores] = similarities(queries[at : at + 1], passages[positions], similarity).round(DECIMALS)
            order = np.lexsort((positions, -scores))[:k]
            hits[at] = list(zip(positions[order].tolist(), scores[order].tolist(), strict=True))
            if len(positions) == depth < n and scores.min() >= hits[at][-1][1]:
                tied.append(at)
        left, depth = tied, min(n, 4 * depth)
    return hits
