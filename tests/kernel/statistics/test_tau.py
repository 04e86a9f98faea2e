import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers, lists, tuples
from scipy import stats

from ragstone.kernel.statistics import kendall_tau

pairs_of_values = lists(tuples(integers(0, 4), integers(0, 4)), min_size=1, max_size=40)


def test_tau_worked_by_hand():
    # Items 1-1 2-3 3-2 3-4: of six pairs, four concordant, one discordant (2-3, 3-2), one tied by the first.
    # (4 - 1) / sqrt(5 * 6).
    assert kendall_tau([1, 2, 3, 3], [1, 3, 2, 4]) == pytest.approx(3 / 30**0.5)


@pytest.mark.parametrize("n_values", [2, 5, 60, 10**6])
def test_tau_agrees_with_scipy(n_values):
    rng = np.random.default_rng(0)
    first = rng.integers(0, n_values, 300).astype(float)
    second = first + rng.integers(0, n_values, 300)
    assert kendall_tau(first, second) == pytest.approx(stats.kendalltau(first, second)[0])


@pytest.mark.parametrize(("first", "second"), [([], []), ([1], [2]), ([1, 1], [1, 2]), ([1, 2], [3, 3])])
def test_tau_with_a_constant_is_undefined(first, second):
    assert kendall_tau(first, second) is None


def test_unequal_lengths_are_an_error():
    with pytest.raises(ValueError, match="pair them first"):
        kendall_tau([1, 2], [1])


@settings(max_examples=60, deadline=None)
@given(pairs_of_values)
def test_tau_does_not_care_who_is_first_and_turns_its_sign_with_one_scale(rows):
    first, second = (np.array(side, dtype=float) for side in zip(*rows, strict=True))
    tau = kendall_tau(first, second)
    assert kendall_tau(second, first) == pytest.approx(tau)
    assert kendall_tau(2 * first + 1, second) == pytest.approx(tau)
    assert kendall_tau(-first, second) == pytest.approx(None if tau is None else -tau)


def test_tau_of_100_000_pairs_with_ties_and_without():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 1000, 100_000).astype(float)
    second = first + rng.normal(size=100_000) * 500
    assert kendall_tau(first, second) == pytest.approx(stats.kendalltau(first, second)[0])
