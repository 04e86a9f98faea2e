import math
from collections.abc import Hashable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import floats, lists
from numpy.typing import NDArray
from scipy import stats

from ragstone.kernel.statistics import (
    Estimate,
    difference_estimates,
    mean_bounds,
    mean_estimate,
    mean_estimates,
    wilson_interval,
)
from ragstone.kernel.statistics.mean import FEW, effective_size, is_same_mean


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
    found = mean_estimate(values, resamples=100_000)
    assert found is not None
    # The level at which the normal quantile is Student's, wider by what resamples of 60 lack.
    level = 2 * stats.norm.cdf(stats.t.ppf(0.975, 59) * math.sqrt(60 / 59)) - 1
    peer = stats.bootstrap(
        (values,), np.mean, n_resamples=100_000, method="BCa", rng=1, confidence_level=level
    ).confidence_interval
    width = peer.high - peer.low
    assert found.method == "bootstrap"
    assert ends_of(found) == pytest.approx((peer.low, peer.high), abs=0.01 * width)


def test_whole_clusters_are_resampled():
    # Five copies of each value tell no more than one: the interval is that of the values alone.
    values = np.random.default_rng(0).normal(size=40)
    once, naive = mean_of(values), mean_of(np.repeat(values, 5))
    copied = mean_of(np.repeat(values, 5), np.repeat(np.arange(40), 5).tolist())
    assert copied.n == 200
    assert ends_of(copied) == pytest.approx(ends_of(once), abs=1e-9)
    assert np.diff(ends_of(naive)) < 0.6 * np.diff(ends_of(copied))


