"""The estimate is ppi-python's; the interval is ours, and its promises are tested here and in benchmarks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.kernel.statistics import mean_estimate, prediction_powered_mean, wilson_interval
from ragstone.kernel.statistics.ppi import Labelled, point_estimate, power_tuning, variance


@pytest.fixture(scope="module")
def ppi_py():
    import ppi_py  # takes seconds to import

    return ppi_py


def rows(n, m, seed, *, clusters=None, noise=0.5):
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n + m)
    judge = 2 * quality + 3 + 2 * noise * rng.normal(size=n + m)
    human = np.clip(np.round(quality[:n] + 1.5), 0, 3)
    codes = np.arange(n + m) if clusters is None else clusters
    return Labelled(human, judge[:n], judge[n:], codes)


def made(n, m, seed, *, error, right=0.8):
    """Return human and judge scores of 0 and 1, of n labelled rows and m others."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n + m) < right).astype(float)
    judge = np.where(rng.random(n + m) < error, 1 - truth, truth)
    return truth[:n], judge[:n], judge[n:]


def half(estimate):
    return (estimate.high - estimate.low) / 2


@pytest.mark.parametrize("seed", range(8))
def test_point_estimate_of_any_weight_is_that_of_ppi_python(ppi_py, seed):
    one = rows(20 + 30 * seed, 150, seed)
    for weight in (0.0, 0.4, 1.0, power_tuning(one)):
        theirs = ppi_py.ppi_mean_pointestimate(one.human, one.judge, one.others, lam=weight)
        assert point_estimate(one, weight) == pytest.approx(np.asarray(theirs).item())


@pytest.mark.parametrize("seed", range(8))
def test_weight_is_that_of_ppi_python_with_the_variance_of_the_labelled_rows(ppi_py, seed):
    one = rows(20 + 30 * seed, 150, seed)  # the judge's unit makes their weight lie in the [0, 1] they cut to
    of_all_rows = np.var(np.append(one.judge, one.others), ddof=1)
    weight = power_tuning(one) * np.var(one.judge) / of_all_rows
    assert 0 < weight < 1
    theirs = ppi_py.ppi_mean_pointestimate(one.human, one.judge, one.others)
    assert point_estimate(one, weight) == pytest.approx(np.asarray(theirs).item())


@pytest.mark.parametrize("seed", range(8))
def test_variance_of_independent_rows_is_that_of_ppi_python(ppi_py, seed):
    one = rows(40, 40 + 50 * seed, seed)
    for weight in (0.0, 0.7, 1.0, power_tuning(one)):
        low, high = ppi_py.ppi_mean_ci(one.human, one.judge, one.others, alpha=0.05, lam=weight)
        standard_error = (np.asarray(high).item() - np.asarray(low).item()) / 2 / 1.959963984540054
        assert variance(one, weight) == pytest.approx(standard_error**2)


def test_estimate_worked_by_hand():
    # People say 1 1 0 0, the judge 1 1 1 0, and 1 0 0 0 of the others. Means 1/2, 3/4 and 1/4.
    # Covariance: mean of (.5)(.25) (.5)(.25) (-.5)(.25) (-.5)(-.75), (.125 + .125 - .125 + .375) / 4 = 1/8.
    # Variance of 1 1 1 0: 3/4 * 1/4 = 3/16. Weight 1/8 / (3/16) / (1 + 4/4) = 1/3.
    # Estimate 1/2 + 1/3 * (1/4 - 3/4) = 1/3.
    one = Labelled(np.array([1.0, 1, 0, 0]), np.array([1.0, 1, 1, 0]), np.array([1.0, 0, 0, 0]), np.arange(8))
    assert power_tuning(one) == pytest.approx(1 / 3)
    assert point_estimate(one, 1 / 3) == pytest.approx(1 / 3)


def test_a_judge_that_saw_all_labels_right_gives_its_own_mean_of_all_rows():
    human, judge, others = made(40, 160, 20, error=0.0)
    found = prediction_powered_mean(human, judge, others)
    assert found.corrected.value == pytest.approx(np.append(judge, others).mean())
    assert found.weight == pytest.approx(160 / 200)  # of the others: the labelled rows are known already


def test_variance_of_clusters_worked_by_hand():
    # Labels 1 1 0 0 without a judge: shares (1/2) / 4 twice, then -(1/2) / 4 twice. Two clusters of equal
    # labels: sums 1/4 and -1/4, variance 2 / 16. Single rows: 4 / 64.
    none = np.zeros(0)
    labels = np.array([1.0, 1, 0, 0])
    assert variance(Labelled(labels, labels, none, np.array([0, 0, 1, 1])), 0.0) == pytest.approx(1 / 8)
    assert variance(Labelled(labels, labels, none, np.arange(4)), 0.0) == pytest.approx(1 / 16)
    # Clusters that balance, 1 0 and 1 0, have no variance of their own: that of single rows is kept.
    assert variance(Labelled(labels, labels, none, np.array([0, 1, 0, 1])), 0.0) == pytest.approx(1 / 16)


