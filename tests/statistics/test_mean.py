import math
from collections.abc import Hashable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import floats, lists
from numpy.typing import NDArray
from scipy import stats

from ragstone.statistics import Estimate, mean_estimate, wilson_interval


def mean_of(
    values: Sequence[float] | NDArray[np.float64],
    clusters: Sequence[Hashable] | None = None,
    resamples: int = 10_000,
) -> Estimate:
    found = mean_estimate(values, clusters, resamples=resamples)
    assert found is not None
    return found


def ends_of(found: Estimate) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def test_independent_zeros_and_ones_have_a_wilson_interval():
    found = mean_of([1, 0, 1, 1])
    assert found.method == "wilson"
    assert ends_of(found) == wilson_interval(3, 4)


def test_no_values_have_no_mean():
    assert mean_estimate([]) is None


def test_one_value_has_no_interval():
    found = mean_of([0.2])
    assert (found.value, found.low, found.high, found.n) == (0.2, None, None, 1)


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_value_that_is_no_number_is_an_error(wrong):
    with pytest.raises(ValueError, match="leave failures out"):
        mean_estimate([0.5, wrong])


def test_bca_interval_agrees_with_scipy():
    values = np.random.default_rng(0).exponential(size=60)
    found = mean_of(values)
    peer = stats.bootstrap((values,), np.mean, n_resamples=10_000, method="BCa", rng=1).confidence_interval
    width = peer.high - peer.low
    assert found.method == "bootstrap"
    assert ends_of(found) == pytest.approx((peer.low, peer.high), abs=0.03 * width)


def test_whole_clusters_are_resampled():
    # Five copies of each value tell no more than one: the interval is that of the values alone.
    values = np.random.default_rng(0).normal(size=40)
    once, naive = mean_of(values), mean_of(np.repeat(values, 5))
    copied = mean_of(np.repeat(values, 5), np.repeat(np.arange(40), 5).tolist())
    assert copied.n == 200
    assert ends_of(copied) == pytest.approx(ends_of(once), abs=1e-9)
    assert np.diff(ends_of(naive)) < 0.6 * np.diff(ends_of(copied))


def test_clustered_zeros_and_ones_are_resampled():
    found = mean_of([1, 1, 0, 1, 0, 0], ["a", "a", "b", "b", "c", "d"])
    assert found.method == "bootstrap"


def test_all_right_in_few_clusters_counts_each_cluster_once():
    found = mean_of([1] * 10, ["a"] * 5 + ["b"] * 5)
    assert (found.low, found.high, found.n) == (*wilson_interval(2, 2), 10)


@settings(max_examples=30, deadline=None)
@given(lists(floats(0, 1), min_size=1, max_size=20))
def test_interval_holds_what_resamples_can_reach(values):
    found = mean_of(values, resamples=200)
    assert found.value == pytest.approx(np.mean(values))
    if found.low is not None:
        low, high = ends_of(found)
        assert -1e-9 <= low <= high <= 1 + 1e-9
