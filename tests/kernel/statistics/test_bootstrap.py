import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays
from hypothesis.strategies import integers
from numpy.typing import ArrayLike
from scipy import stats

from ragstone.kernel.statistics import Estimate, bootstrap, resampled_totals
from ragstone.kernel.statistics.bootstrap import bootstrap_estimates, expanded_level
from ragstone.kernel.statistics.intervals import Floats
from ragstone.kernel.statistics.kappa import kappa_of_cells, quadratic


def mean(totals: Floats) -> Floats:
    return np.asarray(totals[:, 0] / totals[:, 1])


def totals_of(values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    return np.stack([array, np.ones_like(array)], axis=1)


def estimate(totals: Floats, seed: int = 0) -> Estimate:
    found = bootstrap_estimates(totals, {"mean": mean}, len(totals), seed=seed)["mean"]
    assert found is not None
    return found


def test_same_seed_same_interval_and_another_seed_another():
    totals = totals_of(np.random.default_rng(0).exponential(size=30))
    assert estimate(totals, seed=3) == estimate(totals, seed=3) != estimate(totals, seed=4)


def test_order_of_clusters_does_not_matter():
    values = np.random.default_rng(0).integers(0, 40, 60) / 8  # eighths: sums are exact in any order
    assert estimate(totals_of(values)) == estimate(totals_of(values[::-1]))


def test_both_ways_of_drawing_give_the_same_interval(monkeypatch):
    totals = totals_of(np.repeat([0.0, 1.0, 3.1, 7.7], [600, 300, 70, 30]))
    in_one_draw = estimate(totals)
    monkeypatch.setattr(bootstrap, "MULTINOMIAL_PAYS", 1000)
    cluster_by_cluster = estimate(totals)
    assert cluster_by_cluster != in_one_draw
    assert (cluster_by_cluster.low, cluster_by_cluster.high) == pytest.approx(
        (in_one_draw.low, in_one_draw.high), abs=0.03
    )


def test_small_blocks_change_nothing_but_memory(monkeypatch):
    totals = totals_of(np.random.default_rng(0).integers(0, 40, 300))  # more than those whose draws are kept
    whole = estimate(totals)
    monkeypatch.setattr(bootstrap, "BLOCK", 3000)
    assert estimate(totals) == whole


def test_draws_that_are_kept_are_those_that_would_be_drawn_anew(monkeypatch):
    totals = totals_of(np.random.default_rng(4).integers(0, 40, size=200) / 4)
    kept = [resampled_totals(totals, seed=seed) for seed in (0, 1, 0)]
    monkeypatch.setattr(bootstrap, "FEW", 0)
    assert np.allclose(kept, [resampled_totals(totals, seed=seed) for seed in (0, 1, 0)], rtol=1e-12)
    assert not np.allclose(kept[0], kept[1])


def test_one_cluster_has_a_value_and_no_interval():
    found = estimate(np.array([[3.0, 4.0]]))
    assert (found.value, found.low, found.high) == (0.75, None, None)


def test_values_that_do_not_vary_have_no_interval():
    found = estimate(totals_of([0.1] * 7))
    assert (found.low, found.high) == (None, None)


def test_statistic_that_is_undefined_for_the_data_is_none():
    def undefined(totals: Floats) -> Floats:
        return np.full(len(totals), np.nan)

    assert bootstrap_estimates(totals_of([1, 2]), {"kappa": undefined}, 2) == {"kappa": None}


@pytest.mark.parametrize(("n_rare", "has_interval"), [(1, False), (5, True)])
def test_interval_needs_a_statistic_that_nearly_every_resample_defines(n_rare, has_interval):
    # A resample of 40 misses all 5 marked clusters with probability (35/40)^40 = 0.5 %, one with 36 %.
    def mean_unless_unmarked(totals: Floats) -> Floats:
        return np.where(totals[:, 2] > 0, totals[:, 0] / totals[:, 1], np.nan)

    marks = (np.arange(40) < n_rare).astype(float)
    totals = np.column_stack([totals_of(np.arange(40)), marks])
    found = bootstrap_estimates(totals, {"s": mean_unless_unmarked}, 40)["s"]
    assert found is not None
    assert (found.low is not None) == has_interval


def test_value_at_the_edge_of_what_resamples_reach_keeps_plain_quantiles():
    def highest(totals: Floats) -> Floats:  # no resample exceeds it, so the bias correction is not infinite
        return np.minimum(totals[:, 0] / totals[:, 1], 0.0)

    found = bootstrap_estimates(totals_of([5.0, 6.0, 7.0, -9.0]), {"s": highest}, 4)["s"]
    assert found is not None
    assert found.low is not None
    assert found.low < 0 == found.value == found.high


@pytest.mark.long
def test_very_many_clusters_are_drawn_in_groups_and_the_interval_stays(monkeypatch):
    totals = totals_of(np.random.default_rng(3).exponential(size=12_000))
    grouped = estimate(totals)
    monkeypatch.setattr(bootstrap, "GROUPED_FROM", 10**9)
    alone = estimate(totals)
    assert alone.high is not None
    assert alone.low is not None
    assert grouped.value == alone.value
    assert (grouped.low, grouped.high) == pytest.approx((alone.low, alone.high), abs=1e-3)
    assert alone.high - alone.low > 0.03
    assert grouped != alone


def test_resampled_totals_are_those_of_whole_clusters():
    drawn = resampled_totals(np.array([[1.0, 1.0], [10.0, 1.0], [100.0, 1.0]]), seed=1, resamples=200)
    assert drawn.shape == (200, 2)
    assert set(drawn[:, 1]) == {3.0}
    # Three draws of 1, 10 and 100: the digits of the sum say how often each was drawn.
    assert {sum(map(int, str(int(total)))) for total in drawn[:, 0]} == {3}


@pytest.mark.parametrize("n", [5, 8, 15, 40])
def test_interval_of_a_mean_without_skew_is_students(n):
    values = stats.norm.ppf((np.arange(n) + 0.5) / n)  # symmetric, so BCa corrects nothing
    found = estimate(totals_of(values))
    expected = stats.t.interval(0.95, n - 1, loc=values.mean(), scale=stats.sem(values))
    # From 5 values resamples are coarse, and their tails a little shorter than the normal distribution's.
    assert (found.low, found.high) == pytest.approx(expected, rel=0.12 if n == 5 else 0.06)


def test_expanded_level_of_three_clusters():
    # Student's quantile with 2 degrees of freedom is 4.3027, times sqrt(3 / 2) 5.2697: P(|z| < that).
    assert 1 - expanded_level(0.95, 3) == pytest.approx(2 * stats.norm.sf(5.2697), rel=1e-3)


def test_many_clusters_read_the_quantiles_that_were_asked_for():
    assert expanded_level(0.9, 1_000_000) == pytest.approx(0.9, abs=1e-5)


def test_interval_of_two_clusters_reaches_from_one_to_the_other():
    found = estimate(totals_of([0.25, 0.75]))
    assert (found.low, found.value, found.high) == (0.25, 0.5, 0.75)


@settings(max_examples=60, deadline=None)
@given(arrays(np.int64, (6, 9), elements=integers(0, 4)))
def test_kappa_of_few_clusters_stays_within_its_range(cells):
    kappa = kappa_of_cells((0.0, 1.0, 2.0), quadratic)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = bootstrap_estimates(cells.astype(float), {"kappa": kappa}, 6, resamples=200)["kappa"]
    if found is not None and found.low is not None:
        assert -1 <= found.low <= found.high <= 1
