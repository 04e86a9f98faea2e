"""How large a difference would be found, by hand, by enumeration, and beside statsmodels and scipy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from statsmodels.stats.power import TTestPower

from ragstone.kernel.statistics.power import (
    Spread,
    needed_rows,
    paired_power,
    smallest_difference,
    spread_of,
)


def graded(n: int, sd: float = 1.0) -> Spread:
    return Spread(n=n, n_clusters=n, sd=sd, design_effect=1.0)


def yes_no(n: int, changed: float) -> Spread:
    return Spread(n=n, n_clusters=n, sd=math.sqrt(changed), design_effect=1.0, changed=changed)


@pytest.mark.parametrize("n", [7, 10, 20, 100, 1000])
@pytest.mark.parametrize("difference", [0.05, 0.1, 0.3, 0.8])
def test_power_of_grades_is_that_of_statsmodels_t_test(n, difference):
    theirs = TTestPower().power(difference, n, 0.05)
    if not math.isnan(theirs):  # theirs is undefined where it is 1
        assert paired_power(graded(n), difference) == pytest.approx(theirs, abs=2e-4)


def test_needed_rows_of_grades_are_those_of_statsmodels():
    theirs = TTestPower().solve_power(effect_size=0.2, alpha=0.05, power=0.8)
    assert needed_rows(graded(50), 0.2) == pytest.approx(math.ceil(theirs), abs=1)


def exact_power(n: int, changed: float, difference: float) -> float:
    """Every outcome of n rows, tested by scipy: which differ, and in which direction."""
    up = (1 + difference / changed) / 2
    total = 0.0
    for m in range(n + 1):
        for k in range(m + 1):
            if m and binomtest(k, m).pvalue <= 0.05:
                total += binom.pmf(m, n, changed) * binom.pmf(k, m, up)
    return total


@pytest.mark.long
@pytest.mark.parametrize(
    ("n", "changed", "difference"), [(20, 0.5, 0.3), (30, 0.3, 0.2), (12, 1.0, 0.6), (25, 0.4, 0.4)]
)
def test_power_of_yes_and_no_is_that_of_every_outcome(n, changed, difference):
    assert paired_power(yes_no(n, changed), difference) == pytest.approx(exact_power(n, changed, difference))


def test_power_of_many_rows_that_differ_joins_what_is_summed_exactly():
    # 20,000 rows of which 9.9 and 10.1 % differ: summed, and by the normal approximation.
    summed, approximated = (paired_power(yes_no(20_000, share), 0.006) for share in (0.0999, 0.1001))
    assert summed == pytest.approx(approximated, abs=0.02)


def test_difference_of_nothing_is_found_as_often_as_chance_does():
    assert paired_power(graded(50), 0.0) == 0.05


def test_too_few_clusters_to_flip_find_nothing():
    # 5 clusters: the least p-value is 2 / 2^5 = 0.0625.
    assert paired_power(graded(5, sd=0.01), 1.0) == 0.0
    assert smallest_difference(graded(5, sd=0.01), 1.0) is None
    assert paired_power(graded(6, sd=0.01), 1.0) > 0.99


def test_equal_answers_of_yes_and_no_tell_what_would_have_been_found():
    # All that differ go one way: 6 of them give p = 2 / 2^6 = 0.03. P(at least 6 of 100) = 0.8 at 7.8 %.
    found = smallest_difference(yes_no(100, 0.0), 1.0)
    assert found == pytest.approx(0.0779, abs=0.0003)
    assert binom.sf(5, 100, found) == pytest.approx(0.8, abs=0.005)


def test_smallest_difference_has_the_power_asked_for_and_less_has_less():
    spread = graded(200, sd=0.5)
    found = smallest_difference(spread, 1.0, power=0.9)
    assert paired_power(spread, found) == pytest.approx(0.9, abs=0.002)
    assert paired_power(spread, found * 0.9) < 0.9


def test_needed_rows_reach_the_power_and_one_less_does_not():
    spread = graded(50, sd=0.5)
    n = needed_rows(spread, 0.1)
    assert paired_power(spread, 0.1, n=n) >= 0.8 > paired_power(spread, 0.1, n=n - 1)


def test_nobody_can_say_how_many_rows_find_nothing_or_next_to_nothing():
    assert needed_rows(graded(50), 0.0) is None
    assert needed_rows(graded(50), 1e-6) is None


def test_stricter_level_takes_more_rows():
    assert needed_rows(graded(50), 0.2, alpha=0.01) > needed_rows(graded(50), 0.2)


def test_clusters_of_equal_rows_count_once():
    # Each of 30 differences four times over: the design effect is 4, the power that of 30 rows.
    alone = np.random.default_rng(0).normal(size=30)
    four = np.repeat(alone, 4)
    spread = spread_of(four, np.repeat(np.arange(30), 4))
    single = spread_of(alone)
    assert spread.design_effect == pytest.approx(4 * (120 - 1) / 120 * 30 / 29, rel=1e-9)
    assert paired_power(spread, 0.4) == pytest.approx(paired_power(single, 0.4), abs=1e-6)
    # One row more of each costs nothing new: 60 clusters it takes, so 240 rows.
    assert needed_rows(spread, 0.4) == pytest.approx(4 * needed_rows(single, 0.4), abs=6)


def test_spread_by_hand():
    # +1, −1, +1, 0: mean 0.25, three of four differ.
    differences = np.array([1.0, -1.0, 1.0, 0.0])
    yes = spread_of(differences, yes_no=True)
    assert (yes.changed, yes.sd) == (0.75, pytest.approx(math.sqrt(0.75 - 0.0625)))
    # Sum of squares around the mean: 0.5625 + 1.5625 + 0.5625 + 0.0625 = 2.75, over 3.
    rows = spread_of(differences)
    assert rows.sd == pytest.approx(math.sqrt(2.75 / 3))
    assert rows.design_effect == pytest.approx(1.0)


def test_spread_is_unknown_where_nothing_varies_or_all_belong_together():
    assert spread_of(np.zeros(10)) is None
    assert spread_of(np.full(10, 0.5)) is None
    assert spread_of(np.array([1.0, 0.0]), ["one", "one"]) is None
    assert spread_of(np.array([1.0, -1.0, 1.0, -1.0]), ["a", "a", "b", "b"]) is None


@given(
    n=st.integers(10, 400),
    changed=st.floats(0.05, 1.0),
    small=st.floats(0.01, 0.4),
    more=st.floats(0.01, 0.4),
)
def test_larger_differences_are_found_more_often(n, changed, small, more):
    for spread in (graded(n), yes_no(n, changed)):
        less, larger = (paired_power(spread, one) for one in (small, small + more))
        assert less <= larger + 1e-9
        assert 0 <= less <= 1
