import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import floats, integers, lists

from ragstone.kernel.statistics.sequences import BETS, log_capitals, log_evidence, sequence_interval


def evidence_path(observations):
    """Return the log evidence against "the mean is at most 0" after each observation."""
    return log_evidence(np.cumsum(log_capitals(observations), axis=0))


BOUNDED = floats(-1, 1).map(lambda value: round(value, 6))


def test_evidence_is_the_mean_capital_of_the_bets():
    # Two wins of 1 and a loss of 1: each bet b holds (1 + b)^2 (1 - b).
    by_hand = np.mean([(1 + bet) ** 2 * (1 - bet) for bet in BETS])
    assert np.exp(evidence_path(np.array([1.0, 1.0, -1.0]))[-1]) == pytest.approx(by_hand)


def test_evidence_starts_from_nothing_and_ties_bring_none():
    assert log_evidence(np.zeros(BETS.size)) == 0
    assert evidence_path(np.zeros(3)).tolist() == [0, 0, 0]


@given(lists(BOUNDED, min_size=1, max_size=30))
def test_evidence_for_one_side_leaves_none_for_the_other(values):
    observed = np.array(values)
    for_it, against_it = evidence_path(observed)[-1], evidence_path(-observed)[-1]
    assert for_it <= 1e-9 or against_it <= 1e-9


@given(lists(BOUNDED, min_size=1, max_size=20))
def test_fair_coins_are_no_way_to_grow_the_capital(values):
    # Each observation as it is and turned around, at even odds: no bet gains on average.
    both = (np.exp(log_capitals(np.array(values))) + np.exp(log_capitals(-np.array(values)))) / 2
    assert np.allclose(both, 1)


@pytest.mark.parametrize("wrong", [1.1, float("nan")])
def test_value_out_of_range_is_an_error(wrong, says):
    with pytest.raises(ValueError) as error:
        evidence_path(np.array([0.5, wrong]))
    says(error.value)
    with pytest.raises(ValueError) as error:
        sequence_interval(np.array([0.5, wrong]))
    says(error.value)


@pytest.mark.simulation
@pytest.mark.parametrize("kind", ["ternary", "skewed", "graded"])
def test_false_alarms_at_any_look_stay_below_alpha(kind):
    """1,000 sequences of 400 with mean 0, looked at after each observation.

    At most 5 % may ever reach 20. At 5 % their number has a standard deviation of 6.9: 50 + 3 * 7 may be.
    """
    rng = np.random.default_rng(3)
    drawn = {
        "ternary": lambda: rng.choice([-1.0, 0.0, 1.0], size=400, p=[0.15, 0.7, 0.15]),
        "skewed": lambda: rng.choice([-0.1, 0.9], size=400, p=[0.9, 0.1]),
        "graded": lambda: rng.uniform(-0.6, 0.6, size=400),
    }[kind]
    alarms = sum(evidence_path(drawn()).max() >= np.log(20) for _ in range(1000))
    assert alarms <= 71


@pytest.mark.simulation
def test_an_ordinary_test_looked_at_each_time_does_not_keep_its_alpha():
    # Why these are used: a z-test at every look from 20 on, on the same kind of sequences.
    rng = np.random.default_rng(3)
    n = np.arange(1, 401)
    alarms = 0
    for _ in range(300):
        values = rng.choice([-1.0, 0.0, 1.0], size=400, p=[0.15, 0.7, 0.15])
        z = np.cumsum(values) / np.sqrt(np.maximum(np.cumsum(values**2), 1))
        alarms += bool((z[n >= 20] > 1.645).any())
    assert alarms / 300 > 0.2


@pytest.mark.simulation
def test_the_interval_holds_the_mean_at_all_looks_at_once():
    """200 sequences of 120 with mean 0.2, looked at six times: at most 5 % may ever miss it (10 + 3 * 3)."""
    rng = np.random.default_rng(4)
    missed = 0
    for _ in range(200):
        values = rng.choice([-1.0, 0.0, 1.0], size=120, p=[0.1, 0.6, 0.3])
        ends = [sequence_interval(values[:n]) for n in (5, 10, 20, 40, 80, 120)]
        missed += any(not low <= 0.2 <= high for low, high in ends)
    assert missed <= 19


@pytest.mark.simulation
def test_the_interval_of_clusters_of_different_sizes_holds_the_mean_over_rows():
    # Clusters of 1 with mean 0.3 and of 4 with mean 0, as many of each: 0.3 / 5 over rows.
    rng = np.random.default_rng(5)
    missed = 0
    for _ in range(150):
        sizes = rng.choice([1, 4], size=60)
        signs = [rng.choice([-1.0, 1.0], p=[0.35, 0.65] if size == 1 else [0.5, 0.5]) for size in sizes]
        values, codes = np.repeat(signs, sizes), np.repeat(np.arange(60), sizes)
        ends = [sequence_interval(values[codes < n], codes[codes < n], largest=4) for n in (15, 30, 60)]
        missed += any(not low <= 0.06 <= high for low, high in ends)
    assert missed <= 7.5 + 3 * 2.7


@settings(max_examples=50)
@given(lists(BOUNDED, min_size=1, max_size=40))
def test_the_interval_holds_the_observed_mean_and_turns_with_the_sign(values):
    observed = np.array(values)
    low, high = sequence_interval(observed)
    assert -1 <= low <= observed.mean() + 1e-9
    assert observed.mean() - 1e-9 <= high <= 1
    assert sequence_interval(-observed) == pytest.approx((-high, -low), abs=1e-9)


@given(lists(BOUNDED, min_size=1, max_size=30), integers(1, 3))
def test_the_interval_excludes_0_where_the_evidence_is_enough(values, size):
    # The evidence that a race goes by, against twice 1/alpha, and the interval say the same.
    observed = np.array(values)
    sums = np.add.reduceat(observed, np.arange(0, observed.size, size))
    codes = np.arange(observed.size) // size
    evidence = log_evidence(log_capitals(sums / size).sum(axis=0))
    low, _ = sequence_interval(observed, codes, largest=size)
    if abs(evidence - np.log(40)) > 1e-6:
        assert (low > 0) == (evidence > np.log(40))


def test_nothing_seen_leaves_the_mean_open():
    assert sequence_interval(np.array([])) == (-1, pytest.approx(1))


def test_more_observations_narrow_the_interval_and_clusters_widen_it():
    values = np.repeat(np.tile([1.0, 0.0, 0.0, 1.0, -1.0], 10), 4)
    low, high = sequence_interval(values)
    few_low, few_high = sequence_interval(values[:50])
    wide_low, wide_high = sequence_interval(values, np.arange(200) // 4)
    assert high - low < few_high - few_low
    assert high - low < wide_high - wide_low


def test_a_cluster_larger_than_the_largest_is_an_error(says):
    with pytest.raises(ValueError) as error:
        sequence_interval(np.zeros(3), [0, 0, 0], largest=2)
    says(error.value)
