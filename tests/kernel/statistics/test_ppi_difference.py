"""The difference of two systems that people would see: the estimate is ppi-python's, the interval ours."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragstone.kernel.statistics.intervals import student_p
from ragstone.kernel.statistics.ppi_difference import labelled_pairs_for, prediction_powered_difference


@pytest.mark.parametrize("df", [1, 2, 3, 4, 7, 30, 149, 1001])
def test_p_of_students_t_is_that_of_scipy(df):
    for t in (0.0, 0.3, 1.0, 1.96, 3.5, 9.0):
        assert student_p(t, df) == pytest.approx(2 * stats.t.sf(t, df), abs=1e-12)
        assert student_p(-t, df) == student_p(t, df)


def test_estimate_and_interval_worked_by_hand():
    # People's differences 1 1 0 0 -1 0 0 0, the judge's 1 0 0 0 -1 0 1 0, others 1 0 0 0 0 0 0 0.
    # Means 1/8, 1/8, 1/8: whatever the weight, the estimate is 1/8.
    # Covariance 2/8 - 1/64 = 15/64, variance of the judge's 3/8 - 1/64 = 23/64.
    # Weight 15/23 / (1 + 8/8) = 15/46.
    # Rectified h - w j, w = 15/46: 31/46, 1, 0, 0, -31/46, 0, -15/46, 0; their mean 1/8 - w/8 = 31/368.
    # Sum of squares about it: (31/46)^2 * 2 + 1 + (15/46)^2 - 8 * (31/368)^2 = 1.957939 ; / 64 = 0.0305928.
    # Others: w^2 * (1/8 - 1/64) * 8 / 64 = 0.1063327 * 0.109375 / 8 = 0.0014538. Together 0.0320466.
    # 8 clusters, 6 degrees of freedom: * 8/6 = 0.0427288. Two pairs wrong by 1: + 2 * 8 * (1/8)^3 = 0.03125,
    # * 8/10: 0.0591830. Its root is 0.24328; t of 6 at 97.5 % is 2.4469.
    human, judge = [1, 1, 0, 0, -1, 0, 0, 0], [1, 0, 0, 0, -1, 0, 1, 0]
    one = prediction_powered_difference(human, judge, [1, 0, 0, 0, 0, 0, 0, 0], width=1.0)
    assert one.weight == pytest.approx(15 / 46)
    assert one.corrected.value == pytest.approx(1 / 8)
    assert one.p == pytest.approx(2 * stats.t.sf(0.125 / 0.24328, 6), rel=1e-3)
    assert one.corrected.low == pytest.approx(0.125 - 2.4469 * 0.24328, rel=2e-3)  # the skew is upwards
    assert one.corrected.high > 0.125 + 2.4469 * 0.24328


@pytest.mark.parametrize("seed", range(4))
def test_estimate_is_that_of_ppi_python(seed):
    import ppi_py

    rng = np.random.default_rng(seed)
    human, judge, others = (rng.choice([-1.0, 0.0, 1.0], size=n) for n in (40, 40, 160))
    one = prediction_powered_difference(human, judge, others, width=1.0)
    theirs = ppi_py.ppi_mean_pointestimate(human, judge, others, lam=one.weight)
    assert one.corrected.value == pytest.approx(np.asarray(theirs).item())


def test_without_others_the_labels_decide_whatever_the_judge_says():
    rng = np.random.default_rng(1)
    human = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.6, 0.3], size=60)
    first = prediction_powered_difference(human, human, [], width=1.0)
    other = prediction_powered_difference(human, rng.choice([-1.0, 1.0], size=60), [], width=1.0)
    assert first == other
    assert (first.weight, first.worth, first.corrected) == (0.0, pytest.approx(60), first.human)
    assert first.corrected.value == pytest.approx(human.mean())


def test_a_judge_that_saw_all_labels_right_gives_its_own_difference_of_all_pairs():
    rng = np.random.default_rng(2)
    every = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.7, 0.2], size=400)
    one = prediction_powered_difference(every[:100], every[:100], every[100:], width=1.0)
    assert one.corrected.value == pytest.approx(every.mean())
    assert one.worth > 200
    assert one.corrected.high - one.corrected.low < one.human.high - one.human.low


def test_taste_for_one_side_does_not_move_the_estimate():
    # The judge gives B 0.3 more everywhere, in labelled pairs and in others alike.
    rng = np.random.default_rng(3)
    every = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.7, 0.2], size=300)
    fair = prediction_powered_difference(every[:80], every[:80], every[80:], width=1.0)
    flattering = prediction_powered_difference(every[:80], every[:80] + 0.3, every[80:] + 0.3, width=1.0)
    assert flattering.corrected.value == pytest.approx(fair.corrected.value)
    assert flattering.p == pytest.approx(fair.p)


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=4, max_size=60), st.integers(0, 99))
def test_p_is_at_most_5_percent_just_where_the_interval_leaves_0_out(differences, seed):
    rng = np.random.default_rng(seed)
    human = np.array(differences)
    judge = np.where(rng.random(human.size) < 0.8, human, 0.0)
    one = prediction_powered_difference(human, judge, rng.choice([-1.0, 0.0, 1.0], size=50), width=1.0)
    assert one.p is not None
    beyond = one.corrected.low > 0 or one.corrected.high < 0
    assert beyond == (one.p <= 0.05) or one.p == pytest.approx(0.05, rel=0.02)
    assert -1 <= one.corrected.low <= one.corrected.value <= one.corrected.high <= 1


@given(st.lists(st.sampled_from([-2.0, 0.0, 1.0]), min_size=5, max_size=40), st.integers(0, 99))
def test_exchanging_the_sides_turns_the_sign(differences, seed):
    human = np.array(differences)
    rng = np.random.default_rng(seed)
    judge, others = (rng.choice([-2.0, 0.0, 2.0], size=n) for n in (human.size, 30))
    one = prediction_powered_difference(human, judge, others, width=2.0)
    other = prediction_powered_difference(-human, -judge, -others, width=2.0)
    assert other.corrected.value == pytest.approx(-one.corrected.value)
    assert other.corrected.low == pytest.approx(-one.corrected.high)
    assert other.p == pytest.approx(one.p)


def test_pairs_of_one_document_count_as_less():
    rng = np.random.default_rng(4)
    apart = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.5, 0.4], size=30)
    human = np.repeat(apart, 5)
    alone = prediction_powered_difference(human, human, [], width=1.0)
    shared = prediction_powered_difference(human, human, [], [at // 5 for at in range(150)], width=1.0)
    assert shared.corrected.high - shared.corrected.low > 1.8 * (alone.corrected.high - alone.corrected.low)
    assert shared.p > alone.p


def test_unequal_chances_are_made_up_for():
    # Of 400 pairs 100 are B's gain; they are drawn four times as often as the others.
    rng = np.random.default_rng(5)
    estimates, within = [], 0
    every = np.repeat([1.0, 0.0], [100, 300])
    chance = np.repeat([0.4, 0.1], [100, 300])
    for _ in range(300):
        drawn = rng.random(400) < chance
        one = prediction_powered_difference(
            every[drawn],
            np.zeros(drawn.sum()),
            np.zeros((~drawn).sum()),
            width=1.0,
            shares=1 / chance[drawn],
        )
        estimates.append(one.corrected.value)
        within += one.corrected.low <= 0.25 <= one.corrected.high
    assert np.mean(estimates) == pytest.approx(0.25, abs=0.01)
    assert within / 300 >= 0.95


@pytest.mark.simulation
@pytest.mark.parametrize(("n", "taste"), [(30, 0.2), (100, 0.05), (150, 0.25)])
def test_a_taste_makes_equal_systems_better_in_no_more_than_3_percent(n, taste):
    rng = np.random.default_rng(6)
    false = 0
    for _ in range(1000):
        human = rng.choice([-1.0, 0.0, 1.0], p=[0.05, 0.9, 0.05], size=1000)
        judge = human + (rng.random(1000) < taste)
        one = prediction_powered_difference(human[:n], judge[:n], judge[n:], width=1.0)
        false += one.corrected.low > 0
    assert false <= 40  # 3 %, and two standard errors of a thousand draws


def test_labels_of_one_document_have_no_interval():
    one = prediction_powered_difference([1.0, 0.0], [1.0, 0.0], [1.0, 0.0], list("aabc"), width=1.0)
    assert (one.corrected.low, one.human.low, one.p, one.to_halve, one.to_decide) == (None,) * 5


def test_all_labels_alike_leave_room_for_what_was_not_seen():
    one = prediction_powered_difference([0.0] * 50, [0.0] * 50, [0.0] * 100, width=1.0)
    assert (one.corrected.value, one.p) == (0, 1)
    # 50 pairs, two more wrong by 1: sqrt(2 / 50 / 52) = 0.02774, t of 49 = 2.0096.
    assert one.corrected.high == pytest.approx(2.0096 * 0.02774, rel=1e-3)


def test_labels_needed_are_those_that_give_the_interval():
    # 0.3 / sqrt(n) * 1.96 = 0.05 for n = 138; the two pairs more take some.
    n = labelled_pairs_for(0.3, 0.05, width=1.0)
    assert 1.96 * math.sqrt((n * 0.09 + 2) / (n * (n + 2))) <= 0.0501
    assert 1.96 * math.sqrt(((n - 1) * 0.09 + 2) / ((n - 1) * (n + 1))) > 0.05
    assert 139 < n < 170


def test_to_halve_and_to_decide_come_true():
    rng = np.random.default_rng(7)
    every = rng.choice([-1.0, 0.0, 1.0], p=[0.08, 0.8, 0.12], size=2000)
    judge = np.where(rng.random(2000) < 0.6, every, 0.0)
    one = prediction_powered_difference(every[:100], judge[:100], judge[100:], width=1.0)
    k = one.to_halve
    assert k is not None
    more = prediction_powered_difference(every[:k], judge[:k], judge[k:], width=1.0)
    ratio = (more.corrected.high - more.corrected.low) / (one.corrected.high - one.corrected.low)
    assert ratio == pytest.approx(0.5, abs=0.1)


def test_pairs_to_decide_find_such_a_difference_4_times_out_of_5():
    rng = np.random.default_rng(8)

    def played(gain: float) -> tuple[np.ndarray, np.ndarray]:
        human = rng.choice([-1.0, 0.0, 1.0], p=[0.1 - gain / 2, 0.8, 0.1 + gain / 2], size=1000)
        return human, np.where(rng.random(1000) < 0.9, human, 0.0)

    human, judge = played(0.08)
    one = prediction_powered_difference(human[:60], judge[:60], judge[60:], width=1.0)
    k = one.to_decide
    assert k is not None
    found = 0
    for _ in range(300):
        human, judge = played(one.corrected.value)
        again = prediction_powered_difference(human[:k], judge[:k], judge[k:], width=1.0)
        assert again.p is not None
        found += again.p <= 0.05
    assert 0.7 <= found / 300 <= 0.97


def test_scores_that_are_no_pairs_are_refused():
    with pytest.raises(ValueError, match="give pairs"):
        prediction_powered_difference([1.0], [], [1.0], width=1.0)
    with pytest.raises(ValueError, match="wide"):
        prediction_powered_difference([1.0], [1.0], [1.0], width=0.0)
