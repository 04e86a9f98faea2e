"""Workbench and assistant in one server: which answers what."""

import httpx
import pytest
from litestar.testing import TestClient
from tests.support.served_assistant import KEYS, Scripted, key
from tests.support.workbench import ADDRESS, create_workbench

from ragstone.kernel.config import Settings, shipped
from ragstone.kernel.config.serving import ServeSection
from ragstone.workbench.app import side_by_side
from ragstone.workbench.asset_routes import ROOMS
from ragstone_assistant.api.app import create_app


def client_of(tmp_path, *, chat=True, host="127.0.0.1", keys=None):
    serve = ServeSection(host=host)
    assistant = create_app(Scripted().assistant(), serve, folder=tmp_path, keys=keys) if chat else None
    bench = create_workbench(Settings(serve=serve, root=str(tmp_path)))
    return TestClient(side_by_side(bench, assistant), base_url=ADDRESS)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """A client of both, for tests that change nothing."""
    with client_of(tmp_path_factory.mktemp("both")) as client:
        client.follow_redirects = False
        yield client


def test_each_answers_its_own_paths(both):
    assert "Ragstone assistant" in both.get("/openapi.json").text
    assert both.get("/v1/models").status_code == 200
    assert "<h1>People</h1>" in both.get("/workbench/people").text
    assert both.get("/workbench").status_code == 200
    assert both.get("/workbenchful").headers["content-type"] == "application/problem+json"


def test_without_an_assistant_the_address_leads_to_the_workbench(tmp_path):
    with client_of(tmp_path, chat=False) as client:
        client.follow_redirects = False
        assert client.get("/").headers["location"] == "/workbench/"
        assert client.get("/v1/models").status_code == 404
        assert client.get("/workbench/people").status_code == 200


@pytest.mark.parametrize("path", ["/", "/health", "/workbench/people", "/workbench/assets/page.css"])
def test_head_is_answered_as_get_without_the_body(both, path):
    got, asked = both.get(path), both.head(path)
    assert (asked.status_code, asked.content) == (got.status_code, b"") == (200, b"")
    assert asked.headers["content-type"] == got.headers["content-type"]


def test_a_key_opens_the_assistant_and_a_login_the_workbench(tmp_path):
    with client_of(tmp_path, host="0.0.0.0", keys=KEYS) as client:
        client.follow_redirects = False
        assert client.get("/v1/models").status_code == 401
        assert client.get("/v1/models", headers=key("anna")).status_code == 200
        assert client.get("/workbench/", headers=key("anna")).headers["location"] == "/workbench/login"


def test_what_both_own_is_closed_at_the_end(tmp_path):
    closed = []
    bench = create_workbench(Settings(root=str(tmp_path)))
    bench.on_shutdown.append(lambda: closed.append("workbench"))
    assistant = create_app(Scripted().assistant(), ServeSection(), folder=tmp_path)
    assistant.on_shutdown.append(lambda: closed.append("assistant"))
    with TestClient(side_by_side(bench, assistant), base_url=ADDRESS) as client:
        assert isinstance(client.get("/health"), httpx.Response)
        assert closed == []
    assert sorted(closed) == ["assistant", "workbench"]


HOSTS = (
    "127.0.0.1:80:evil.com",
    "127.0.0.1:99999",
    "127.0.0.1:abc",
    "[::1",
    "a b",
    "127.0.0.1/x",
    "me@127.0.0.1",
    "é",
)


@pytest.mark.parametrize("path", ["/workbench/", "/workbench/nothing", "/v1/models", "/health", "/"])
@pytest.mark.parametrize("host", HOSTS)
def test_a_host_that_is_none_is_a_mistake_of_who_asks(both, host, path):
    for method in ("GET", "POST", "HEAD", "DELETE", "OPTIONS"):
        answered = both.request(method, path, headers=[(b"Host", host.encode())])
        assert answered.status_code == 400, method
    assert both.get(path, headers=[("Host", "localhost"), ("Host", "localhost")]).status_code == 400


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:65535", "[::1]:8000", "127.0.0.1:"])
def test_a_host_of_this_machine_is_served(both, host):
    assert both.get("/workbench/people", headers={"Host": host}).status_code == 200
    assert both.get("/v1/models", headers={"Host": host}).status_code == 200


def test_no_two_rooms_have_an_asset_of_one_name():
    names = [file.name for room in ROOMS for file in shipped(f"ragstone.{room}", "assets").glob("*")]
    assert len(names) == len(set(names)) > 15
