"""The providers that models can be named by, and list prices: tables of data in two .toml files."""

import datetime
import functools
import os
import re
import tomllib
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Literal

import msgspec

from ragstone.kernel.config import ModelSettings, Price, Section, shipped
from ragstone.kernel.errors import ModelError, nearest
from ragstone.kernel.llm.keys import without_password

Dialect = Literal["openai", "azure", "anthropic", "litellm", "llamacpp", "systemone"]
BatchApi = Literal["openai", "mistral", "gemini", "anthropic"]
Can = Literal["schema", "tools", "logprobs", "batch", "caching", "reasoning", "decisions"]
CAN: dict[Can, str] = {
    "schema": "replies that follow a JSON schema",
    "tools": "replies as the arguments of a tool",
    "logprobs": "probabilities of tokens",
    "batch": "batches of calls (--batch)",
    "caching": "a lower price for what prompts have in common",
    "reasoning": "models that think before they reply",
    "decisions": "typed questions, answered with probabilities",
}
# Parts of names of models that think before they reply; others are found out by their first replies.
REASONERS = re.compile(
    r"(^|[/:@-])(o[134]\b|gpt-5(?!.*chat)|gpt-oss|deepseek-(r\d|reasoner|flash|v[4-9])|qwq|qwen3.*thinking|magistral"
    r"|gemini-(2\.5|[3-9])|grok-(3-mini|[4-9])|kimi-k2-thinking|glm-(4\.[5-9]|[5-9]))|[-_:](r1|thinking|reasoner)\b",
    re.IGNORECASE,
)


class Provider(Section, frozen=True, kw_only=True):
    """One provider; what the fields mean stands at the head of providers.toml."""

    name: str
    title: str
    dialect: Dialect
    can: tuple[Can, ...]
    source: str
    base_url: str = ""
    base_url_env: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    key_header: str = ""
    needs_key: bool = True
    prefix: str = ""
    tells_cost: bool = False
    systemone_url: str = ""
    batch_api: BatchApi = "openai"
    batch_discount: float | None = None
    cache_minimum: int | None = None

    @property
    def key_variable(self) -> str | None:
        """The first of its keys' variables that is set, None where none is."""
        return next((name for name in self.keys if os.environ.get(name, "").strip()), None)

    def address(self, settings: ModelSettings) -> str:
        """Return the address of the settings, else of the environment, else its own; empty for none."""
        addresses = [settings.base_url, *(os.environ.get(name) for name in self.base_url_env), self.base_url]
        return next((url for url in addresses if url), "").rstrip("/")

    def discount(self, settings: ModelSettings) -> float | None:
        """Return the share of the price that a call of a batch saves; None where nobody knows.

        The provider's own holds at its own address alone.
        """
        if settings.batch_discount is not None:
            return settings.batch_discount
        return self.batch_discount if self.address(settings) == self.base_url else None

    def identity_of(self, model: str, base_url: str) -> str:
        """Return what the ledger knows a model at this address by.

        Two servers may both call their model `default`: one must not be taken for the other.
        """
        where = "" if base_url == self.base_url else f"@{without_password(base_url).partition('//')[2]}"
        return f"{self.name}/{model}{where}"


@functools.cache
def providers(row: str = "") -> dict[str, Provider]:
    """Return all providers by name, in the order of the table; or those in whose row a text stands."""
    return {
        provider.name: provider
        for provider in _parsed(each for each in _rows("provider") if row in each).provider
    }


def provider_of(model: str) -> tuple[Provider, str]:
    """Return who answers for a model named `transport/model`, and its name there. Raises ModelError."""
    transport, _, name = model.partition("/")
    known = providers(f'name = "{transport}"')
    if not name or transport not in known:
        known = providers()
        meant = [f"{close.name}/{model}" for close in known.values() if list_price(close.base_url, model)]
        meant += [f"{close}/{name}" for close in get_close_matches(transport, known, n=1, cutoff=0.7) if name]
        hint = f"Did you mean {meant[0]!r}?" if meant else nearest(transport, [*known, "recorded"])
        raise ModelError(
            f"unknown model {model!r}: models are named transport/model, e.g. openai/gpt-4o-mini or "
            f"llamacpp/smollm2-135m. {hint} See them: ragstone models"
        )
    return known[transport], name


