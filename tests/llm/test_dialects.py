"""Every kind of endpoint that people have (tests/support/dialects): a judged row, or its true status.

And what to change, in the message; and nothing is paid twice, neither now nor when the command is run again.
"""

import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest
from tests.support.dialects import BY_NAME, DIALECTS
from tests.support.dialects.server import (
    KEY,
    Bench,
    Dialect,
    Request,
    serving_dialects,
)
from tests.support.doors import Verdict, prompt

from ragstone.config import Settings
from ragstone.errors import ModelError
from ragstone.llm import Budget, CallFailed, Door, Ledger, Message, Prompt, open_door
from ragstone.llm.providers import providers

GOOD, ODD = "row one", "the odd row"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries come at once, and every provider has its key."""
    monkeypatch.setattr("ragstone.llm.limits.BACKOFF_S", 0.001)
    for provider in providers().values():
        for name in provider.keys[:1]:
            monkeypatch.setenv(name, KEY)


@pytest.fixture(scope="module")
def served() -> Iterator[Bench]:
    with serving_dialects() as bench:
        yield bench


@contextlib.asynccontextmanager
async def opened(
    dialect: Dialect, settings: Settings, folder: Path, budget: Budget | None = None
) -> AsyncIterator[Door]:
    ledger = Ledger(folder / "ledger.sqlite")
    try:
        async with open_door(dialect.model, settings, ledger, budget) as door:
            yield door
    finally:
        ledger.close()


def prompt_for(dialect: Dialect, row: str) -> Prompt:
    """The prompt of a row, as the dialect is asked."""
    if dialect.ask.get("reply", Verdict) is None:
        return Prompt(messages=(Message("user", f"Say {row}."),), max_tokens=100)
    return msgspec.structs.replace(prompt(f"Judge {row}."), **dialect.ask)


async def outcome(door: Door, asked: Prompt) -> tuple[str, str]:
    """What becomes of a row, and in which words."""
    pieces: list[str] = []
    try:
        reply = await (door.stream(asked, pieces.append) if asked.reply is None else door.ask(asked))
    except CallFailed as failure:
        return failure.status, str(failure)
    except ModelError as stopped:
        return "stops", str(stopped)
    if asked.reply is None:
        assert "".join(pieces) == reply.text == "It is blue."
    else:
        assert reply.value.score == 2
    return "scored", ""


async def command(dialect: Dialect, bench: Bench, folder: Path) -> dict[str, tuple[str, str]]:
    """Judge both rows; what became of each."""
    async with opened(dialect, bench.settings(dialect), folder) as door:
        return {row: await outcome(door, prompt_for(dialect, row)) for row in (GOOD, ODD)}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
async def test_every_row_has_its_true_status_and_nothing_is_paid_twice(
    dialect: Dialect, served: Bench, tmp_path: Path
) -> None:
    served.begin(dialect)
    rows = await command(dialect, served, tmp_path)
    status, words = rows[ODD]
    assert status == dialect.status, words
    assert dialect.says in words
    assert rows[GOOD][0] == ("stops" if dialect.n_calls == 0 else "scored"), rows[GOOD][1]
    assert len(requests_for(ODD, served)) == dialect.n_calls

    served.requests.clear()
    assert statuses(await command(dialect, served, tmp_path)) == statuses(rows)
    assert {row for row in rows if requests_for(row, served)} <= unscored(rows)

    served.begin(dialect)
    served.mended = True
    again = await command(dialect, served, tmp_path)
    # A refusal of the model is its answer, and stays; all else is asked anew, once.
    anew = {row for row in unscored(rows) if not said_no(rows[row])}
    assert {row: len(requests_for(row, served)) for row in rows} == {row: int(row in anew) for row in rows}
    assert all(again[row][0] == "scored" for row in anew)


def requests_for(row: str, bench: Bench) -> list[Request]:
    return [one for one in bench.requests if row in one.row]


def statuses(rows: dict[str, tuple[str, str]]) -> dict[str, str]:
    return {row: status for row, (status, _words) in rows.items()}


def unscored(rows: dict[str, tuple[str, str]]) -> set[str]:
    return {row for row, (status, _words) in rows.items() if status != "scored"}


def said_no(outcome: tuple[str, str]) -> bool:
    return outcome[0] == "refused" and "refused the text" not in outcome[1]


def test_the_bench_has_every_provider_that_is_asked_over_http() -> None:
    asked = {one.name for one in providers().values() if one.dialect in ("openai", "azure", "anthropic")}
    assert asked == {one.provider.name for one in DIALECTS}
    assert len(BY_NAME) == len(DIALECTS)
    assert all(one.source.startswith("https://") for one in DIALECTS)
