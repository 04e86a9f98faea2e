import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from ragstone.features.improve.candidates._isotonic import isotonic_curve
from ragstone.kernel.judging.stack import on_curve

PAIRS = st.lists(st.tuples(st.integers(0, 20), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=60)


def test_worked_by_hand():
    # A yes more at 0.1 and a no more at 0.9: 0.1 has yes, no, yes: 2/3; 0.3 has no; 0.5 has yes, no: 1/2;
    # 0.9 has yes, yes, no: 2/3. The no at 0.3 pulls 0.1 down to 2/4, which 0.5 equals: one pool of 3 of 6.
    values = np.array([0.1, 0.1, 0.3, 0.5, 0.5, 0.9, 0.9])
    share = np.array([1.0, 0, 0, 1, 0, 1, 1])
    assert isotonic_curve(values, share) == pytest.approx(np.array([[0.1, 0.5], [0.5, 0.5], [0.9, 2 / 3]]))


def test_between_points_the_curve_is_straight_and_beyond_them_level():
    points = np.array([[0.2, 0.1], [0.6, 0.5]])
    assert on_curve(np.array([0.0, 0.2, 0.3, 0.6, 1.0]), points) == pytest.approx([0.1, 0.1, 0.2, 0.5, 0.5])


@given(PAIRS)
def test_it_is_the_curve_of_a_peer(pairs):
    values, share = np.array(pairs, dtype=float).T
    more = np.append(values, [values.min(), values.max()]), np.append(share, [1.0, 0.0])
    peer = IsotonicRegression().fit(*more).predict(values)
    assert on_curve(values, isotonic_curve(values, share)) == pytest.approx(peer, abs=1e-8)


@given(PAIRS)
def test_it_rises_within_0_and_1_and_does_not_depend_on_order_or_unit(pairs):
    values, share = np.array(pairs, dtype=float).T
    points = isotonic_curve(values, share)
    assert (np.diff(points[:, 0]) > 0).all()
    assert (np.diff(points[:, 1]) >= 0).all()
    assert ((points[:, 1] > 0) & (points[:, 1] < 1)).all()
    assert isotonic_curve(values[::-1], share[::-1]) == pytest.approx(points)
    assert isotonic_curve(np.exp(values / 10), share)[:, 1] == pytest.approx(points[:, 1])
