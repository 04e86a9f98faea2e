"""No two workers pay for the same call."""

from ragstone.engine.cluster.claims import Claims


def test_who_waits_is_given_what_lands():
    claims = Claims()
    claims.take(b"k", "a")
    claims.wait(b"k", ("b", 1))
    claims.wait(b"k", ("c", 2))
    assert claims.land(b"k") == [("b", 1), ("c", 2)]
    assert claims.owner(b"k") is None


def test_a_call_that_came_to_nothing_is_the_turn_of_the_first_who_waits():
    claims = Claims()
    claims.take(b"k", "a")
    claims.wait(b"k", ("b", 1))
    claims.wait(b"k", ("c", 2))
    assert claims.release(b"k", "a") == ("b", 1)
    assert claims.owner(b"k") == "b"
    assert claims.land(b"k") == [("c", 2)]


def test_only_the_owner_can_release():
    claims = Claims()
    claims.take(b"k", "a")
    assert claims.release(b"k", "b") is None
    assert claims.owner(b"k") == "a"


def test_the_turns_of_the_dead_go_to_those_who_wait_and_its_own_questions_are_forgotten():
    claims = Claims()
    claims.take(b"k", "a")
    claims.wait(b"k", ("b", 1))
    claims.take(b"m", "a")
    claims.take(b"n", "b")
    claims.wait(b"n", ("a", 7))
    assert claims.leave("a") == [(b"k", ("b", 1))]
    assert claims.owner(b"m") is None
    assert claims.land(b"n") == []
