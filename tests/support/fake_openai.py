"""A local server that speaks the OpenAI protocol, for tests and benchmarks: no network, no model, no key.

In a test, take the fixture `fake_openai` (conftest.py) and set what it should do:

    async def test_x(fake_openai, tmp_path):
        fake_openai.script = in_turn(fail(429, "slow down", retry_after=0.1), '{"score": 1}')
        settings = fake_openai.settings(root=tmp_path, timeout_s=1)
        ...
        assert fake_openai.n_requests == 2

What it can be told to say stands in tests/support/scripts.py; by default it fits the schema asked for.

Another process asks it too: `serving_as("--latency", "0.05")` gives its base_url. For benchmarks it is a
process of its own:

    with running("--latency", "0.05") as base_url: ...      # python -m tests.support.fake_openai
    stats(base_url)["n_requests"]

It ends with the process that started it, and after `--lifetime` seconds in any case.
"""

import argparse
import asyncio
import contextlib
import hashlib
import importlib
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web
from tests.support.fake_batches import FakeBatches
from tests.support.scripts import (
    Body,
    Said,
    Script,
    embed_words,
    fail,
    fit_schema,
    hang,
    in_turn,
    mode_of,
    prompt_of,
    say,
    sometimes,
)

from ragstone.kernel.config import ModelSettings, Settings

ROOT = Path(__file__).parents[2]
KEPT_BODIES = 2_000
HANG_S = 60.0


