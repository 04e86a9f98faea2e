import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.retrieval.ranks import Subset, search_exactly


def unit_vectors(n: int, length: int, seed: int) -> np.ndarray:
    """Vectors of few distinct directions, so that ties are frequent."""
    vectors = np.random.default_rng(seed).integers(1, 3, (n, length)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def one_by_one(passages, query, k, positions):
    scores = np.round((passages @ query).astype(np.float64), 5)
    return sorted(positions, key=lambda at: -scores[at])[:k]


@given(st.integers(0, 60), st.integers(0, 5), st.integers(1, 80), st.booleans(), st.integers(0, 1000))
@settings(deadline=None)
def test_the_nearest_are_those_of_a_stable_sort(n, n_queries, k, filtered, seed):
    passages, queries = unit_vectors(n, 3, seed), unit_vectors(n_queries, 3, seed + 1)
    positions = list(range(0, n, 2)) if filtered else list(range(n))
    among = Subset({}, np.array(positions, dtype=np.int64)) if filtered else None
    found = search_exactly(passages, queries, k, among)
    assert [[at for at, _ in hits] for hits in found] == [
        one_by_one(passages, query, k, positions) for query in queries
    ]


def test_scores_are_inner_products():
    # (1, 0).(0.6, 0.8) = 0.6 and (0, 1).(0.6, 0.8) = 0.8
    passages = np.eye(2, dtype=np.float32)
    (hits,) = search_exactly(passages, np.array([[0.6, 0.8]], dtype=np.float32), 5)
    assert hits == [(1, pytest.approx(0.8, abs=1e-6)), (0, pytest.approx(0.6, abs=1e-6))]


def test_blocks_change_nothing(monkeypatch):
    passages, queries = unit_vectors(50, 4, 0), unit_vectors(20, 4, 1)
    at_once = search_exactly(passages, queries, 7)
    monkeypatch.setattr("ragstone.retrieval.ranks.BLOCK_CELLS", 150)
    assert search_exactly(passages, queries, 7) == at_once
