"""Ledgers for tests: responses of given models, usage and moments, and the hits on them."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from ragstone.kernel.config import LedgerSection, Settings
from ragstone.kernel.llm import Ledger
from ragstone.kernel.llm.ledgers import LedgerLocation, open_store
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.records import Usage

DAY = 86_400
# 2026-01-10, in days since 1970: 56 years and 14 leap days (1972 ... 2024) are 20,454 days; 9 more.
JAN_10 = 20_463


def key(number: int) -> bytes:
    """Return the key of a response."""
    return number.to_bytes(16, "big")


class Kept(NamedTuple):
    """A response in a ledger; day: since 1970; usage: tokens in, out and cached."""

    model: str
    day: float = JAN_10
    usage: tuple[int, int, int] = (100, 20, 60)
    text: str = "said"


def make_ledger(place: LedgerLocation, kept: Iterable[Kept], hits: Iterable[int] = ()) -> LedgerLocation:
    """Write a ledger whose keys count from 0; `hits`: the numbers of those that a file is asked for again."""
    rows = []
    for number, each in enumerate(kept):
        usage = Usage(input=each.usage[0], output=each.usage[1], cached=each.usage[2])
        response = msgspec.json.encode(Completion(text=each.text, usage=usage))
        rows.append((key(number), each.model, response, each.day * DAY))
    with open_store(place, make=True) as store:
        store.add(rows)
    if hits:
        assert isinstance(place, Path)
        opened = Ledger(place)
        for number in hits:
            assert asyncio.run(opened.find(key(number)))
        opened.close()
    return place


def set_hit_day(path: Path, day: int) -> None:
    """Move all hits to a day."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE hits SET day = ?", (day,))


def responses_in(place: LedgerLocation) -> dict[int, tuple[str, str, float]]:
    """Return number -> model, text and moment of each response."""
    with open_store(place) as store:
        return {
            int.from_bytes(key, "big"): (model, str(msgspec.json.decode(response)["text"]), created)
            for key, model, response, created in store.rows()
        }


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.server)])
def ledger_settings(request, tmp_path) -> Settings:
    """Settings whose ledger is empty: a file, then a database. What holds of one holds of the other."""
    if request.param == "sqlite":
        return Settings(root=str(tmp_path))
    server = request.getfixturevalue("postgres")
    return Settings(root=str(tmp_path), ledger=LedgerSection(url=server.url(server.new_schema())))
