import pytest
from scipy.stats import binomtest

from ragstone.kernel.statistics import wilson_interval
from ragstone.kernel.statistics.intervals import wilson_size


def test_interval_worked_by_hand():
    # 8 of 10, z = 1.96: centre (0.8 + 3.8416/20) / 1.38416 = 0.7167,
    # half 1.96 / 1.38416 * sqrt(0.8 * 0.2 / 10 + 3.8416 / 400) = 0.2266
    assert wilson_interval(8, 10) == pytest.approx((0.4901, 0.9433), abs=1e-4)


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (0, 30), (1, 1), (7, 7), (1, 1000), (412, 600)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_interval_agrees_with_scipy(successes, n, level):
    peer = binomtest(successes, n).proportion_ci(level, method="wilson")
    assert wilson_interval(successes, n, level) == pytest.approx((peer.low, peer.high), abs=1e-12)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_impossible_proportion_is_an_error(successes, n):
    with pytest.raises(ValueError, match="a proportion needs"):
        wilson_interval(successes, n)


@pytest.mark.parametrize(("successes", "n"), [(0, 12), (3, 3.5), (50, 100), (990, 1000)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_size_of_a_width_gives_that_width(successes, n, level):
    low, high = wilson_interval(successes, n, level)
    assert wilson_size(successes / n, high - low, level) == pytest.approx(n)
