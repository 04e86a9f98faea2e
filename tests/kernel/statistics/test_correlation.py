import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers, lists, tuples
from scipy import stats

from ragstone.kernel.statistics import Estimate, Floats, correlation, kendall_tau, pearson, spearman
from ragstone.kernel.statistics.bootstrap import Statistic, bootstrap_estimates
from ragstone.kernel.statistics.correlation import correlation_columns


def test_spearman_worked_by_hand():
    # Ranks 1 2.5 2.5 4 and 1 2 3 4, less 2.5: -1.5 0 0 1.5 and -1.5 -0.5 0.5 1.5.
    # Products 2.25 + 0 + 0 + 2.25 = 4.5; squares 4.5 and 5. Rho = 4.5 / sqrt(22.5).
    assert spearman([10, 20, 20, 90], [1, 2, 3, 4]) == pytest.approx(4.5 / 22.5**0.5)


@pytest.mark.parametrize("n_grades", [2, 5, 10**6])
def test_correlations_agree_with_scipy(n_grades):
    rng = np.random.default_rng(0)
    first = rng.integers(0, n_grades, 300).astype(float)
    second = first + rng.integers(0, n_grades, 300).astype(float)
    assert spearman(first, second) == pytest.approx(stats.spearmanr(first, second)[0])
    assert pearson(first, second) == pytest.approx(stats.pearsonr(first, second)[0])


@pytest.mark.parametrize("measure", [pearson, spearman])
@pytest.mark.parametrize(("first", "second"), [([], []), ([1], [2]), ([1, 1], [1, 2]), ([1, 2], [0.1, 0.1])])
def test_correlation_with_a_constant_is_undefined(measure, first, second):
    assert measure(first, second) is None


@pytest.mark.parametrize("measure", [pearson, spearman])
def test_unequal_lengths_are_an_error(measure):
    with pytest.raises(ValueError, match="pair them first"):
        measure([1, 2], [1])


weighted_pairs = lists(tuples(integers(0, 3), integers(0, 5), integers(0, 4)), min_size=2, max_size=12)


@settings(max_examples=50, deadline=None)
@given(weighted_pairs)
def test_a_resample_of_few_values_is_measured_anew(rows):
    first, second, times = (np.array(column) for column in zip(*rows, strict=True))
    columns, statistics = correlation_columns(first.astype(float), second.astype(float))
    again = np.repeat(first, times), np.repeat(second, times)
    for name, measure in (("Pearson", pearson), ("Spearman", spearman), ("Kendall tau-b", kendall_tau)):
        resampled = measure(*again) if times.any() else None
        with np.errstate(invalid="ignore"):
            found = float(statistics[name](times[None, :] @ columns)[0])
        assert found == pytest.approx(np.nan if resampled is None else resampled, nan_ok=True)


@pytest.mark.parametrize(
    ("name", "measure"), [("Pearson", pearson), ("Spearman", spearman), ("Kendall tau-b", kendall_tau)]
)
def test_moments_of_many_values_give_the_correlation_and_nearly_that_of_a_resample(name, measure):
    rng = np.random.default_rng(0)
    first = rng.normal(size=2000)
    second = first + rng.normal(size=2000)
    columns, statistics = correlation_columns(first, second)
    assert columns.shape == (2000, 14)
    assert statistics[name](columns.sum(axis=0)[None, :])[0] == pytest.approx(measure(first, second))
    picks = rng.integers(2000, size=2000)
    linearised = statistics[name](columns[picks].sum(axis=0)[None, :])[0]
    # The resample itself moves a correlation by about 0.01; the first order leaves out a tenth of that.
    assert linearised == pytest.approx(measure(first[picks], second[picks]), abs=1.5e-3)


@pytest.mark.parametrize("name", ["Pearson", "Spearman", "Kendall tau-b"])
def test_both_ways_give_the_same_interval(name, monkeypatch):
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 200).astype(float)
    second = rng.normal(size=200) + first
    monkeypatch.setattr(correlation, "EXACT_CELLS", 400)
    exact = _estimate(*correlation_columns(first, second), name)
    monkeypatch.setattr(correlation, "EXACT_CELLS", 0)
    moments = _estimate(*correlation_columns(first, second), name)
    assert exact.value == pytest.approx(moments.value)
    assert (exact.low, exact.high) == pytest.approx((moments.low, moments.high), abs=0.01)


def test_interval_of_pearson_is_that_of_scipys_bootstrap():
    rng = np.random.default_rng(1)
    first = rng.normal(size=80)
    second = first + rng.normal(size=80)
    found = _estimate(*correlation_columns(first, second), "Pearson")
    peer = stats.bootstrap(
        (first, second),
        lambda a, b, axis: stats.pearsonr(a, b, axis=axis)[0],
        paired=True,
        n_resamples=3000,
        rng=0,
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx(tuple(peer), abs=0.015)


def _estimate(columns: Floats, statistics: dict[str, Statistic], name: str) -> Estimate:
    found = bootstrap_estimates(columns, {name: statistics[name]}, len(columns))[name]
    assert found is not None
    return found
