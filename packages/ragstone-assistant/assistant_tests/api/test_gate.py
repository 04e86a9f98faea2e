"""Who gets in: keys, limits, sizes, hosts and origins; and the headers of every response."""

import asyncio
import contextlib

import pytest
from litestar import get
from tests.support.golden import sentence_in
from tests.support.served_assistant import KEYS, ask, key

from ragstone.kernel.config.serving import ServeSection
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.serve.headers import is_loopback
from ragstone_assistant.api._gate import gated
from ragstone_assistant.api._history import Conversations
from ragstone_assistant.api.state import ChatState, Clocks

TOO_LARGE = "the request is too large: send less at once"
FREE = ["/", "/assets/chat.css", "/health", "/openapi.json", "/v1/settings"]
CLOSED = [
    "/metrics",
    "/v1/documents",
    "/v1/models",
    "/v1/conversations",
    "/v1/jobs/x",
    "/v1/passages/x",
    "/nothing",
]


@pytest.mark.parametrize("path", CLOSED)
def test_without_a_key_and_with_a_wrong_one_nobody_gets_in(open_client, path):
    client = open_client(keys=KEYS)
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {KEYS['anna']}"}):
        response = client.get(path, headers=headers)
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"
        assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", FREE)
def test_the_page_and_what_it_needs_first_ask_for_no_key(open_client, path):
    assert open_client(keys=KEYS).get(path).status_code == 200


def test_the_chat_route_says_it_in_openai_s_words(open_client):
    response = ask(open_client(keys=KEYS))
    assert response.status_code == 401
    assert response.json()["error"]["type"] == "authentication_error"


def test_with_its_key_one_gets_in(open_client):
    client = open_client(keys=KEYS)
    assert ask(client, headers=key("anna")).status_code == 200
    assert client.get("/metrics", headers={"Authorization": f"bearer {KEYS['ben']}"}).status_code == 200


def test_each_key_has_its_own_limit_and_is_told_when_to_come_back(open_client, time):
    client = open_client(keys=KEYS, requests_per_minute=2)
    time_between = 10
    assert client.get("/v1/models", headers=key("anna")).status_code == 200
    time.move(seconds=time_between)
    assert client.get("/v1/models", headers=key("anna")).status_code == 200
    refused = ask(client, headers=key("anna"))
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "50"  # the first request was 10 s ago
    assert refused.json()["error"]["type"] == "rate_limit_error"
    assert client.get("/v1/models", headers=key("ben")).status_code == 200
    time.move(seconds=50)
    assert client.get("/v1/models", headers=key("anna")).status_code == 200


def test_wrong_keys_are_limited_by_address(open_client):
    client = open_client(keys=KEYS, requests_per_minute=2)
    codes = [client.get("/v1/models", headers={"Authorization": f"Bearer {n}"}).status_code for n in range(3)]
    assert codes == [401, 401, 429]
    assert client.get("/v1/models", headers=key("anna")).status_code == 200


def test_the_page_and_health_are_not_limited(open_client):
    client = open_client(requests_per_minute=1)
    assert [client.get("/health").status_code for _ in range(5)] == [200] * 5


def test_pages_of_other_sites_may_not_ask(client, scripted):
    for origin in ("https://evil.example", "null", "http://127.0.0.1:9"):
        assert ask(client, headers={"Origin": origin}).status_code == 403
    assert scripted.asked == []
    assert ask(client, headers={"Origin": "http://127.0.0.1:8000"}).status_code == 200


def test_a_site_that_is_named_may_ask(open_client):
    client = open_client(cors_origins=["https://farm.example"])
    response = ask(client, headers={"Origin": "https://farm.example"})
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == "https://farm.example"
    asked = {"Origin": "https://farm.example", "Access-Control-Request-Method": "POST"}
    preflight = client.options("/v1/chat/completions", headers=asked)
    assert preflight.status_code == 204
    assert "Authorization" in preflight.headers["access-control-allow-headers"]
    other = client.options("/v1/chat/completions", headers={**asked, "Origin": "https://evil.example"})
    assert other.status_code == 403
    assert "access-control-allow-origin" not in other.headers


def test_a_browser_of_a_named_site_asks_before_it_has_a_key_and_can_read_the_refusal(open_client):
    client = open_client(keys=KEYS, cors_origins=["https://farm.example"])
    asked = {"Origin": "https://farm.example", "Access-Control-Request-Method": "POST"}
    assert client.options("/v1/chat/completions", headers=asked).status_code == 204
    refused = ask(client, headers={"Origin": "https://farm.example"})
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == "https://farm.example"


def test_a_name_that_was_made_to_point_here_is_not_served(open_client):
    client = open_client()
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example"):
        assert client.get("/v1/settings", headers={"Host": host}).status_code == 403
    for host in ("localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000", "127.0.0.2"):
        assert client.get("/v1/settings", headers={"Host": host}).status_code == 200


