"""How fast an endpoint is asked, and when it is given up."""

import asyncio
import email.utils
import itertools
import random

import pytest
from tests.support import still_clock

from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.llm.failures import AppFailed, Unreachable
from ragstone.kernel.llm.limits import (
    BACKOFF_S,
    HANGING,
    LOST_IN_A_ROW,
    SLACK,
    Circuit,
    GivenUp,
    Pace,
    Slots,
    backoff_s,
    retry_after_s_of,
    wait_text,
)


async def occupy(slots: Slots, until: asyncio.Event) -> None:
    async with slots:
        await until.wait()


async def test_no_more_than_the_highest_number_are_in_use_and_everyone_has_a_turn():
    slots, seen, done = Slots(3), 0, 0

    async def work() -> None:
        nonlocal seen, done
        async with slots:
            seen = max(seen, slots.in_use)
            await asyncio.sleep(0)
        done += 1

    await asyncio.gather(*(work() for _ in range(50)))
    assert (seen, done, slots.in_use) == (3, 50, 0)


def test_a_round_of_refusals_halves_the_slots_and_one_slot_always_stays():
    slots = Slots(64)
    for _ in range(64):
        slots.refused()
    assert slots.allowed == 32  # 64 - 64 / 2
    for _ in range(1000):
        slots.refused()
    assert slots.allowed == 1


def test_accepted_calls_bring_the_slots_back_but_never_above_the_highest():
    slots = Slots(64)
    for _ in range(64):
        slots.refused()
    for _ in range(32):
        slots.accepted()
    assert slots.allowed == pytest.approx(34, abs=0.1)  # a round of 32 accepted ones adds two
    for _ in range(5000):
        slots.accepted()
    assert slots.allowed == 64


def test_one_refusal_in_twenty_does_not_starve_the_run():
    slots, draw = Slots(64), random.Random(0)
    for _ in range(5000):
        slots.refused() if draw.random() < 0.05 else slots.accepted()
    assert slots.allowed > 32


async def test_fewer_slots_hold_for_those_who_wait():
    slots, go = Slots(4), asyncio.Event()
    first = [asyncio.create_task(occupy(slots, go)) for _ in range(4)]
    await asyncio.sleep(0)
    for _ in range(6):
        slots.refused()  # 4 - 3 = 1
    stay = asyncio.Event()
    second = [asyncio.create_task(occupy(slots, stay)) for _ in range(3)]
    go.set()
    await asyncio.gather(*first)
    await asyncio.sleep(0)
    assert slots.in_use == 1
    stay.set()
    await asyncio.gather(*second)


async def test_a_cancelled_waiter_leaves_the_queue_and_no_slot_is_lost():
    slots, stay = Slots(1), asyncio.Event()
    holder = asyncio.create_task(occupy(slots, stay))
    waiters = [asyncio.create_task(occupy(slots, stay)) for _ in range(3)]
    await asyncio.sleep(0)
    waiters[0].cancel()
    stay.set()  # the slot is handed on in the same round of the loop as the cancellation
    waiters[1].cancel()
    await asyncio.gather(holder, *waiters, return_exceptions=True)
    assert slots.in_use == 0
    await asyncio.wait_for(occupy(slots, stay), 60)


async def test_a_waiter_cancelled_just_as_its_turn_comes_hands_the_slot_on():
    slots, stay = Slots(1), asyncio.Event()
    await slots.__aenter__()
    waiter = asyncio.create_task(occupy(slots, stay))
    await asyncio.sleep(0)
    await slots.__aexit__(None, None, None)  # its turn
    waiter.cancel()
    await asyncio.gather(waiter, return_exceptions=True)
    assert slots.in_use == 0


def starts_of(pace: Pace, n: int, *pauses: tuple[float, float]) -> list[float]:
    """When each of n callers who come at once starts, in seconds. pauses: when one begins, and its length."""

    async def all_of_them() -> list[float]:
        loop, starts = asyncio.get_running_loop(), []
        for begins, length in pauses:
            if begins:
                loop.call_later(begins, pace.pause, length)
            else:
                pace.pause(length)

        async def start() -> None:
            await pace.wait()
            starts.append(loop.time())

        await asyncio.gather(*(start() for _ in range(n)))
        return starts

    return still_clock.run(all_of_them())


def test_permits_are_evenly_spaced_and_never_too_many():
    starts = starts_of(Pace(60 * 200, random.Random(0)), 40)  # 200 a second
    assert starts == pytest.approx([n * SLACK / 200 for n in range(40)])