def decides(model: str, settings: ModelSettings) -> bool:
    """Return whether a model named `transport/model` is a decision model, by its transport or its settings.

    A name does not tell: OpenAI's `gpt-6-luna` writes, too. Raises ModelError for settings that cannot be.
    """
    transport, _, _ = model.removeprefix("recorded/").partition("/")
    if settings.api == "decisions" and transport != "systemone":
        known = providers(f'name = "{transport}"').get(transport)
        if known is not None and known.dialect != "openai":
            raise ModelError(
                f'[models."{model}"]: api = "decisions" is for openai/... and for endpoints that speak its '
                "protocol. Remove it; servers of /v1/systemone are named systemone/MODEL."
            )
    return transport == "systemone" or settings.api == "decisions"


# After `systemone/`, without base_url: an address that lacks the model, or its protocol.
NO_MODEL_AT_URL = re.compile(r"https?://[^/]*/*|(localhost|\d+(\.\d+){3})(:\d+)?(/.*)?|[^/:]+:\d+/.*")


def at_url(model: str, settings: ModelSettings) -> tuple[str, ModelSettings]:
    """Return name and settings of a model of systemone, whose address may stand in its name.

    `http://localhost:8000/NAME` is the model NAME of the server at `http://localhost:8000`. Raises ModelError
    for an address without model or protocol, which would else be a model's name at TypeSafe's server.
    """
    address = re.fullmatch(r"(https?://[^/]+)/+([^/].*)", model)
    if address is None:
        if settings.base_url is None and NO_MODEL_AT_URL.fullmatch(model):
            raise ModelError(
                f"systemone/{model} is an address without "
                f"{'a model' if '://' in model else 'its protocol'}. Write protocol, server and "
                "model, e.g. systemone/http://localhost:8000/MODEL."
            )
        return model, settings
    return address[2], msgspec.structs.replace(settings, base_url=address[1])


def is_reasoner(model: str) -> bool:
    """Return whether a model's name says that it thinks before it replies."""
    return REASONERS.search(model) is not None


class ListPrice(Price, frozen=True, kw_only=True):
    """US dollars for a million tokens of a model at one endpoint, as `source` said on the day `read`."""

    model: str
    base_url: str
    source: str
    read: datetime.date


def read_on(price: Price | None) -> str | None:
    """Return the day on which a list price was read; None for any other price, and for none."""
    return str(price.read) if isinstance(price, ListPrice) else None


class _Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    provider: list[Provider] = []
    price: list[ListPrice] = []


@functools.cache
def _rows(table: str) -> list[str]:
    """Return the rows of providers.toml or prices.toml, each as its text."""
    text = shipped("ragstone.kernel.llm", f"{table}s.toml").read_text("utf-8")
    return [f"[[{table}]]{row}" for row in f"\n{text}".split(f"\n[[{table}]]")[1:]]


def _parsed(rows: Iterable[str]) -> _Tables:
    # Only the rows that are asked for: all hundred prices take 9 ms, at the start of every command.
    return msgspec.convert(tomllib.loads("\n".join(rows)), _Tables)


def list_price(base_url: str, model: str) -> ListPrice | None:
    """Return the list price of a model at this address; None where it is unknown, which is not 0."""
    address = base_url.rstrip("/")
    rows = [row for row in _rows("price") if f'"{address}"' in row and f'"{model}"' in row]
    prices = (price for price in _parsed(rows).price if (price.base_url, price.model) == (address, model))
    return next(prices, None)


def list_prices(base_url: str) -> tuple[ListPrice, ...]:
    """Return all list prices at this address, in the order of the table."""
    address = base_url.rstrip("/")
    rows = (row for row in _rows("price") if f'"{address}"' in row)
    return tuple(price for price in _parsed(rows).price if price.base_url == address)
