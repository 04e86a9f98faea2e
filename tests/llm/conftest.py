"""What the tests of the door share: the bench of dialects."""

from collections.abc import Iterator

import pytest
from tests.support.dialects.server import KEY, Bench, serving_dialects

from ragstone.llm.providers import providers


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
