"""Intervals for every look: capital worked by hand, what they promise and cost, what does not matter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import integers, lists, sampled_from, tuples

from ragstone.kernel.statistics import cohen_kappa
from ragstone.kernel.statistics.anytime import (
    STAKES,
    anytime_interval,
    bet_on_kappa,
    bet_on_mean,
    labels_to_decide,
    log_capital,
    log_parts,
)
from ragstone.kernel.statistics.kappa import quadratic

YES_NO = [0.0, 1.0]
WANTED = np.log(40)


def test_capital_worked_by_hand():
    # "The mean is 0.8 or less", answers right, right, wrong. A right one brings (1 - 0.8) / 0.8 = 1/4 of the
    # stake, a wrong one takes it all. The most that can be brought is 1/4, so a stake is 1 - exp(-c / 0.5).
    stakes = 1 - np.exp(-STAKES / 0.5)
    by_hand = np.mean((1 + stakes / 4) ** 2 * (1 - stakes))
    bets = bet_on_mean([1.0, 1.0, 0.0], (0.0, 1.0))
    assert log_capital(bets.gains(0.8, "above")) == pytest.approx(np.log(by_hand))


def test_gains_of_kappa_worked_by_hand():
    # "Kappa is 0.5 or less", one answer that both call right. s and d are guessed before it: d = 0. Of one
    # answer s is 2 whatever one does, so m = n = 1: (1 - 0.5) (0 + 0 - 0) - 0 = 0 is brought.
    bets = bet_on_kappa([1.0], [1.0], YES_NO)
    brought, most = bets.gains(0.5, "above")
    assert brought == pytest.approx(np.zeros((5, 1)))
    # Most is brought by an answer that both call wrong: 0.5 * (1 + 1) = 1; least by one on which they differ:
    # 0.5 * (1 + 0) - 1 = -0.5. So a stake of 1 brings 2 at most.
    assert most == pytest.approx(np.full((5, 1), 2.0))


@pytest.mark.simulation
@pytest.mark.parametrize("share", [0.3, 0.85, 0.97])
def test_it_is_ever_wrong_less_often_than_it_says(share):
    rng = np.random.default_rng(3)
    hits = (rng.random((1500, 300)) < share).astype(float)
    wrong = np.zeros(1500, dtype=bool)
    for at, row in enumerate(hits):
        bets = bet_on_mean(row, (0.0, 1.0))
        for side in ("above", "below"):
            parts = np.cumsum(log_parts(bets.gains(share, side))[0], axis=0)
            wrong[at] |= (np.exp(parts).mean(axis=1)[19:] >= 40).any()
    # 0.05 and three standard errors of 1,500 draws; Wilson's at every look is at 0.3.
    assert wrong.mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1500)


@pytest.mark.simulation
@pytest.mark.parametrize("side", ["above", "below"])
def test_evidence_against_the_true_kappa_stays_small(side):
    rng, ever = np.random.default_rng(5), 0
    for _ in range(150):
        human = (rng.random(200) < 0.3).astype(float)
        judge = np.where(rng.random(200) < 0.85, human, 1 - human)
        # By Bayes: both yes 0.255, both no 0.595, so 0.85 agree; the judge says yes to 0.36.
        expected = 0.3 * 0.36 + 0.7 * 0.64
        truth = (0.85 - expected) / (1 - expected)
        ever += any(
            log_capital(bet_on_kappa(human[:n], judge[:n], YES_NO).gains(truth, side)) >= WANTED
            for n in range(20, 201, 6)
        )
    assert ever / 150 <= 0.025 + 3 * np.sqrt(0.025 / 150)


@pytest.mark.simulation
def test_a_decision_takes_at_most_1_4_of_the_labels_of_one_look():
    rng, took = np.random.default_rng(1), []
    for row in (rng.random((300, 600)) < 0.9).astype(float):
        parts = np.cumsum(log_parts(bet_on_mean(row, (0.0, 1.0)).gains(0.8, "above"))[0], axis=0)
        over = np.exp(parts).mean(axis=1) >= 40
        took.append(1 + int(np.argmax(over)) if over.any() else 600)
    assert np.mean(took) <= 1.4 * 101  # Wilson's interval lies above 0.8 in 80 % of draws of 101 labels


def test_it_closes_in_on_the_truth():
    for n, width in ((50, 0.36), (500, 0.13), (5000, 0.05)):
        hits = np.tile([1.0] * 4 + [0.0], n // 5)
        low, high = anytime_interval(bet_on_mean(hits, (0.0, 1.0)))
        assert low < 0.8 < high
        assert high - low < width
    grades = np.tile(np.repeat([[0, 0], [1, 1], [0, 1], [1, 0]], [4, 4, 1, 1], axis=0), (400, 1)).astype(
        float
    )
    low, high = anytime_interval(bet_on_kappa(grades[:, 0], grades[:, 1], YES_NO))
    assert low < 0.6 < high < low + 0.11


grade_pairs = lists(tuples(integers(0, 3), integers(0, 3)), min_size=2, max_size=40)


@pytest.mark.long
@given(grade_pairs)
def test_kappa_does_not_care_who_is_first_nor_where_the_scale_begins(pairs):
    human, judge = np.array(pairs, dtype=float).T
    grades = [0.0, 1.0, 2.0, 3.0]
    bets = bet_on_kappa(human, judge, grades)
    ends = anytime_interval(bets)
    for other in (
        bet_on_kappa(judge, human, grades),
        bet_on_kappa(10 + 5 * human, 10 + 5 * judge, [10 + 5 * grade for grade in grades]),
        bet_on_kappa(3 - human, 3 - judge, grades),
    ):
        assert anytime_interval(other) == pytest.approx(ends, abs=1e-6)
    if bets.value is not None:
        assert bets.value == pytest.approx(cohen_kappa(human, judge, grades, quadratic))
        assert ends[0] <= bets.value <= ends[1]


@given(lists(sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=40))
def test_the_order_and_the_unit_of_a_mean_do_not_matter(values):
    ends = anytime_interval(bet_on_mean(np.array(values), (0.0, 1.0)))
    assert anytime_interval(bet_on_mean(np.array(values[::-1]), (0.0, 1.0))) == pytest.approx(ends)
    low, high = anytime_interval(bet_on_mean(100 - 20 * np.array(values), (80.0, 100.0)))
    assert (low, high) == pytest.approx((100 - 20 * ends[1], 100 - 20 * ends[0]), abs=1e-5)


def test_copies_of_a_label_in_one_cluster_are_no_further_labels():
    rng = np.random.default_rng(0)
    human = rng.integers(0, 2, 80).astype(float)
    judge = np.where(rng.random(80) < 0.9, human, 1 - human)
    twice = np.repeat(np.arange(80), 2)
    agree = (human == judge).astype(float)
    assert anytime_interval(bet_on_mean(agree[twice], (0.0, 1.0), twice)) == pytest.approx(
        anytime_interval(bet_on_mean(agree, (0.0, 1.0)))
    )
    once = anytime_interval(bet_on_kappa(human, judge, YES_NO))
    assert anytime_interval(bet_on_kappa(human[twice], judge[twice], YES_NO, twice)) == pytest.approx(
        once, abs=0.02
    )


def test_unequal_chances_are_made_up_for():
    # A fifth of the answers is hard; drawn four times as often, they are half of the labels. The judge is
    # right on 6 of 10 hard ones and on 9 of 10 others: on 0.2 * 0.6 + 0.8 * 0.9 = 0.84 of all.
    hard = np.tile([True, False], 500)
    agree = np.where(hard, np.repeat(np.arange(500) % 10 < 6, 2), np.repeat(np.arange(500) % 10 < 9, 2))
    chances = np.where(hard, 0.4, 0.1)
    bets = bet_on_mean(agree.astype(float), (0.0, 1.0), chances=chances)
    low, high = anytime_interval(bets)
    assert bets.value == pytest.approx(0.84)
    assert low < 0.84 < high < low + 0.15
    equal = bet_on_mean(agree.astype(float), (0.0, 1.0), chances=np.full(1000, 0.3))
    assert anytime_interval(equal) == anytime_interval(bet_on_mean(agree.astype(float), (0.0, 1.0)))


def test_nothing_is_decided_without_labels_or_where_kappa_is_undefined():
    assert anytime_interval(bet_on_mean(np.zeros(0), (0.0, 1.0))) == (0.0, 1.0)
    bets = bet_on_kappa(np.ones(50), np.ones(50), YES_NO)
    assert (bets.value, anytime_interval(bets)) == (None, (-1.0, 1.0))


@pytest.mark.long
def test_labels_to_decide_are_more_the_nearer_the_bar():
    hits = np.tile([1.0] * 9 + [0.0], 4)
    bets = bet_on_mean(hits, (0.0, 1.0))
    assert labels_to_decide(bets, 0.5) == 0
    near, far = labels_to_decide(bets, 0.85), labels_to_decide(bets, 0.8)
    assert (
        20 < far < 120 < near < 600
    )  # from no label on it takes 93 and 400 in the mean (benchmarks.peeking)
    assert labels_to_decide(bets, 0.9) is None


def test_values_out_of_bounds_are_refused(says):
    with pytest.raises(ValueError) as error:
        bet_on_mean([0.5, 1.5], (0.0, 1.0))
    says(error.value)
