"""What the desk holds for all workers: turns, the ledger, the budget, the limits of endpoints, leases."""

import asyncio

import pytest

from ragstone.engine.cluster import messages as say
from ragstone.engine.cluster.desk import LEASE_S, Desk
from ragstone.engine.cluster.messages import read_to_worker, write
from ragstone.llm import Caps
from ragstone.llm.budget import Spent
from ragstone.llm.prompt import Completion
from ragstone.llm.response_store import MemoryLedger

SAID = Completion(text="yes")


class Clock:
    """A clock that stands still."""

    def __init__(self) -> None:
        self.now = 1.0

    def __call__(self) -> float:
        return self.now


def desk_of(caps: Caps | None = None, clock: Clock | None = None) -> Desk:
    return Desk(MemoryLedger(), caps or Caps(), clock or Clock())


async def told(desk: Desk, worker: str, *messages: say.ToDesk) -> list[say.ToWorker]:
    """Return what the desk says to a worker that says this."""
    return read_to_worker(await desk.exchange(worker, write(messages), wait=False))


def find(n: int, key: bytes = b"k") -> say.Find:
    return say.Find(n, key, claim=True, saved=True)


def asks(concurrency: int = 8, calls: int | None = None) -> say.Asks:
    return say.Asks("model", concurrency, calls, None)


async def test_the_first_who_asks_makes_the_call_and_the_second_is_given_its_response():
    desk = desk_of()
    assert await told(desk, "a", find(1)) == [say.FindAnswer(1, None)]
    assert await told(desk, "b", find(1)) == []
    assert await told(desk, "a", say.Put(2, b"k", "model", SAID)) == [say.FindAnswer(2)]
    assert await told(desk, "b") == [say.FindAnswer(1, SAID)]
    assert await told(desk, "c", find(1)) == [say.FindAnswer(1, SAID)]


async def test_a_call_that_failed_is_the_turn_of_who_waits():
    desk = desk_of()
    await told(desk, "a", find(1))
    await told(desk, "b", find(4))
    await told(desk, "a", say.Release(b"k"))
    assert await told(desk, "b") == [say.FindAnswer(4, None)]


async def test_a_worker_that_looks_and_does_not_call_keeps_nobody_waiting():
    desk = desk_of()
    await told(desk, "a", say.Find(1, b"k", claim=False, saved=True))
    assert await told(desk, "b", find(1)) == [say.FindAnswer(1, None)]


async def test_a_worker_that_was_started_anew_leaves_the_turns_of_the_dead_one_to_others():
    desk = desk_of()
    desk.join("a1", "place a")
    await told(desk, "a1", find(1))
    await told(desk, "b", find(1))
    desk.join("a2", "place a")
    assert await told(desk, "b") == [say.FindAnswer(1, None)]


async def test_a_worker_that_is_silent_for_the_lease_is_taken_for_dead():
    clock = Clock()
    desk = desk_of(clock=clock)
    await told(desk, "a", find(1))
    await told(desk, "b", find(1))
    clock.now += LEASE_S - 1
    assert await told(desk, "b") == []
    clock.now += 2
    assert await told(desk, "b") == [say.FindAnswer(1, None)]


async def test_calls_over_all_workers_stay_within_the_cap():
    desk = desk_of(Caps(calls=3))
    first = await told(desk, "a", say.Reserve(1, 1, 10, 0.0), say.Reserve(2, 2, 10, 0.0))
    assert first == [say.Granted(1), say.Granted(2)]
    assert await told(desk, "b", say.Reserve(1, 1, 10, 0.0)) == [say.Granted(1)]
    await told(desk, "b", say.Reserve(2, 2, 10, 0.0))  # waits, for calls are in flight
    await told(desk, "a", say.Settle(1, 5, 0.0), say.Settle(2, 5, 0.0))
    await told(desk, "b", say.Settle(1, 5, 0.0))
    await asyncio.sleep(0)
    [refused] = await told(desk, "b")
    assert isinstance(refused, say.Wrong)
    assert refused.status == "over_budget"
    assert desk.spent().made == 3


async def test_what_a_dead_worker_reserved_counts_as_spent_for_it_may_have_been_paid():
    desk = desk_of(Caps(tokens=100))
    desk.join("a1", "place a")
    await told(desk, "a1", say.Reserve(1, 1, 60, 0.0))
    desk.join("a2", "place a")
    assert desk.spent().tokens_most == 60
    assert desk.spent().in_flight == 0


