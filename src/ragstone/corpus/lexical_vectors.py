"""Texts -> vectors without a model: TF-IDF over search terms, brought down to a few dimensions."""

from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.corpus.tokens import search_terms
from ragstone.embedding.model import Vectors

DIMENSIONS = 50
MOST_SHARED = 0.5  # of the texts: a term in more of them tells nothing apart
OVERSAMPLED = 10  # dimensions of the random start beyond those that are kept
ROUNDS = 4
SMALLEST = 1e-9  # length of a vector that is not taken for zero
BLOCK = 2**22  # cells of a product that are held at once


def lexical_vectors(texts: Sequence[str], seed: int) -> Vectors:
    """Return (n, d) vectors of length 1, d at most DIMENSIONS; zeros for a text that shares no term.

    Latent semantic analysis (Deerwester et al. 1990): log-weighted TF-IDF over the terms of search that two
    texts share and not more than half, then the largest singular vectors (randomised: Halko et al. 2011).
    On xquad, paragraphs by article, mean adjusted Rand index over ten languages: all terms 0.58, 150
    dimensions 0.49, 100: 0.53, 50: 0.70; with whole words in place of search terms 0.62.
    """
    matrix, turned = _weighted([Counter(search_terms(text)) for text in texts])
    n, n_terms = len(matrix.starts) - 1, len(turned.starts) - 1
    width = min(DIMENSIONS, n, n_terms)
    if not width:
        return np.zeros((n, 0), dtype=np.float32)
    draw = np.random.default_rng(seed)
    basis = draw.standard_normal((n_terms, min(width + OVERSAMPLED, n, n_terms)))
    for _ in range(ROUNDS):
        left, _ = np.linalg.qr(_times(matrix, basis))
        basis, _ = np.linalg.qr(_times(turned, left))
    left, singular, _ = np.linalg.svd(_times(matrix, basis), full_matrices=False)
    vectors = left[:, :width] * singular[:width]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(lengths > SMALLEST, vectors / np.maximum(lengths, SMALLEST), 0).astype(np.float32)


class _Sparse(msgspec.Struct, frozen=True):
    """Row i holds `values[starts[i]:starts[i + 1]]`, in the columns of the same slice of `columns`."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]


def _weighted(counts: Sequence[Counter[str]]) -> tuple[_Sparse, _Sparse]:
    """Return the TF-IDF matrix, texts by terms, and the same turned; rows of texts have length 1 or 0."""
    n = len(counts)
    shared = Counter(term for count in counts for term in count)
    kept = (term for term, n_texts in shared.items() if 2 <= n_texts <= max(2, MOST_SHARED * n))
    column = {term: at for at, term in enumerate(kept)}
    rows, columns, values = [], [], []
    for row, count in enumerate(counts):
        known = [(column[term], times) for term, times in count.items() if term in column]
        rows += [row] * len(known)
        columns += [at for at, _ in known]
        values += [times for _, times in known]
    row_of, column_of = np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)
    n_texts = np.bincount(column_of, minlength=len(column))
    weights = (1 + np.log(np.array(values, dtype=np.float64))) * np.log(1 + n / n_texts[column_of])
    lengths = np.sqrt(np.bincount(row_of, weights**2, minlength=n))
    weights = weights / lengths[row_of]
    order = np.argsort(column_of, kind="stable")
    return (
        _Sparse(_starts(row_of, n), column_of, weights),
        _Sparse(_starts(column_of[order], len(column)), row_of[order], weights[order]),
    )


def _starts(sorted_rows: NDArray[np.int64], n_rows: int) -> NDArray[np.int64]:
    return np.searchsorted(sorted_rows, np.arange(n_rows + 1)).astype(np.int64)


def _times(matrix: _Sparse, dense: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return matrix @ dense, in blocks of rows."""
    n_rows = len(matrix.starts) - 1
    product = np.zeros((n_rows, dense.shape[1]))
    filled = np.flatnonzero(np.diff(matrix.starts))
    most = max(1, BLOCK // dense.shape[1])
    first = 0
    while first < len(filled):
        begin = matrix.starts[filled[first]]
        last = max(first + 1, int(np.searchsorted(matrix.starts[filled + 1], begin + most, side="right")))
        end = matrix.starts[filled[last - 1] + 1]
        cells = dense[matrix.columns[begin:end]] * matrix.values[begin:end, None]
        product[filled[first:last]] = np.add.reduceat(
            cells, matrix.starts[filled[first:last]] - begin, axis=0
        )
        first = last
    return product
