"""Caps that are never exceeded, and money that is never guessed."""

import asyncio

import pytest
from tests.support.doors import Model, door_to, prompt, verdict

from ragstone.kernel.config import Price
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.llm import Budget, CallFailed, Caps, Door, parse_caps
from ragstone.kernel.llm.budget import cost_usd, most_tokens
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.records import Usage

PRICE = Price(input=1.0, output=2.0, cached=0.5)


@pytest.mark.parametrize(
    ("text", "caps"),
    [
        (None, Caps()),
        ("", Caps()),
        ("100calls", Caps(calls=100)),
        ("1 call", Caps(calls=1)),
        ("2_000_000 tokens", Caps(tokens=2_000_000)),
        ("2.50usd", Caps(usd=2.5)),
        ("$2.50", Caps(usd=2.5)),
        ("3$", Caps(usd=3.0)),
        ("100calls, 5USD", Caps(calls=100, usd=5.0)),
    ],
)
def test_caps_are_read_with_their_units(text, caps):
    assert parse_caps(text) == caps


@pytest.mark.parametrize("text", ["5", "five usd", "-1calls", "5eur", "calls", "1e3calls", "5usd,", "."])
def test_a_budget_without_a_unit_or_number_says_what_to_write(says, text):
    with pytest.raises(ConfigError) as caught:
        parse_caps(text)
    says(caught.value)


def test_cost_counts_cached_tokens_at_their_own_price():
    # 600 fresh x 1 + 400 cached x 0.5 + 100 out x 2 = 600 + 200 + 200 = 1,000 micro-dollars
    assert cost_usd(Usage(input=1000, cached=400, output=100), PRICE) == pytest.approx(0.001)
    assert cost_usd(Usage(input=1000, cached=400), Price(input=1.0, output=0)) == pytest.approx(0.001)
    assert cost_usd(Usage(input=1000), None) is None


def test_the_most_that_a_call_can_use_counts_bytes_messages_schema_and_the_whole_reply():
    n_schema = len(prompt("é").schema or b"")
    assert n_schema > 100
    assert most_tokens(prompt("é")) == Usage(input=2 + 8 + n_schema, output=100)
    assert most_tokens(prompt("é", reply=None)) == Usage(input=2 + 8, output=100)


async def ask_many(door: Door, n: int) -> list[str]:
    """Return how each of n different calls ended."""

    async def one(number: int) -> str:
        try:
            await door.ask(prompt(f"row {number:04}"))
        except CallFailed as failure:
            return failure.status
        return "scored"

    return await asyncio.gather(*(one(number) for number in range(n)))


async def test_a_cap_of_calls_is_never_exceeded_with_64_in_flight(tmp_path):
    model = Model(latency_s=0.002)
    with door_to(model.send, tmp_path, caps=Caps(calls=100), concurrency=64) as door:
        ends = await ask_many(door, 1000)
    assert len(model.asked) == 100
    assert (ends.count("scored"), ends.count("over_budget")) == (100, 900)


async def test_attempts_that_fail_count_as_calls(tmp_path):
    broken = CallFailed("error", "HTTP 500", retryable=True)
    model = Model(verdict(), *[broken] * 3, verdict())
    with door_to(model.send, tmp_path, caps=Caps(calls=3), concurrency=1) as door:
        ends = await ask_many(door, 3)
    assert len(model.asked) == 3
    assert ends == ["scored", "over_budget", "over_budget"]


async def test_a_cap_of_tokens_is_never_exceeded_and_used_up_as_far_as_is_safe(tmp_path):
    used = Usage(input=50, output=20)
    model = Model(Completion(text=verdict(), usage=used), latency_s=0.002)
    budget = Budget(Caps(tokens=3000))
    with door_to(model.send, tmp_path, budget=budget, concurrency=64) as door:
        ends = await ask_many(door, 200)
    spent = budget.usage.input + budget.usage.output
    most = most_tokens(prompt("row 0000"))
    assert spent == 70 * ends.count("scored")
    assert 3000 - (most.input + most.output) - 70 < spent <= 3000
    assert ends.count("over_budget") == 200 - ends.count("scored")


async def test_a_cap_of_money_is_never_exceeded(tmp_path):
    # Each call costs 50 x 1 + 20 x 2 = 90 micro-dollars.
    model = Model(Completion(text=verdict(), usage=Usage(input=50, output=20)), latency_s=0.002)
    budget = Budget(Caps(usd=0.004))
    with door_to(model.send, tmp_path, budget=budget, concurrency=64, price=PRICE) as door:
        ends = await ask_many(door, 200)
    assert budget.usd is not None
    assert budget.usd == pytest.approx(ends.count("scored") * 90e-6)
    assert 0.003 < budget.usd <= 0.004


