import numpy as np
import pytest

from ragstone.kernel.statistics import slope_estimate


def test_slope_worked_by_hand():
    # x 0 1 2 3, mean 1.5; y 1 3 2 6, mean 3. Products of deviations: 3 + 0 - 0.5 + 4.5 = 7; squares: 5.
    found = slope_estimate(np.array([0.0, 1, 2, 3]), np.array([1.0, 3, 2, 6]), resamples=200)
    assert found is not None
    assert found.value == pytest.approx(7 / 5)
    assert found.n == 4


def test_slope_agrees_with_a_peer_and_its_interval_holds_it():
    rng = np.random.default_rng(3)
    x = rng.normal(1000, 3, 400)
    y = 0.25 * x + rng.normal(0, 1, 400)
    found = slope_estimate(x, y, resamples=2000)
    assert found is not None
    assert found.value == pytest.approx(np.polyfit(x, y, 1)[0])
    assert found.low is not None
    assert found.high is not None
    # The standard error of the slope is 1 / (3 * sqrt(400)) = 0.0167.
    assert 3 < (found.high - found.low) / 0.0167 < 5


def test_equal_values_have_no_slope():
    assert slope_estimate(np.full(5, 2.0), np.arange(5.0)) is None
    assert slope_estimate(np.array([0.0, 1]), np.array([0.0, 1])) is None


def test_rows_of_one_cluster_have_no_interval():
    found = slope_estimate(np.arange(5.0), np.arange(5.0) ** 2, ["q"] * 5, resamples=200)
    assert found is not None
    assert (found.low, found.high) == (None, None)
