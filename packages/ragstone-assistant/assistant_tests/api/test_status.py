"""/health, /metrics, /v1/settings, the page and the OpenAPI document."""

import asyncio
import gzip
import re

from prometheus_client.parser import text_string_to_metric_families
from tests.support.farm import FARM
from tests.support.served_assistant import KEYS, ask, key, said

from ragstone.kernel.records import Usage
from ragstone_assistant.conversation import LoopStep


def samples(client, **headers):
    response = client.get("/metrics", headers=headers)
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        (one.name, *sorted(one.labels.values())): one.value
        for family in text_string_to_metric_families(response.text)
        for one in family.samples
    }


def test_health_is_that_of_the_parts_and_recovers(client, scripted):
    assert client.get("/health").json() == {
        "status": "ok",
        "parts": {**scripted.parts, "conversations": "ok"},
    }
    scripted.parts["knowledge"] = "Qdrant cannot be reached"
    degraded = client.get("/health")
    assert degraded.status_code == 503
    assert degraded.json()["status"] == "degraded"
    assert degraded.json()["parts"]["knowledge"] == "Qdrant cannot be reached"
    assert samples(client)["ragstone_part_up", "knowledge"] == 0
    scripted.parts["knowledge"] = "ok"
    assert client.get("/health").status_code == 200
    assert samples(client)["ragstone_part_up", "knowledge"] == 1


def test_requests_replies_tokens_costs_and_tools_are_counted(client, scripted):
    ask(client)
    ask(client, model="gpt-4o")
    client.get("/v1/made/up/1")
    client.get("/v1/made/up/2")
    steps = tuple(
        LoopStep(thought="", action=action, arguments={}, observation="", status=status)
        for action, status in (("weather", "failed"), ("sudo rm", "invalid"))
    )
    scripted.say(said(kind="refusal", lang="sw", steps=steps, usage=Usage(input=7, calls=1), cost_usd=None))
    ask(client)
    counted = samples(client)
    chat = "/v1/chat/completions"
    assert counted["ragstone_requests_total", *sorted(("200", "POST", chat))] == 2
    assert counted["ragstone_requests_total", *sorted(("404", "POST", chat))] == 1
    assert counted["ragstone_requests_total", *sorted(("404", "any", "none"))] == 2
    assert counted["ragstone_replies_total", "answer", "en"] == 1
    assert counted["ragstone_replies_total", "refusal", "sw"] == 1
    assert counted["ragstone_tokens_total", "input"] == 127
    assert counted["ragstone_tokens_total", "output"] == 30
    assert counted["ragstone_cost_usd_total",] == 0.002
    assert counted["ragstone_replies_without_cost_total",] == 1
    assert counted["ragstone_tool_calls_total", "done", "search_documents"] == 1
    assert counted["ragstone_tool_calls_total", "failed", "weather"] == 1
    assert counted["ragstone_tool_calls_total", "invalid", "unknown"] == 1
    assert counted["ragstone_request_seconds_count", chat] == 3
    assert counted["ragstone_reply_seconds_sum", "answer"] == 0.5


def test_two_apps_count_for_themselves(open_client):
    first, second = open_client(), open_client()
    ask(first)
    assert ("ragstone_replies_total", "answer", "en") not in samples(second)


def test_the_page_is_told_what_it_must_know(open_client):
    expected = {"languages": ["en", "es"], "filters": {"crop": ["maize"]}, "scope": FARM.scope("en")}
    assert open_client().get("/v1/settings").json() == {**expected, "needs_key": False}
    assert open_client(keys=KEYS).get("/v1/settings").json() == {**expected, "needs_key": True}


def test_the_page_comes_in_the_browser_s_language_with_its_own_files_only(client):
    page = client.get("/", headers={"Accept-Language": "sw-KE, en;q=0.5"})
    assert page.status_code == 200
    assert '<html lang="sw"' in page.text
    assert page.headers["content-language"] == "sw"
    assert "script-src 'self'" in page.headers["content-security-policy"]
    for asset in re.findall(r'(?:src|href)="(assets/[^"]+)"', page.text):
        found = client.get(f"/{asset}")
        assert found.status_code == 200
        assert found.headers["content-type"].split(";")[0] in ("text/css", "text/javascript")
    assert client.get("/assets/../secret").status_code == 404
    assert client.get("/assets/nothing.js").status_code == 404


def test_a_slow_phone_gets_the_page_packed_and_once(client):
    plain = client.get("/", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    packed = client.get("/", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.text == plain.text
    assert len(gzip.compress(plain.content)) < len(plain.content) / 2
    again = client.get("/", headers={"If-None-Match": packed.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_openapi_document_tells_every_route_with_its_errors(open_client):
    document = open_client(keys=KEYS).get("/openapi.json", headers=key("anna")).json()
    assert set(document["paths"]) >= {
        "/v1/chat/completions",
        "/v1/conversations",
        "/v1/conversations/{conversation_id}",
        "/v1/feedback",
        "/v1/passages/{chunk_id}",
        "/v1/retrieve",
        "/v1/answers",
        "/v1/documents",
        "/v1/documents/{document_id}",
        "/v1/documents/rebuild",
        "/v1/jobs/{job_id}",
        "/v1/settings",
        "/health",
        "/metrics",
    }
    for path, methods in document["paths"].items():
        for operation in methods.values():
            if path == "/health":
                assert set(operation["responses"]) == {"200", "401", "403", "429", "500", "503"}
            else:
                problems = {
                    media_type
                    for status, response in operation["responses"].items()
                    if status >= "400"
                    for media_type in response["content"]
                }
                assert problems == {"application/problem+json"}, path
    assert document["security"] == [{"key": []}]


def test_there_is_no_page_of_the_api_from_elsewhere(client):
    for path in ("/schema", "/docs", "/swagger", "/redoc", "/openapi.json/redoc"):
        assert client.get(path).status_code == 404


def test_what_is_wrong_is_told_to_keys_only_where_there_are_keys(open_client, scripted):
    scripted.parts["model"] = "http://10.0.0.7/v1 said: wrong key sk-1"
    client = open_client(keys=KEYS)
    for headers, status, told in (
        ({}, 503, False),
        (key("anna"), 503, True),
        ({"Authorization": "x"}, 401, False),
    ):
        response = client.get("/health", headers=headers)
        assert (response.status_code, "sk-1" in response.text) == (status, told)
    assert client.get("/health").json()["parts"]["log"] == "ok"


def test_a_look_that_takes_long_is_not_waited_for(open_client, scripted, monkeypatch, time):
    go_on, looks, well = asyncio.Event(), [], scripted.health

    async def slow():
        looks.append(1)
        if len(looks) == 1:
            return await well()
        await go_on.wait()
        return {**scripted.parts, "log": "the disk is full"}

    monkeypatch.setattr(scripted, "health", slow)
    client = open_client()
    assert client.get("/health").json()["status"] == "ok"
    for _ in range(3):
        assert client.get("/health").json()["status"] == "ok"
    assert len(looks) == 2
    time.move(seconds=61)
    assert client.get("/health").json()["parts"]["knowledge"] == "it has not answered for 61 s"
    client.blocking_portal.call(go_on.set)
    assert client.get("/health").json()["parts"]["log"] == "the disk is full"
