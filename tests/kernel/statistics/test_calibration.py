import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import floats, integers, lists, tuples
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from ragstone.kernel.statistics import Floats, calibration_of
from ragstone.kernel.statistics.calibration import calibration_columns, calibration_error, equal_bins


def measured(probabilities, labels) -> dict[str, float]:
    columns, statistics = calibration_columns(np.array(probabilities, float), np.array(labels, float))
    totals = columns.sum(axis=0)[None, :]
    return {name: float(statistic(totals)[0]) for name, statistic in statistics.items()}


def overconfident(n: int, by: float, rng: np.random.Generator) -> tuple[Floats, Floats, float]:
    """Return probabilities, labels and the true error of a judge whose log odds are `by` times too large."""
    likely = np.clip(rng.random(n), 0.001, 0.999)
    true = 1 / (1 + np.exp(-np.log(likely / (1 - likely)) / by))
    return likely, (rng.random(n) < true).astype(float), float(np.abs(likely - true).mean())


def test_usual_error_and_brier_score_worked_by_hand():
    # Bin 0.8 to 0.9: 0.85 twice, one right: off by 0.35. Bin 0 to 0.1: 0.05 twice, none right: off by 0.05.
    # Error (2 * 0.35 + 2 * 0.05) / 4; Brier (0.15² + 0.85² + 2 * 0.05²) / 4; a quarter is right, so the share
    # reaches 3 / 16; mean probability 0.45.
    found = measured([0.85, 0.85, 0.05, 0.05], [1, 0, 0, 0])
    assert found["usual error"] == pytest.approx(0.2)
    assert found["Brier score"] == pytest.approx((0.0225 + 0.7225 + 0.005) / 4)
    assert found["skill"] == pytest.approx(3 / 16 - 0.75 / 4)
    assert found["lean"] == pytest.approx(0.45 - 0.25)


def test_usual_error_and_brier_score_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    probabilities = np.round(rng.random(500), 2)
    labels = (rng.random(500) < probabilities**2).astype(float)
    right, mean = calibration_curve(labels, probabilities, n_bins=10)
    found = measured(probabilities, labels)
    assert found["Brier score"] == pytest.approx(brier_score_loss(labels, probabilities))
    counts = np.bincount(np.ceil(probabilities * 10).clip(1).astype(int) - 1, minlength=10)
    assert found["usual error"] == pytest.approx(float(counts / 500 @ np.abs(right - mean)), abs=2e-3)


def test_bins_hold_about_equally_many_and_never_part_equal_probabilities():
    assert np.bincount(equal_bins(np.linspace(0, 1, 400))).tolist() == [40] * 10
    assert np.bincount(equal_bins(np.linspace(0, 1, 60))).tolist() == [20] * 3  # 20 each at least
    assert equal_bins(np.full(300, 0.8)).max() == 0
    values = np.repeat([0.1, 0.8, 0.9], [30, 200, 70])
    bins = equal_bins(values)
    assert [len(set(bins[values == value])) for value in (0.1, 0.8, 0.9)] == [1, 1, 1]


def test_error_of_bins_far_off_worked_by_hand():
    # Two bins of 100: 0.9 said, 50 right; 0.3 said, 30 right: (100 * 0.4 + 100 * 0) / 200 = 0.2. In the
    # second the seen distance is 0; what chance alone adds is taken off: the mean of a folded normal.
    likely = np.repeat([0.9, 0.3], 100)
    labels = np.array(([1, 0] * 50) + [1] * 30 + [0] * 70, float)
    found = calibration_error(likely, labels)
    noise = np.sqrt(0.3 * 0.7 / 100) * np.sqrt(2 / np.pi) / 2
    assert found.value == pytest.approx(0.2 - noise, abs=0.001)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high


@pytest.mark.simulation
def test_a_calibrated_judge_reads_less_than_usual_and_its_interval_begins_at_0():
    rng = np.random.default_rng(1)
    values, usual, begins = [], [], []
    for seed in range(60):
        likely, labels, _ = overconfident(200, 1.0, rng)
        found = calibration_error(likely, labels, seed=seed)
        values.append(found.value)
        usual.append(measured(likely, labels)["usual error"])
        begins.append(found.low == 0)
    assert np.mean(values) < 0.6 * np.mean(usual)  # the truth is 0
    assert sum(begins) >= 55  # 97.5 % are expected


@pytest.mark.simulation
@pytest.mark.parametrize("by", [1.5, 3.0])
def test_interval_holds_the_true_error(by: float):
    rng = np.random.default_rng(2)
    held = []
    for seed in range(60):
        likely, labels, true = overconfident(200, by, rng)
        found = calibration_error(likely, labels, seed=seed)
        assert found.low is not None
        assert found.high is not None
        held.append(found.low <= true <= found.high)
    assert sum(held) >= 52


def test_copies_of_answers_to_a_question_do_not_make_the_interval_narrower():
    likely, labels, _ = overconfident(100, 4.0, np.random.default_rng(3))
    copied = calibration_error(np.repeat(likely, 4), np.repeat(labels, 4), np.repeat(np.arange(100), 4))
    counted = calibration_error(np.repeat(likely, 4), np.repeat(labels, 4))
    width = [found.high - found.low for found in (copied, counted)]
    assert width[0] > 1.5 * width[1]


def test_one_cluster_has_no_interval():
    found = calibration_error(np.array([0.2, 0.9]), np.array([0.0, 1.0]), ["q", "q"])
    assert (found.low, found.high) == (None, None)


def test_all_right_at_probability_1_leaves_doubt():
    found = calibration_error(np.array([0.999] * 30 + [0.0]), np.array([1.0] * 30 + [0.0]))
    assert found.high is not None
    assert found.high > 0.01


def test_a_constant_judge_has_no_skill():
    labels = np.array([1.0, 1, 1, 0] * 25)
    found = calibration_of(np.full(100, 0.75), labels, np.arange(100))
    assert found is not None
    assert found.error.value == 0
    assert (found.distinct, len(found.bins)) == (1, 1)
    assert found.skill is not None
    assert found.skill.value == pytest.approx(0)


def test_percentages_are_an_error(says):
    for measure in (equal_bins, lambda likely: calibration_columns(likely, np.array([1.0]))):
        with pytest.raises(ValueError) as error:
            measure(np.array([50.0]))
        says(error.value)


@settings(max_examples=60, deadline=None)
@given(lists(tuples(floats(0, 1), integers(0, 1)), min_size=1, max_size=60))
def test_errors_are_within_0_and_1_and_the_usual_one_at_most_the_mean_distance(rows):
    probabilities, labels = (np.array(side, dtype=float) for side in zip(*rows, strict=True))
    found = measured(probabilities, labels)
    assert 0 <= found["usual error"] <= np.abs(probabilities - labels).mean() + 1e-12
    assert 0 <= found["Brier score"] <= 1
    certain = measured(labels, labels)
    assert (certain["usual error"], certain["Brier score"]) == (0, 0)
    error = calibration_error(probabilities, labels)
    assert 0 <= error.value <= 1
    if error.low is not None:
        assert 0 <= error.low <= error.value <= error.high <= 1
