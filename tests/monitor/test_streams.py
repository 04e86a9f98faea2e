import numpy as np
import pytest
from tests.support.monitor_cells import BEGIN, cell, days

from ragstone.monitor.streams import blocks_of, level_of, streams_of
from ragstone.statistics.student import student_quantile

LATER = BEGIN.replace(year=2027)


def test_a_stream_begins_with_its_first_score_and_days_without_one_are_0():
    [one] = streams_of([cell(3, 10, 4), cell(1, 0, 0), cell(5, 10, 6)], BEGIN.replace(day=8))
    assert one.first == BEGIN.replace(day=4)
    assert one.sums[:, 0].tolist() == [10, 0, 10, 0]
    assert one.day(2) == BEGIN.replace(day=6)


def test_the_day_that_is_not_over_is_left_out():
    [one] = streams_of([cell(0, 10, 4), cell(1, 10, 6)], BEGIN.replace(day=2))
    assert len(one.sums) == 1


def test_neither_the_order_nor_the_number_of_cells_matters():
    whole = days([0.8] * 5)
    parts = [*(cell(at, 400, 300) for at in range(5))]
    parts += [cell(at, 500, int(one.wx) - 300) for at, one in enumerate(whole)]
    for found in (streams_of(parts, LATER), streams_of(parts[::-1], LATER)):
        assert found[0].sums.tolist() == streams_of(whole, LATER)[0].sums.tolist()


def test_blocks_by_hand():
    """14 days of 100 with 80 right, then one of 400 with 300 right.

    One score varies by 0.8 * 0.2 = 0.16, a day of 100 by 0.0016 and its effect, 0.001 * 0.16: by 0.00176.
    One of 400 varies by 0.0004 + 0.00016 = 0.00056, so that it weighs 0.00176 / 0.00056 = 3.142857.
    """
    [one] = streams_of([*(cell(at, 100, 80) for at in range(14)), cell(14, 400, 300)], BEGIN.replace(day=16))
    blocks = blocks_of(one, 0, 14)
    assert blocks.span == 1
    assert blocks.values.tolist() == pytest.approx([0] * 14 + [-0.05])
    assert blocks.weights.tolist() == pytest.approx([1] * 14 + [3.142857])
    # The skewness of yes and no with a mean of 0.8 is |1 - 2 * 0.8| = 0.6 a score, 0.006 for the mean of 100.
    assert (blocks.noise, blocks.jump) == pytest.approx((0.0016, 0.006))


def test_scores_of_a_tenth_count_as_many_as_they_are():
    plain = [cell(at, 100, 80) for at in range(15)]
    weighed = [cell(at, 100, 800, w=1000, w2=10_000, w2x=8000, w2x2=8000, wx=800) for at in range(15)]
    one, other = (blocks_of(streams_of(some, LATER)[0], 0, 14) for some in (plain, weighed))
    assert other.noise == pytest.approx(one.noise)
    assert other.weights.tolist() == pytest.approx(one.weights.tolist())


# 0.5 of what is rarer are needed in a block: there are 1, 0.2 and 0.04 a day.
@pytest.mark.parametrize(("n", "right", "span"), [(10, 9, 1), (2, 1.8, 7), (1, 0.96, 28)])
def test_thin_days_are_taken_together(n, right, span):
    [one] = streams_of([cell(at, n, right) for at in range(60)], BEGIN.replace(month=3, day=2))
    blocks = blocks_of(one, 0, 14)
    assert blocks.span == span
    assert blocks.values.size == 60 // span


def test_days_too_thin_for_four_weeks_wait_for_more():
    # Nothing for 13 of 14 days and all right: 1/14 * 28 * 0.01 = 0.02 of what is rarer. Then 100 a day.
    cells = [cell(0, 1, 1), *(cell(at, 100, 80) for at in range(14, 40))]
    [one] = streams_of(cells, BEGIN.replace(month=2, day=10))
    blocks = blocks_of(one, 0, 14)
    assert (blocks.begin, blocks.span) == (14, 1)
    assert blocks_of(one, 30, 14) is None


def test_a_mean_and_its_interval_have_days_as_units():
    # Days of 100 with 80, 90, 85 right: mean 0.85, deviations -5, 5, 0; variance 50 / 300² * 3/2 = 0.000833,
    # more than 0.85 * 0.15 / 300 = 0.000425. Student's t with 2 degrees of freedom.
    sums = np.array([[100, 100, x, 100, x, x] for x in (80, 90, 85)], dtype=float)
    level = level_of(sums)
    assert (level.mean, level.n) == (0.85, 300)
    half = student_quantile(0.975, 2) * (50 / 300**2 * 1.5) ** 0.5
    assert level.high - level.low == pytest.approx(2 * half)
    assert level_of(sums[:1]).half == pytest.approx(student_quantile(0.975, 99) * (0.16 / 100) ** 0.5)
    assert level_of(np.array([[5.0] * 6] * 2)).half == 0
    with pytest.raises(ValueError, match="no mean"):
        level_of(np.zeros((2, 6)))
