from itertools import product

import pytest

from ragstone.kernel.statistics import difference_interval


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [  # Newcombe 1998, Table II, method 10
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((10, 10), (0, 20), 0.6791, 1.0000),
        ((10, 10), (0, 10), 0.6075, 1.0000),
    ],
)
def test_it_is_the_interval_of_the_paper(first, second, low, high):
    assert difference_interval(first, second) == pytest.approx((low, high), abs=5e-5)


def test_the_other_way_round_it_is_mirrored_and_never_leaves_its_bounds():
    for one, other in product([(0, 3), (1, 3), (3, 3), (7, 20)], repeat=2):
        low, high = difference_interval(one, other)
        assert -1 <= low <= one[0] / one[1] - other[0] / other[1] <= high <= 1
        assert difference_interval(other, one) == pytest.approx((-high, -low))
