import numpy as np
import pytest

from ragstone.features.improve.candidates._logistic import sigmoid
from ragstone.features.improve.candidates._stack import (
    StackRows,
    crossed_probabilities,
    fit_folds,
    fit_stack,
    folds_of,
    stack_judge,
    with_curve,
)
from ragstone.kernel.judging import load_judge
from ragstone.kernel.judging.fields import Member

JUDGES = [load_judge(name) for name in ("coverage", "chrf", "bias")]


def drawn(seed, weights=(2.0, 0.0, -1.0), n=1500, each=3):
    """Return rows of `n / each` questions, whose answers are right by a regression with these weights."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, len(weights)))
    yes = rng.random(n) < sigmoid(0.5 + features @ np.array(weights))
    return StackRows(0.6 + 0.2 * features, yes.astype(float), np.repeat(np.arange(n // each), each))


def test_planted_weights_are_found_on_any_scale():
    weights = fit_stack(drawn(0), JUDGES)
    assert weights.centre == pytest.approx([0.6] * 3, abs=0.02)
    assert weights.spread == pytest.approx([0.2] * 3, abs=0.02)
    assert weights.weight == pytest.approx([2, 0, -1], abs=0.25)
    assert weights.intercept == pytest.approx(0.5, abs=0.2)
    assert 0.3 < weights.threshold < 0.7


def test_a_weight_of_the_wrong_sign_is_none():
    # Chance makes chrf harmful, and bias, whose lowest score is the good one, useful.
    weights = fit_stack(drawn(1, weights=(2.0, -1.0, 1.0)), JUDGES)
    assert weights.weight[0] > 1
    assert weights.weight[1:].tolist() == [0, 0]
    members = [Member(judge=judge.name, loaded=judge) for judge in JUDGES]
    judge = stack_judge("mine", members, weights, source="a test", tuned_on=["0123456789abcdef"])
    assert [member.judge for member in judge.members] == ["coverage"]
    assert judge.inputs == ["question", "reference", "answer"]
    assert next(judge.problems(), None) is None


def test_scores_that_are_missing_say_nothing():
    rows = drawn(2)
    rows.scores[::2, 1] = np.nan
    rows.scores[:, 2] = np.nan
    weights = fit_stack(rows, JUDGES)
    assert weights.weight[2] == 0
    one = np.array([[0.6, np.nan, np.nan], [0.6, weights.centre[1], 0.3]])
    assert weights.probabilities(one)[0] == weights.probabilities(one)[1]


def test_probabilities_of_rows_that_were_not_fitted_are_calibrated():
    rows = drawn(3, n=6000)
    likely, _threshold = crossed_probabilities(rows, fit_folds(rows, JUDGES))
    for low in np.arange(0, 1, 0.2):
        inside = (likely >= low) & (likely < low + 0.2)
        assert rows.share[inside].mean() == pytest.approx(likely[inside].mean(), abs=0.06)


def saturated(seed, n=600):
    """Return rows whose chance of a yes rises from 0.1 to 0.8 and no further, which is no logistic curve."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    chance = 0.1 + 0.7 * sigmoid(4 * scores)
    rows = StackRows(scores[:, None], (rng.random(n) < chance).astype(float), np.arange(n))
    return rows, chance


def curved(rows):
    return with_curve(fit_stack(rows, JUDGES[:1]), rows)


def test_a_curve_comes_nearer_to_a_chance_that_is_not_logistic_and_changes_hardly_a_verdict():
    rows, chance = saturated(7)
    (plain, cut), (bent, bent_cut) = (
        crossed_probabilities(rows, fit_folds(rows, JUDGES[:1]), curved=one) for one in (False, True)
    )
    assert ((bent - chance) ** 2).mean() < 0.8 * ((plain - chance) ** 2).mean()
    assert ((bent >= bent_cut) == (plain >= cut)).mean() > 0.97


def test_a_curve_is_written_as_it_was_measured():
    rows, _chance = saturated(8)
    weights = curved(rows)
    judge = stack_judge("mine", [Member(judge="coverage", loaded=JUDGES[0])], weights, source="a test")
    assert next(judge.problems(), None) is None
    assert judge.curve == [tuple(point) for point in weights.curve.tolist()]
    assert judge.threshold == pytest.approx(weights.threshold, abs=1e-4)
    assert 0.05 < judge.curve[0][1] < 0.2
    assert 0.7 < judge.curve[-1][1] < 0.9


def test_where_people_do_not_follow_the_scores_there_is_no_curve():
    rows = StackRows(np.repeat([[0.0], [1.0]], 50, axis=0), np.repeat([1.0, 0.0], 50), np.arange(100))
    weights = curved(rows)
    assert (weights.weight.tolist(), len(weights.curve)) == ([0], 0)
    assert weights.probabilities(rows.scores) == pytest.approx(0.5)


def test_rows_without_a_score_bend_no_curve():
    rows, _chance = saturated(9)
    silent = StackRows(
        np.append(rows.scores, np.full((300, 1), np.nan), axis=0),
        np.append(rows.share, np.ones(300)),
        np.arange(900),
    )
    curve = curved(silent).curve
    assert curve[-1, 1] == pytest.approx(curved(rows).curve[-1, 1], abs=0.02)


def test_noise_is_worth_no_more_than_the_base_rate():
    rng = np.random.default_rng(4)
    rows = StackRows(rng.normal(size=(300, 3)), (rng.random(300) < 0.7).astype(float), np.arange(300))
    likely, threshold = crossed_probabilities(rows, fit_folds(rows, JUDGES))
    right = (likely >= threshold) == (rows.share == 1)
    assert right.mean() <= rows.share.mean() + 0.02
    assert likely == pytest.approx(rows.share.mean(), abs=0.2)


def test_a_question_is_in_one_fold_and_the_fit_does_not_depend_on_the_order_of_rows():
    rows = drawn(5, n=300)
    fold = folds_of(rows.question, 0)
    assert all(len(set(fold[rows.question == question])) == 1 for question in rows.question)
    assert set(fold) == {0, 1, 2, 3, 4}
    order = np.random.default_rng(0).permutation(300)
    one, other = fit_stack(rows, JUDGES), fit_stack(rows.at(order), JUDGES)
    assert one.weight == pytest.approx(other.weight, abs=1e-6)


def test_people_who_always_say_the_same_teach_nothing(says):
    rows = drawn(6, n=30)
    with pytest.raises(ValueError) as error:
        fit_stack(StackRows(rows.scores, np.ones(30), rows.question), JUDGES)
    says(error.value)
