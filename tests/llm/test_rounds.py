"""Calls that are put off, answered many at a time, and found in the ledger."""

from collections.abc import Iterable, Sequence

import pytest

from ragstone.errors import ModelError
from ragstone.llm import Budget, Caps
from ragstone.llm.door import Door
from ragstone.llm.memory import MemoryLedger
from ragstone.llm.prompt import CallFailed, Completion, Message, Prompt
from ragstone.llm.rounds import Answered, Rounds
from ragstone.llm.transport import Endpoint
from ragstone.records import Usage


def prompt(text: str) -> Prompt:
    return Prompt(messages=(Message("user", text),))


def upper(prompts: Sequence[Prompt]) -> Iterable[Answered]:
    """Answer in the reverse order; what says `fail` fails, what says `lose` is lost."""
    for place, one in reversed(list(enumerate(prompts))):
        text = one.messages[-1].content
        if text == "fail":
            yield Answered(place=place, error="vLLM: out of memory")
        elif text != "lose":
            usage = Usage(input=3, output=2)
            yield Answered(place=place, completion=Completion(text=text.upper(), usage=usage, latency_s=None))


async def _send(_prompt: Prompt) -> Completion:
    raise AssertionError("asked one by one")


def door_of(
    budget: Budget | None = None, ledger: MemoryLedger | None = None, *, offline: bool = False
) -> tuple[Door, Rounds]:
    budget, ledger = budget or Budget(Caps()), ledger or MemoryLedger()
    endpoint = Endpoint(identity="vllm/me/mine", send=_send, concurrency=1, price=None)
    from ragstone.config import ModelSettings

    door = Door(endpoint, ModelSettings(), ledger, budget, offline=offline)
    rounds = Rounds("vllm/me/mine", upper, ledger, budget, price=None, offline=offline)
    door.by_rounds(rounds)
    return door, rounds


async def heard(door: Door, rounds: Rounds, *texts: str) -> None:
    rounds.collecting = True
    for text in texts:
        with pytest.raises(CallFailed, match="put off"):
            await door.ask(prompt(text))
    rounds.collecting = False


async def test_calls_are_answered_in_one_go_and_used_from_the_ledger() -> None:
    budget = Budget(Caps())
    door, rounds = door_of(budget)
    await heard(door, rounds, "a", "b", "a")
    assert await rounds.round()
    assert [(await door.ask(prompt(text))).text for text in "ba"] == ["B", "A"]
    assert not await rounds.round()
    assert (budget.from_ledger, budget.usage.input) == (0, 6)  # two calls of 3 tokens, none of them saved
    await door.ask(prompt("a"))
    assert budget.from_ledger == 1


async def test_a_call_that_failed_or_was_lost_says_why() -> None:
    door, rounds = door_of()
    await heard(door, rounds, "a", "fail", "lose")
    await rounds.round()
    with pytest.raises(CallFailed, match="out of memory"):
        await door.ask(prompt("fail"))
    with pytest.raises(CallFailed, match="gave no reply"):
        await door.ask(prompt("lose"))
    assert (await door.ask(prompt("a"))).text == "A"


async def test_a_cap_holds() -> None:
    door, rounds = door_of(Budget(Caps(calls=1)))
    await heard(door, rounds, "a")
    rounds.collecting = True
    with pytest.raises(CallFailed) as caught:
        await door.ask(prompt("b"))
    assert caught.value.status == "over_budget"


async def test_offline_nothing_is_put_off() -> None:
    door, rounds = door_of(offline=True)
    rounds.collecting = True
    with pytest.raises(CallFailed, match="offline, and the ledger lacks this call"):
        await door.ask(prompt("a"))
    assert not await rounds.round()


async def test_a_command_that_does_not_collect_is_told_what_does() -> None:
    door, _rounds = door_of()
    with pytest.raises(ModelError, match="for judge, answer and run") as caught:
        await door.ask(prompt("a"))
    assert not isinstance(caught.value, CallFailed)