class FakeOpenAI:
    """The server. Attributes may be set at any time, before and between requests.

    script: what is said; embedding: what is said to a request for vectors. latency_s: how long it takes.
    key: if set, the only one that is let in. models: if set, the only names that exist. refuse: ways of
    asking that get HTTP 400, of json_schema, tool, json_object, stream and stream_options. streams: False
    for a server that takes no notice of `stream`. piece_s: how long each piece of a stream takes. gate:
    after how many requests the others wait for GET /let_go; with one, only who waited there waits latency_s.

    What it saw: n_requests, most_in_flight, bodies (the last 2,000), arrivals (their times),
    n_asked_again (requests whose very body was answered before with status 200), embedded (text -> how
    often its vector was given), ports (of the connections that requests came by).
    """

    model = "openai/fake"

    def __init__(self) -> None:
        self.script: Script = fit_schema
        self.embedding: Script = embed_words
        self.latency_s = 0.0
        self.streams = True
        self.piece_s = 0.0
        self.gate: int | None = None
        self.key: str | None = None
        self.models: set[str] | None = None
        self.refuse: set[str] = set()
        self.base_url = ""
        self.batches = FakeBatches()
        self._closing = asyncio.Event()
        self._let_go = asyncio.Event()
        self.forget()

    def forget(self) -> None:
        """Set all counts to zero."""
        self.n_requests = self.in_flight = self.most_in_flight = self.n_asked_again = self.n_cut_off = 0
        self.bodies: deque[Body] = deque(maxlen=KEPT_BODIES)
        self.arrivals: deque[float] = deque(maxlen=KEPT_BODIES)
        self.ports: set[int] = set()
        self._answered: Counter[bytes] = Counter()
        self.embedded: Counter[str] = Counter()

    def settings(self, root: Path | str = ".", **of_model: object) -> Settings:
        """Return settings in which the model `openai/fake` is this server; of_model: its other settings."""
        model = msgspec.convert({"base_url": self.base_url, **of_model}, ModelSettings)
        return Settings(models={self.model: model}, root=str(root))

    def toml(self, model: str = model) -> str:
        """Return the table of ragstone.toml that names this server, for tests of the command line."""
        return f'[models."{model}"]\nbase_url = "{self.base_url}"\n'

    @property
    def prompts(self) -> list[str]:
        """What was asked, in order."""
        return [prompt_of(body) for body in self.bodies]

    async def serve(self, port: int = 0) -> web.ServerRunner:
        """Start to listen on 127.0.0.1; call `cleanup` of what comes back to stop."""
        # Not 0, by which aiohttp waits for replies under way for ever.
        runner = web.ServerRunner(web.Server(self._respond, handler_cancellation=True), shutdown_timeout=0.01)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
        await site.start()
        self.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        return runner

    async def _respond(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path.endswith("/stats"):
            return web.json_response(self.stats())
        if request.path.endswith("/let_go"):
            self._let_go.set()
            self.batches.held = False
            return web.json_response(self.stats())
        if "/files" in request.path or "/batches" in request.path:
            if self.key is not None and request.headers.get("Authorization") != f"Bearer {self.key}":
                return web.json_response({"error": {"message": "Incorrect API key provided"}}, status=401)
            return await self.batches.respond(request, self._answer_in_batch)
        content = await request.read()
        self.n_requests += 1
        if request.transport is not None:
            self.ports.add(request.transport.get_extra_info("peername")[1])
        self.arrivals.append(time.monotonic())
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.gate is None:
                return await self._reply(request, content, self.latency_s)
            waits = self.n_requests > self.gate and not self._let_go.is_set()
            if waits:
                await self._let_go.wait()
            return await self._reply(request, content, self.latency_s * waits)
        except asyncio.CancelledError:
            self.n_cut_off += 1
            raise
        finally:
            self.in_flight -= 1

    async def _reply(self, request: web.BaseRequest, content: bytes, latency_s: float) -> web.StreamResponse:
        body = msgspec.json.decode(content)
        self.bodies.append(body)
        embedding = request.path.endswith("/embeddings")
        said = self._check(request, body) or (self.embedding if embedding else self.script)(body)
        if isinstance(said, str):
            said = Said(text=said)
        if said.hang:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), HANG_S)
        elif latency_s:
            await asyncio.sleep(latency_s)
        if said.cut and request.transport is not None:
            request.transport.abort()
        if embedding and said.status == 200 and not (said.cut or said.hang):
            self.embedded.update(body["input"])
        if said.raw is not None:
            kind = "text/html" if said.raw.startswith(b"<") else "application/json"
            return web.Response(
                body=said.raw, status=said.status, headers={**said.headers, "Content-Type": kind}
            )
        self._note(content)
        if body.get("stream") and self.streams:
            return await self._stream(request, body, said, len(content))
        return web.Response(body=_completion(body, said, len(content)), content_type="application/json")

    async def _stream(
        self, request: web.BaseRequest, body: Body, said: Said, n_bytes: int
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in _pieces_of(said):
            await response.write(event)
            if self.piece_s:
                await asyncio.sleep(self.piece_s)
        if said.events is not None:
            await response.write(said.events)
        if said.then == "hang":
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), HANG_S)
        elif said.then == "cut" and request.transport is not None:
            request.transport.abort()
        elif said.events is None:
            end: list[dict[str, Any]] = [
                {"choices": [{"index": 0, "delta": {}, "finish_reason": said.finish_reason}]}
            ]
            if (body.get("stream_options") or {}).get("include_usage"):
                end.append({"choices": [], "usage": _usage_of(said, n_bytes)})
            await response.write(b"".join(map(_event, end)) + b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    def answer(self, content: bytes) -> tuple[int, bytes]:
        """Return status and body of the reply to a request, which is noted."""
        body = msgspec.json.decode(content)
        self.n_requests += 1
        self.bodies.append(body)
        self._note(content)
        return self._answer_in_batch(body, content)

    def _note(self, content: bytes) -> None:
        digest = hashlib.blake2b(content, digest_size=12).digest()
        self.n_asked_again += self._answered[digest] > 0
        self._answered[digest] += 1

    def _answer_in_batch(self, body: Body, content: bytes) -> tuple[int, bytes]:
        said = self.script(body)
        said = Said(text=said) if isinstance(said, str) else said
        return said.status, _completion(body, said, len(content)) if said.raw is None else said.raw

    def _check(self, request: web.BaseRequest, body: Body) -> Said | None:
        if self.key is not None:
            given = request.headers.get("Authorization", "").removeprefix("Bearer ")
            if given != self.key:
                return fail(401, f"Incorrect API key provided: {given}.", code="invalid_api_key")
        if self.models is not None and body["model"] not in self.models:
            message = f"The model '{body['model']}' does not exist"
            return fail(404, message, code="model_not_found")
        if mode_of(body) in self.refuse:
            return fail(400, f"response_format of type {mode_of(body)} is not supported here")
        for name in sorted(self.refuse & {"stream", "stream_options"} & body.keys()):
            return fail(400, f"Unknown parameter: {name}")
        return None

    def stats(self) -> dict[str, int]:
        """Return the counts, as GET /stats gives them."""
        return {
            "n_requests": self.n_requests,
            "most_in_flight": self.most_in_flight,
            "in_flight": self.in_flight,
            "n_answered": sum(self._answered.values()),
            "n_asked_again": self.n_asked_again,
            "n_cut_off": self.n_cut_off,
            "n_embedded": self.embedded.total(),
            "n_embedded_again": self.embedded.total() - len(self.embedded),
            "n_batches": len(self.batches.made),
            "n_batch_calls": self.batches.n_calls,
            "n_looks": self.batches.n_looks,
        }


def _completion(body: Body, said: Said, n_bytes: int) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": said.text}
    if said.refusal is not None:
        message = {"role": "assistant", "content": None, "refusal": said.refusal}
    elif body.get("tools"):
        call = {"name": body["tools"][0]["function"]["name"], "arguments": said.text}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_0", "type": "function", "function": call}],
        }
    return msgspec.json.encode(
        {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": said.finish_reason}],
            "usage": _usage_of(said, n_bytes),
        }
    )


def _usage_of(said: Said, n_bytes: int) -> dict[str, Any]:
    return said.usage or {
        "prompt_tokens": n_bytes // 4,
        "completion_tokens": len(said.text) // 4 + 1,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def _pieces_of(said: Said) -> Iterator[bytes]:
    yield _event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
    if said.refusal is not None:
        yield _event({"choices": [{"index": 0, "delta": {"refusal": said.refusal}}]})
        return
    for piece in re.findall(r"\S*\s*", said.text)[:-1] if said.pieces is None else said.pieces:
        yield _event({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]})


