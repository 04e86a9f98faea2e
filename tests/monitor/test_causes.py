import pytest

from ragstone.monitor.alarms import cause_of
from ragstone.monitor.canaries import Shift
from ragstone.monitor.streams import Level


def level(mean, half=0.01):
    return Level(mean=mean, low=mean - half, high=mean + half, n=1000)


def shift(mean, half):
    return Shift(mean=mean, first=0.8, low=mean - half, high=mean + half, n=200, before=3, after=2)


# The mean fell by 0.10, known to within hypot(0.01, 0.01) = 0.014.
@pytest.mark.parametrize(
    ("moved", "half", "cause"),
    [
        (-0.10, 0.03, "judge"),
        (-0.08, 0.03, "judge"),  # 0.02 is left, which is less than the canaries tell
        (-0.05, 0.02, "both"),
        (0.05, 0.02, "both"),  # milder, and the mean fell all the same
        (0.00, 0.02, "application"),
        (-0.03, 0.04, "application"),  # 0.07 at most, not 0.086
        (-0.05, 0.06, "unknown"),
        (0.02, 0.12, "unknown"),
    ],
)
def test_the_cause_of_a_fall_of_10_points(moved, half, cause):
    assert cause_of(level(0.8), level(0.7), shift(moved, half)).cause == cause


def test_a_rise_has_the_same_causes_as_a_fall():
    assert cause_of(level(0.7), level(0.8), shift(0.1, 0.03)).cause == "judge"
    assert cause_of(level(0.7), level(0.8), shift(-0.03, 0.04)).cause == "application"
    assert cause_of(level(0.7), level(0.8), shift(0.05, 0.06)).cause == "unknown"


def test_what_the_judge_before_would_say_has_the_errors_of_both():
    # 0.7 + 0.1 within hypot(0.01, 0.03) = 0.0316.
    found = cause_of(level(0.8), level(0.7), shift(-0.1, 0.03)).corrected
    assert (found.mean, found.low, found.high) == pytest.approx(
        (0.8, 0.8 - 0.031623, 0.8 + 0.031623), abs=1e-5
    )


def test_without_canaries_the_cause_is_not_known():
    found = cause_of(level(0.8), level(0.7), None)
    assert (found.cause, found.corrected) == ("unknown", None)
    assert "no canaries judged since" in found.says