def test_a_row_without_label_counts_with_the_labelled_rows_of_its_cluster():
    one = rows(30, 30, 3, noise=0.2)
    weight = power_tuning(one)
    together = np.concatenate([np.arange(30), np.arange(30)])
    rng = np.random.default_rng(0)
    twins = Labelled(one.human, one.judge, one.judge + rng.normal(size=30), together)
    apart = Labelled(twins.human, twins.judge, twins.others, np.arange(60))
    # A cluster's share is (h - w j) / 30 + w j / 30: the judge's part cancels, the labels' stays.
    assert variance(twins, weight) > 1.5 * variance(apart, weight)
    assert variance(twins, weight) == pytest.approx(variance(apart, 0.0), rel=0.2)


def test_labels_alone_have_the_interval_that_every_mean_of_zeros_and_ones_has():
    human, judge, others = made(60, 400, 1, error=0.1)
    ours, theirs = prediction_powered_mean(human, judge, others).human, mean_estimate(human)
    assert (ours.value, ours.n, ours.method) == (theirs.value, 60, "wilson")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


def test_a_good_judge_makes_few_labels_worth_many():
    human, judge, others = made(100, 5000, 2, error=0.02)
    found = prediction_powered_mean(human, judge, others)
    assert half(found.corrected) < 0.65 * half(found.human)
    assert found.worth > 250
    assert found.corrected.n == 5100


def test_a_lenient_judge_is_corrected():
    rng = np.random.default_rng(4)
    human = (rng.random(6000) < 0.6).astype(float)
    judge = np.where((human == 0) & (rng.random(6000) < 0.4), 1.0, human)  # says 0.76 in the long run
    found = prediction_powered_mean(human[:300], judge[:300], judge[300:]).corrected
    assert judge.mean() > 0.74
    assert found.low < human.mean() < found.high < 0.7


@pytest.mark.long
@pytest.mark.parametrize("n", [10, 20, 50, 100])
@pytest.mark.parametrize("error", [0.0, 0.1, 0.3, 0.5])
def test_interval_is_never_wider_than_that_of_the_labels_alone_by_more_than_two_percent(n, error):
    found = [
        prediction_powered_mean(*made(n, 1000, seed, error=error, right=0.9), bounds=(0, 1))
        for seed in range(150)
    ]
    assert all(half(one.corrected) <= 1.0201 * half(one.human) for one in found)
    assert np.mean([half(one.corrected) for one in found]) <= np.mean([half(one.human) for one in found])
    assert all(one.worth >= n for one in found)


@pytest.mark.simulation
def test_few_labels_do_not_bias_the_estimate():
    # A harsh judge, 20 labels: with the variance of all rows in the weight, the mean would be 0.016 too high.
    rng = np.random.default_rng(15)
    found = []
    for _ in range(3000):
        human = (rng.random(600) < 0.83).astype(float)
        judge = np.where(rng.random(600) < 0.09, 0.0, human)
        found.append(prediction_powered_mean(human[:20], judge[:20], judge[20:], bounds=(0, 1)))
    error = np.mean([one.corrected.value for one in found]) - 0.83
    assert abs(error) < 0.005  # 4 standard errors of 3,000 simulations


@pytest.mark.simulation
@pytest.mark.parametrize(("error", "n"), [(0.02, 50), (0.1, 100), (0.5, 50)])
def test_interval_holds_the_truth_as_often_as_it_says(error, n):
    found = [prediction_powered_mean(*made(n, 800, seed, error=error)).corrected for seed in range(400)]
    held = np.mean([one.low <= 0.8 <= one.high for one in found])
    assert held > 0.925  # 95 % within 2.3 standard errors of 400 simulations


def test_a_judge_that_never_erred_on_few_labels_is_not_believed_to_be_perfect():
    human, judge, others = made(30, 10**5, 5, error=0.0)
    found = prediction_powered_mean(human, judge, others).corrected
    assert half(found) > 0.03  # one error in 30 that nobody has seen moves the mean by 1 / 30


def test_a_judge_of_one_score_is_not_used():
    human, judge, others = made(40, 100, 6, error=0.0)
    found = prediction_powered_mean(human, np.ones_like(judge), np.ones_like(others))
    assert (found.weight, found.worth) == (0.0, 40)
    assert found.corrected == found.human