def test_without_a_rate_nobody_waits():
    assert starts_of(Pace(None, random.Random(0)), 1000) == [0.0] * 1000


def test_more_units_take_longer():
    pace = Pace(60 * 1000, random.Random(0))  # 1,000 units a second

    async def two() -> float:
        await pace.wait(100)
        await pace.wait(1)
        return asyncio.get_running_loop().time()

    assert still_clock.run(two()) == pytest.approx(0.1 * SLACK)


def test_after_a_pause_callers_come_back_one_by_one():
    starts = starts_of(Pace(None, random.Random(0)), 20, (0, 0.2))
    assert min(starts) >= 0.2
    assert max(starts) <= 0.25  # they come back over a quarter of the pause
    assert len(set(starts)) == 20


def test_a_shorter_pause_does_not_cut_a_longer_one():
    assert starts_of(Pace(None, random.Random(0)), 1, (0, 0.1), (0, 0.0))[0] >= 0.1


def test_a_pause_holds_those_who_already_had_a_permit_and_keeps_the_rate_afterwards():
    starts = starts_of(Pace(60 * 100, random.Random(0)), 20, (0.03, 0.1))  # 100 a second
    assert starts[:3] == pytest.approx([0.0, 0.0102, 0.0204])
    assert starts[3] >= 0.13
    assert all(later - one >= 0.0101 for one, later in itertools.pairwise(starts[3:]))


def test_backoff_doubles_is_capped_and_has_full_jitter(monkeypatch):
    monkeypatch.setattr("ragstone.kernel.llm.limits.BACKOFF_S", BACKOFF_S)  # as it is without conftest.py
    draws = [[backoff_s(attempt, random.Random(seed)) for seed in range(200)] for attempt in (0, 1, 2, 20)]
    for waits, most in zip(draws, (0.5, 1.0, 2.0, 30.0), strict=True):
        assert 0 <= min(waits) < most * 0.1
        assert most * 0.9 < max(waits) <= most


def timed_out() -> CallFailed:
    return CallFailed("timeout", "http://x did not answer in time", retryable=True)


def test_an_endpoint_that_only_hangs_is_given_up_after_a_few_timeouts(says):
    circuit = Circuit()
    for _ in range(HANGING - 1):
        circuit.attempt_failed(timed_out())
    with pytest.raises(ModelError) as caught:
        circuit.attempt_failed(timed_out())
    says(caught.value)
    with pytest.raises(ModelError, match="raise timeout_s"):
        circuit.check()


def test_timeouts_of_an_endpoint_that_has_answered_are_the_rows_own():
    circuit = Circuit()
    circuit.answered()
    for _ in range(HANGING * 2):
        circuit.attempt_failed(timed_out())
    circuit.check()


def test_nobody_there_from_the_first_call_on_stops_everything():
    circuit = Circuit()
    with pytest.raises(ModelError, match="cannot be reached"):
        circuit.call_lost(Unreachable("http://x cannot be reached"))
    circuit = Circuit()
    circuit.answered()
    circuit.call_lost(Unreachable("http://x cannot be reached"))  # only this row is lost
    circuit.check()


def test_many_lost_calls_in_a_row_stop_everything_and_an_answer_between_them_does_not(says):
    circuit = Circuit()
    for _ in range(3):
        for _ in range(LOST_IN_A_ROW - 1):
            circuit.call_lost(CallFailed("error", "HTTP 500: broken"))
        circuit.answered()
    for _ in range(LOST_IN_A_ROW - 1):
        circuit.call_lost(CallFailed("error", "HTTP 500: broken"))
    with pytest.raises(ModelError) as caught:
        circuit.call_lost(CallFailed("error", "HTTP 500: broken"))
    says(caught.value)


def test_failures_of_an_application_itself_stop_nothing():
    circuit = Circuit()
    for _ in range(LOST_IN_A_ROW * 2):
        failure = AppFailed("unparsable", "no JSON: <html>")
        circuit.attempt_failed(failure)
        circuit.call_lost(failure)
    circuit.check()


