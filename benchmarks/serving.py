"""200 people chat at once: what our server adds to the model's own time: `python -m benchmarks.serving`.

Three processes on one machine: a model endpoint that plans in 0.5 s and answers in 1.5 s, in ten pieces;
`ragstone serve` as people run it, with its agent, its knowledge base, guards, log and conversations on disk;
and the clients, who stream. Chats begin spread over the time of one reply, and go on without a pause. The
overhead of a turn is the client's time, from the request to `[DONE]`, less what the endpoint itself took for
that turn's calls by its own clock. It holds the network of this machine, and the other two processes' share
of its cores. CPU and memory are the server's.

Rows are embedders of the questions: `stub`, a bag of words in the server; `endpoint`, the same over HTTP;
`packaged`, as it ships (fewer chats: it is what limits them). Row `api` has none, and no agent: the API, its
log and its conversations around an assistant that waits and speaks. --pause: seconds, on average, that
people take between two turns; without, all chats wait for a reply at any time.
"""

import argparse
import asyncio
import collections
import functools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, cast

import aiohttp
import numpy as np
from aiohttp import web
from tests.support.scripts import nonce_in

from ragstone.kernel.config import Settings
from ragstone.kernel.config.serving import LogSection, ServeSection
from ragstone.kernel.embedding import opening
from ragstone.kernel.embedding.model import EmbeddingModel, Role, Vectors, in_batches
from ragstone.kernel.serve.server import listen
from ragstone.workbench.chat import chat_app
from ragstone.workbench.serving import serve_project
from ragstone_assistant._domain import Domain
from ragstone_assistant.assistant import Assistant
from ragstone_assistant.conversation import Asked, Emit, LoopStep, Said, TextPiece
from ragstone_assistant.knowledge.knowledge_base import KnowledgeBase
from ragstone_assistant.log.exchange_log import open_log

PLAN_S, FIRST_S, PIECE_S, PIECES = 0.5, 1.0, 0.05, 10
MODEL_S = PLAN_S + FIRST_S + PIECE_S * PIECES
MARK = re.compile(r"field \d+-\d+")
TEXTS = 100
ANSWER = "Maize is sown in April, when the soil is warm [1]. "
MODEL = """[models."openai/{name}"]
base_url = "{base_url}/v1"
max_concurrency = 1000
"""
RAGSTONE = Path(sys.executable).with_name("ragstone")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
TICKS = 100  # of a second, in /proc


class Turn(NamedTuple):
    """One reply, as a client saw it."""

    mark: str
    seconds: float
    exchange_id: str
    waited: float  # in an assistant that only speaks


