"""Connections over real sockets: what never ends is closed, what is told twice is refused; their number."""

import contextlib
import json
import socket
import time
from contextlib import ExitStack

import httpx
import pytest
from tests.support.served_assistant import Scripted, ask, served

from ragstone.kernel.config.serving import ServeSection
from ragstone.kernel.serve import _connections as connections
from ragstone.kernel.serve import limits

HEAD = b"POST /v1/feedback HTTP/1.1\r\nHost: 127.0.0.1\r\n"
JSON = b"Content-Type: application/json\r\n"
OVER_S = 9.0  # what is closed in time is closed long before; without the short limits it takes 10 s


@pytest.fixture
def url(tmp_path):
    with served(Scripted(), ServeSection(max_connections=20), tmp_path) as address:
        yield address


@pytest.fixture
def connect(url):
    """Give a function that opens a connection and sends something."""
    with ExitStack() as stack:

        def opened(*pieces):
            address = ("127.0.0.1", int(url.rpartition(":")[2]))
            client = stack.enter_context(socket.create_connection(address, timeout=OVER_S))
            for piece in pieces:
                client.sendall(piece)
            return client

        yield opened


def told(client):
    """Return all that comes until the connection is closed; it is an error if it is not."""
    pieces = []
    while piece := client.recv(65_536):
        pieces.append(piece)
    return b"".join(pieces)


@pytest.mark.long
@pytest.mark.parametrize("pieces", [[], [b"GET / HTTP/1.1\r\nHost: 127"], [b"GET / HTTP/1.1\r\nX: y\r\n"]])
def test_a_head_that_never_ends_closes_the_connection(connect, monkeypatch, pieces):
    monkeypatch.setattr(connections, "HEAD_S", 0.1)
    assert told(connect(*pieces)) == b""


def test_a_head_that_drips_is_given_no_more_time(connect, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_S", 0.2)
    client = connect(b"GET / HTTP/1.1\r\n")
    began = time.monotonic()
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        while time.monotonic() - began < OVER_S:
            client.sendall(b"x: y\r\n")
            time.sleep(0.02)
    assert time.monotonic() - began < OVER_S


def test_a_second_request_on_a_connection_has_the_same_limits(connect, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_S", 0.1)
    client = connect(b"GET /v1/settings HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    reply = client.recv(65_536)
    while not reply.endswith(b"}"):  # head and body may come one after the other
        reply += client.recv(65_536)
    assert reply.startswith(b"HTTP/1.1 200 ")
    client.sendall(b"GET /")
    assert told(client) == b""


@pytest.mark.long
@pytest.mark.parametrize(
    "length", [b"Content-Length: 100\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n1\r\n{"]
)
def test_a_body_that_stops_to_come_is_given_up(connect, monkeypatch, length, says):
    monkeypatch.setattr(connections, "QUIET_S", 0.1)
    head, _, content = told(connect(HEAD + JSON + length)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert b"application/problem+json" in head
    says(json.loads(content)["detail"])


def test_a_body_that_drips_is_given_up(connect, monkeypatch):
    monkeypatch.setattr(connections, "QUIET_S", 0.3)
    client = connect(HEAD + JSON + b"Content-Length: 5000\r\n\r\n")
    client.settimeout(0.05)
    began, answer = time.monotonic(), b""
    while not answer and time.monotonic() - began < OVER_S:
        client.sendall(b" ")
        try:
            answer = client.recv(1000)
        except TimeoutError:
            continue
    assert answer.startswith(b"HTTP/1.1 408 ")


@pytest.mark.long
def test_a_body_that_comes_slowly_and_steadily_is_waited_for(connect, monkeypatch):
    monkeypatch.setattr(connections, "QUIET_S", 1.0)
    body = json.dumps({"exchange_id": "x-1", "correction": "y" * 3000}).encode()
    client = connect(HEAD + JSON + b"Content-Length: %d\r\n\r\n" % len(body))
    for at in range(0, len(body), 300):
        client.sendall(body[at : at + 300])
        time.sleep(0.12)  # together longer than it may be quiet
    assert client.recv(1000).startswith(b"HTTP/1.1 404 ")  # nobody had that exchange


def test_a_body_that_nobody_waits_for_any_more_closes_the_connection(connect, monkeypatch):
    monkeypatch.setattr(connections, "QUIET_S", 0.1)
    monkeypatch.setattr(limits, "DRAIN_S", 0.05)
    answer = told(connect(HEAD + b"Content-Length: 10000000\r\n\r\n{"))
    assert answer.startswith((b"HTTP/1.1 413 ", b"HTTP/1.1 408 "))


def test_a_length_that_is_told_twice_is_refused_and_the_connection_closed(connect):
    both = HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n"
    answer = told(connect(both))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1") == 1


@pytest.mark.long
@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"".join(b"x%d: y\r\n" % n for n in range(200)) + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nx: " + b"y" * 100_000 + b"\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 5000,
    ],
)
def test_what_costs_too_much_to_read_is_refused(connect, head):
    with contextlib.suppress(ConnectionError):  # it may be closed before all of it was sent
        assert told(connect(head)).startswith(b"HTTP/1.1 400 ")


def test_connections_have_a_cap_and_those_that_are_open_go_on(url, connect):
    with httpx.Client(base_url=url) as client:
        assert client.get("/v1/settings").status_code == 200
        slow = [connect(b"GET /") for _ in range(19)]
        refused = told(connect())
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: 5" in refused
        assert ask(client).status_code == 200
        for one in slow:
            one.close()
        while not connect(b"GET /v1/settings HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").recv(12).endswith(b"200"):
            time.sleep(0.05)
