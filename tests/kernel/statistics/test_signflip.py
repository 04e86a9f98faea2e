from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import floats, integers, lists, tuples
from scipy.stats import binomtest

from ragstone.kernel.statistics import paired
from ragstone.kernel.statistics.paired import flips_for, sign_flip_p_values

# Sums that differ, differ by far more than what adding in another order does.
THOUSANDTHS = floats(0, 1).map(lambda value: round(value, 3))


def enumerated(differences: list[float]) -> float:
    """Return the share of all ways to flip whose sum is as far from 0 as that of the data."""
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return float(np.mean([value >= sums[0] - 1e-9 for value in sums]))


def test_p_by_hand():
    # Differences 3, 1, -1 sum to 3. Of the 8 ways to flip ±3 ±1 ±1 all but none: |±3 ±1 ±1| is 5, 3, 3, 1
    # for each sign of 3, so 6 of 8 are at least 3.
    totals = np.array([[3.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert sign_flip_p_values(totals, [(0, 1)]).tolist() == [6 / 8]


@settings(deadline=None, max_examples=50)
@given(lists(tuples(THOUSANDTHS, THOUSANDTHS, THOUSANDTHS), min_size=1, max_size=8))
def test_few_clusters_are_enumerated(rows):
    totals = np.array(rows)
    pairs = [(0, 1), (2, 0), (1, 2)]
    expected = [enumerated((totals[:, a] - totals[:, b]).tolist()) for a, b in pairs]
    assert sign_flip_p_values(totals, pairs).tolist() == pytest.approx(expected)


def test_many_clusters_are_drawn_and_agree_with_all_ways(monkeypatch):
    totals = np.random.default_rng(0).normal([0.5, 0.0], 1, (12, 2))
    exact = sign_flip_p_values(totals, [(0, 1)])[0]
    monkeypatch.setattr(paired, "EXACT_UP_TO", 0)
    drawn = sign_flip_p_values(totals, [(0, 1)], flips=40_000)[0]
    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact / 40_000))
    assert drawn != exact


def test_zeros_and_ones_give_mcnemar_s_p():
    first = np.array([1.0] * 11 + [0.0] * 2 + [1.0] * 30)
    second = np.array([0.0] * 11 + [1.0] * 2 + [1.0] * 30)
    p = sign_flip_p_values(np.stack([first, second], axis=1), [(0, 1)])[0]
    assert p == pytest.approx(binomtest(2, 13).pvalue)


def test_small_blocks_change_nothing_but_memory(monkeypatch):
    totals = np.random.default_rng(0).random((40, 3))
    whole = sign_flip_p_values(totals, [(0, 1), (1, 2)], seed=5)
    monkeypatch.setattr(paired, "BLOCK", 999)
    assert sign_flip_p_values(totals, [(0, 1), (1, 2)], seed=5) == pytest.approx(whole, abs=0.02)


@given(integers(0, 3))
def test_seed_decides_and_the_direction_of_a_pair_does_not(seed):
    totals = np.random.default_rng(9).random((30, 2))
    there, back = sign_flip_p_values(totals, [(0, 1), (1, 0)], seed=seed, flips=500)
    assert there == back == sign_flip_p_values(totals, [(0, 1)], seed=seed, flips=500)[0]


def test_columns_that_are_equal_differ_by_nothing():
    totals = np.repeat(np.random.default_rng(0).random((40, 1)), 2, axis=1)
    assert sign_flip_p_values(totals, [(0, 1)]).tolist() == [1.0]
    assert sign_flip_p_values(totals, []).size == 0


def test_no_p_is_below_what_the_flips_can_show():
    totals = np.stack([np.ones(100), np.zeros(100)], axis=1)
    assert sign_flip_p_values(totals, [(0, 1)], flips=999).tolist() == [1 / 1000]
    assert flips_for(1, 0.05) == 10_000
    # 1,225 tests: 98,000 flips, so that 1,225 / 98,001 = 0.0125 is a quarter of 0.05.
    assert flips_for(1225, 0.05) == 98_000


def test_equal_measures_are_found_different_as_often_as_said():
    # 400 samples of 25 skewed differences without a true one: at 0.05, 20 expected; the chance of more than
    # 33, or fewer than 8, is below 1 in 300.
    rng = np.random.default_rng(0)
    p = [
        sign_flip_p_values(rng.exponential(size=(25, 2)), [(0, 1)], seed=at, flips=999)[0]
        for at in range(400)
    ]
    assert 8 <= np.sum(np.array(p) <= 0.05) <= 33
