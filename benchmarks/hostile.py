"""The server among people who want to stop it: hostile questions, files and connections, while others chat.

The real server runs as `ragstone serve` starts it, with the stand-ins of `benchmarks.serving` for the model
and the embedder; clients, model and a process that asks /health all the time share the cores with it.

- chats: 200 at the same moment: 195 who ask once, 5 who ask hostile questions of 32 KB all the while.
- files: 60 hostile ones, see `benchmarks.hostile_files`, are uploaded, and read or refused with a reason.
- connections: 200 whose heads or bodies never end, or drip, while 20 chat.

Two limits that need no server are held here too, and end it with 1 where they are passed:

- growth: every page of the workbench for rows of hostile texts: by 4 x what came in, and its cap, at most.
- spans: 10,000 spans of a trace in chains, circles and fans, beside 2,500: in linear time.

/health: the longest that an answer took, and the longest but one in a hundred, from the first byte sent.
"""

import argparse
import asyncio
import collections
import contextlib
import http.client
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import aiohttp
from benchmarks.hostile_files import hostile_files
from benchmarks.serving import MODEL_S, chat, memory_mb, started, write_project
from tests.support.growth import HOSTILE as TEXTS
from tests.support.growth import allowed, sizes
from tests.support.spans_of_shapes import SHAPES, spans_of

from ragstone.kernel.tables.interchange.trace_steps import TraceStep
from ragstone.kernel.tables.interchange.traces import answers_of

CHATS, HOSTILE, SLOW = 200, 5, 200
LONGEST_S = 200.0  # a file takes 60 s of computing at most, and 180 s by the clock
KB32 = 32_000
QUESTIONS: tuple[str, ...] = tuple(
    (piece * KB32)[:KB32] + end
    for piece, end in (
        *(
            ("{", "Z@ z"),
            ("|", "Z@ z"),
            ("a.", "!"),
            ("[", "]("),
            (" ", "x"),
            ("<!--", ""),
            ("# ", "!"),
            ("1", "x"),
        ),
        *(
            (".", "x"),
            ("1.", "x"),
            ("\n", "x"),
            ("-", "@"),
            ("a@", ""),
            ("+1 ", "x"),
            ("http://", ""),
            ("é", ""),
        ),
        *(
            ("\u0301", ""),
            ("\u202e", ""),
            ("(", ")"),
            ("maize ", "?"),
            ("Wie ", "?"),
            ("مرحبا ", "؟"),
            ("农", "?"),
        ),
    )
)
"""Cut to max_question_kb, which counts bytes, where they are asked."""


class Health(NamedTuple):
    """What asking /health all the time has shown, in seconds."""

    asked: int
    failed: int
    p99: float
    longest: float


def probe(address: str) -> None:
    """Ask /health 50 times a second until the parent ends; then print what came."""
    host = address.removeprefix("http://")
    took, failed, ended = [], 0, False
    os.set_blocking(sys.stdin.fileno(), False)
    connection = http.client.HTTPConnection(host, timeout=120)
    while not ended:
        began = time.perf_counter()
        try:
            connection.request("GET", "/health")
            response = connection.getresponse()
            response.read()
            failed += response.status != 200
        except OSError:
            failed += 1
            connection.close()
        took.append(time.perf_counter() - began)
        time.sleep(max(0.0, 0.02 - took[-1]))
        ended = sys.stdin.buffer.read(1) == b"."
    took.sort()
    print(json.dumps([len(took), failed, took[int(len(took) * 0.99)], took[-1]]))


@asynccontextmanager
async def probed(address: str) -> AsyncIterator[Callable[[], Health]]:
    """Ask /health within the block; behind it the function tells what came."""
    here = Path(__file__).parents[1]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.hostile", "--probe", address),
        cwd=here,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    told: list[Health] = []
    await asyncio.sleep(3)  # its imports
    try:
        yield lambda: told[0]
    finally:
        out, _ = await process.communicate(b".")
        told.append(Health(*json.loads(out)))


