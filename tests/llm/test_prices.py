"""The list prices that ship: dated, sourced, of one endpoint each, and below the user's own."""

import datetime
from pathlib import Path

import pytest
from tests.support.fake_openai import FakeOpenAI

from ragstone.config import ModelSettings, Price, Settings
from ragstone.llm import Door, Ledger, open_door
from ragstone.llm.budget import cost_usd
from ragstone.llm.providers import _list_prices, list_price
from ragstone.records import Usage

OPENAI = "https://api.openai.com/v1"


async def door_of(folder: Path, settings: Settings, model: str) -> Door:
    ledger = Ledger(folder / "ledger.sqlite")
    try:
        async with open_door(model, settings, ledger) as door:
            return door
    finally:
        ledger.close()


@pytest.mark.parametrize("price", _list_prices().values(), ids=lambda price: price.model)
def test_every_price_names_its_page_and_its_day_and_is_plausible(price) -> None:
    assert price.source.startswith("https://")
    assert datetime.date(2026, 1, 1) <= price.read <= datetime.date(2030, 1, 1)
    assert 0 < price.input <= price.output < 1000  # dollars a million tokens, not cents or each
    assert price.cached is None or 0 < price.cached < price.input
    assert price.cache_write is None or price.input < price.cache_write <= 2 * price.input


def test_a_price_holds_at_its_own_endpoint_only() -> None:
    price = list_price(OPENAI, "gpt-4o-mini")
    assert price is not None
    assert list_price(OPENAI + "/", "gpt-4o-mini") is price
    assert list_price("http://localhost:8000/v1", "gpt-4o-mini") is None


def test_a_model_that_is_not_in_the_table_has_no_price_and_its_cost_is_unknown() -> None:
    price = list_price(OPENAI, "gpt-of-tomorrow")
    assert price is None
    assert cost_usd(Usage(input=1000, output=1000), price) is None


def test_cost_at_the_list_price_worked_by_hand() -> None:
    # gpt-4o-mini: 600,000 fresh x 0.15 + 400,000 cached x 0.075 + 100,000 out x 0.60, in millionths
    # = 0.09 + 0.03 + 0.06 = 0.18 USD
    usage = Usage(input=1_000_000, cached=400_000, output=100_000)
    assert cost_usd(usage, list_price(OPENAI, "gpt-4o-mini")) == pytest.approx(0.18)


async def test_a_model_at_its_makers_address_has_the_list_price(tmp_path: Path) -> None:
    door = await door_of(tmp_path, Settings(root=str(tmp_path)), "openai/gpt-4o-mini")
    assert door.price == list_price(OPENAI, "gpt-4o-mini")


async def test_the_users_own_price_goes_before_the_list(tmp_path: Path) -> None:
    mine = Price(input=1, output=2)
    models = {"openai/gpt-4o-mini": ModelSettings(price_usd_per_million=mine)}
    door = await door_of(tmp_path, Settings(models=models, root=str(tmp_path)), "openai/gpt-4o-mini")
    assert door.price == mine


async def test_the_same_name_at_another_address_has_no_price(tmp_path: Path, fake_openai: FakeOpenAI) -> None:
    models = {"openai/gpt-4o-mini": ModelSettings(base_url=fake_openai.base_url)}
    door = await door_of(tmp_path, Settings(models=models, root=str(tmp_path)), "openai/gpt-4o-mini")
    assert door.price is None