async def test_a_cap_of_money_without_a_price_says_where_to_give_one(tmp_path):
    missing = pytest.raises(ConfigError, match="price_usd_per_million")
    with door_to(Model().send, tmp_path, caps=Caps(usd=1)) as door, missing:
        await door.ask(prompt())


async def test_without_a_price_the_money_is_unknown_and_not_zero(tmp_path):
    budget = Budget()
    with door_to(Model().send, tmp_path, budget=budget) as door:
        assert (await door.ask(prompt())).cost_usd is None
    assert budget.usd is None


async def test_what_the_ledger_answers_costs_no_budget(tmp_path):
    with door_to(Model().send, tmp_path) as door:
        await ask_many(door, 5)
    again = Budget(Caps(calls=1))
    with door_to(Model().send, tmp_path, budget=again) as door:
        assert await ask_many(door, 6) == ["scored"] * 6
    assert (again.made, again.from_ledger) == (1, 5)


async def test_a_timeout_counts_as_the_most_it_can_have_cost(tmp_path):
    most = most_tokens(prompt("row 0000"))
    hung = CallFailed("timeout", "did not answer in time")
    caps = Caps(tokens=2 * (most.input + most.output) - 1)  # room for one whole call, and not for two
    with door_to(Model(hung, verdict()).send, tmp_path, caps=caps) as door:
        assert await ask_many(door, 1) == ["timeout"]
        assert await ask_many(door, 1) == ["over_budget"]


async def test_a_refused_call_costs_no_tokens(tmp_path):
    most = most_tokens(prompt("row 0000"))
    refused = CallFailed("error", "HTTP 413")
    with door_to(
        Model(refused, verdict()).send, tmp_path, caps=Caps(tokens=most.input + most.output)
    ) as door:
        assert await ask_many(door, 1) == ["error"]
        assert await ask_many(door, 1) == ["scored"]


async def test_a_reply_without_token_counts_counts_as_the_most_it_can_have_cost(tmp_path):
    most = most_tokens(prompt("row 0000"))
    silent = Completion(text=verdict(), usage=Usage())
    with door_to(Model(silent).send, tmp_path, caps=Caps(tokens=most.input + most.output)) as door:
        assert await ask_many(door, 2) == ["scored", "over_budget"]


async def test_cancelling_frees_the_reservation(tmp_path):
    most = most_tokens(prompt("row 0000"))
    model = Model(latency_s=5)
    with door_to(model.send, tmp_path, caps=Caps(tokens=3 * (most.input + most.output))) as door:
        task = asyncio.create_task(door.ask(prompt("row 0000")))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        model.latency_s = 0
        # The cancelled call may have been paid for and counts in full; two more fit at once, the third
        # when they are settled at 15 tokens each.
        assert await ask_many(door, 3) == ["scored"] * 3


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("30m", 1800), ("1h30m", 5400), ("0.5h", 1800)])
def test_a_deadline_is_read_with_its_units(text, seconds):
    assert parse_caps(None, text) == Caps(seconds=seconds)


@pytest.mark.parametrize("text", ["", "30", "soon", "-1m", "30 min", "0s", "1m30"])
def test_a_deadline_without_a_unit_says_what_to_write(says, text):
    with pytest.raises(ConfigError) as caught:
        parse_caps(None, text)
    says(caught.value)


@pytest.mark.long
async def test_after_the_deadline_every_row_is_a_timeout_that_says_so(says, tmp_path):
    model = Model()

    async def send(asked):
        if len(model.asked) == 4:
            model.go.clear()  # the fifth call and the sixth hang
        return await model.send(asked)

    budget = Budget(Caps(seconds=2))
    with door_to(send, tmp_path, budget=budget, concurrency=2) as door:
        ends = await ask_many(door, 20)
        with pytest.raises(CallFailed) as late:
            await door.ask(prompt("one more"))
        says(late.value)
    # Two at a time: two rounds are done at once, and the third is cut off.
    assert (ends.count("scored"), ends.count("timeout")) == (4, 16)
    assert late.value.status == "timeout"
    assert budget.late == 17
    assert budget.in_flight == 0


async def test_after_the_deadline_the_ledger_still_answers(tmp_path):
    with door_to(Model().send, tmp_path) as door:
        await ask_many(door, 3)
    model = Model()
    with door_to(model.send, tmp_path, caps=Caps(seconds=1e-9)) as door:
        assert await ask_many(door, 4) == ["scored"] * 3 + ["timeout"]
    assert model.asked == []


async def test_a_deadline_cuts_off_a_call_that_hangs_and_stops_no_other_door(tmp_path):
    model = Model(latency_s=60)
    with door_to(model.send, tmp_path, caps=Caps(seconds=0.05), concurrency=16) as door:
        assert await ask_many(door, 16) == ["timeout"] * 16  # eight hanging calls would open the circuit
