import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import floats, integers, lists, tuples

from ragstone.kernel.statistics import SelectiveAccuracy, selective_of


def found(sure, right, clusters=None, **drawn) -> SelectiveAccuracy:
    selective = selective_of(np.array(sure, float), np.array(right, float), clusters, resamples=300, **drawn)
    assert selective is not None
    return selective


def test_area_and_points_worked_by_hand():
    # The surest first: ten right, ten wrong. Wrong among the first k: 0 up to 10, then (k - 10) / k.
    # As a curve of u = k / 20: the integral of 1 - 0.5 / u from 0.5 to 1, that is 0.5 - 0.5 ln 2.
    selective = found(np.linspace(1, 0.5, 20), [1] * 10 + [0] * 10)
    assert selective.right.value == 0.5
    assert selective.area.value == pytest.approx(0.5 - 0.5 * np.log(2), abs=0.002)
    assert selective.gain.value == pytest.approx(0.5 - selective.area.value)
    # Of the surest 16 ten are right, of 12 ten, of 10 all.
    shares = {round(point.coverage, 2): point.right.value for point in selective.points}
    assert shares[0.8] == pytest.approx(10 / 16)
    assert shares[0.6] == pytest.approx(10 / 12)
    assert shares[0.5] == 1
    [point] = [point for point in selective.points if round(point.coverage, 2) == 0.8]
    assert point.more is not None
    assert point.more.value == pytest.approx(10 / 16 - 0.5)


def test_equally_sure_verdicts_are_never_parted_and_have_the_area_of_a_random_order():
    selective = found([0.9] * 40, [1, 1, 1, 0] * 10)
    assert selective.points == []
    assert selective.area.value == pytest.approx(0.25)
    assert selective.gain.value == pytest.approx(0)
    selective = found([0.9] * 30 + [0.6] * 10, [1] * 27 + [0] * 3 + [1, 0] * 5)
    assert [(point.coverage, point.sure) for point in selective.points] == [(0.75, 0.9)]


def test_sure_and_wrong_is_a_loss():
    selective = found(np.linspace(1, 0.5, 40), [0] * 20 + [1] * 20)
    assert selective.gain.high is not None
    assert selective.gain.high < 0


def test_intervals_go_by_clusters():
    rng = np.random.default_rng(0)
    sure = rng.random(60)
    right = (rng.random(60) < sure).astype(float)
    alone = found(sure, right, np.arange(60))
    copied = found(np.repeat(sure, 4), np.repeat(right, 4), np.repeat(np.arange(60), 4))
    counted = found(np.repeat(sure, 4), np.repeat(right, 4), np.arange(240))
    width = [one.area.high - one.area.low for one in (alone, copied, counted)]
    assert width[1] == pytest.approx(width[0], rel=0.15)
    assert width[2] < 0.7 * width[0]


@settings(max_examples=60, deadline=None)
@given(lists(tuples(floats(0.5, 1), integers(0, 1)), min_size=1, max_size=60))
def test_area_is_that_of_the_mean_over_random_orders_of_equals(rows):
    sure, right = (np.array(side, dtype=float) for side in zip(*rows, strict=True))
    selective = found(sure, right)
    assert -1e-9 <= selective.area.value <= 1 + 1e-9
    if right.all() or not right.any():
        assert selective.area.value == pytest.approx(1 - right[0])
        assert selective.gain.value == pytest.approx(0)
