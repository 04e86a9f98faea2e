"""What the coordinator holds for all workers: turns, the ledger, the budget, leases of calls."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis.strategies import dictionaries, integers, sampled_from

from ragstone.kernel.engine.cluster._coordinator import SILENT_S, Coordinator, EndpointUse, Lease, shares
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import Caps, Ledger
from ragstone.kernel.llm.budget import BudgetCounts
from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.llm.limits import GivenUp
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.response_store import LedgerTurn

SAID = Completion(text="yes")
MINE, ANOTHERS = LedgerTurn(None, mine=True), LedgerTurn(None, mine=False)


class Clock:
    """A clock that stands still."""

    now = 1.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(tmp_path / "ledger.sqlite")
    yield opened
    opened.close()


def coordinator_of(caps: Caps | None = None) -> Coordinator:
    return Coordinator(None, caps or Caps())


def use(wanted: int, held: int = 0, concurrency: int = 8, calls: int | None = None, **more) -> EndpointUse:
    return EndpointUse("model", concurrency, calls, None, wanted, held, **more)


async def slots(coordinator: Coordinator, worker: str, wanted: int, held: int = 0, **more) -> int:
    return (await leased(coordinator, worker, wanted, held, **more)).slots


async def leased(coordinator: Coordinator, worker: str, wanted: int, held: int = 0, **more) -> Lease:
    [lease] = await coordinator.exchange(worker, [("lease", (use(wanted, held, **more),))])
    return lease


async def reserve(coordinator: Coordinator, worker: str, number: int, tokens: int = 10) -> object:
    [said] = await coordinator.exchange(worker, [("reserve", (number, tokens, 0.0))])
    return said


async def turn(coordinator: Coordinator, worker: str, key: bytes = b"k" * 16) -> object:
    [said] = await coordinator.exchange(worker, [("turn", (key, 0.0))])
    return said


async def test_the_first_who_asks_makes_the_call_and_the_second_is_given_its_response(ledger):
    coordinator = Coordinator(lambda: ledger, Caps())
    assert await turn(coordinator, "a") == MINE
    assert await turn(coordinator, "b") == ANOTHERS
    await coordinator.exchange("a", [("put", (b"k" * 16, "model", SAID, False))])
    assert await turn(coordinator, "b") == LedgerTurn(SAID, mine=False)
    [found] = await coordinator.exchange("c", [("find", (b"k" * 16, True, 0.0))])
    assert found == SAID


async def test_a_call_that_failed_is_the_turn_of_who_asks_next_and_only_its_owner_can_give_it_up(ledger):
    coordinator = Coordinator(lambda: ledger, Caps())
    await turn(coordinator, "a")
    await coordinator.exchange("b", [("release", (b"k" * 16,))])
    assert await turn(coordinator, "b") == ANOTHERS
    await coordinator.exchange("a", [("release", (b"k" * 16,))])
    assert await turn(coordinator, "b") == MINE


async def test_a_worker_that_is_silent_for_long_is_taken_for_dead_and_its_turns_are_the_others(ledger):
    clock = Clock()
    coordinator = Coordinator(lambda: ledger, Caps(), clock)
    await turn(coordinator, "a")
    clock.now += SILENT_S - 1
    assert await turn(coordinator, "b") == ANOTHERS
    assert (await coordinator.look())[-1] == []
    clock.now += 2
    assert (await coordinator.look())[-1] == ["a"]
    assert await turn(coordinator, "b") == MINE
    with pytest.raises(ModelError, match="was silent"):
        await coordinator.exchange("a", [])


async def test_a_message_without_a_call_says_that_the_worker_lives():
    clock = Clock()
    coordinator = Coordinator(None, Caps(), clock)
    await coordinator.exchange("a", [])
    clock.now += SILENT_S
    assert await coordinator.exchange("a", []) == []
    clock.now += SILENT_S
    assert (await coordinator.look())[-1] == []


async def test_calls_over_all_workers_stay_within_the_cap():
    coordinator = coordinator_of(Caps(calls=3))
    said = [await reserve(coordinator, worker, n) for worker, n in (("a", 1), ("a", 2), ("b", 1))]
    assert said == [True] * 3
    refused = await reserve(coordinator, "b", 2)
    assert isinstance(refused, CallFailed)
    assert refused.status == "over_budget"
    assert coordinator.spent().made == 3


async def test_who_waits_for_calls_in_flight_asks_again():
    coordinator = coordinator_of(Caps(tokens=100))
    assert await reserve(coordinator, "a", 1, 60)
    assert await reserve(coordinator, "b", 1, 60) is False
    await coordinator.exchange("a", [("settle", (1, 30, 0.0))])
    assert await reserve(coordinator, "b", 1, 60) is True


async def test_what_a_dead_worker_reserved_counts_as_spent_for_it_may_have_been_paid():
    coordinator = coordinator_of(Caps(tokens=100))
    await reserve(coordinator, "a", 1, 60)
    await coordinator.leave("a")
    assert coordinator.spent().tokens_most == 60
    assert coordinator.spent().in_flight == 0


async def test_two_workers_never_have_more_slots_than_the_endpoint_bears():
    coordinator = coordinator_of()
    assert await slots(coordinator, "a", 8) == 8
    assert await slots(coordinator, "b", 8) == 0  # a holds all of them
    assert await slots(coordinator, "a", 8, held=8) == 4  # and is to let go of half
    assert await slots(coordinator, "b", 8) == 0
    assert await slots(coordinator, "a", 8, held=6) == 4  # 6 calls are under way, 2 slots are free
    assert await slots(coordinator, "b", 8) == 2
    assert await slots(coordinator, "a", 8, held=4) == 4
    assert await slots(coordinator, "b", 8, held=2) == 4


async def test_slots_of_a_dead_worker_come_back():
    coordinator = coordinator_of()
    assert await slots(coordinator, "a", 8) == 8
    await coordinator.leave("a")
    assert await slots(coordinator, "b", 8) == 8


async def test_refusals_of_one_worker_lower_the_slots_of_all():
    coordinator = coordinator_of()
    # each refusal takes half a slot: 2 -> 1.5 -> 1, never below 1
    await leased(coordinator, "a", 0, concurrency=2, n_refused=2)
    assert await slots(coordinator, "b", 2, concurrency=2) == 1


async def test_a_pause_that_one_worker_was_asked_for_is_everybodys():
    coordinator = coordinator_of()
    await leased(coordinator, "a", 1, pause_s=2.0)
    assert (await leased(coordinator, "b", 1)).pause_s == pytest.approx(2.0, abs=0.5)


async def test_timeouts_at_several_workers_together_end_the_calls_of_all():
    coordinator = coordinator_of()
    hung = (CallFailed("timeout", "no reply in 60 s"), False)
    assert (await leased(coordinator, "a", 1, failed=(hung,) * 4)).why_not is None
    # 8 in all are enough, see limits.HANGING
    assert isinstance((await leased(coordinator, "b", 1, failed=(hung,) * 4)).why_not, GivenUp)
    assert isinstance((await leased(coordinator, "c", 1)).why_not, GivenUp)


async def test_an_answer_of_one_worker_tells_all_that_the_endpoint_works():
    coordinator = coordinator_of()
    assert not (await leased(coordinator, "b", 1)).has_answered
    await leased(coordinator, "a", 1, n_accepted=1)
    assert (await leased(coordinator, "b", 1)).has_answered


async def test_what_workers_counted_is_added_to_what_the_run_had_spent():
    coordinator = coordinator_of()
    await coordinator.begin(BudgetCounts(made=5, from_ledger=2, failed={"timeout": 1}))
    for n in (3, 4):  # the later replaces the earlier
        counted = BudgetCounts(from_ledger=n, failed={"timeout": 1, "refused": 1})
        await coordinator.exchange("a", [("count", (counted, {}))])
    await coordinator.exchange(
        "b", [("count", (BudgetCounts(from_ledger=1, usd=None), {"m": ("m-1", None)}))]
    )
    spent, opened, _learnt, _silent = await coordinator.look()
    assert (spent.made, spent.from_ledger, spent.usd) == (5, 7, None)
    assert spent.failed == {"timeout": 2, "refused": 1}
    assert opened == {"m": ("m-1", None)}


async def test_what_workers_learn_of_models_is_given_to_the_driver_once():
    coordinator = coordinator_of()
    for worker, room in (("a", 100), ("b", 200)):
        await coordinator.exchange(worker, [("learn", ("openai/m", {"learnt": room}))])
    assert (await coordinator.look())[2] == {"openai/m": {"learnt": 200}}
    assert (await coordinator.look())[2] == {}


async def test_calls_are_permitted_at_the_pace_of_the_endpoint():
    coordinator = coordinator_of()
    await leased(coordinator, "a", 1, calls=600)
    permits = await asyncio.gather(*(coordinator.permit("a", "model", "calls", 1.0) for _ in range(3)))
    # a tenth of a second apart, and a little more
    assert permits == pytest.approx([0.0, 0.1, 0.2], abs=0.02)


def test_workers_that_want_much_get_the_same():
    assert shares({"a": 100, "b": 100}, 64) == {"a": 32, "b": 32}


def test_what_one_does_not_want_is_the_others():
    # 10 for a; of the remaining 54, b and c get 27 each
    assert shares({"a": 10, "b": 100, "c": 100}, 64) == {"a": 10, "b": 27, "c": 27}


@given(dictionaries(sampled_from("abcdef"), integers(0, 200)), integers(0, 300))
def test_none_gets_more_than_it_wants_and_nothing_is_left_while_somebody_wants(wanted, allowed):
    given_out = shares(wanted, allowed)
    assert all(given_out[name] <= n for name, n in wanted.items())
    assert sum(given_out.values()) == min(allowed, sum(wanted.values()))
