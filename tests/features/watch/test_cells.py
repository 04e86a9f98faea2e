from datetime import date

import pytest
from hypothesis import given
from hypothesis.strategies import permutations
from tests.support.monitor_cells import cell

from ragstone.features.watch._cells import trends
from ragstone.kernel.statistics.intervals import wilson_interval


def test_scores_of_0_and_1_have_wilsons_interval():
    [trend] = trends([cell(0, 100, 80, statuses={"refused": 2})])
    [point] = trend.points
    assert (trend.span, point.mean, point.n, point.statuses) == ("day", 0.8, 100, {"refused": 2})
    assert (point.low, point.high) == wilson_interval(80, 100)


def test_weighted_scores_have_the_linearised_interval():
    # 40 scores of 1 with weight 1 and 10 of 0 with weight 4: mean 40 / 80; w2 = 40 + 160 = 200, w2x = w2x2 =
    # 40: (40 - 2 * 0.5 * 40 + 0.25 * 200) / 80² = 0.0078125, times 50/49.
    [trend] = trends([cell(0, 50, 40, w=80, w2=200)])
    [point] = trend.points
    half = 1.959964 * (0.0078125 * 50 / 49) ** 0.5
    assert (point.low, point.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-5)


def test_graded_scores_have_the_linearised_interval():
    # 50 times 0.5 and 50 times 1: mean 0.75, variance of one 0.0625.
    [trend] = trends([cell(0, 100, 75, w2x2=62.5)])
    half = 1.959964 * (0.0625 / 99) ** 0.5
    assert trend.points[0].high == pytest.approx(0.75 + half, abs=1e-5)


def test_weighted_scores_that_are_all_the_best_have_the_interval_of_their_worth():
    # Weights 1 and 3, twice: w = 8, w2 = 20, worth 3.2.
    [trend] = trends([cell(0, 4, 8, w=8, w2=20, w2x=20, w2x2=20)])
    assert (trend.points[0].low, trend.points[0].high) == wilson_interval(3.2, 3.2)


def test_one_weighted_score_between_has_no_interval():
    [trend] = trends([cell(0, 1, 1.0, w=2, w2=4, w2x=2, w2x2=1)])
    assert (trend.points[0].mean, trend.points[0].low, trend.points[0].high) == (0.5, None, None)


def test_a_day_without_a_score_is_shown_with_what_became_of_it():
    [trend] = trends([cell(0, 0, 0, statuses={"timeout": 3}), *(cell(at, 50, 40) for at in range(1, 4))])
    point = trend.points[0]
    assert (point.n, point.mean, point.low, point.statuses) == (0, None, None, {"timeout": 3})


def test_thin_days_are_shown_as_weeks_from_monday_on():
    # 1 January 2026 is a Thursday: four days of its week, then seven.
    [trend] = trends([cell(at, 10, 8) for at in range(11)])
    assert trend.span == "week"
    assert [(one.day, one.n) for one in trend.points] == [(date(2025, 12, 29), 40), (date(2026, 1, 5), 70)]


CELLS = [
    cell(0, 50, 40),
    cell(0, 60, 30),
    cell(1, 50, 20),
    cell(1, 40, 20, tag="crop", value="maize"),
    cell(1, 40, 20, judge="faithfulness 2 m"),
]


@given(permutations(CELLS))
def test_the_order_of_cells_does_not_matter_and_parts_of_a_day_are_one(cells):
    found = trends(cells)
    assert found == trends(CELLS)
    assert [(one.tag, one.judge[-3:], len(one.points)) for one in found] == [
        ("", "1 m", 2),
        ("", "2 m", 1),
        ("crop", "1 m", 1),
    ]
    assert (found[0].points[0].n, found[0].points[0].mean) == (110, pytest.approx(70 / 110))


def test_no_cells_have_no_trends():
    assert trends([]) == []
