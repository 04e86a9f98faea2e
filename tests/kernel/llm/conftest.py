"""What the tests of the door share: a door, and the bench of dialects."""

from collections.abc import Iterator

import pytest
from tests.support.dialects.server import KEY, Bench, serving_dialects
from tests.support.doors import opened

from ragstone.kernel.llm.providers import providers


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
    """The server of dialects, which was asked nothing; every provider has its key."""
    for provider in providers().values():
        for name in provider.keys[:1]:
            monkeypatch.setenv(name, KEY)
    _served_dialects.requests.clear()
    _served_dialects.mended = False
    return _served_dialects