def test_who_hangs_or_went_away_is_given_up_and_nobody_there_is_not_called_that():
    circuit = Circuit()
    for _ in range(HANGING - 1):
        circuit.attempt_failed(timed_out())
    with pytest.raises(GivenUp):
        circuit.attempt_failed(timed_out())
    circuit = Circuit()
    with pytest.raises(ModelError) as failure:
        circuit.call_lost(Unreachable("http://x cannot be reached"))
    assert not isinstance(failure.value, GivenUp)


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({}, None),
            ({"Retry-After": "7"}, 7),
            ({"Retry-After": "0.5"}, 0.5),
            ({"Retry-After": "-5"}, 0),
            ({"Retry-After": "soon"}, None),
            ({"Retry-After": "nan"}, None),
            ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),  # long past
            ({"retry-after-ms": "1500"}, 1.5),
            ({"retry-after-ms": "60", "Retry-After": "1"}, 0.06),  # the finer one
            ({"retry-after-ms": "", "Retry-After": "1"}, 1),
        ],
    )
    def test_headers_tell_it_in_seconds_milliseconds_or_as_a_date(self, headers, seconds):
        assert retry_after_s_of(headers) == seconds

    def test_a_date_to_come_is_so_far_away(self, monkeypatch):
        monkeypatch.setattr("ragstone.kernel.llm.limits.time.time", lambda: 1_000_000.0)
        date = email.utils.formatdate(1_000_100.0, usegmt=True)
        assert retry_after_s_of({"Retry-After": date}) == 100

    @pytest.mark.parametrize("jump_s", [-3600, 3600, 10**9])
    def test_a_date_counts_from_that_of_the_response_whatever_our_clock_says(self, jump_s, monkeypatch):
        monkeypatch.setattr("ragstone.kernel.llm.limits.time.time", lambda: 1_000_000.0 + jump_s)
        sent, until = (email.utils.formatdate(at, usegmt=True) for at in (1e6, 1e6 + 30))
        assert retry_after_s_of({"Date": sent, "Retry-After": until}) == 30

    @pytest.mark.parametrize(
        "odd",
        [
            "9" * 20,
            "9" * 400,
            "inf",
            "1e400",
            "Fri, 31 Dec 9999 23:59:59 GMT",
            "Fri, 31 Dec 9999 23:59:59 -2359",
        ],
    )
    def test_what_nobody_waits_for_is_a_year_or_more(self, odd, monkeypatch, says):
        monkeypatch.setattr("ragstone.kernel.llm.limits.time.time", lambda: 1_000_000.0)
        waits_s = retry_after_s_of({"Retry-After": odd})
        assert waits_s is not None
        assert waits_s <= 365 * 86_400
        says(wait_text(waits_s))

    @pytest.mark.parametrize(
        "odd",
        [
            "",
            " ",
            "-",
            "-1e400x",
            "Fri, 99 Foo 2026",
            "Fri, 31 Dec 99999 00:00:00 GMT",
            "\x00",
            "1 2 3",
            "٣x",
        ],
    )
    def test_what_is_no_date_says_nothing(self, odd):
        assert retry_after_s_of({"Retry-After": odd}) is None

    def test_a_wait_is_told_in_units_that_people_use(self):
        seconds = (121, 179.6, 3000, 10_800, 86_400, 3 * 86_400)
        assert [wait_text(one) for one in seconds] == ["121 s", "180 s", "50 min", "3 h", "24 h", "3 days"]

    @pytest.mark.parametrize(
        ("body", "seconds"),
        [
            ('{"details": [{"retryDelay": "34.4s"}]}', 34.4),  # Google
            (r'{"message": "{\"retryDelay\": \"13s\"}"}', 13),  # Google, in the words of who stands before it
            ("Please try again in 20s.", 20),  # OpenAI
            ("Please try again in 860ms.", 0.86),
            ("Please try again in 6m0s.", 360),
            ("Please try again in 9m38.016s. Need more tokens?", 578.016),  # Groq: 9 * 60 + 38.016
            ("Please try again in 1h1m2s.", 3662),  # 3,600 + 60 + 2
            ("Please try again in 1.984999999s.", 1.984999999),
            ("Please retry after 45 seconds.", 45),  # Azure
            ("Please retry in 2.5s.", 2.5),
            ("Please try again later.", None),
            ("You asked for 30s of audio.", None),
        ],
    )
    def test_without_a_header_the_body_tells_it(self, body, seconds):
        assert retry_after_s_of({}, body) == (None if seconds is None else pytest.approx(seconds))

    def test_a_header_goes_before_the_body(self):
        assert retry_after_s_of({"Retry-After": "1"}, "Please try again in 20s.") == 1
