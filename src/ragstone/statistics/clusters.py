"""Rows that belong together -> totals of whole clusters, the unit that is resampled."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Clusters = Sequence[Hashable] | Codes
"""What each row belongs to: equal keys are one cluster."""


def cluster_codes(clusters: Clusters | None, n: int) -> Codes:
    """Return the cluster of each of n rows as a number from 0, in order of first appearance.

    clusters: one key a row, or the codes of some of these rows; None if every row stands alone.
    """
    if clusters is None:
        return np.arange(n, dtype=np.intp)
    if len(clusters) != n:
        raise ValueError(f"{len(clusters)} clusters for {n} values: give one for each")
    if isinstance(clusters, np.ndarray):
        _, first, places = np.unique(clusters, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[places]
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in clusters], dtype=np.intp)


def n_clusters(codes: Codes) -> int:
    """Return how many clusters there are."""
    return int(codes.max()) + 1 if codes.size else 0


def cluster_totals(columns: Floats, codes: Codes) -> Floats:
    """Return the sum of the rows of each cluster. columns: (rows, k). Returns (clusters, k)."""
    n = n_clusters(codes)
    return np.stack([np.bincount(codes, weights=column, minlength=n) for column in columns.T], axis=1)


def cell_totals(cells: Codes, n_cells: int, codes: Codes) -> Floats:
    """Return how often each cell occurs in each cluster, (clusters, n_cells). cells: (rows,), from 0."""
    n = n_clusters(codes)
    return np.bincount(codes * n_cells + cells, minlength=n * n_cells).reshape(n, n_cells).astype(np.float64)
