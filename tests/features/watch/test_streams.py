import math

import msgspec
import numpy as np
import pytest
from tests.support.monitor_cells import BEGIN, cell, days, dropped

from ragstone.features.watch._streams import blocks_of, changes_of, level_of, shares_of, streams_of
from ragstone.kernel.statistics.intervals import student_quantile

LATER = BEGIN.replace(year=2027)


def test_a_stream_begins_with_its_first_score_and_days_without_one_are_0():
    [one] = streams_of([cell(3, 10, 4), cell(1, 0, 0), cell(5, 10, 6)], BEGIN.replace(day=8))
    assert one.first == BEGIN.replace(day=4)
    assert one.sums[:, 0].tolist() == [10, 0, 10, 0]
    assert one.day(2) == BEGIN.replace(day=6)


def test_the_day_that_is_not_over_is_left_out():
    [one] = streams_of([cell(0, 10, 4), cell(1, 10, 6)], BEGIN.replace(day=2))
    assert len(one.sums) == 1


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


DECEMBER = BEGIN.replace(month=12)


def changes(cells, before=DECEMBER, alpha=0.05):
    return changes_of(streams_of(cells, before), alpha, 14)


def test_a_drop_is_found_once_with_its_day():
    [found] = changes(days(dropped(60)))
    assert abs(found.at - 60) <= 1
    assert 60 <= found.raised <= 70
    assert found.log_evidence >= -math.log(found.alpha)
    # Half of alpha is for all exchanges, 0.8 of that for what is there from the beginning, half of that for a
    # first change.
    assert found.alpha == pytest.approx(0.05 * 0.5 * 0.8 / 2)


def test_after_a_change_the_next_one_has_less_to_spend():
    first, second = changes(days([0.85] * 60 + [0.75] * 60 + [0.85] * 60))
    assert second.begin == first.raised + 1
    assert abs(second.at - 120) <= 1
    assert second.alpha == pytest.approx(first.alpha / 3)


def test_a_look_at_each_day_raises_what_one_look_at_the_end_does():
    cells = days(dropped(40, days_after=20))
    whole = changes(cells, BEGIN.replace(month=3, day=2))
    for at in range(15, 60):
        before = streams_of(cells, cells[at].day)
        found = changes_of(before, 0.05, 14)
        assert [one.raised for one in found] == [one.raised for one in whole if one.raised < at]


def test_days_without_rows_and_streams_that_begin_late_are_no_change():
    gaps = [one for at, one in enumerate(days([0.85] * 90)) if at % 10 not in (3, 4, 5)]
    late = days([0.6] * 40, begin=50, tag="crop", value="maize", seed=3)
    assert changes([*gaps, *late]) == []


def test_days_of_very_different_size_are_no_change():
    cells = [one for at in range(90) for one in days([0.85], n=1500 if at % 7 < 5 else 20, seed=at, begin=at)]
    assert changes(cells) == []


def test_a_weekly_rhythm_is_no_change():
    assert changes(days([0.85 - 0.08 * (at % 7 > 4) for at in range(120)])) == []


def test_a_rare_thing_is_found_on_the_day_that_it_is_no_more():
    # Toxicity of 1 in 200, then 1 in 20.
    [found] = changes(days([0.005] * 40 + [0.06] * 5, metric="toxicity"))
    assert (found.at, found.raised) in {(40, 40), (40, 41)}


def test_what_never_happened_is_no_wonder_when_it_does():
    cells = [cell(at, 900, 900 if at < 40 else 898, metric="language_match") for at in range(80)]
    assert changes(cells) == []


def test_the_parts_of_alpha_sum_to_no_more_than_it_whatever_comes():
    cells = [
        days([0.8] * 3, n=10, begin=begin, tag=tag, value=str(value))
        for begin in (0, 5, 20, 40, 90, 200)
        for tag in ("", "crop")
        for value in range(1 if not tag else 1 + begin % 4)
    ]
    streams = [one for some in cells for one in streams_of(some, DECEMBER)]
    shares = shares_of(streams, 0.05, 14)
    assert sum(shares) <= 0.05
    assert shares_of([], 0.05, 14) == []


def test_a_later_stream_takes_nothing_from_earlier_ones():
    early = streams_of(days([0.8] * 40), DECEMBER)
    late = streams_of(days([0.8] * 40, begin=20, metric="relevance"), DECEMBER)
    alone, together = shares_of(early, 0.05, 14), shares_of([*early, *late], 0.05, 14)
    assert alone == together[:1]
    # The second fortnight has 0.2 / (1 * 2) of the half.
    assert together[1] == pytest.approx(0.05 * 0.5 * 0.2 / 2)


def test_streams_do_not_see_one_another():
    one = days(dropped(30, days_after=20), seed=1)
    other = days([0.5] * 50, seed=2, metric="relevance")
    [alone] = changes(one, BEGIN.replace(month=2, day=20), alpha=0.05)
    [beside] = changes([*one, *other], BEGIN.replace(month=2, day=20), alpha=0.1)
    # Weekdays are matched by date, so what else is there moves nothing.
    assert msgspec.structs.astuple(alone)[1:] == pytest.approx(msgspec.structs.astuple(beside)[1:])


def test_how_many_streams_are_looked_at_together_does_not_matter(monkeypatch):
    cells = [
        one
        for at in range(5)
        for one in days(dropped(30 + at, days_after=20), seed=at, begin=3 * at, tag="crop", value=str(at))
    ]
    together = changes(cells, BEGIN.replace(month=3, day=10))
    monkeypatch.setattr("ragstone.features.watch._streams.AT_ONCE", 2)
    apart = changes(cells, BEGIN.replace(month=3, day=10))
    assert [(one.at, one.raised) for one in apart] == [(one.at, one.raised) for one in together]
    assert len(apart) == 5
