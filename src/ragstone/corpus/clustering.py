"""Vectors -> groups of those that point the same way: spherical k-means, seeded."""

import numpy as np
from numpy.typing import NDArray

from ragstone.embedding.model import Vectors

RESTARTS = 8
MOST_ROUNDS = 100
MOST_GROUPS = 100  # that are chosen: of more nobody reads the names
GROWTH = 1.25  # between one number of groups that is tried and the next
FEWEST_EACH = 3  # members that a group has on average, at least, where the number of groups is chosen

Labels = NDArray[np.int64]
"""(n,): the group of each vector, from 0; -1 for a vector of zeros, which points nowhere."""


def group_vectors(vectors: Vectors, n_groups: int, seed: int) -> Labels:
    """Return the group of each vector: the best of RESTARTS runs of spherical k-means from k-means++ starts.

    vectors: (n, d), each of length 1 or 0. Groups are numbered by size, the largest first; of equal ones
    that of the earliest vector. There are fewer than n_groups where fewer vectors differ. (Dhillon and Modha
    2001, Machine Learning 42:143; Arthur and Vassilvitskii 2007, SODA.)
    """
    given = np.flatnonzero(np.any(vectors != 0, axis=1))
    labels = np.full(len(vectors), -1, dtype=np.int64)
    points = vectors[given]
    n_groups = min(n_groups, len(np.unique(points, axis=0)))
    if not n_groups:
        return labels
    draw = np.random.default_rng(seed)
    runs = [_k_means(points, _starts(points, n_groups, draw)) for _ in range(RESTARTS)]
    labels[given] = _by_size(max(runs, key=lambda run: run[1])[0])
    return labels


def choose_n_groups(vectors: Vectors, seed: int) -> int:
    """Return the number of groups, 2 to MOST_GROUPS, at which vectors are most clearly nearer to their own.

    That is where the mean silhouette is highest, taken from the groups' centres (Rousseeuw 1987; simplified
    as in Hruschka et al. 2004); the tried numbers grow by GROWTH. Fewer than two vectors that differ: 1.
    """
    points = vectors[np.any(vectors != 0, axis=1)]
    most = min(max(2, len(points) // FEWEST_EACH), MOST_GROUPS, len(np.unique(points, axis=0)))
    tried, n = [], 2.0
    while round(n) <= most:
        tried.append(round(n))
        n = max(n * GROWTH, n + 1)
    return max(
        tried, key=lambda n_groups: silhouette(points, group_vectors(points, n_groups, seed)), default=1
    )


def silhouette(points: Vectors, labels: Labels) -> float:
    """Return the mean over the points of (b - a) / max(a, b), from -1 to 1.

    a: cosine distance to the centre of the own group, b: to the nearest other. Groups of one count 0.
    """
    centres = _centres(points, labels, int(labels.max()) + 1)
    distances = 1 - points @ centres.T
    rows = np.arange(len(points))
    own = distances[rows, labels]
    distances[rows, labels] = np.inf
    other = distances.min(axis=1)
    values = (other - own) / np.maximum(np.maximum(own, other), 1e-9)
    values[np.bincount(labels)[labels] == 1] = 0
    return float(values.mean())


def _starts(points: Vectors, n_groups: int, draw: np.random.Generator) -> Vectors:
    """Return centres by k-means++: each is drawn in proportion to the distance from those before it."""
    chosen = [int(draw.integers(len(points)))]
    nearest = 1 - points @ points[chosen[0]]
    while len(chosen) < n_groups:
        weights = np.maximum(nearest.astype(np.float64), 0)
        weights[chosen] = 0
        weights = weights if weights.sum() > 0 else np.ones(len(points))
        chosen.append(int(draw.choice(len(points), p=weights / weights.sum())))
        nearest = np.minimum(nearest, 1 - points @ points[chosen[-1]])
    return points[chosen]


def _k_means(points: Vectors, centres: Vectors) -> tuple[Labels, float]:
    """Return the groups that nothing moves between any more, and the sum of similarities to the centres."""
    labels = np.full(len(points), -1, dtype=np.int64)
    for _ in range(MOST_ROUNDS):
        similarities = points @ centres.T
        moved = similarities.argmax(axis=1)
        best = similarities[np.arange(len(points)), moved]
        for empty in np.setdiff1d(np.arange(len(centres)), moved):  # it takes the point that fits worst
            worst = int(best.argmin())
            moved[worst], best[worst] = empty, 1.0
        if np.array_equal(moved, labels):
            break
        labels = moved
        centres = _centres(points, labels, len(centres))
    return labels, float(best.sum())


def _centres(points: Vectors, labels: Labels, n_groups: int) -> Vectors:
    order = np.argsort(labels, kind="stable")
    firsts = np.searchsorted(labels[order], np.arange(n_groups))
    sums: Vectors = np.add.reduceat(points[order], firsts, axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    centres: Vectors = (sums / lengths).astype(np.float32)
    return centres


def _by_size(labels: Labels) -> Labels:
    """Return the labels numbered anew: the largest group first, of equal ones the one that comes first."""
    groups, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    ranked = groups[np.lexsort((first, -sizes))]
    number = np.empty(int(groups.max()) + 1, dtype=np.int64)
    number[ranked] = np.arange(len(ranked))
    return number[labels]
