"""FAISS finds what exact search finds, ties and all."""

import builtins

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.retrieval.vectors import random_vectors, same_hits, subsets, tagged_chunks, tied_vectors

from ragstone.errors import MissingExtra
from ragstone.retrieval.dense import search_by_faiss
from ragstone.retrieval.ranks import search_exactly

pytestmark = pytest.mark.simulation


@given(
    seed=st.integers(0, 2**31), n=st.integers(1, 200), k=st.sampled_from([1, 3, 10, 1000]), tied=st.booleans()
)
@settings(max_examples=30)
def test_it_finds_what_exact_search_finds(seed, n, k, tied):
    make = tied_vectors if tied else random_vectors
    passages, queries = make(n, 6, seed), make(25, 6, seed + 1)
    search = search_by_faiss(passages)
    for among in subsets(tagged_chunks(n)):
        assert same_hits(search(queries, k, among), search_exactly(passages, queries, k, among))


def test_copies_stand_in_order_of_position_however_many_there_are():
    passages = np.repeat(random_vectors(2, 8, 0), 500, axis=0)
    (hits,) = search_by_faiss(passages)(passages[:1], 7, None)
    assert [at for at, _ in hits] == [0, 1, 2, 3, 4, 5, 6]


def test_a_question_finds_the_same_whoever_asks_beside_it():
    passages, queries = random_vectors(3000, 32, 1), random_vectors(64, 32, 2)
    search = search_by_faiss(passages)
    assert search(queries, 5, None)[7] == search(queries[7:8], 5, None)[0]


def test_without_the_package_the_command_that_installs_it_is_named(monkeypatch):
    real = builtins.__import__

    def absent(name, *rest, **more):
        if name == "faiss":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingExtra, match=r"ragstone\[faiss\]"):
        search_by_faiss(random_vectors(2, 2, 0))