@asynccontextmanager
async def server() -> AsyncIterator[tuple[int, str]]:
    """Give the process id and the address of a server."""
    here = Path(__file__).parents[1]
    stub = (sys.executable, "-m", "benchmarks.serving", "--stubbed")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        async with started(sys.executable, "-m", "benchmarks.serving", "--endpoint", cwd=here) as (
            _,
            base_url,
        ):
            write_project(folder, base_url, "packaged")
            build = await asyncio.create_subprocess_exec(
                *stub, "assistant", "build", cwd=folder, env=_environment(), stdout=asyncio.subprocess.DEVNULL
            )
            assert await build.wait() == 0
            async with started(*stub, "serve", cwd=folder) as (process, address):
                yield process.pid, address


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}


async def chats(address: str) -> str:
    """Return the row of the chats."""
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(address, connector=connector) as session, probed(address) as told:
        await chat(session, 999_999, 1, 0)  # what is opened on first use
        hostile = [asyncio.create_task(_hostile(address, n)) for n in range(HOSTILE)]
        await asyncio.sleep(0.5)
        began = time.perf_counter()
        asked = (chat(session, number, 1, 0) for number in range(CHATS - HOSTILE))
        replies = await asyncio.gather(*asked, return_exceptions=True)
        wall_s = time.perf_counter() - began
        for one in hostile:
            one.cancel()
        ended = await asyncio.gather(*hostile, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in ended), ended
    answered = [reply[0].seconds for reply in replies if isinstance(reply, list)]
    lost = [reply for reply in replies if not isinstance(reply, list)]
    words = f"{len(answered)} of {CHATS - HOSTILE} answered in {wall_s:.1f} s (the model: {MODEL_S:.1f})"
    return _row("chats", words + (f"; first failure {lost[0]!r}" if lost else ""), told())


async def _hostile(address: str, number: int) -> None:
    """Ask one hostile question after the other, until it is cancelled."""
    async with aiohttp.ClientSession(address) as session:
        for turn in range(10_000):
            question = QUESTIONS[(number + HOSTILE * turn) % len(QUESTIONS)]
            text = f"field {number}-{turn} {question}".encode()[:KB32].decode(errors="ignore")
            body = {"model": "assistant", "messages": [{"role": "user", "content": text}]}
            async with session.post("/v1/chat/completions", json=body) as response:
                await response.read()
                assert response.status == 200, await response.text()


async def files(address: str, only: str) -> str:
    """Return the row of the files; each is told on standard error."""
    outcomes: collections.Counter[str] = collections.Counter()
    longest, slowest = 0.0, ""
    made = [one for one in hostile_files() if only in one[0]]
    async with aiohttp.ClientSession(address) as session, probed(address) as told:
        for name, content in made:
            began = time.perf_counter()
            outcome, words = await _uploaded(session, name, content)
            took_s = time.perf_counter() - began
            outcomes[outcome] += 1
            print(f"{took_s:7.2f} s  {name}: {outcome} {words[:150]}", file=sys.stderr, flush=True)
            if took_s > longest:
                longest, slowest = took_s, name
    kinds = ", ".join(f"{n} {outcome}" for outcome, n in sorted(outcomes.items()))
    return _row("files", f"{len(made)}: {kinds}; the slowest {longest:.1f} s ({slowest})", told())


async def _uploaded(session: aiohttp.ClientSession, name: str, content: bytes) -> tuple[str, str]:
    """Return what became of a file, and why."""
    form = aiohttp.FormData()
    form.add_field("file", content, filename=name)
    async with asyncio.timeout(LONGEST_S + 60):
        async with session.post("/v1/documents", data=form) as response:
            answer = await response.json()
            if response.status in (413, 422):
                return "refused", answer["detail"]
            assert response.status == 202, answer
        waited_s = time.monotonic() + LONGEST_S
        while answer["state"] in ("waiting", "running"):
            await asyncio.sleep(0.05)
            if time.monotonic() > waited_s:
                async with session.post(f"/v1/jobs/{answer['id']}/stop") as response:
                    answer = await response.json()
            else:
                async with session.get(f"/v1/jobs/{answer['id']}") as response:
                    answer = await response.json()
    if answer["state"] == "done":
        async with session.delete(f"/v1/documents/uploads/{name}") as response:
            await response.read()
    return {"done": "read", "failed": "refused"}.get(answer["state"], answer["state"]), "; ".join(
        answer["errors"]
    )


