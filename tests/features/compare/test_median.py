"""Medians and their difference: by hand, beside numpy, and as properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.features.compare.median import _weighted_medians, median_estimates


def test_medians_by_hand():
    a, b, difference = median_estimates(np.array([[1.0, 5.0], [2.0, 2.0], [9.0, 3.0], [4.0, 8.0]]))
    assert (a.value, b.value, difference.value) == (3.0, 4.0, 1.0)  # (2 + 4) / 2, (3 + 5) / 2
    assert (difference.n, difference.method, difference.level) == (4, "bootstrap", 0.95)


def test_one_cluster_and_rows_that_do_not_vary_have_no_interval():
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert all(found.low is None for found in median_estimates(values, ["d", "d"]))
    a, b, difference = median_estimates(values)
    assert None not in (a.low, b.high)
    assert (difference.value, difference.low, difference.high) == (1.0, None, None)


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=9),
    st.integers(0, 2**16),
)
def test_weighted_medians_are_numpys_of_rows_repeated(values, seed):
    ascending = np.sort(np.array(values, dtype=np.float64))
    times = np.random.default_rng(seed).integers(0, 3, size=(4, len(values)))
    times[:, 0] += times.sum(axis=1) == 0  # at least one is drawn
    theirs = [np.median(np.repeat(ascending, row)) for row in times]
    assert _weighted_medians(ascending, times).tolist() == theirs


@settings(max_examples=20)
@given(st.integers(0, 2**16))
def test_order_of_rows_does_not_matter_and_units_scale(seed):
    rng = np.random.default_rng(seed)
    values, order = rng.lognormal(size=(25, 2)), rng.permutation(25)
    found = median_estimates(values)
    assert median_estimates(values[order]) == found
    doubled = median_estimates(values * 2)
    for one, two in zip(found, doubled, strict=True):
        assert [two.value, two.low, two.high] == pytest.approx([2 * one.value, 2 * one.low, 2 * one.high])


def test_questions_of_one_document_make_the_interval_wider():
    rng = np.random.default_rng(0)
    of_document = rng.lognormal(sigma=1, size=20)
    values = np.stack([np.ones(100), np.repeat(of_document, 5)], axis=1)
    alone, together = median_estimates(values)[2], median_estimates(values, np.repeat(np.arange(20), 5))[2]
    assert None not in (alone.low, alone.high, together.low, together.high)
    assert together.high - together.low > 1.2 * (alone.high - alone.low)


@pytest.mark.long
def test_interval_holds_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(100):
        difference = median_estimates(np.exp(rng.normal([0.0, 0.5], 0.4, size=(40, 2))))[2]
        held += difference.low <= np.exp(0.5) - 1 <= difference.high
    assert 90 <= held <= 100
