import numpy as np
import pytest

from ragstone.kernel.statistics import is_yes_no


@pytest.mark.parametrize(
    ("values", "is_so"),
    [([0, 1, 1], True), ([1], True), ([], True), ([0, 0.5], False), ([0, 2], False), ([np.nan, 1], False)],
)
def test_yes_and_no_are_0_and_1_alone(values, is_so):
    assert is_yes_no(np.array(values, np.float64)) is is_so
