import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers, lists, tuples
from sklearn.metrics import roc_auc_score

from ragstone.kernel.statistics import Estimate, correlation, roc_auc
from ragstone.kernel.statistics._auc import auc_columns
from ragstone.kernel.statistics.bootstrap import bootstrap_estimates

items = lists(tuples(integers(0, 1), integers(0, 5), integers(0, 4)), min_size=1, max_size=15)


def test_auc_worked_by_hand():
    # Right 0.9 0.5, wrong 0.5 0.1: of four pairs three in order, one tied. 3.5 / 4.
    assert roc_auc([1, 1, 0, 0], [0.9, 0.5, 0.5, 0.1]) == 0.875


@pytest.mark.parametrize("n_values", [2, 10, 10**6])
def test_auc_agrees_with_scikit_learn(n_values):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300).astype(float)
    scores = rng.integers(0, n_values, 300) + 0.3 * n_values * labels
    assert roc_auc(labels, scores) == pytest.approx(roc_auc_score(labels, scores))


@pytest.mark.parametrize("labels", [[], [1, 1], [0]])
def test_auc_needs_labels_of_both_kinds(labels):
    assert roc_auc(labels, [0.5] * len(labels)) is None


def test_labels_other_than_yes_and_no_are_an_error(says):
    with pytest.raises(ValueError) as error:
        roc_auc([0, 2], [1, 1])
    says(error.value)
    with pytest.raises(ValueError, match="pair them first"):
        roc_auc([0, 1], [1])


@settings(max_examples=60, deadline=None)
@given(items)
def test_a_resample_of_few_scores_is_ranked_anew(rows):
    labels, scores, times = (np.array(column) for column in zip(*rows, strict=True))
    columns, statistic = auc_columns(labels.astype(float), scores.astype(float))
    resampled = roc_auc(np.repeat(labels, times), np.repeat(scores, times))
    found = float(statistic(times[None, :] @ columns)[0])
    assert found == pytest.approx(np.nan if resampled is None else resampled, nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(items)
def test_reversed_scores_have_the_rest_of_the_area(rows):
    labels, scores, _ = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    auc = roc_auc(labels, scores)
    assert roc_auc(labels, -scores) == pytest.approx(None if auc is None else 1 - auc)


def test_both_ways_give_the_same_interval(monkeypatch):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200).astype(float)
    scores = np.round(rng.normal(size=200) + labels, 1)
    exact = _estimate(labels, scores)
    monkeypatch.setattr(correlation, "EXACT_CELLS", 0)
    moments = _estimate(labels, scores)
    assert exact.value == pytest.approx(moments.value)
    assert (exact.low, exact.high) == pytest.approx((moments.low, moments.high), abs=0.01)


def _estimate(labels: np.ndarray, scores: np.ndarray) -> Estimate:
    columns, statistic = auc_columns(labels, scores)
    found = bootstrap_estimates(columns, {"auc": statistic}, len(columns))["auc"]
    assert found is not None
    return found
