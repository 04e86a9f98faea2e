import pytest

from ragstone.kernel.document.numbers import (
    interval,
    percent_ends,
    percent_range,
    signed_range,
    signed_with_ends,
    size_with_ends,
)
from ragstone.kernel.document.plots.tables import difference_range
from ragstone.kernel.statistics import Estimate


def estimate(low: float, high: float) -> Estimate:
    return Estimate(value=(low + high) / 2, low=low, high=high, level=0.95, n=9, method="t")


def test_both_ends_of_an_interval_have_as_many_decimals():
    assert interval(estimate(10, 35)) == "10.0 to 35.0"
    assert interval(estimate(0.681, 0.757)) == "0.68 to 0.76"


def test_both_ends_of_a_difference_have_a_sign_and_as_many_decimals():
    assert signed_range(-5, 35) == "−5.0 to +35.0"
    assert signed_range(-0.001, 0.5) == "−0.001 to +0.500"
    assert difference_range(0.004, 0.15) == "+0.004 to +0.150"
    assert difference_range(-0.2, 12) == "−0.20 to +12.00"


def test_both_ends_of_a_share_have_a_decimal_if_one_of_them_has():
    assert percent_ends(estimate(0.031, 0.214)) == "3.1 to 21.4 %"
    assert percent_range(0, 0.21) == "0 to 21 %"
    assert percent_range(0.12, 0.21) == "12 to 21 %"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            signed_with_ends(Estimate(value=0.02, low=0.003, high=0.04, n=9, method="student")),
            "+0.02 (+0.003 to +0.040)",
        ),
        (size_with_ends(0.02, 0.003, 0.04), "0.020 (0.003 to 0.040)"),
        (size_with_ends(0.004, None, None), "0.004 (no interval)"),
        (size_with_ends(0.1, -0.1, 0.3), "0.10 (−0.10 to 0.30)"),
    ],
)
def test_no_end_of_a_difference_is_shown_as_0_that_is_not(made, expected):
    assert made == expected
