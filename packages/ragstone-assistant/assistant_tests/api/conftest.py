"""An assistant that says what it is told, behind its API, without a network."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from litestar.testing import TestClient
from tests.support.served_assistant import URL, Scripted, Time

from ragstone.kernel.config.serving import ServeSection
from ragstone_assistant.api.app import create_app


@pytest.fixture
def scripted() -> Scripted:
    return Scripted()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def open_client(scripted: Scripted, time: Time, tmp_path: Path) -> Iterator[object]:
    """Give a function: settings of [serve], keys and routes -> a client of the app."""
    with ExitStack() as stack:

        def opened(keys=None, routes=(), **serve):
            app = create_app(
                scripted.assistant(),
                ServeSection(**serve),
                folder=tmp_path / "store",
                keys=keys,
                routes=routes,
                clocks=time.clocks(),
            )
            return stack.enter_context(TestClient(app, base_url=URL, raise_server_exceptions=False))

        yield opened


@pytest.fixture
def client(open_client):
    return open_client()
