"""Public list prices, with the page and the day that each was read. A price that is not there is unknown."""

import datetime
import functools
import tomllib
from importlib import resources

import msgspec

from ragstone.config import Price


class ListPrice(Price, frozen=True, kw_only=True):
    """US dollars for a million tokens of a model at one endpoint, as `source` said on the day `read`."""

    model: str
    base_url: str
    source: str
    read: datetime.date


def read_on(price: Price | None) -> str | None:
    """Return the day on which a list price was read; None for any other price, and for none."""
    return str(price.read) if isinstance(price, ListPrice) else None


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    price: list[ListPrice]


def list_price(base_url: str, model: str) -> ListPrice | None:
    """Return the list price of a model at this address; None where it is unknown, which is not 0."""
    return _list_prices().get((base_url.rstrip("/"), model))


def list_prices(base_url: str) -> tuple[ListPrice, ...]:
    """Return all list prices at this address, in the order of the table."""
    return tuple(price for price in _list_prices().values() if price.base_url == base_url.rstrip("/"))


@functools.cache
def _list_prices() -> dict[tuple[str, str], ListPrice]:
    text = (resources.files("ragstone.llm") / "prices.toml").read_text(encoding="utf-8")
    rows = msgspec.convert(tomllib.loads(text), _Table).price
    return {(row.base_url, row.model): row for row in rows}
