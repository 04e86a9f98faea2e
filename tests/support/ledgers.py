"""Ledgers for tests: responses of given models, usage and moments, and the hits on them."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from ragstone.llm import Ledger
from ragstone.llm.ledger import with_checksum
from ragstone.llm.prompt import Completion
from ragstone.records import Usage

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


def make_ledger(path: Path, kept: Iterable[Kept], hits: Iterable[int] = ()) -> Path:
    """Write a ledger whose keys count from 0; `hits` are the numbers of those that it is asked for again."""

    async def put() -> None:
        for number, each in enumerate(kept):
            usage = Usage(input=each.usage[0], output=each.usage[1], cached=each.usage[2])
            await opened.put(key(number), each.model, Completion(text=each.text, usage=usage))

    kept = list(kept)
    opened = Ledger(path)
    try:
        asyncio.run(put())
        for number in hits:
            assert asyncio.run(opened.find(key(number)))
    finally:
        opened.close()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for number, each in enumerate(kept):
            found = connection.execute("SELECT response FROM responses WHERE key = ?", (key(number),))
            row = with_checksum((key(number), each.model, found.fetchone()[0], each.day * DAY))
            connection.execute("REPLACE INTO responses VALUES (?, ?, ?, ?, ?)", row)
    return path


def set_hit_day(path: Path, day: int) -> None:
    """Move all hits to a day."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE hits SET day = ?", (day,))


def responses_in(path: Path) -> dict[int, tuple[str, str, float]]:
    """Return number -> model, text and moment of each response."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT key, model, response, created FROM responses").fetchall()
    return {
        int.from_bytes(key, "big"): (model, str(msgspec.json.decode(response)["text"]), created)
        for key, model, response, created in rows
    }
