"""The table of providers, and which models are known to think."""

from urllib.parse import urlsplit

import pytest

from ragstone.config import ModelSettings
from ragstone.errors import ModelError
from ragstone.llm.door import TRANSPORTS
from ragstone.llm.providers import CAN, Provider, is_reasoner, provider_of, providers


@pytest.mark.parametrize("provider", providers().values(), ids=lambda one: one.name)
def test_every_row_can_be_asked_and_says_where_it_was_read(provider: Provider) -> None:
    assert provider.dialect in TRANSPORTS
    assert set(provider.can) <= CAN.keys()
    assert provider.title
    assert provider.source.startswith("https://") or provider.source == "docs/models.md"
    if provider.base_url:
        address = urlsplit(provider.base_url)
        assert address.scheme == ("https" if provider.needs_key else "http")
        assert not provider.base_url.endswith("/")
    elif provider.dialect in ("openai", "azure", "anthropic"):
        assert provider.base_url_env  # somebody has to say where it is


def test_those_of_the_openai_dialect_need_only_a_key() -> None:
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


def test_a_model_is_named_by_its_provider_and_its_name_there() -> None:
    provider, model = provider_of("openrouter/meta-llama/llama-x:free")
    assert (provider.name, model) == ("openrouter", "meta-llama/llama-x:free")


@pytest.mark.parametrize("model", ["gpt-4o", "openai/", "", "grok/x"])
def test_any_other_name_is_told_how_models_are_named(model: str) -> None:
    with pytest.raises(ModelError, match="models are named transport/model"):
        provider_of(model)


def test_the_nearest_provider_is_named() -> None:
    with pytest.raises(ModelError, match=r"groq"):
        provider_of("grok/x")


def test_the_address_is_of_the_settings_else_of_the_environment_else_of_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    openai = providers()["openai"]
    assert openai.address(ModelSettings()) == "https://api.openai.com/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://proxy/v1/")
    assert openai.address(ModelSettings()) == "http://proxy/v1"
    assert openai.address(ModelSettings(base_url="http://mine/v1")) == "http://mine/v1"
    assert providers()["azure"].address(ModelSettings()) == ""


def test_the_first_variable_that_holds_something_is_the_keys(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_models_that_think_are_known_by_their_names(model: str) -> None:
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
def test_others_are_found_out_by_their_replies(model: str) -> None:
    assert not is_reasoner(model)
