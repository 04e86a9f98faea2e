"""Doors of several workers on one coordinator, in this process, without Ray: the channels are real."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.support.doors import Model, Verdict, prompt, verdict

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.engine.cluster._channel import Channel
from ragstone.kernel.engine.cluster._coordinator import Call, Coordinator
from ragstone.kernel.engine.cluster._leases import SharedBudget, SharedLedger
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import Budget, Caps, Door, Ledger
from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.llm.transport import Endpoint


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(tmp_path / "ledger.sqlite")
    yield opened
    opened.close()


@contextlib.asynccontextmanager
async def workers(
    coordinator: Coordinator, models: list[Model], caps: Caps | None = None, **settings: object
) -> AsyncIterator[list[Door]]:
    """Give a door for each model, as if each were on a worker of its own."""
    loop = asyncio.get_running_loop()
    channels = []

    def door(number: int, model: Model) -> Door:
        async def exchange(calls: list[Call]) -> list[object]:
            said = asyncio.run_coroutine_threadsafe(coordinator.exchange(f"w{number}", calls), loop)
            return await asyncio.wrap_future(said)

        channel = Channel(exchange, lambda: None)
        channel.start()
        channels.append(channel)
        shared = SharedBudget(channel, caps or Caps())
        endpoint = Endpoint(identity="function/model", send=model.send, concurrency=4, price=None)
        budget = Budget(caps, shared)
        declared = ModelSettings(**settings)
        return Door(endpoint, declared, SharedLedger(channel, offline=False), budget, offline=False)

    try:
        yield [door(number, model) for number, model in enumerate(models)]
    finally:
        for channel in channels:
            await asyncio.to_thread(channel.close)


async def test_two_workers_make_as_many_calls_at_once_as_one_would(ledger):
    models = [Model(verdict(), latency_s=0.02), Model(verdict(), latency_s=0.02)]
    both = Both(models)
    async with workers(Coordinator(lambda: ledger, Caps()), models) as doors:
        await asyncio.gather(
            *(door.ask(prompt(f"{n} {i}")) for n in range(20) for i, door in enumerate(doors))
        )
    assert len(both.asked) == 40
    assert 2 <= both.most_in_flight <= 4
    assert all(model.asked for model in models)


class Both:
    """Counts the calls of two models together."""

    def __init__(self, models: list[Model]) -> None:
        self.asked: list[object] = []
        self.in_flight = self.most_in_flight = 0
        for model in models:
            model.send = self._counted(model.send)  # type: ignore[method-assign]

    def _counted(self, send):
        async def counted(asked):
            self.asked.append(asked)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            try:
                return await send(asked)
            finally:
                self.in_flight -= 1

        return counted


async def test_the_same_call_of_two_workers_is_made_once(ledger):
    models = [Model(verdict(), latency_s=0.02), Model(verdict(), latency_s=0.02)]
    async with workers(Coordinator(lambda: ledger, Caps()), models) as doors:
        replies = await asyncio.gather(*(door.ask(prompt()) for door in doors))
    assert [reply.value for reply in replies] == [Verdict(reason="as the texts say", score=2)] * 2
    assert sum(len(model.asked) for model in models) == 1


async def test_when_the_one_who_calls_fails_the_other_makes_the_call(ledger):
    broken = Model(CallFailed("error", "no"), latency_s=0.02)
    right = Model(verdict())
    async with workers(Coordinator(lambda: ledger, Caps()), [broken, right]) as doors:
        first = asyncio.create_task(doors[0].ask(prompt()))
        while not broken.asked:  # noqa: ASYNC110 - a stand-in tells nobody
            await asyncio.sleep(0.001)
        reply = await doors[1].ask(prompt())
        with pytest.raises(CallFailed):
            await first
    assert reply.value.score == 2


async def test_a_cap_of_calls_holds_over_all_workers_exactly(ledger):
    models = [Model(verdict()), Model(verdict())]
    caps = Caps(calls=7)
    coordinator = Coordinator(lambda: ledger, caps)
    async with workers(coordinator, models, caps) as doors:
        asked = [door.ask(prompt(f"{n} {i}")) for n in range(10) for i, door in enumerate(doors)]
        said = await asyncio.gather(*asked, return_exceptions=True)
    over = [one for one in said if isinstance(one, CallFailed)]
    assert sum(len(model.asked) for model in models) == 7
    assert [one.status for one in over] == ["over_budget"] * 13
    assert coordinator.spent().made == 7


async def test_an_endpoint_that_no_call_can_reach_ends_the_calls_of_all_workers(ledger):
    models = [Model(ModelError("no such model")), Model(verdict())]
    async with workers(Coordinator(lambda: ledger, Caps()), models) as doors:
        with pytest.raises(ModelError, match="no such model"):
            await doors[0].ask(prompt("a"))
        for n in range(100):  # the other hears of it within some milliseconds
            try:
                await doors[1].ask(prompt(f"b {n}"))
            except ModelError as mistake:
                assert str(mistake) == "no such model"  # noqa: PT017
                break
            await asyncio.sleep(0.01)
        else:
            pytest.fail("the other worker went on")


async def test_calls_a_minute_are_those_of_all_workers(ledger):
    models = [Model(verdict()), Model(verdict())]
    loop = asyncio.get_running_loop()
    async with workers(Coordinator(lambda: ledger, Caps()), models, requests_per_minute=1200) as doors:
        started = loop.time()
        await asyncio.gather(
            *(door.ask(prompt(f"{n} {i}")) for n in range(4) for i, door in enumerate(doors))
        )
        # 8 calls, 50 ms apart: the last of them begins after 7 x 50 ms
        assert loop.time() - started >= 0.35


async def test_when_the_coordinator_is_gone_every_question_says_so(ledger):
    async def exchange(_calls: list[Call]) -> list[object]:
        raise ModelError("the coordinator is gone")

    lost: list[bool] = []
    channel = Channel(exchange, lambda: lost.append(True))
    channel.start()
    try:
        for _ in range(2):
            with pytest.raises(ModelError, match="the coordinator is gone"):
                await SharedLedger(channel, offline=False).find(b"k")
        assert lost == [True]  # and no call is made any more
    finally:
        await asyncio.to_thread(channel.close)