async def endpoint() -> None:
    """Serve a model and an embedder until the parent ends; the first line printed is the base_url."""
    took: collections.Counter[str] = collections.Counter()

    async def chat(request: web.Request) -> web.StreamResponse:
        began = time.perf_counter()
        body = await request.json()
        mark = MARK.findall(json.dumps(body["messages"]))[-1]
        usage = {"prompt_tokens": 900, "completion_tokens": 60}
        if not body.get("stream"):
            await asyncio.sleep(PLAN_S)
            chosen = {"do": "search_documents", "with": {"question": f"When is maize sown in {mark}?"}}
            fields = body["response_format"]["json_schema"]["schema"]["properties"]
            bound = {"nonce": nonce_in(body)} if "nonce" in fields else {}
            text = json.dumps({**bound, "thought": "It is in the documents.", "action": chosen})
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            reply = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
            took[mark] += time.perf_counter() - began  # type: ignore[assignment]
            return web.json_response({**reply, "choices": [choice], "usage": usage})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await asyncio.sleep(FIRST_S)
        pieces = [ANSWER[at : at + 6] for at in range(0, len(ANSWER), 6)][:PIECES]
        pieces[-1] += ANSWER[6 * PIECES :]
        for piece in pieces:
            await asyncio.sleep(PIECE_S)
            chunk = {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage}
        took[mark] += time.perf_counter() - began  # type: ignore[assignment]
        await response.write(b"data: " + json.dumps(end).encode() + b"\n\ndata: [DONE]\n\n")
        return response

    async def embed(request: web.Request) -> web.Response:
        texts = (await request.json())["input"]
        vectors = [_by_words(text).tolist() for text in texts]
        listed = [{"index": at, "embedding": one, "object": "embedding"} for at, one in enumerate(vectors)]
        return web.json_response({"data": listed, "model": "m", "usage": {"prompt_tokens": 9}})

    async def told(_request: web.Request) -> web.Response:
        return web.json_response(took)

    app = web.Application()
    app.add_routes([web.post("/v1/chat/completions", chat), web.post("/v1/embeddings", embed)])
    app.add_routes([web.get("/took", told)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.to_thread(sys.stdin.read)


def _by_words(text: str) -> Vectors:
    vector = np.zeros(64, dtype=np.float32)
    for word in text.lower().split():
        vector[zlib.crc32(word.encode()) % 64] += 1
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def stubbed(arguments: list[str]) -> None:
    """Run the command line with a bag of words in place of the packaged embedder."""
    from ragstone.cli.app import app_of

    def embed(texts: Sequence[str], _role: Role) -> Vectors:
        return np.stack([_by_words(text) for text in texts])

    stub = EmbeddingModel(identity="stub", embed=in_batches(embed))
    vars(opening)["packaged_model"] = lambda: stub
    app_of()(args=arguments)


async def speaking(_asked: Asked, emit: Emit) -> Said:
    """Reply as late as the endpoint would; the step tells how long that took."""
    began = time.perf_counter()
    await asyncio.sleep(PLAN_S + FIRST_S)
    for at in range(PIECES):
        await asyncio.sleep(PIECE_S)
        emit(TextPiece(ANSWER[at * 6 : at * 6 + 6]))
    step = LoopStep(
        thought="",
        action="wait",
        arguments={},
        observation="",
        status="done",
        latency_s=time.perf_counter() - began,
    )
    return Said(text=ANSWER, kind="answer", lang="en", steps=(step,))


async def api_alone(folder: Path) -> None:
    """Serve an assistant that only speaks, until SIGTERM."""
    log = open_log(LogSection(), folder, b"a secret of thirty-two bytes, no less")

    async def well() -> dict[str, str]:
        return {}

    async def never(*_: object) -> Said:
        raise NotImplementedError("the benchmark asks only for chats")

    knowledge = cast("KnowledgeBase", None)  # nothing of it is asked for
    assistant = Assistant(
        respond=speaking,
        answer=never,
        health=well,
        knowledge=knowledge,
        log=log,
        domain=Domain(),
        languages=("en",),
    )
    settings = Settings(serve=ServeSection(port=0, requests_per_minute=1_000_000), root=str(folder))
    with listen("127.0.0.1", 0) as bound:
        ready = functools.partial(print, flush=True)
        await serve_project(settings, bound, ready=ready, chat=chat_app(assistant, settings))
    log.close()


def write_project(folder: Path, base_url: str, embedder: str) -> None:
    """Write a project whose model is the endpoint, and documents of which one answers."""
    documents = folder / "documents"
    documents.mkdir()
    for number in range(TEXTS):
        told = f"Maize is sown in April, when the soil is warm. Guide {number} tells of crop {number * 7}.\n"
        (documents / f"{number}.txt").write_text(told)
    models = "".join(MODEL.format(name=name, base_url=base_url) for name in ("m", "embedder"))
    (folder / "ragstone.toml").write_text(
        f"""[run]
model = "openai/m"
[documents]
paths = ["documents"]
[assistant]
embedder = "{embedder}"
topics = false
weather = {{ forecast_url = "" }}
[serve]
port = 0
requests_per_minute = 1000000
{models}"""
    )


@asynccontextmanager
async def started(*command: object, cwd: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """Give a process and the first line that it prints; it is ended with the block."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command), cwd=cwd, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield process, (await process.stdout.readline()).decode().strip()
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def chat(
    session: aiohttp.ClientSession, number: int, turns: int, delay_s: float, pause_s: float = 0
) -> list[Turn]:
    """Hold one conversation; return its turns."""
    await asyncio.sleep(delay_s)
    done: list[Turn] = []
    conversation = None
    draw = random.Random(number)
    for turn in range(turns):
        if turn and pause_s:
            await asyncio.sleep(draw.uniform(0, 2 * pause_s))
        mark = f"field {number}-{turn}"
        asked = {"role": "user", "content": f"When is maize sown in {mark}?"}
        body = {"model": "assistant", "stream": True, "messages": [asked], "lang": "en"}
        if conversation:
            body["conversation_id"] = conversation
        began = time.perf_counter()
        last, ended = b"", False
        async with session.post("/v1/chat/completions", json=body) as response:
            response.raise_for_status()
            async for line in response.content:
                if line.startswith(b"data: {"):
                    last = line
                ended = ended or line == b"data: [DONE]\n"
        seconds = time.perf_counter() - began
        ours = json.loads(last[6:])["ragstone"]
        assert ended, "a reply was cut off"
        assert ours["kind"] == "answer", ours
        conversation = ours["conversation_id"]
        waited = sum(step["latency_s"] for step in ours["steps"])
        done.append(Turn(mark, seconds, ours["exchange_id"], waited))
    return done


def cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process and its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_mb(pid: int) -> float:
    """Return the most memory that a process has had."""
    [line] = [one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


async def measure(embedder: str, chats: int, turns: int, pause_s: float) -> str:
    """Return the row of the table for one embedder."""
    here = Path(__file__).parents[1]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        async with started(sys.executable, "-m", "benchmarks.serving", "--endpoint", cwd=here) as (
            _,
            base_url,
        ):
            write_project(folder, base_url, "openai/embedder" if embedder == "endpoint" else "packaged")
            stub = (sys.executable, "-m", "benchmarks.serving", "--stubbed")
            command = stub if embedder == "stub" else (RAGSTONE,)
            if embedder == "api":
                command = (sys.executable, "-m", "benchmarks.serving", "--api")
            else:
                build = await asyncio.create_subprocess_exec(
                    *(*command, "assistant", "build"), cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL
                )
                assert await build.wait() == 0
            async with started(*command, *(() if embedder == "api" else ("serve",)), cwd=folder) as (
                server,
                address,
            ):
                connector = aiohttp.TCPConnector(limit=0)
                async with aiohttp.ClientSession(address, connector=connector) as session:
                    await chat(session, 999_999, 1, 0)  # what is opened on first use
                    before, began = cpu_s(server.pid), time.perf_counter()
                    draw = random.Random(1)
                    delays = [draw.uniform(0, MODEL_S + pause_s) for _ in range(chats)]
                    replies = await asyncio.gather(
                        *(chat(session, number, turns, delay, pause_s) for number, delay in enumerate(delays))
                    )
                    wall_s, used_s = time.perf_counter() - began, cpu_s(server.pid) - before
                    memory = memory_mb(server.pid)
                    async with session.get(f"{base_url}/took") as response:
                        took = await response.json()
            told = [turn for each in replies for turn in each]
            logged = {
                json.loads(line)["question_id"]
                for file in (folder / "logs").glob("exchanges-*.jsonl")
                for line in file.read_text().splitlines()
            }
    lost = sum(turn.exchange_id not in logged for turn in told)
    model = {turn.mark: turn.waited if embedder == "api" else took[turn.mark] for turn in told}
    over_ms = np.array([turn.seconds - model[turn.mark] for turn in told]) * 1000
    p50, p95, p99 = np.percentile(over_ms, [50, 95, 99])
    return (
        f"| {embedder} | {chats} x {turns} | {len(told) / wall_s:.0f} | {p50:.1f} | {p95:.1f} | {p99:.1f} | "
        f"{used_s / len(told) * 1000:.1f} | {memory:.0f} | {lost} |"
    )


async def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--endpoint", action="store_true", help="be the model")
    parser.add_argument("--chats", type=int, default=200)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--packaged-chats", type=int, default=20)
    parser.add_argument("--rows", default="api,stub,endpoint,packaged")
    parser.add_argument("--pause", type=float, default=0.0)
    options = parser.parse_args()
    if options.endpoint:
        await endpoint()
        return
    print("| embedder | chats x turns | turns/s | p50 ms | p95 ms | p99 ms | CPU ms/turn | MB | lost |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for embedder in options.rows.split(","):
        chats = options.packaged_chats if embedder == "packaged" else options.chats
        print(await measure(embedder, chats, options.turns, options.pause), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--stubbed"]:
        stubbed(sys.argv[2:])
    elif sys.argv[1:2] == ["--api"]:
        asyncio.run(api_alone(Path.cwd()))
    else:
        asyncio.run(main())
