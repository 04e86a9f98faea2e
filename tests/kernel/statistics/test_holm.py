import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import floats, lists

from ragstone.kernel.statistics import holm


def test_holm_by_hand():
    # Ascending: 0.01 * 4 = 0.04; 0.02 * 3 = 0.06; 0.03 * 2 = 0.06; 0.2 * 1 = 0.2.
    assert holm([0.03, 0.2, 0.01, 0.02]).tolist() == pytest.approx([0.06, 0.2, 0.04, 0.06])
    # 0.02 * 2 = 0.04, and the next, 0.03 * 1, does not fall below it.
    assert holm([0.03, 0.02]).tolist() == pytest.approx([0.04, 0.04])


def test_a_family_of_one_pays_nothing_and_an_empty_one_is_empty():
    assert holm([0.03]).tolist() == [0.03]
    assert holm([]).size == 0


@given(lists(floats(0, 1), min_size=1, max_size=30))
def test_adjusted_values_keep_the_order_and_lie_between_raw_and_bonferroni(raw):
    adjusted, given_p = holm(raw), np.array(raw)
    order = np.argsort(given_p)
    assert (np.diff(adjusted[order]) >= 0).all()
    assert (adjusted >= given_p).all()
    assert (adjusted <= np.minimum(1, len(raw) * given_p)).all()


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_an_error(wrong):
    with pytest.raises(ValueError, match="p-value"):
        holm([0.5, wrong])
