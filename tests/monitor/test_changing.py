import math

import msgspec
import pytest
from tests.support.monitor_cells import BEGIN, cell, days, dropped

from ragstone.monitor.streams import changes_of, shares_of, streams_of

LATER = BEGIN.replace(month=12)


def changes(cells, before=LATER, alpha=0.05):
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
    streams = [one for some in cells for one in streams_of(some, LATER)]
    shares = shares_of(streams, 0.05, 14)
    assert sum(shares) <= 0.05
    assert shares_of([], 0.05, 14) == []


def test_a_later_stream_takes_nothing_from_earlier_ones():
    early = streams_of(days([0.8] * 40), LATER)
    late = streams_of(days([0.8] * 40, begin=20, metric="relevance"), LATER)
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
    monkeypatch.setattr("ragstone.monitor.streams.AT_ONCE", 2)
    apart = changes(cells, BEGIN.replace(month=3, day=10))
    assert [(one.at, one.raised) for one in apart] == [(one.at, one.raised) for one in together]
    assert len(apart) == 5
