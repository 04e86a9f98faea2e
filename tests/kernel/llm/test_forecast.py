"""What a run will ask, before it asks: counted from prompts, priced from earlier calls, never a call made."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest
from tests.support.doors import Model, door_to, opened, prompt, verdict

from ragstone.kernel.config import ModelSettings, Price
from ragstone.kernel.llm import Door, Ledger, Message, Prompt
from ragstone.kernel.llm.budget import most_tokens
from ragstone.kernel.llm.forecast import Forecast, Forecaster
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.questionnaire import Questionnaire, TypedQuestion
from ragstone.kernel.llm.stub_reply import ANSWER, ITEMS, STATEMENTS, stub_reply
from ragstone.kernel.records import Usage

PRICE = Price(input=1.0, output=2.0)
NO_LIMITS = ModelSettings()


async def paid(folder: Path, n: int, usage: Usage, latency_s: float = 0.5) -> None:
    """Put n calls into the ledger."""
    said = Completion(text=verdict(), usage=usage, latency_s=latency_s)
    with door_to(Model(said).send, folder) as door:
        for number in range(n):
            await door.ask(prompt(f"row {number:04}"))


@contextlib.contextmanager
def offline_door(folder: Path, price: Price | None = PRICE, concurrency: int = 8) -> Iterator[Door]:
    model = Model()
    with door_to(model.send, folder, offline=True, price=price, concurrency=concurrency) as door:
        yield door
    assert model.asked == []


async def listen(door: Door, prompts: list[Prompt], limits: ModelSettings = NO_LIMITS) -> Forecast:
    forecaster = Forecaster()
    ask = forecaster.listen("function/model", door, limits)
    for one in prompts:
        await ask(one)
    return forecaster.forecast(door._ledger.earlier)


def rows(n: int) -> list[Prompt]:
    return [prompt(f"row {number:04}") for number in range(n)]


async def test_calls_that_the_ledger_has_are_subtracted(tmp_path):
    await paid(tmp_path, 4, Usage(input=50, output=20))
    with offline_door(tmp_path) as door:
        forecast = await listen(door, rows(10))
    assert (forecast.calls, forecast.from_ledger) == (6, 4)


async def test_tokens_money_and_time_follow_from_this_runs_own_calls(tmp_path):
    await paid(tmp_path, 4, Usage(input=50, output=20), latency_s=0.5)
    with offline_door(tmp_path, concurrency=2) as door:
        forecast = await listen(door, rows(10))
    # Every prompt has as many bytes, so 6 x 50 in and 6 x 20 out; (300 x 1 + 120 x 2) / 1e6 USD;
    # 6 calls of 0.5 s, two at a time, take 1.5 s.
    assert (forecast.input, forecast.output) == (300, 120)
    assert forecast.cost_usd == pytest.approx(540e-6)
    assert forecast.duration_s == pytest.approx(1.5)
    assert forecast.models[0].n_earlier == 4


async def test_without_own_calls_the_models_other_calls_tell_the_length_of_replies(tmp_path):
    await paid(tmp_path, 3, Usage(input=50, output=20), latency_s=2.0)
    other = [
        prompt(f"something else, {number}", reply=None, nonce=None, max_tokens=15) for number in range(8)
    ]
    with offline_door(tmp_path, concurrency=8) as door:
        forecast = await listen(door, other)
    assert forecast.output == 8 * 15  # no reply is longer than it may be
    assert forecast.duration_s == pytest.approx(2.0)
    assert forecast.models[0].n_earlier == 3


async def test_without_any_earlier_call_the_assumption_is_marked_and_the_time_unknown(tmp_path):
    with offline_door(tmp_path) as door:
        forecast = await listen(door, rows(10))
    assert forecast.duration_s is None
    assert forecast.models[0].n_earlier == 0
    assert forecast.input == round(10 * most_tokens(prompt("row 0000")).input / 4)
    assert forecast.output == round(10 * 100 / 3)


def decision(text: str) -> Prompt:
    question = TypedQuestion(name="q", type="predicate", text="Is it true?")
    asked = Questionnaire(inputs=("answer",), questions=(question,))
    return Prompt(messages=(Message("user", text),), questionnaire=asked, max_tokens=128)


async def test_a_decision_model_writes_no_text(decision_server, tmp_path):
    settings, model = decision_server.settings(root=tmp_path), decision_server.model
    asked = [decision(f"row {number}") for number in range(10)]
    async with opened(settings, tmp_path, model, offline=True) as door:
        forecast = await listen(door, asked)
    assert (forecast.calls, forecast.output, forecast.reasoning) == (10, 0, 0)


async def test_a_decision_model_that_counts_its_answers_is_believed(decision_server, tmp_path):
    settings, model = decision_server.settings(root=tmp_path), decision_server.model
    decision_server.spoil = lambda reply: {**reply, "usage": {"input_tokens": 50, "output_tokens": 4}}
    async with opened(settings, tmp_path, model) as door:
        await door.ask(decision("row 0"))
    async with opened(settings, tmp_path, model, offline=True) as door:
        assert (await listen(door, [decision(f"row {number}") for number in range(3)])).output == 8
        assert (await listen(door, [decision("another")] * 2)).output == 4  # the model's other calls


async def test_an_unknown_price_leaves_the_cost_unknown_and_not_zero(tmp_path):
    with offline_door(tmp_path, price=None) as door:
        forecast = await listen(door, rows(1))
    assert forecast.cost_usd is None


async def test_nothing_to_ask_costs_nothing_whatever_the_price(tmp_path):
    await paid(tmp_path, 2, Usage(input=50, output=20))
    with offline_door(tmp_path, price=None) as door:
        forecast = await listen(door, rows(2))
    assert (forecast.calls, forecast.cost_usd, forecast.duration_s) == (0, 0, 0)


async def test_limits_a_minute_set_the_least_time(tmp_path):
    await paid(tmp_path, 1, Usage(input=50, output=20), latency_s=0.001)
    with offline_door(tmp_path) as door:
        by_calls = await listen(door, rows(31), ModelSettings(requests_per_minute=10))
        by_tokens = await listen(door, rows(31), ModelSettings(tokens_per_minute=700))
    assert by_calls.duration_s == pytest.approx(180)  # 30 calls at 10 a minute
    assert by_tokens.duration_s == pytest.approx(180)  # 30 x 70 tokens at 700 a minute


async def test_the_same_call_twice_is_counted_once(tmp_path):
    with offline_door(tmp_path) as door:
        forecast = await listen(door, [prompt("the same")] * 3)
    assert forecast.calls == 1


async def test_a_sampled_call_stands_for_its_weight(tmp_path):
    forecaster = Forecaster()
    with offline_door(tmp_path) as door:
        ask = forecaster.listen("function/model", door, NO_LIMITS)
        forecaster.weight = 2.5
        for one in rows(4):
            await ask(one)
        forecast = forecaster.forecast(door._ledger.earlier)
    assert forecast.calls == 10


async def test_a_forecast_does_not_count_as_calls_saved(tmp_path):
    await paid(tmp_path, 2, Usage(input=50, output=20))
    ledger = Ledger(tmp_path / "ledger.sqlite", counting=False)
    assert len(ledger.earlier("function/model")) == 2
    assert ledger.earlier("another") == []
    key = ledger._reader.execute("SELECT key FROM responses").fetchone()[0]
    assert await ledger.find(key) is not None
    assert ledger._hits.take() == {}
    ledger.close()


class Item(msgspec.Struct, forbid_unknown_fields=True):
    id: int
    text: Annotated[str, msgspec.Meta(min_length=3, max_length=30)]
    label: Literal["a", "b"]
    share: Annotated[float, msgspec.Meta(ge=0, le=1)]
    note: str | None


class Listing(msgspec.Struct, forbid_unknown_fields=True):
    items: list[Item]
    right: bool


def test_a_made_up_reply_has_the_type_and_names_every_id():
    made = stub_reply(prompt(reply=Listing)).value
    assert isinstance(made, Listing)
    assert [item.id for item in made.items] == list(range(1, ITEMS + 1))
    assert len({item.text for item in made.items}) == STATEMENTS
    assert stub_reply(prompt(reply=None)).text == ANSWER
