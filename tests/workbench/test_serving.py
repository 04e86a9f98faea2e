"""The server: where it listens, to whom, and how it ends."""

import asyncio
import json
import os
import re
import signal
import socket
import sys
import threading

import httpx
import pytest
from tests.support.served_assistant import KEYS, Scripted, ask, key, said, served

from ragstone.kernel.config import AssistantSection, Settings
from ragstone.kernel.config.serving import ServeSection
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.serve import _connections as connections
from ragstone.kernel.serve.server import address_of, listen
from ragstone.workbench.chat import chat_app
from ragstone.workbench.serving import check_public, serve_project
from ragstone_assistant.conversation import TextPiece


def settings_of(root, **serve):
    return Settings(serve=ServeSection(**serve), assistant=AssistantSection(store="store"), root=str(root))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.10", "farm.example"])
def test_a_server_that_everybody_reaches_wants_keys(host):
    with pytest.raises(ConfigError, match=r"keys_file.*127\.0\.0\.1"):
        check_public(settings_of(".", host=host))
    check_public(settings_of(".", host=host, keys_file="keys.toml"))


def test_an_assistant_behind_a_public_address_wants_keys_as_well():
    with pytest.raises(ConfigError, match=r"public_url = 'https://farm\.example'.*keys_file"):
        check_public(settings_of(".", public_url="https://farm.example"))


@pytest.mark.kill
@pytest.mark.parametrize(("trusted", "seen"), [(["127.0.0.1"], "203.0.113.9"), ([], "127.0.0.1")])
def test_the_address_that_a_proxy_tells_is_believed_of_trusted_ones_only(tmp_path, trusted, seen):
    public = "http://127.0.0.1"
    settings = settings_of(tmp_path, public_url=public, trusted_proxies=trusted)

    def visit(address):
        with httpx.Client(base_url=address) as client:
            token = re.search('name="csrf" content="(.*?)"', client.get("/workbench/login").text)[1]
            form = {"csrf": token, "name": "Eve", "password": "x" * 10}
            client.post("/workbench/login", data=form, headers={"X-Forwarded-For": "203.0.113.9"})
        os.kill(os.getpid(), signal.SIGINT)

    async def serve():
        with listen("127.0.0.1", 0) as bound:
            start = lambda address: threading.Thread(target=visit, args=(address,)).start()  # noqa: E731
            await serve_project(settings, bound, ready=start)

    asyncio.run(serve())
    [line] = (tmp_path / ".ragstone" / "workbench" / "audit.jsonl").read_text().splitlines()
    assert json.loads(line)["address"] == seen


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]"])
def test_this_machine_alone_needs_none(host):
    check_public(settings_of(".", host=host))


def test_a_port_that_is_taken_is_told_with_what_to_do(says):
    with listen("127.0.0.1", 0) as bound:
        bound.listen()
        port = bound.getsockname()[1]
        with pytest.raises(ConfigError) as error:
            listen("127.0.0.1", port)
        says(str(error.value).replace(str(port), "PORT"))


def test_an_address_that_is_none_of_ours_is_told():
    with pytest.raises(ConfigError, match=r"listen on '203\.0\.113\.1'"):
        listen("203.0.113.1", 0)


def test_the_address_is_one_that_a_browser_opens():
    with listen("0.0.0.0", 0) as bound:
        assert address_of(bound) == f"http://127.0.0.1:{bound.getsockname()[1]}"
    if socket.has_ipv6:
        with listen("[::1]", 0) as bound:
            assert address_of(bound) == f"http://[::1]:{bound.getsockname()[1]}"


@pytest.mark.kill
async def test_replies_under_way_come_to_their_end_when_the_server_is_told_to_stop(tmp_path):
    scripted = Scripted()
    scripted.say(TextPiece("Sow "), 0.3, TextPiece("in May."), said("Sow in May."))

    async def chat(address):
        async with httpx.AsyncClient(base_url=address) as client:
            asking = asyncio.ensure_future(ask(client, stream=True))
            while not scripted.asked:  # noqa: ASYNC110 - the assistant is asked in this loop
                await asyncio.sleep(0.01)
            os.kill(os.getpid(), signal.SIGTERM)
            return (await asking).text

    replies = []

    def ready(address):
        replies.append(asyncio.ensure_future(chat(address)))

    with listen("127.0.0.1", 0) as bound:
        before = signal.getsignal(signal.SIGTERM)
        settings = settings_of(tmp_path)
        await serve_project(settings, bound, ready=ready, chat=chat_app(scripted.assistant(), settings))
    text = await replies[0]
    assert text.endswith("data: [DONE]\n\n")
    assert len(scripted.log.rows) == 1
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.kill
def test_keys_are_read_from_their_file_and_conversations_stand_in_the_store(tmp_path):
    (tmp_path / "keys.toml").write_text(f'anna = "{KEYS["anna"]}"\n')
    codes = []

    def visit(address):
        codes.append(httpx.get(f"{address}/v1/models").status_code)
        codes.append(httpx.get(f"{address}/v1/models", headers=key("anna")).status_code)
        os.kill(os.getpid(), signal.SIGINT)

    def ready(address):
        threading.Thread(target=visit, args=(address,)).start()

    async def serve():
        with listen("127.0.0.1", 0) as bound:
            settings = settings_of(tmp_path, keys_file="keys.toml")
            await serve_project(settings, bound, ready=ready, chat=chat_app(Scripted().assistant(), settings))

    asyncio.run(serve())
    assert codes == [401, 200]
    assert (tmp_path / "store" / "conversations.sqlite").exists()


def test_an_early_refusal_reaches_a_client_that_is_still_sending(tmp_path):
    # Over a real connection: a server that closed at once would break it before the answer is read.
    with served(Scripted(), ServeSection(), tmp_path) as address:
        body = {"model": "assistant", "messages": [{"role": "user", "content": "x" * 5_000_000}]}
        response = httpx.post(f"{address}/v1/chat/completions", content=json.dumps(body).encode())
    assert response.status_code == 413
    assert response.json()["title"] == "Request Entity Too Large"


@pytest.mark.kill
def test_bodies_and_heads_of_the_workbench_have_limits_as_those_of_the_assistant(tmp_path, monkeypatch):
    monkeypatch.setattr(connections, "QUIET_S", 0.1)
    head = b"POST /workbench/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n"
    form = b"Content-Type: application/x-www-form-urlencoded\r\n\r\ncsrf="
    twice = b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    answers = []

    def visit(address):
        for rest in (form, twice):
            with socket.create_connection(
                ("127.0.0.1", int(address.rpartition(":")[2])), timeout=60
            ) as client:
                client.sendall(head + rest)
                answers.append(client.recv(1000)[:13])
        os.kill(os.getpid(), signal.SIGINT)

    async def serve():
        with listen("127.0.0.1", 0) as bound:
            start = lambda address: threading.Thread(target=visit, args=(address,)).start()  # noqa: E731
            await serve_project(settings_of(tmp_path), bound, ready=start)

    before = sys.getswitchinterval()
    asyncio.run(serve())
    assert answers == [b"HTTP/1.1 408 ", b"HTTP/1.1 400 "]
    assert sys.getswitchinterval() == before
