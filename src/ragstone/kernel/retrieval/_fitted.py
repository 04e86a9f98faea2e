"""Signals -> how probable it is that a quote answers: boosted trees, the numbers of library/reader.json."""

from functools import cache
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.config.library import shipped

FILE = shipped("ragstone.kernel.retrieval", "library", "reader.json")


class ReaderWeights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `python -m benchmarks.extractive --fit` writes.

    signals: names, in the order of the numbers in `split`. A tree is a list of nodes: [signal, limit, left,
    right] goes to node `left` where the signal is at most the limit, else to `right`; [value] ends. slope,
    offset: probability = 1 / (1 + exp(-(slope * (base + sum of values) + offset))). threshold: below it
    nothing answers.
    """

    source: str
    signals: list[str]
    base: float
    slope: float
    offset: float
    threshold: float
    trees: list[list[list[float]]]


class _Nodes(NamedTuple):
    """The nodes of all trees: shape (n_trees, most nodes of a tree). An end leads to itself."""

    signal: NDArray[np.intp]
    limit: NDArray[np.float64]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    value: NDArray[np.float64]


@cache
def reader_weights() -> ReaderWeights:
    """Return the weights that ship."""
    return msgspec.json.decode(FILE.read_bytes(), type=ReaderWeights)


def probabilities(signals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return of each candidate how probable an answer it is. signals: shape (n_candidates, n_signals)."""
    weights, nodes = reader_weights(), _nodes()
    tree = np.arange(len(nodes.value))[:, None]
    at = np.zeros((len(nodes.value), len(signals)), dtype=np.intp)
    rows = np.arange(len(signals))[None, :]
    for _ in range(nodes.value.shape[1] // 2):  # as deep as a tree of so many nodes can be
        goes_left = signals[rows, nodes.signal[tree, at]] <= nodes.limit[tree, at]
        at = np.where(goes_left, nodes.left[tree, at], nodes.right[tree, at])
    raw = weights.base + nodes.value[tree, at].sum(axis=0)
    return np.asarray(1 / (1 + np.exp(-(weights.slope * raw + weights.offset))), dtype=np.float64)


@cache
def _nodes() -> _Nodes:
    trees = reader_weights().trees
    shape = (len(trees), max(map(len, trees)))
    own = np.tile(np.arange(shape[1]), (shape[0], 1))
    nodes = _Nodes(np.zeros(shape, np.intp), np.zeros(shape), own, own.copy(), np.zeros(shape))
    for n, tree in enumerate(trees):
        for at, node in enumerate(tree):
            if len(node) == 1:
                nodes.value[n, at] = node[0]
            else:
                nodes.signal[n, at], nodes.limit[n, at] = int(node[0]), node[1]
                nodes.left[n, at], nodes.right[n, at] = int(node[2]), int(node[3])
    return nodes