def test_clustered_zeros_and_ones_are_resampled_where_clusters_are_many():
    half = [0, 1] * FEW
    assert mean_of(half, [at // 2 for at in range(2 * FEW)]).method == "bootstrap"
    assert mean_of(half[2:], [at // 2 for at in range(2 * FEW - 2)]).method == "wilson"


def test_pairs_that_are_alike_count_once_and_few_of_them_a_little_less():
    # Four pairs of equal values, two of them 1: n = 8, share 0.5, and the sum of each pair lies 1 off. So the
    # variance is 4/3 · 4 / 64 = 1/12 against 0.25 / 7 of independent rows: a design effect of 7/3. Student's
    # quantiles are 2.3646 (7) and 3.1824 (3 degrees of freedom): 8 · 3/7 · (2.3646 / 3.1824)² = 1.893.
    values, pairs = np.array([1.0, 1, 1, 1, 0, 0, 0, 0]), np.array([0, 0, 1, 1, 2, 2, 3, 3])
    size = effective_size(values, pairs)
    assert size == pytest.approx(1.893, abs=0.02)
    assert ends_of(mean_of(values, pairs)) == wilson_interval(size / 2, size)


def test_one_shared_cluster_leaves_an_interval_that_tells_something():
    ends = ends_of(mean_of([1, 0, 1, 0, 1, 0, 0], list("abacdef")))
    alone = wilson_interval(3, 7)
    assert 0 < ends[0] < alone[0]
    assert alone[1] < ends[1] < 0.85


def test_clusters_that_differ_less_than_chance_count_no_more_than_their_rows():
    values = [1, 0, 1, 0, 1, 0]
    assert ends_of(mean_of(values, [0, 0, 1, 1, 2, 2])) == wilson_interval(3, 6)


@pytest.mark.simulation
@pytest.mark.parametrize("clusters", [6, 12, 25])
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_few_clusters_hold_the_share_as_often_as_they_say(clusters, share):
    rng = np.random.default_rng(clusters)
    held = []
    for _ in range(1000):
        codes = np.repeat(np.arange(clusters), rng.integers(1, 8, clusters))
        # Shares of clusters vary (beta): two rows of one correlate by 0.3, as questions of one document do.
        own = rng.beta(share * 7 / 3, (1 - share) * 7 / 3, clusters)
        low, high = ends_of(mean_of((rng.random(codes.size) < own[codes]).astype(float), codes))
        held.append(low <= share <= high)
    assert 0.925 <= np.mean(held) <= 0.99


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


def test_columns_are_estimated_together_as_each_alone():
    rng = np.random.default_rng(0)
    columns = {"binary": rng.integers(0, 2, 50).astype(float), "a": rng.random(50), "b": rng.random(50)}
    together = mean_estimates(columns)
    assert list(together) == ["binary", "a", "b"]
    assert together["binary"] == mean_of(columns["binary"])
    for name in ("a", "b"):
        alone = mean_of(columns[name])
        assert together[name].value == alone.value
        assert ends_of(together[name]) == pytest.approx(ends_of(alone), abs=0.01)
    assert mean_estimates({"a": columns["a"]})["a"] == mean_of(columns["a"])


def test_columns_of_no_rows_have_no_means_and_those_of_other_rows_are_an_error(says):
    assert mean_estimates({}) == mean_estimates({"a": [], "b": []}) == {}
    with pytest.raises(ValueError) as error:
        mean_estimates({"a": [1.0], "b": [1.0, 0.0]})
    says(error.value)


def test_differences_are_of_the_same_rows():
    # The columns vary much and their difference little: the paired interval knows it.
    rng = np.random.default_rng(0)
    first = rng.random(60)
    columns = np.stack([first, first - 0.1 + rng.normal(0, 0.01, 60), rng.random(60)], axis=1)
    there, back, other = difference_estimates(columns, [(0, 1), (1, 0), (0, 2)])
    assert there.value == pytest.approx(float(np.mean(columns[:, 0] - columns[:, 1])))
    low, high = ends_of(there)
    assert 0.09 < low < there.value < high < 0.11
    assert ends_of(back) == pytest.approx((-high, -low), abs=1e-3)
    assert np.diff(ends_of(other)) > 0.1
    alone = mean_of(columns[:, 0] - columns[:, 1])
    assert ends_of(there) == pytest.approx(ends_of(alone), abs=1e-3)


def test_differences_resample_whole_clusters():
    rng = np.random.default_rng(0)
    few = rng.random((30, 2))
    copied = np.repeat(few, 4, axis=0)
    (once,), (naive,) = difference_estimates(few, [(0, 1)]), difference_estimates(copied, [(0, 1)])
    (clustered,) = difference_estimates(copied, [(0, 1)], np.repeat(np.arange(30), 4).tolist())
    assert ends_of(clustered) == pytest.approx(ends_of(once), abs=1e-9)
    assert np.diff(ends_of(naive)) < 0.7 * np.diff(ends_of(clustered))
    assert clustered.n == 120


def test_difference_that_is_everywhere_the_same_has_no_interval():
    (found,) = difference_estimates(np.array([[1.0, 0.5], [0.75, 0.25]]), [(0, 1)])
    assert (found.value, found.low, found.high) == (0.5, None, None)


def test_bounds_are_the_means_had_missing_values_the_lowest_or_the_highest():
    # 7 values of mean 0.8 sum up to 5.6; three more of 0 or of 1: 5.6 / 10 and 8.6 / 10.
    assert mean_bounds(0.8, 7, 3, (0, 1)) == pytest.approx((0.56, 0.86))
    # 4 grades of mean 3 from 1 to 5, one missing: (12 + 1) / 5 and (12 + 5) / 5.
    assert mean_bounds(3.0, 4, 1, (1, 5)) == pytest.approx((2.6, 3.4))


@given(st.lists(st.floats(-1, 3), min_size=2), st.data())
def test_bounds_hold_whatever_the_missing_values_are(values, data):
    n = data.draw(st.integers(1, len(values) - 1))
    low, high = mean_bounds(float(np.mean(values[:n])), n, len(values) - n, (-1, 3))
    assert low - 1e-9 <= np.mean(values) <= high + 1e-9


def test_means_that_differ_by_the_rounding_of_their_sums_are_the_same():
    assert (0.1 + 0.2 + 0.3) / 3 != (0.3 + 0.2 + 0.1) / 3
    assert is_same_mean((0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3)
    assert is_same_mean(0.0, 1e-17)
    assert not is_same_mean(0.5, 0.5 + 1 / 10**6)