async def test_two_workers_never_have_more_slots_than_the_endpoint_bears():
    desk = desk_of()
    assert await told(desk, "a", asks(8), say.Wants("model", 8, 0, 0)) == [say.SlotShare("model", 1, 8)]
    # b wants as many: a is told to keep 4, and b gets them only when a has let go.
    assert await told(desk, "b", asks(8), say.Wants("model", 8, 0, 0)) == []
    assert await told(desk, "a") == [say.SlotShare("model", 2, 4)]
    await told(desk, "a", say.Wants("model", 8, 6, 2))  # 6 calls are under way, 2 slots are free
    assert await told(desk, "b") == [say.SlotShare("model", 3, 2)]
    await told(desk, "a", say.Wants("model", 8, 4, 2))
    assert await told(desk, "b") == [say.SlotShare("model", 4, 4)]
    assert await told(desk, "a") == []  # it has been told once, and is not told again


async def test_slots_of_a_dead_worker_come_back():
    desk = desk_of()
    desk.join("a1", "place a")
    await told(desk, "a1", asks(8), say.Wants("model", 8, 0, 0))
    await told(desk, "b", asks(8), say.Wants("model", 8, 0, 0))
    desk.join("a2", "place a")
    assert await told(desk, "b") == [say.SlotShare("model", 1 + 2, 8)]


async def test_refusals_of_one_worker_lower_the_slots_of_all():
    desk = desk_of()
    await told(desk, "a", asks(2), say.Wants("model", 2, 0, 0))
    await told(desk, "b", asks(2), say.Wants("model", 0, 0, 0))
    await told(desk, "a", say.Wants("model", 2, 2, 1))
    # each refusal takes half a slot: 2 -> 1.5 -> 1, never below 1
    assert await told(desk, "b", *[say.Refused("model")] * 2) == []
    assert await told(desk, "a") == [say.SlotShare("model", 2, 1)]


async def test_a_pause_that_one_worker_was_asked_for_is_everybodys():
    desk = desk_of()
    await told(desk, "a", asks())
    await told(desk, "b", asks())
    assert await told(desk, "a", say.Paused("model", 2.0)) == [say.Pause("model", 2.0)]
    assert await told(desk, "b") == [say.Pause("model", 2.0)]


async def test_timeouts_at_several_workers_together_end_the_calls_of_all():
    desk = desk_of()
    hung = say.Failed("model", "CallFailed", "timeout", "no reply in 60 s", lost=False)
    for worker in "ab":
        await told(desk, worker, asks(), *[hung] * 4)  # 8 in all are enough, see limits.HANGING
    for worker in "ab":
        [opened] = [one for one in await told(desk, worker) if isinstance(one, say.CircuitOpened)] or [None]
        if worker == "a":
            assert opened is not None
            assert opened.kind == "GivenUp"
    assert say.CircuitOpened in map(type, await told(desk, "c", asks()))


async def test_an_answer_of_one_worker_tells_all_that_the_endpoint_works():
    desk = desk_of()
    await told(desk, "b", asks())
    await told(desk, "a", asks(), say.Went("model", 1))
    assert await told(desk, "b") == [say.Works("model")]
    assert await told(desk, "c", asks()) == [say.Works("model")]


async def test_what_workers_counted_is_added_to_what_the_run_had_spent():
    desk = desk_of()
    desk.begin(Spent(made=5, from_ledger=2, failed={"timeout": 1}))
    await told(desk, "a", say.Counted(Spent(from_ledger=3, failed={"timeout": 1, "refused": 1})))
    await told(desk, "a", say.Counted(Spent(from_ledger=4, failed={"timeout": 1, "refused": 1})))
    await told(desk, "b", say.Counted(Spent(from_ledger=1, usd=None)))
    spent = desk.spent()
    assert (spent.made, spent.from_ledger, spent.usd) == (5, 7, None)
    assert spent.failed == {"timeout": 2, "refused": 1}


async def test_after_a_halt_late_workers_are_told_too():
    desk = desk_of()
    desk.halt()
    assert await told(desk, "a") == [say.Halt()]


@pytest.mark.parametrize("calls", [600])
async def test_turns_are_given_at_the_pace_of_the_endpoint(calls):
    desk = desk_of()
    await told(desk, "a", asks(calls=calls))
    replies = await told(desk, "a", *[say.AskTurn(n, "model", "calls", 1.0) for n in (1, 2)], say.Flush(3))
    assert say.Granted(2) not in replies  # a tenth of a second apart
