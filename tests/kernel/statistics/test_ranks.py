"""Shares of ranks: worked by hand, against a slow peer, and what the definition promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.kernel.statistics.ranks import _shares_of, rank_shares


def test_shares_worked_by_hand():
    # Row 1: a > b > c. Row 2: a = b > c, which divide ranks 1 and 2. Row 3: all alike. Row 4: c > a > b.
    means = np.array([[3.0, 2, 1], [2, 2, 1], [5, 5, 5], [2, 1, 3]])
    third = 1 / 3
    expected = np.array(
        [
            [1 + 0.5 + third + 0, 0 + 0.5 + third + 1, third],
            [0 + 0.5 + third + 0, 1 + 0.5 + third, third + 1],
            [third + 1, third, 1 + 1 + third],
        ]
    )
    assert _shares_of(means) == pytest.approx(expected / 4)


def slow(means):
    """A peer: each value's ranks one by one."""
    m, k = means.shape
    shares = np.zeros((k, k))
    for row in means:
        for at in range(k):
            above, same = int((row > row[at]).sum()), int((row == row[at]).sum())
            shares[at, above : above + same] += 1 / same
    return shares / m


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=12))
def test_shares_are_those_of_a_peer_and_sum_to_1_both_ways(rows):
    means = np.array(rows, dtype=np.float64)
    shares = _shares_of(means)
    assert shares == pytest.approx(slow(means))
    assert shares.sum(axis=0) == pytest.approx(np.ones(4))
    assert shares.sum(axis=1) == pytest.approx(np.ones(4))


def test_better_on_every_question_is_first_in_every_resample_and_in_the_order_of_names():
    values = np.array([[0.0, 1.0, 0.5]] * 10)
    ranks = rank_shares(["low", "high", "middle"], values, None)
    assert ranks
    assert ranks.names == ["high", "middle", "low"]
    assert ranks.shares == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert (ranks.n, ranks.n_clusters, ranks.resamples) == (10, 10, 10_000)


def test_two_that_are_alike_divide_the_ranks():
    values = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    ranks = rank_shares(["a", "b"], values, None)
    assert ranks
    assert ranks.shares == [[0.5, 0.5], [0.5, 0.5]]


def test_share_of_being_first_is_that_of_a_positive_difference_over_whole_clusters():
    # B is better in cluster x alone, by 1; of 2 clusters drawn with replacement x is drawn never in 1 of 4
    # resamples: then both are alike, and divide the ranks. So B is first in 3/4 + 1/8.
    values = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    ranks = rank_shares(["a", "b"], values, ["x", "x", "y"])
    assert ranks
    assert dict(zip(ranks.names, ranks.shares, strict=True))["b"][0] == pytest.approx(0.875, abs=0.015)


def test_one_thing_and_one_cluster_have_no_order():
    assert rank_shares(["a"], np.ones((5, 1)), None) is None
    assert rank_shares(["a", "b"], np.ones((5, 2)), ["same"] * 5) is None
    assert rank_shares(["a", "b"], np.ones((0, 2)), None) is None


def test_the_order_of_rows_and_names_does_not_matter():
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2, (40, 3)).astype(float)
    there = rank_shares(["a", "b", "c"], values, None)
    again = rank_shares(["a", "b", "c"], values[::-1], None)
    assert there == again