def _event(chunk: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode({"object": "chat.completion.chunk", **chunk}) + b"\n\n"


@contextlib.contextmanager
def serving(of: FakeOpenAI | None = None) -> Iterator[FakeOpenAI]:
    """Give a server that runs in a thread of this process. of: one of another kind."""
    fake = of or FakeOpenAI()
    ready, stop = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def main() -> None:
        loops.append(asyncio.get_running_loop())
        runner = await fake.serve()
        ready.set()
        await stop.wait()
        fake._closing.set()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: asyncio.run(main()), name="fake-openai", daemon=True)
    thread.start()
    assert ready.wait(60), "the fake server did not start"
    try:
        yield fake
    finally:
        loops[0].call_soon_threadsafe(stop.set)
        thread.join(60)


@contextlib.contextmanager
def serving_as(*options: str) -> Iterator[str]:
    """Give the base_url of a server in a thread of this process, which others ask; options: see `--help`."""
    with serving(_server_of(_options(options))) as fake:
        yield fake.base_url


@contextlib.contextmanager
def running(*options: str) -> Iterator[str]:
    """Give the base_url of a server in a process of its own; options: see `--help`."""
    command = [sys.executable, "-m", "tests.support.fake_openai", *options]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def stats(base_url: str) -> dict[str, int]:
    """Return the counts of a server in another process."""
    return _counts(f"{base_url}/stats")


def let_go(base_url: str) -> None:
    """Have a server in another process answer what waits at its gate, and all that comes later."""
    _counts(f"{base_url}/let_go")


def _counts(address: str) -> dict[str, int]:
    # Without a limit in seconds: a machine that halts for minutes is no fault of what is tested.
    with urllib.request.urlopen(address) as response:
        return dict(json.load(response))


def wait_for(base_url: str, count: str, n: int, asking: subprocess.Popen[str]) -> None:
    """Wait until a server in another process has counted so far.

    Fail after 3,000 looks, and at once where the process that asks it has ended, with what that said.
    """
    for _ in range(3000):
        has_ended = asking.poll() is not None
        if stats(base_url)[count] >= n:
            return
        if has_ended:
            said = asking.stderr.read() if asking.stderr else ""
            raise AssertionError(f"ended with {asking.returncode}, asked {stats(base_url)}: {said}")
        time.sleep(0.02)
    raise AssertionError(f"the endpoint saw {stats(base_url)}")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.support.fake_openai", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 for any free one")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--piece", type=float, default=0.0, metavar="SECONDS", help="of a stream")
    parser.add_argument("--gate", type=int, default=None, metavar="N", help="more, and batches, wait")
    parser.add_argument("--rate-limited", type=float, default=0.0, metavar="SHARE", help="HTTP 429")
    parser.add_argument("--retry-after", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--malformed", type=float, default=0.0, metavar="SHARE", help="cut-off JSON")
    parser.add_argument("--broken", type=float, default=0.0, metavar="SHARE", help="HTTP 500")
    parser.add_argument("--hanging", type=float, default=0.0, metavar="SHARE", help="never answered")
    parser.add_argument(
        "--answered", type=int, default=0, metavar="N", help="so many first ones, whatever else"
    )
    parser.add_argument("--script", default=None, metavar="MODULE:NAME", help="what is said otherwise")
    parser.add_argument("--refuse", action="append", default=[], metavar="MODE")
    parser.add_argument("--key", default=None)
    parser.add_argument("--batch-looks", type=int, default=1, metavar="N", help="looks until one is over")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lifetime", type=float, default=300.0, metavar="SECONDS")
    return parser.parse_args(arguments)


def _server_of(options: argparse.Namespace) -> FakeOpenAI:
    fake = FakeOpenAI()
    fake.latency_s, fake.key, fake.refuse = options.latency, options.key, set(options.refuse)
    fake.piece_s, fake.gate = options.piece, options.gate
    fake.batches.takes_looks, fake.batches.held = options.batch_looks, options.gate is not None
    if options.script:
        module, _, name = options.script.partition(":")
        fake.script = getattr(importlib.import_module(module), name)
    faults = [
        (options.rate_limited, fail(429, "Rate limit reached", retry_after=options.retry_after)),
        (options.malformed, say('{"nonce": "0", "reason": "cut o', finish_reason="length")),
        (options.broken, fail(500, "The server had an error")),
        (options.hanging, hang()),
    ]
    if any(share for share, _ in faults):
        answered = [fake.script] * options.answered
        fake.script = in_turn(*answered, sometimes(faults, options.seed, fake.script))
        fake.embedding = sometimes(faults, options.seed, embed_words)
    return fake


async def main(arguments: list[str] | None = None) -> None:
    """Serve until the parent ends or the lifetime is over; the first line printed is the base_url."""
    options = _options(arguments)
    fake = _server_of(options)
    runner = await fake.serve(options.port)
    print(fake.base_url, flush=True)
    parent, end = os.getppid(), time.monotonic() + options.lifetime
    while os.getppid() == parent and time.monotonic() < end:  # noqa: ASYNC110 - a parent's end is no event
        await asyncio.sleep(0.5)
    fake._closing.set()
    await runner.cleanup()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
