"""pass@k and pass^k: by hand, beside every draw of k, and unbiased."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import integers, tuples

from ragstone.kernel.statistics.passes import all_of_k, any_of_k


def one(estimator, n, c, k):
    return float(estimator(np.array([float(n)]), np.array([float(c)]), k)[0])


@pytest.mark.parametrize(
    ("n", "c", "k", "at_least_one", "every_one"),
    [
        (3, 2, 1, 2 / 3, 2 / 3),  # of one answer both are the share of right ones
        (3, 2, 2, 1.0, 1 / 3),  # 1 - C(1,2)/C(3,2) = 1 - 0/3; C(2,2)/C(3,2) = 1/3
        (3, 2, 3, 1.0, 0.0),  # C(2,3) = 0
        (5, 1, 2, 0.4, 0.0),  # 1 - C(4,2)/C(5,2) = 1 - 6/10; C(1,2) = 0
        (5, 4, 2, 1.0, 0.6),  # C(4,2)/C(5,2) = 6/10
        (4, 0, 2, 0.0, 0.0),
        (4, 4, 4, 1.0, 1.0),
    ],
)
def test_chances_by_hand(n, c, k, at_least_one, every_one):
    assert one(any_of_k, n, c, k) == pytest.approx(at_least_one, abs=1e-15)
    assert one(all_of_k, n, c, k) == pytest.approx(every_one, abs=1e-15)


@given(tuples(integers(1, 8), integers(0, 8), integers(1, 8)).filter(lambda x: x[1] <= x[0] >= x[2]))
def test_they_are_the_shares_of_all_draws_of_k_answers(of):
    n, c, k = of
    draws = [sum(draw) for draw in combinations([1] * c + [0] * (n - c), k)]
    assert one(any_of_k, n, c, k) == pytest.approx(np.mean([drawn > 0 for drawn in draws]), abs=1e-12)
    assert one(all_of_k, n, c, k) == pytest.approx(np.mean([drawn == k for drawn in draws]), abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_their_mean_over_answers_of_a_known_chance_is_the_truth(k):
    # A right answer with chance 0.3, asked 4 times: every c with its binomial weight. 1 - 0.7^k and 0.3^k.
    weights = np.array([comb(4, c) * 0.3**c * 0.7 ** (4 - c) for c in range(5)])
    n, c = np.full(5, 4.0), np.arange(5.0)
    assert weights @ any_of_k(n, c, k) == pytest.approx(1 - 0.7**k)
    assert weights @ all_of_k(n, c, k) == pytest.approx(0.3**k)


def test_a_thousand_answers_are_no_overflow():
    assert one(all_of_k, 1000, 999, 500) == pytest.approx(0.5)  # C(999,500)/C(1000,500) = 500/1000
    assert one(any_of_k, 1000, 1, 500) == pytest.approx(0.5)
