import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import integers
from sklearn.linear_model import LogisticRegression

from ragstone.features.improve.candidates._logistic import fit_logistic, sigmoid


def drawn(seed, weights, n=300):
    """Return features, and the yes or no that a regression with these weights draws for them."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, len(weights)))
    return features, (rng.random(n) < sigmoid(0.3 + features @ np.array(weights))).astype(float)


def loss(features, share, penalty, intercept, weights):
    logits = intercept + features @ weights
    return (np.logaddexp(0, logits) - share * logits).sum() + penalty / 2 * (weights**2).sum()


@given(integers(0, 50))
def test_without_signs_it_is_the_regression_of_a_peer(seed):
    features, yes = drawn(seed, [1.0, -0.5, 0.0])
    ours = fit_logistic(features, yes, signs=np.zeros(3, dtype=int), penalty=2.0)
    peer = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000).fit(features, yes)
    assert ours.weights == pytest.approx(peer.coef_[0], abs=1e-4)
    assert ours.intercept == pytest.approx(peer.intercept_[0], abs=1e-4)


def test_one_feature_worked_by_hand():
    # A feature of 0 and 1, hardly penalised: at 0 one of four is a yes, at 1 three of four. So the intercept
    # is ln(1/3), and the weight ln(3) - ln(1/3) = 2 ln 3.
    features = np.array([[0.0]] * 4 + [[1.0]] * 4)
    share = np.array([1.0, 0, 0, 0, 1, 1, 1, 0])
    found = fit_logistic(features, share, signs=np.array([1]), penalty=1e-9)
    assert found.intercept == pytest.approx(-np.log(3), abs=1e-6)
    assert found.weights == pytest.approx([2 * np.log(3)], abs=1e-6)
    # Shares in place of rows say the same.
    shares = fit_logistic(np.array([[0.0], [1.0]]), np.array([0.25, 0.75]), signs=np.array([1]), penalty=1e-9)
    assert shares.weights == pytest.approx(found.weights, abs=1e-5)


@given(integers(0, 50))
def test_signs_hold_and_no_step_within_them_is_better(seed):
    features, yes = drawn(seed, [1.0, -1.0, 0.2, -0.1])
    signs = np.array([1, 1, -1, -1])
    found = fit_logistic(features, yes, signs=signs)
    assert (found.weights * signs >= 0).all()
    assert found.weights[1] == 0  # what it would be is below 0
    best = loss(features, yes, 1.0, *found)
    rng = np.random.default_rng(seed)
    for _ in range(50):
        nearby = found.weights + rng.normal(scale=0.01, size=4)
        nearby = np.where(nearby * signs > 0, nearby, 0)
        assert loss(features, yes, 1.0, found.intercept + rng.normal(scale=0.01), nearby) >= best - 1e-9


def test_features_that_part_yes_from_no_have_finite_weights():
    found = fit_logistic(np.array([[0.0], [1.0]]), np.array([0.0, 1.0]), signs=np.array([1]))
    assert 0 < found.weights[0] < 5


@pytest.mark.parametrize("share", [np.array([]), np.ones(3), np.zeros(3)])
def test_equal_answers_cannot_be_fitted(share, says):
    with pytest.raises(ValueError) as error:
        fit_logistic(np.zeros((len(share), 1)), share, signs=np.array([1]))
    says(error.value)