async def connections(address: str) -> str:
    """Return the row of the connections."""
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(address, connector=connector) as session, probed(address) as told:
        slow = [asyncio.create_task(_slow(address, number)) for number in range(SLOW)]
        talking = [asyncio.create_task(chat(session, number, 8, 0.1 * number)) for number in range(20)]
        closed = await asyncio.gather(*slow)
        replies = await asyncio.gather(*talking)
    heads, bodies = (max(took for kind, took in closed if kind == one) for one in ("head", "body"))
    said = sum(map(len, replies))
    words = f"{SLOW} closed: heads in {heads:.1f} s, bodies in {bodies:.1f} s; {said} of 160 turns answered"
    return _row("connections", words, told())


async def _slow(address: str, number: int) -> tuple[str, float]:
    """Return what never ended, and after how many seconds the server closed it."""
    host, _, port = address.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    path = "/workbench/login" if number % 4 < 2 else "/v1/chat/completions"
    head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    kind = "body" if number % 2 else "head"
    began = time.perf_counter()
    writer.write((head + ("Content-Length: 90000\r\n\r\n{" if kind == "body" else "")).encode())
    with contextlib.suppress(ConnectionError):
        while number % 8 >= 4:  # drips
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(reader.read(1000), 1)
                break
            writer.write(b"x" if kind == "body" else b"x: y\r\n")
        while await reader.read(1000):
            pass
    writer.close()
    return kind, time.perf_counter() - began


def growth() -> str:
    """Return the row of the pages. Raises SystemExit where one grows beyond what is allowed."""
    longest, where = 0, ""
    with tempfile.TemporaryDirectory() as made:
        plain = sizes(Path(made) / "plain", "short")
        for name, text in TEXTS.items():
            grown = {path: size - plain[path] for path, size in sizes(Path(made) / name, text).items()}
            page = max(grown, key=lambda path: grown[path] / allowed(path, text))
            print(f"{grown[page]:12,} of {allowed(page, text):,}  {name}: {page}", file=sys.stderr)
            if grown[page] > allowed(page, text):
                sys.exit(f"{page} grows by {grown[page]:,} characters for {name} > {allowed(page, text):,}")
            if grown[page] > longest:
                longest, where = grown[page], f"{name}: {page}"
    return f"| growth | {len(TEXTS)} texts; at most {longest:,} characters ({where}) | | | | |"


def spans() -> str:
    """Return the row of the spans. Raises SystemExit where their time grows faster than their number."""
    slowest = 0.0
    for shape in SHAPES:
        few, many = (_read_s(spans_of(shape, n)) for n in (2_500, 10_000))
        slowest = max(slowest, many)
        print(f"{few:8.3f} s {many:8.3f} s  {shape}", file=sys.stderr)
        if many > 8 * max(few, 0.01):
            sys.exit(f"{shape}: 2,500 spans take {few:.3f} s, and 10,000 {many:.3f} s: that is not linear")
    return f"| spans | {len(SHAPES)} shapes of 10,000: {slowest:.2f} s at most | | | | |"


def _read_s(steps: list[TraceStep]) -> float:
    took = []
    for _ in range(3):
        began = time.perf_counter()
        collections.deque(answers_of(steps, "a.jsonl"), maxlen=0)
        took.append(time.perf_counter() - began)
    return min(took)


def _row(what: str, words: str, health: Health) -> str:
    return (
        f"| {what} | {words} | {health.asked} | {health.failed} | {health.p99 * 1000:.0f} | "
        f"{health.longest * 1000:.0f} |"
    )


async def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--probe", help="be what asks /health")
    parser.add_argument("--rows", default="growth,spans,chats,files,connections")
    parser.add_argument("--only", default="", help="files whose names hold this")
    options = parser.parse_args()
    if options.probe:
        probe(options.probe)
        return
    print("| | what came | /health asked | failed | p99 ms | longest ms |\n|---|---|---:|---:|---:|---:|")
    for row in options.rows.split(","):
        if row in ("growth", "spans"):
            print({"growth": growth, "spans": spans}[row](), flush=True)
            continue
        async with server() as (pid, address):
            if row == "files":
                print(await files(address, options.only), flush=True)
            else:
                print(await {"chats": chats, "connections": connections}[row](address), flush=True)
            print(f"{row}: the server has had {memory_mb(pid):.0f} MB at most", file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(main())
