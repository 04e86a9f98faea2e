import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragstone.kernel.embedding.model import rounded
from ragstone.kernel.retrieval import ranks
from ragstone.kernel.retrieval.ranks import Narrow, Subset, narrowed, search_exactly, top_hits_of_rows


def top_hits(scores, k, among=None):
    """Return the hits of one row."""
    return top_hits_of_rows(scores[np.newaxis], k, among)[0]


def stable_sort(scores, k, positions=None, least=-np.inf):
    """The definition: rounded, sorted by score and then by position, cut at k."""
    places = range(len(scores)) if positions is None else positions
    hits = [(int(at), round(float(scores[at]), 6)) for at in places if scores[at] >= least]
    return sorted(hits, key=lambda hit: -hit[1])[:k]


SHAPES = st.tuples(st.integers(1, 4), st.integers(0, 40))
FEW_SCORES = arrays(np.float32, SHAPES, elements=st.sampled_from([-1.0, 0.0, 0.25, 0.2500003, 0.5, 1.0]))


@given(FEW_SCORES, st.integers(1, 50))
@settings(deadline=None)
def test_hits_of_rows_are_a_stable_sort_cut_at_k(scores, k):
    assert top_hits_of_rows(scores, k) == [stable_sort(row, k) for row in scores]
    assert top_hits_of_rows(scores, k, least=0.25) == [stable_sort(row, k, least=0.25) for row in scores]


@given(FEW_SCORES, st.integers(1, 50), st.data())
@settings(deadline=None)
def test_only_positions_of_the_subset_are_found_and_the_best_among_them(scores, k, data):
    positions = sorted(data.draw(st.sets(st.integers(0, scores.shape[1] - 1)))) if scores.shape[1] else []
    among = Subset({}, np.array(positions, dtype=np.int64))
    assert top_hits_of_rows(scores, k, among) == [stable_sort(row, k, positions) for row in scores]


@pytest.mark.parametrize("n", [1023, 1024, 2047, 2048, 5000, 20_011])
@pytest.mark.parametrize("k", [1, 5, 100, 700, 30_000])
@pytest.mark.parametrize("distinct", [3, 50, 1_000_000])
def test_long_rows_are_sorted_like_short_ones(n, k, distinct):
    """Long enough for groups of scores, whose maxima are looked at first; with many ties, some and none."""
    scores = np.random.default_rng(n + k).integers(0, distinct, (2, n)).astype(np.float32) / np.float32(
        distinct
    )
    rounded = np.round(scores.astype(np.float64), 6)
    order = np.argsort(-rounded, axis=1, kind="stable")[:, :k]
    expected = np.take_along_axis(rounded, order, axis=1)
    for found, places, values in zip(top_hits_of_rows(scores, k), order, expected, strict=True):
        assert found == list(zip(places.tolist(), values.tolist(), strict=True))


def test_scores_that_differ_after_the_sixth_decimal_are_ties():
    assert top_hits(np.array([0.50000001, 0.50000004, 0.500001]), 3) == [(2, 0.500001), (0, 0.5), (1, 0.5)]


def test_one_row_is_a_row_of_many():
    scores = np.array([0.1, 0.3, 0.2], dtype=np.float32)
    assert top_hits(scores, 2) == top_hits_of_rows(scores[np.newaxis], 2)[0] == [(1, 0.3), (2, 0.2)]


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


@given(st.integers(1, 60), st.integers(1, 80), st.sampled_from(["dot", "l2"]), st.integers(0, 1000))
@settings(deadline=None)
def test_vectors_of_any_length_are_ranked_by_product_and_by_distance(n, k, similarity, seed):
    rng = np.random.default_rng(seed)
    passages, queries = (rng.integers(-30, 30, (rows, 3)).astype(np.float32) for rows in (n, 2))

    def score(query, at):
        """Whole numbers: nothing is rounded."""
        pairs = list(zip(query.tolist(), passages[at].tolist(), strict=True))
        return sum(q * p for q, p in pairs) if similarity == "dot" else -sum((q - p) ** 2 for q, p in pairs)

    for query, hits in zip(queries, search_exactly(passages, queries, k, similarity=similarity), strict=True):
        assert hits == sorted(((at, score(query, at)) for at in range(n)), key=lambda hit: -hit[1])[:k]


@given(st.integers(1, 40), st.integers(0, 1000))
@settings(deadline=None)
def test_of_unit_vectors_every_similarity_ranks_alike(n, seed):
    # |q - p|² = 2 - 2 q·p
    passages, queries = unit_vectors(n, 3, seed), unit_vectors(2, 3, seed + 1)
    by = {one: search_exactly(passages, queries, n, similarity=one) for one in ("cosine", "dot", "l2")}
    for cosine, dot, l2 in zip(by["cosine"], by["dot"], by["l2"], strict=True):
        scores = dict(cosine)
        for other in (dot, l2):
            found = [scores[at] for at, _ in other]
            assert found == pytest.approx(sorted(found, reverse=True), abs=3e-6)


def test_blocks_change_nothing(monkeypatch):
    passages, queries = unit_vectors(50, 4, 0), unit_vectors(20, 4, 1)
    at_once = search_exactly(passages, queries, 7)
    monkeypatch.setattr("ragstone.kernel.retrieval.ranks.BLOCK_CELLS", 150)
    assert search_exactly(passages, queries, 7) == at_once


def test_passages_in_16_bits_are_found_as_the_same_numbers_in_32_are(monkeypatch):
    monkeypatch.setattr(ranks, "BLOCK_PASSAGES", 7)  # a last block that is not full
    generator = np.random.default_rng(0)
    passages, queries = (generator.normal(size=(n, 64)).astype(np.float32) for n in (40, 5))
    passages = rounded(passages / np.linalg.norm(passages, axis=1, keepdims=True))
    passages[3] = 0  # a blank text
    narrow = narrowed(passages, least=1)
    assert isinstance(narrow, Narrow)
    for subset in (None, Subset({}, np.array([1, 3, 5, 30], dtype=np.int64))):
        wide, same = (search_exactly(index, queries, 4, subset) for index in (passages, narrow))
        assert [[at for at, _ in hits] for hits in same] == [[at for at, _ in hits] for hits in wide]
        np.testing.assert_allclose(np.array(same), np.array(wide), atol=2e-6)


def test_only_many_numbers_that_16_bits_hold_are_narrowed():
    generator = np.random.default_rng(0)
    units = generator.normal(size=(4, 64)).astype(np.float32)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    assert narrowed(units, least=1) is units  # 16 bits would lose some
    assert isinstance(narrowed(rounded(units), least=256), Narrow)
    assert isinstance(narrowed(rounded(units), least=257), np.ndarray)