def test_with_keys_a_proxy_may_pass_any_name(open_client):
    assert open_client(keys=KEYS).get("/v1/settings", headers={"Host": "farm.example"}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/health", "/nothing", "/v1/models", "/openapi.json"])
def test_every_response_forbids_frames_sniffing_and_other_sites(client, path):
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "http" not in headers["content-security-policy"]


def test_what_is_not_there_is_a_problem(client):
    missing = client.get("/v1/nothing")
    assert (missing.status_code, missing.headers["content-type"]) == (404, "application/problem+json")
    assert missing.json()["status"] == 404
    wrong = client.put("/v1/models")
    assert (wrong.status_code, wrong.headers["content-type"]) == (405, "application/problem+json")
    assert "GET" in wrong.headers["allow"]


def test_a_path_tells_all_that_it_takes(client):
    assert client.options("/v1/documents").headers["allow"] == "GET, OPTIONS, POST"
    allowed = client.put("/v1/documents").headers["allow"].split(", ")  # in no order
    assert sorted(allowed) == ["GET", "OPTIONS", "POST"]


def test_what_is_not_json_is_a_problem(client):
    response = client.post("/v1/retrieve", content=b"<a/>", headers={"Content-Type": "text/xml"})
    assert response.status_code in (400, 415)
    assert response.headers["content-type"] == "application/problem+json"


def test_further_pages_stand_behind_the_same_gate(open_client):
    @get("/monitor")
    async def monitor() -> str:
        return "trends"

    client = open_client(keys=KEYS, routes=[monitor])
    assert client.get("/monitor").status_code == 401
    assert client.get("/monitor", headers=key("anna")).text == "trends"


def test_admins_without_a_key_are_a_mistake(open_client, says):
    with pytest.raises(ConfigError) as error:
        open_client(keys=KEYS, admin_keys=["ann"])
    says(error.value)
    with pytest.raises(ConfigError) as error:
        open_client(admin_keys=["anna"])
    says(error.value)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("::", False),
        ("farm.example", False),
    ],
)
def test_loopback_is_this_machine(host, loopback):
    assert is_loopback(host) is loopback


@pytest.mark.parametrize("broken", ["[", "http://[", "[::1", "a]b"])
def test_a_host_or_an_origin_that_is_none_is_refused_with_a_problem(client, broken):
    for response in (
        client.get("/health", headers={"Host": broken}),
        ask(client, headers={"Origin": f"http://{broken}"}),
    ):
        assert response.status_code == 403
        assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"x":' + '{"a":' * 30_000 + "1" + "}" * 30_001, "nested too deeply"),
        (b'{"model": "assistant", "messages": [{"role": "user", "content": "a\xed\xa0\x80"}]}', "UTF-8"),
        ('{"model": "assistant", "messages": "\\ud800 and more"}', "surrogate"),
        ("", "the body is missing"),
    ],
)
def test_a_body_that_cannot_be_read_is_the_client_s_mistake(client, content, told):
    for path in ("/v1/chat/completions", "/v1/feedback", "/v1/retrieve", "/v1/answers"):
        response = client.post(path, content=content, headers={"Content-Type": "application/json"})
        assert response.status_code == 400, path
        assert told in response.text


def test_what_is_too_large_or_of_another_method_says_what_to_do(client, says):
    def parts():
        for _ in range(10):
            yield b" " * 100_000

    says(sentence_in(client.put("/v1/feedback").json()["detail"], "see the header"))
    response = client.post("/v1/feedback", content=parts())
    assert (response.status_code, response.json()["detail"]) == (413, TOO_LARGE)


async def test_one_request_begins_in_each_pass_of_the_loop_and_health_waits_for_none(scripted, tmp_path):
    begun, passes = [], 0

    async def answer(scope, receive, send):
        begun.append((passes, scope["path"]))

    async def count():
        nonlocal passes
        while True:
            await asyncio.sleep(0)
            passes += 1

    with contextlib.closing(Conversations(tmp_path, 1)) as kept:
        desk = ChatState(scripted.assistant(), ServeSection(), {}, kept, clocks=Clocks(), k=5)
        app = gated(answer, desk, {})
        counting = asyncio.ensure_future(count())
        paths = ["/v1/settings"] * 20 + ["/health"]
        await asyncio.gather(*(app(scope_of(path), None, None) for path in paths))
        counting.cancel()
    assert len(begun) == 21
    assert len({at for at, path in begun if path != "/health"}) == 20
    assert next(at for at, path in begun if path == "/health") == min(at for at, _ in begun)


def scope_of(path):
    return {
        "type": "http",
        "method": "GET",
        "path": path,
        "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 1),
    }
