import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import lists, sampled_from, tuples
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from ragstone.kernel.statistics import cohen_kappa, contingency_table
from ragstone.kernel.statistics.kappa import kappa_of_cells, linear, nominal, quadratic

GRADES = [0.0, 1.0, 2.0]
pairs_of_grades = lists(tuples(sampled_from(GRADES), sampled_from(GRADES)), min_size=1, max_size=30)


def test_kappa_worked_by_hand():
    # Of 50: 20 both yes, 15 both no, 5 and 10 mixed. Observed 0.7; expected 0.5 * 0.6 + 0.5 * 0.4 = 0.5.
    human = [1] * 25 + [0] * 25
    judge = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(human, judge, [0, 1]) == pytest.approx((0.7 - 0.5) / (1 - 0.5))


def test_weights_are_the_real_distances_between_grades():
    # Grades 0, 1, 4. Human 0 1 4, judge 1 1 4: observed 1/3. Expected: human rows 1 1 1, judge columns 0 2 1,
    # distances to 1: 1 0 3 (twice), to 4: 4 3 0 -> (2 * 4 + 7) / 9 = 15/9. Kappa = 1 - (1/3) / (15/9) = 0.8.
    assert cohen_kappa([0, 1, 4], [1, 1, 4], [0, 1, 4], linear) == pytest.approx(0.8)
    # By position the distances to grade 4 are 2 1 0: expected (2 * 2 + 3) / 9, kappa 1 - (3/9) / (7/9) = 4/7.
    assert cohen_kappa([0, 1, 2], [1, 1, 2], [0, 1, 2], linear) == pytest.approx(4 / 7)


@pytest.mark.parametrize(
    ("disagreement", "weights"), [(nominal, None), (linear, "linear"), (quadratic, "quadratic")]
)
def test_kappa_agrees_with_scikit_learn(disagreement, weights):
    rng = np.random.default_rng(0)
    human = rng.integers(0, 5, 400).astype(float)
    judge = np.clip(human + rng.integers(-1, 3, 400), 0, 4).astype(float)
    peer = cohen_kappa_score(human, judge, weights=weights)
    assert cohen_kappa(human, judge, range(5), disagreement) == pytest.approx(peer)


@pytest.mark.parametrize(
    ("disagreement", "weights"),
    [(nominal, None), (linear, np.array([0, 1, 4])), (quadratic, np.array([0, 1, 4]))],
)
def test_kappa_of_unequally_spaced_grades_agrees_with_statsmodels(disagreement, weights):
    rng = np.random.default_rng(0)
    human, judge = rng.choice([0.0, 1.0, 4.0], (2, 300))
    power = "fc" if disagreement is quadratic else "ca"
    table = contingency_table(human, judge, [0, 1, 4])
    peer = cohens_kappa(table, weights=weights, wt=None if weights is None else power)
    assert cohen_kappa(human, judge, [0, 1, 4], disagreement) == pytest.approx(peer.kappa)


@pytest.mark.parametrize("pairs", [[], [(1.0, 1.0)], [(2.0, 2.0)] * 5])
def test_kappa_is_undefined_where_chance_alone_agrees_always(pairs):
    human, judge = [a for a, _ in pairs], [b for _, b in pairs]
    assert cohen_kappa(human, judge, GRADES) is None


def test_constant_judge_has_kappa_zero():
    assert cohen_kappa([0, 1, 1], [1, 1, 1], [0, 1]) == 0


@settings(max_examples=50, deadline=None)
@given(pairs_of_grades, sampled_from([nominal, linear, quadratic]))
def test_kappa_does_not_care_who_is_first_nor_about_grades_nobody_gave(pairs, disagreement):
    human, judge = zip(*pairs, strict=True)
    kappa = cohen_kappa(human, judge, GRADES, disagreement)
    assert cohen_kappa(judge, human, GRADES, disagreement) == pytest.approx(kappa)
    assert cohen_kappa(human, judge, [-5, *GRADES, 7], disagreement) == pytest.approx(kappa)
    assert kappa is None or kappa <= 1


@settings(max_examples=50, deadline=None)
@given(pairs_of_grades)
def test_kappa_does_not_care_in_what_unit_grades_are(pairs):
    human, judge = zip(*pairs, strict=True)
    percent = [[25 * grade for grade in rater] for rater in (human, judge)]
    for disagreement in (nominal, linear, quadratic):
        kappa = cohen_kappa(human, judge, GRADES, disagreement)
        assert cohen_kappa(percent[0], percent[1], [0, 25, 50], disagreement) == pytest.approx(kappa)


def test_all_tables_are_measured_at_once():
    cells = np.array([[15.0, 10, 5, 20], [3, 0, 0, 4], [0, 0, 0, 9]])
    assert kappa_of_cells([0, 1], nominal)(cells) == pytest.approx([0.4, 1.0, np.nan], nan_ok=True)
