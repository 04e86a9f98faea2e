import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import floats, integers, lists, tuples
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from ragstone.kernel.statistics.calibration import calibration_columns, equal_bins


def measured(probabilities, labels) -> dict[str, float]:
    columns, statistics = calibration_columns(np.array(probabilities, float), np.array(labels, float))
    totals = columns.sum(axis=0)[None, :]
    return {name: float(statistic(totals)[0]) for name, statistic in statistics.items()}


def test_calibration_worked_by_hand():
    # Bin 0.8 to 0.9: 0.85 twice, one right: off by 0.35. Bin 0 to 0.1: 0.05 twice, none right: off by 0.05.
    # Error (2 * 0.35 + 2 * 0.05) / 4; Brier (0.15² + 0.85² + 2 * 0.05²) / 4.
    found = measured([0.85, 0.85, 0.05, 0.05], [1, 0, 0, 0])
    assert found["expected calibration error"] == pytest.approx(0.2)
    assert found["Brier score"] == pytest.approx((0.0225 + 0.7225 + 0.005) / 4)


def test_bins_and_scores_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    probabilities = np.round(rng.random(500), 2)
    labels = (rng.random(500) < probabilities**2).astype(float)
    right, mean = calibration_curve(labels, probabilities, n_bins=10)
    bins = reliability_bins(probabilities)
    assert [probabilities[bins == b].mean() for b in range(10)] == pytest.approx(list(mean))
    assert [labels[bins == b].mean() for b in range(10)] == pytest.approx(list(right))
    found = measured(probabilities, labels)
    assert found["Brier score"] == pytest.approx(brier_score_loss(labels, probabilities))
    share = np.bincount(bins) / 500
    assert found["expected calibration error"] == pytest.approx(float(share @ np.abs(right - mean)))


def test_percentages_are_an_error(says):
    with pytest.raises(ValueError) as error:
        reliability_bins(np.array([50.0]))
    says(error.value)


@settings(max_examples=60, deadline=None)
@given(lists(tuples(floats(0, 1), integers(0, 1)), min_size=1, max_size=30))
def test_error_is_at_most_the_mean_distance_and_0_for_what_is_certain_and_right(rows):
    probabilities, labels = (np.array(side, dtype=float) for side in zip(*rows, strict=True))
    found = measured(probabilities, labels)
    assert 0 <= found["expected calibration error"] <= np.abs(probabilities - labels).mean() + 1e-12
    assert 0 <= found["Brier score"] <= 1
    assert measured(labels, labels) == {"expected calibration error": 0, "Brier score": 0}
