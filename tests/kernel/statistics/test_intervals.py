import numpy as np
import pytest

from ragstone.kernel.statistics import is_yes_no, share_unseen, wilson_interval


@pytest.mark.parametrize(
    ("values", "is_so"),
    [([0, 1, 1], True), ([1], True), ([], True), ([0, 0.5], False), ([0, 2], False), ([np.nan, 1], False)],
)
def test_yes_and_no_are_0_and_1_alone(values, is_so):
    assert is_yes_no(np.array(values, np.float64)) is is_so


def test_what_no_observation_shows_is_bounded_also_by_few():
    # With a share of 1 − 0.05^(1/n), n observations show nothing in 5 % of samples: (0.05^(1/n))^n.
    assert share_unseen(1) == pytest.approx(0.95)
    assert share_unseen(3) == pytest.approx(1 - 0.05 ** (1 / 3))
    assert all((1 - share_unseen(n)) ** n <= 0.05 + 1e-12 for n in range(1, 200))
    # From 7 on it is the end of Wilson's interval: 1.96² / (n + 1.96²).
    assert share_unseen(7) == wilson_interval(0, 7)[1]
    assert share_unseen(120) == pytest.approx(1.96**2 / (120 + 1.96**2), rel=1e-3)
