"""Calls that are postponed, answered many at a time, and found in the ledger."""

import asyncio
from collections.abc import Callable, Iterable, Sequence

import pytest
from tests.support.doors import prompt as judged
from tests.support.doors import verdict

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import AnyLedger, Budget, Caps, Ledger, Reply
from ragstone.kernel.llm.door import Door
from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.llm.prompt import Completion, Message, Prompt
from ragstone.kernel.llm.response_store import MemoryLedger
from ragstone.kernel.llm.rounds import AnsweredCall, Rounds
from ragstone.kernel.llm.transport import Endpoint
from ragstone.kernel.records import Usage


def prompt(text: str) -> Prompt:
    return Prompt(messages=(Message("user", text),))


def upper(prompts: Sequence[Prompt]) -> Iterable[AnsweredCall]:
    """Answer in the reverse order; what says `fail` fails, what says `lose` is lost."""
    for place, one in reversed(list(enumerate(prompts))):
        text = one.messages[-1].content
        if text == "fail":
            yield AnsweredCall(place=place, error="vLLM: out of memory")
        elif text != "lose":
            usage = Usage(input=3, output=2)
            yield AnsweredCall(
                place=place, completion=Completion(text=text.upper(), usage=usage, latency_s=None)
            )


async def _send(_prompt: Prompt) -> Completion:
    raise AssertionError("asked one by one")


def door_of(
    budget: Budget | None = None, ledger: MemoryLedger | None = None, *, offline: bool = False
) -> tuple[Door, Rounds]:
    budget, ledger = budget or Budget(Caps()), ledger or MemoryLedger()
    endpoint = Endpoint(identity="vllm/me/mine", send=_send, concurrency=1, price=None)
    door = Door(endpoint, ModelSettings(), ledger, budget, offline=offline)
    rounds = Rounds("vllm/me/mine", upper, ledger, budget, price=None, offline=offline)
    door.by_rounds(rounds)
    return door, rounds


async def heard(door: Door, rounds: Rounds, *texts: str) -> None:
    rounds.collecting = True
    for text in texts:
        with pytest.raises(CallFailed, match="postponed"):
            await door.ask(prompt(text))
    rounds.collecting = False


async def test_calls_are_answered_in_one_go_and_used_from_the_ledger():
    budget = Budget(Caps())
    door, rounds = door_of(budget)
    await heard(door, rounds, "a", "b", "a")
    assert await rounds.round()
    assert [(await door.ask(prompt(text))).text for text in "ba"] == ["B", "A"]
    assert not await rounds.round()
    assert (budget.from_ledger, budget.usage.input) == (0, 6)  # two calls of 3 tokens, none of them saved
    await door.ask(prompt("a"))
    assert budget.from_ledger == 1


async def test_a_call_that_failed_or_was_lost_says_why():
    door, rounds = door_of()
    await heard(door, rounds, "a", "fail", "lose")
    await rounds.round()
    with pytest.raises(CallFailed, match="out of memory"):
        await door.ask(prompt("fail"))
    with pytest.raises(CallFailed, match="gave no reply"):
        await door.ask(prompt("lose"))
    assert (await door.ask(prompt("a"))).text == "A"


async def test_a_cap_holds():
    door, rounds = door_of(Budget(Caps(calls=1)))
    await heard(door, rounds, "a")
    rounds.collecting = True
    with pytest.raises(CallFailed) as caught:
        await door.ask(prompt("b"))
    assert caught.value.status == "over_budget"


async def test_offline_nothing_is_put_off(says):
    door, rounds = door_of(offline=True)
    rounds.collecting = True
    with pytest.raises(CallFailed) as caught:
        await door.ask(prompt("a"))
    says(caught.value)
    assert not await rounds.round()


async def test_a_command_that_does_not_collect_is_told_what_does(says):
    door, _rounds = door_of()
    with pytest.raises(ModelError) as caught:
        await door.ask(prompt("a"))
    says(caught.value)
    assert not isinstance(caught.value, CallFailed)


class Answering:
    """Rounds of a model whose replies are a function of the prompt; the prompts of each round are noted."""

    def __init__(self, say: Callable[[Prompt], Completion]) -> None:
        self.rounds: list[list[Prompt]] = []
        self._say = say

    def process(self, prompts: Sequence[Prompt]) -> Iterable[AnsweredCall]:
        self.rounds.append(list(prompts))
        for place, one in enumerate(prompts):
            yield AnsweredCall(place=place, completion=self._say(one))


async def run(model: Answering, ledger: AnyLedger, *prompts: Prompt) -> list[Reply | BaseException]:
    """One command: rounds until none is left, and the pass that gives the rows."""
    budget = Budget(Caps())
    endpoint = Endpoint(identity="vllm/me/mine", send=_send, concurrency=1, price=None)
    door = Door(endpoint, ModelSettings(), ledger, budget, offline=False)
    rounds = Rounds("vllm/me/mine", model.process, ledger, budget, price=None, offline=False)
    door.by_rounds(rounds)
    rounds.collecting = True
    while True:
        await asyncio.gather(*(door.ask(one) for one in prompts), return_exceptions=True)
        if not await rounds.round():
            break
    rounds.collecting = False
    return await asyncio.gather(*(door.ask(one) for one in prompts), return_exceptions=True)


def thinks(n_thought: int) -> Callable[[Prompt], Completion]:
    def say(asked: Prompt) -> Completion:
        limit = asked.limit or 0
        if limit < n_thought:
            return Completion(text="", finish_reason="length", usage=Usage(output=limit, reasoning=limit))
        return Completion(text=verdict(2), usage=Usage(output=n_thought + 20, reasoning=n_thought))

    return say


async def test_a_reply_that_was_cut_off_goes_into_the_next_round_with_more_room_once():
    for n_thought, statuses in ((2_000, ["scored"]), (10**9, ["unparsable"])):
        model = Answering(thinks(n_thought))
        ends = await run(model, MemoryLedger(), judged("row"))
        assert [getattr(end, "status", "scored") for end in ends] == statuses
        assert [[one.limit for one in asked] for asked in model.rounds] == [[100], [4196]]


async def test_what_failed_in_an_earlier_command_is_asked_anew_in_a_round(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")

    def partly(asked: Prompt) -> Completion:
        return Completion(text=verdict(1) if "good" in asked.messages[0].content else "no verdict")

    _, failed = await run(Answering(partly), ledger, judged("good"), judged("odd"))
    assert isinstance(failed, CallFailed)
    assert failed.status == "unparsable"
    mended = Answering(lambda asked: Completion(text=verdict(2)))
    ends = await run(mended, ledger, judged("good"), judged("odd"))
    assert [end.value.score for end in ends if isinstance(end, Reply)] == [1, 2]
    assert [[one.messages[0].content for one in asked] for asked in mended.rounds] == [["odd"]]
    ledger.close()
