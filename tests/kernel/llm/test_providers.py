"""Tables of data: every provider and every list price is complete and found by name."""

import datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.support.doors import opened

from ragstone.kernel.config import ModelSettings, Price, Settings
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import Door
from ragstone.kernel.llm.budget import cost_usd
from ragstone.kernel.llm.door import TRANSPORTS
from ragstone.kernel.llm.providers import (
    CAN,
    _parsed,
    _rows,
    is_reasoner,
    list_price,
    provider_of,
    providers,
)
from ragstone.kernel.records import Usage


@pytest.mark.parametrize("provider", providers().values(), ids=lambda one: one.name)
def test_every_row_can_be_asked_and_says_where_it_was_read(provider):
    assert provider.dialect in TRANSPORTS
    assert set(provider.can) <= CAN.keys()
    assert provider.title
    assert provider.source.startswith("https://") or provider.source == "docs/how-to/models.md"
    if provider.base_url:
        address = urlsplit(provider.base_url)
        assert address.scheme == ("https" if provider.needs_key else "http")
        assert not provider.base_url.endswith("/")
    elif provider.dialect in ("openai", "azure", "anthropic"):
        assert provider.base_url_env  # somebody has to say where it is


def test_those_of_the_openai_dialect_need_only_a_key():
    presets = [one for one in providers().values() if one.dialect == "openai"]
    assert {one.name for one in presets} >= {
        "gemini",
        "mistral",
        "groq",
        "together",
        "openrouter",
        "deepseek",
    }
    assert all(one.base_url and one.keys for one in presets)


def test_a_model_is_named_by_its_provider_and_its_name_there():
    provider, model = provider_of("openrouter/meta-llama/llama-x:free")
    assert (provider.name, model) == ("openrouter", "meta-llama/llama-x:free")


@pytest.mark.parametrize("model", ["gpt-4o", "openai/", "", "grok/x"])
def test_any_other_name_is_told_how_models_are_named(says, model):
    with pytest.raises(ModelError) as caught:
        provider_of(model)
    says(caught.value)


def test_the_nearest_provider_is_named():
    with pytest.raises(ModelError, match=r"groq"):
        provider_of("grok/x")


def test_the_address_is_of_the_settings_else_of_the_environment_else_of_the_table(monkeypatch):
    openai = providers()["openai"]
    assert openai.address(ModelSettings()) == "https://api.openai.com/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://proxy/v1/")
    assert openai.address(ModelSettings()) == "http://proxy/v1"
    assert openai.address(ModelSettings(base_url="http://mine/v1")) == "http://mine/v1"
    assert providers()["azure"].address(ModelSettings()) == ""


def test_the_first_variable_that_holds_something_is_the_keys(monkeypatch):
    gemini = providers()["gemini"]
    assert gemini.key_variable is None
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    monkeypatch.setenv("GEMINI_API_KEY", "  ")
    assert gemini.key_variable == "GOOGLE_API_KEY"


@pytest.mark.parametrize(
    "model",
    [
        *("o1", "o3-mini", "openai/o4-mini-2025-04-16", "openai/o3@127.0.0.1:80/v1", "gpt-5.4-mini", "gpt-5"),
        *(
            "openai/gpt-oss-120b",
            "gpt-oss:20b",
            "deepseek-reasoner",
            "deepseek/deepseek-r1",
            "deepseek-v4-pro",
        ),
        *("qwq-32b", "qwen3-30b-a3b-thinking-2507", "magistral-medium", "gemini-2.5-pro", "gemini-3.8-flash"),
        *("x-ai/grok-4", "kimi-k2-thinking", "zai-org/glm-4.6", "somebody/merged-r1", "claude-3-7:thinking"),
    ],
)
def test_models_that_think_are_known_by_their_names(model):
    assert is_reasoner(model)


@pytest.mark.parametrize(
    "model",
    [
        *(
            "gpt-4o",
            "gpt-4.1-mini",
            "gpt-5-chat-latest",
            "gpt-5.1-chat",
            "claude-sonnet-4-5",
            "llama-3.3-70b",
        ),
        *("deepseek-chat", "deepseek-v3", "mistral-small-latest", "gemini-2.0-flash", "gemma4", "glm-4-9b"),
        *("qwen3-coder", "phi-4", "co3", "yolo1"),
    ],
)
def test_others_are_found_out_by_their_replies(model):
    assert not is_reasoner(model)


OPENAI = "https://api.openai.com/v1"


async def door_of(folder: Path, settings: Settings, model: str) -> Door:
    async with opened(settings, folder, model) as door:
        return door


@pytest.mark.parametrize("price", _parsed(_rows("price")).price, ids=lambda price: price.model)
def test_every_price_names_its_page_and_its_day_and_is_plausible(price):
    assert price.source.startswith("https://")
    assert datetime.date(2026, 1, 1) <= price.read <= datetime.date(2030, 1, 1)
    assert 0 < price.input <= price.output < 1000  # dollars a million tokens, not cents or each
    assert price.cached is None or 0 < price.cached < price.input
    assert price.cache_write is None or price.input < price.cache_write <= 2 * price.input


def test_a_price_holds_at_its_own_endpoint_only():
    price = list_price(OPENAI, "gpt-4o-mini")
    assert price is not None
    assert list_price(OPENAI + "/", "gpt-4o-mini") == price
    assert list_price("http://localhost:8000/v1", "gpt-4o-mini") is None


def test_a_model_that_is_not_in_the_table_has_no_price_and_its_cost_is_unknown():
    price = list_price(OPENAI, "gpt-of-tomorrow")
    assert price is None
    assert cost_usd(Usage(input=1000, output=1000), price) is None


def test_cost_at_the_list_price_worked_by_hand():
    # gpt-4o-mini: 600,000 fresh x 0.15 + 400,000 cached x 0.075 + 100,000 out x 0.60, in millionths
    # = 0.09 + 0.03 + 0.06 = 0.18 USD
    usage = Usage(input=1_000_000, cached=400_000, output=100_000)
    assert cost_usd(usage, list_price(OPENAI, "gpt-4o-mini")) == pytest.approx(0.18)


async def test_a_model_at_its_makers_address_has_the_list_price(tmp_path):
    door = await door_of(tmp_path, Settings(root=str(tmp_path)), "openai/gpt-4o-mini")
    assert door.price == list_price(OPENAI, "gpt-4o-mini")


async def test_the_users_own_price_goes_before_the_list(tmp_path):
    mine = Price(input=1, output=2)
    models = {"openai/gpt-4o-mini": ModelSettings(price_usd_per_million=mine)}
    door = await door_of(tmp_path, Settings(models=models, root=str(tmp_path)), "openai/gpt-4o-mini")
    assert door.price == mine


async def test_the_same_name_at_another_address_has_no_price(tmp_path, fake_openai):
    models = {"openai/gpt-4o-mini": ModelSettings(base_url=fake_openai.base_url)}
    door = await door_of(tmp_path, Settings(models=models, root=str(tmp_path)), "openai/gpt-4o-mini")
    assert door.price is None
