"""Slots are shared out so that together the workers never make more calls than are allowed."""

from hypothesis import given
from hypothesis.strategies import dictionaries, integers, sampled_from

from ragstone.engine.cluster.sharing import Share, shares


def test_workers_that_want_much_get_the_same():
    assert shares({"a": 100, "b": 100}, 64) == {"a": 32, "b": 32}


def test_what_one_does_not_want_is_the_others():
    # 10 for a; of the remaining 54, b and c get 27 each
    assert shares({"a": 10, "b": 100, "c": 100}, 64) == {"a": 10, "b": 27, "c": 27}


def test_what_does_not_divide_goes_to_the_first():
    assert shares({"a": 9, "b": 9}, 3) == {"a": 2, "b": 1}


@given(dictionaries(sampled_from("abcdef"), integers(0, 200)), integers(0, 300))
def test_none_gets_more_than_it_wants_and_nothing_is_left_while_somebody_wants(wanted, allowed):
    given_out = shares(wanted, allowed)
    assert all(given_out[name] <= n for name, n in wanted.items())
    assert sum(given_out.values()) == min(allowed, sum(wanted.values()))


def test_a_share_that_is_lowered_counts_in_full_until_the_worker_says_otherwise():
    share = Share()
    share.hear(wanted=64, held=0, heard=0)
    share.tell(1, 64)
    assert (share.used, share.last) == (64, 64)
    share.tell(2, 32)
    assert (share.used, share.last) == (64, 32)
    share.hear(wanted=64, held=50, heard=2)  # 50 calls are still under way
    assert share.used == 50
    share.hear(wanted=64, held=32, heard=2)
    assert share.used == 32


def test_a_word_that_crossed_a_share_on_its_way_does_not_hide_it():
    share = Share()
    share.tell(1, 8)
    share.hear(wanted=9, held=0, heard=0)  # sent before share 1 came
    assert share.used == 8
