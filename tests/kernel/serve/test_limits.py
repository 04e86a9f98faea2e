"""Requests of each caller in a minute."""

from hypothesis import given
from hypothesis.strategies import floats, lists, sampled_from, tuples

from ragstone.kernel.serve.limits import RequestLimits


def test_after_the_last_one_a_caller_waits_until_the_first_is_a_minute_old():
    limits = RequestLimits(2)
    assert [limits.wait_s("a", at) for at in (0.0, 10.5, 20.0)] == [None, None, 40]
    assert limits.wait_s("b", 20.0) is None
    assert limits.wait_s("a", 59.9) == 1  # never 0: that would say "at once"
    assert limits.wait_s("a", 60.0) is None


@given(lists(tuples(sampled_from("ab"), floats(0, 30)), max_size=60))
def test_no_minute_has_more_than_the_limit_and_who_waits_as_told_gets_in(steps):
    limits, now, let_in = RequestLimits(3), 0.0, {"a": [], "b": []}
    for caller, step in steps:
        now += step
        wait_s = limits.wait_s(caller, now)
        if wait_s is not None:
            now += wait_s
            assert limits.wait_s(caller, now) is None
        let_in[caller].append(now)
        assert len([at for at in let_in[caller] if now - at < 60]) <= 3


def test_who_is_silent_for_a_minute_is_forgotten():
    limits = RequestLimits(2)
    for n in range(1000):
        limits.wait_s(f"address {n}", 0.0)
    limits.wait_s("b", 100.0)
    assert list(limits._asked) == ["b"]