def test_without_other_rows_the_labels_stand_alone():
    human, judge, _ = made(40, 0, 7, error=0.1)
    found = prediction_powered_mean(human, judge, [])
    assert found.corrected == found.human
    assert found.to_halve is None


def test_equal_labels_give_wilsons_interval_and_not_an_empty_one():
    ones = np.ones(40)
    rng = np.random.default_rng(8)
    found = prediction_powered_mean(ones, (rng.random(40) < 0.9), (rng.random(400) < 0.9), bounds=(0, 1))
    assert (found.corrected.low, found.corrected.high) == pytest.approx(wilson_interval(40, 40))
    assert found.weight == 0.0
    # Grades of which all are the upper end of 0 to 3: the same interval, three times as wide.
    graded = prediction_powered_mean(3 * ones, ones, rng.random(400), bounds=(0, 3)).corrected
    assert (graded.low, graded.high) == pytest.approx((3 * found.corrected.low, 3.0))


def test_equal_labels_on_no_known_scale_have_no_interval():
    found = prediction_powered_mean([0.1] * 10, np.arange(10), np.arange(100))
    assert (found.corrected.low, found.human.high, found.to_halve) == (None, None, None)
    assert found.corrected.value == pytest.approx(0.1)


def test_one_cluster_has_no_interval():
    human, judge, others = made(20, 20, 9, error=0.1)
    found = prediction_powered_mean(human, judge, others, ["a"] * 20 + list(range(20)), bounds=(0, 1))
    assert found.corrected.low is None


def test_clusters_widen_the_interval():
    human, judge, others = made(50, 200, 10, error=0.2)
    twice = (np.repeat(scores, 2) for scores in (human, judge, others))
    clusters = [at // 2 for at in range(500)]
    once, again = prediction_powered_mean(human, judge, others), prediction_powered_mean(*twice, clusters)
    assert again.human.value == pytest.approx(once.human.value)
    # 50 clusters are 50 observations: only Student's quantile and 49 in place of 50 make a difference.
    assert half(again.human) == pytest.approx(half(once.human), rel=0.04)


def test_another_unit_of_the_judge_changes_nothing_but_the_weight():
    human, judge, others = made(80, 300, 11, error=0.15)
    plain = prediction_powered_mean(human, judge, others)
    percent = prediction_powered_mean(human, 100 - 100 * judge, 100 - 100 * others)
    assert percent.weight == pytest.approx(-plain.weight / 100)
    assert percent.corrected.value == pytest.approx(plain.corrected.value)
    assert percent.corrected.high == pytest.approx(plain.corrected.high)


def test_halving_takes_about_four_times_the_labels_without_a_judge():
    human, _, _ = made(100, 0, 12, error=0.5)
    found = prediction_powered_mean(human, np.ones(100), np.ones(10**5))
    assert found.to_halve is not None
    # A quarter of the variance: 4 * 100; Wilson's interval, of share s, narrows a little faster or slower.
    assert 390 <= found.to_halve <= 410


def test_labels_cannot_halve_what_the_number_of_rows_leaves_open():
    human, judge, others = made(100, 60, 13, error=0.02)
    assert prediction_powered_mean(human, judge, others).to_halve is None


def test_the_number_that_halves_the_interval_does_so():
    human, judge, others = made(4000, 4000, 14, error=0.2)
    first = prediction_powered_mean(human[:100], judge[:100], np.concatenate([judge[100:], others]))
    n = first.to_halve
    assert n is not None
    later = prediction_powered_mean(human[:n], judge[:n], np.concatenate([judge[n:], others]))
    assert half(later.corrected) / half(first.corrected) == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([], [], [1.0]), "give pairs"),
        (([1.0], [1.0, 0.0], []), "give pairs"),
        (([1.0], [float("nan")], []), "not a finite number"),
        (([1.0, 5.0], [1.0, 0.0], []), "outside the bounds"),
    ],
)
def test_what_is_no_sample_is_refused(arguments, says):
    with pytest.raises(ValueError, match=says):
        prediction_powered_mean(*arguments, bounds=(0, 1))


scores = st.lists(st.tuples(st.sampled_from([0.0, 1.0, 2.0]), st.floats(-5, 5)), min_size=1, max_size=30)


@settings(max_examples=60, deadline=None)
@given(scores, st.lists(st.floats(-5, 5), max_size=40))
def test_interval_holds_the_estimate_within_the_bounds_and_is_worth_the_labels(pairs, others):
    human, judge = zip(*pairs, strict=True)
    found = prediction_powered_mean(human, judge, others, bounds=(0, 2))
    for one in (found.corrected, found.human):
        assert 0 <= one.low <= one.value <= one.high <= 2
        assert one.low < one.high
    assert found.worth >= len(human)
    assert found.to_halve is None or len(human) < found.to_halve <= len(human) + len(others)
