"""What the tests of the door share: the bench of dialects, and the places where a ledger is kept."""

import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.support.dialects.server import KEY, Bench, serving_dialects
from tests.support.fake_openai import FakeOpenAI

from ragstone.config import LedgerSection, Settings
from ragstone.llm import Budget, Door, Ledger, open_door
from ragstone.llm.providers import providers


@contextlib.asynccontextmanager
async def opened(
    settings: Settings, folder: Path, model: str = FakeOpenAI.model, budget: Budget | None = None
) -> AsyncIterator[Door]:
    ledger = Ledger(folder / "ledger.sqlite")
    try:
        async with open_door(model, settings, ledger, budget) as door:
            yield door
    finally:
        ledger.close()


@pytest.fixture
async def door(fake_openai, tmp_path):
    """A door to the fake endpoint; what that says is decided in the test."""
    async with opened(fake_openai.settings(), tmp_path) as one:
        yield one


@pytest.fixture(scope="session")
def _served_dialects() -> Iterator[Bench]:
    with serving_dialects() as bench:
        yield bench


@pytest.fixture
def bench(_served_dialects: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The server of dialects; every provider has its key."""
    for provider in providers().values():
        for name in provider.keys[:1]:
            monkeypatch.setenv(name, KEY)
    return _served_dialects


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.server)])
def ledger_settings(request, tmp_path) -> Settings:
    """Settings whose ledger is empty: a file, then a database. What holds of one holds of the other."""
    if request.param == "sqlite":
        return Settings(root=str(tmp_path))
    server = request.getfixturevalue("postgres")
    return Settings(root=str(tmp_path), ledger=LedgerSection(url=server.url(server.new_schema())))
