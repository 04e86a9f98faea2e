import pytest
from hypothesis import given
from hypothesis.strategies import integers
from scipy.stats import binomtest

from ragstone.kernel.statistics import mcnemar_p


def test_p_is_twice_the_smaller_tail_of_a_fair_coin():
    # 10 against 2: 2 * (C(12,0) + C(12,1) + C(12,2)) / 2^12 = 2 * (1 + 12 + 66) / 4096.
    assert mcnemar_p(10, 2) == pytest.approx(158 / 4096)
    assert mcnemar_p(0, 5) == pytest.approx(2 / 2**5)


@pytest.mark.parametrize("counts", [(0, 0), (1, 0), (4, 4), (5, 4)])
def test_what_chance_often_does_has_a_p_of_one(counts):
    assert mcnemar_p(*counts) == pytest.approx(1.0)


@given(integers(0, 3000), integers(0, 3000))
def test_p_agrees_with_the_binomial_test_and_does_not_care_who_is_first(a, b):
    expected = binomtest(a, a + b).pvalue if a + b else 1.0
    assert mcnemar_p(a, b) == mcnemar_p(b, a)
    # At equal counts the two tails share the middle, and p is 1.
    assert mcnemar_p(a, b) == pytest.approx(expected, rel=1e-6)


def test_counts_are_not_negative(says):
    with pytest.raises(ValueError) as error:
        mcnemar_p(-1, 2)
    says(error.value)
