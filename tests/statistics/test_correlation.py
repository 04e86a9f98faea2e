import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers, lists, tuples
from scipy import stats

from ragstone.statistics import (
    Estimate,
    Floats,
    Statistic,
    bootstrap_estimates,
    correlation,
    pearson,
    spearman,
    spearman_columns,
)


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
def test_a_resample_of_few_values_is_ranked_anew(rows):
    first, second, times = (np.array(column) for column in zip(*rows, strict=True))
    columns, statistic = spearman_columns(first.astype(float), second.astype(float))
    resampled = spearman(np.repeat(first, times), np.repeat(second, times)) if times.any() else None
    with np.errstate(invalid="ignore"):
        found = float(statistic(times[None, :] @ columns)[0])
    assert found == pytest.approx(np.nan if resampled is None else resampled, nan_ok=True)


def test_moments_of_many_values_give_the_correlation_and_nearly_that_of_a_resample():
    rng = np.random.default_rng(0)
    first = rng.normal(size=2000)
    second = first + rng.normal(size=2000)
    columns, statistic = spearman_columns(first, second)
    assert columns.shape == (2000, 4)
    assert statistic(columns.sum(axis=0)[None, :])[0] == pytest.approx(spearman(first, second))
    picks = rng.integers(2000, size=2000)
    linearised = statistic(columns[picks].sum(axis=0)[None, :])[0]
    # The resample itself moves rho by about 0.01; what the first order leaves out is a tenth of that.
    assert linearised == pytest.approx(spearman(first[picks], second[picks]), abs=1e-3)


def test_both_ways_give_the_same_interval(monkeypatch):
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 200).astype(float)
    second = rng.normal(size=200) + first
    exact = _estimate(*spearman_columns(first, second))
    monkeypatch.setattr(correlation, "EXACT_CELLS", 0)
    moments = _estimate(*spearman_columns(first, second))
    assert exact.value == pytest.approx(moments.value)
    assert (exact.low, exact.high) == pytest.approx((moments.low, moments.high), abs=0.01)


def _estimate(columns: Floats, statistic: Statistic) -> Estimate:
    found = bootstrap_estimates(columns, {"rho": statistic}, len(columns))["rho"]
    assert found is not None
    return found
