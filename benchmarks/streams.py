"""What `Door.stream` costs beside bare aiohttp: `python benchmarks/streams.py`.

A fake endpoint in a process of its own streams replies of 100 words, each word an event. 200 streams are
open at once, by the door (limits, budget, ledger in memory, thoughts left out) and by aiohttp alone, which
splits the lines and decodes the events; in turn, five times, the quickest of each. CPU is of this process
only.
"""

import argparse
import asyncio
import sys
import time
from pathlib import Path

import aiohttp
import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))  # this file is no part of the package

from tests.support.fake_openai import running

from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.llm import Message, Prompt, open_door
from ragstone.kernel.llm.response_store import MemoryLedger

WORDS = 100
ROUNDS = 5


def answer(_body: dict[str, object]) -> str:
    """Return what the endpoint says."""
    return "maize " * WORDS


def question(number: int) -> Prompt:
    """Return the prompt of stream number so-and-so."""
    return Prompt(messages=(Message("user", f"Field {number}: what does maize need? " * 20),))


async def by_door(base_url: str, first: int, n: int) -> int:
    """Return how many pieces came."""
    pieces = 0

    def hear(_piece: str) -> None:
        nonlocal pieces
        pieces += 1

    model = ModelSettings(base_url=base_url, max_concurrency=n)
    settings = Settings(models={"openai/fake": model})
    async with open_door("openai/fake", settings, MemoryLedger()) as door:
        replies = await asyncio.gather(*(door.stream(question(first + at), hear) for at in range(n)))
    assert all(reply.text == "maize " * WORDS for reply in replies)
    return pieces


async def by_aiohttp(base_url: str, first: int, n: int) -> int:
    """Return how many pieces came."""
    decode = msgspec.json.Decoder().decode

    async def one(session: aiohttp.ClientSession, number: int) -> int:
        pieces = []
        body = msgspec.json.encode(
            {"model": "fake", "messages": question(number).messages, "max_tokens": 1024, "stream": True}
        )
        async with session.post(f"{base_url}/chat/completions", data=body) as response:
            async for line in response.content:
                if line.startswith(b"data: {"):
                    choices = decode(line[6:])["choices"]
                    if choices and choices[0]["delta"].get("content"):
                        pieces.append(choices[0]["delta"]["content"])
        assert "".join(pieces) == "maize " * WORDS
        return len(pieces)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=n)) as session:
        return sum(await asyncio.gather(*(one(session, first + at) for at in range(n))))


def main() -> None:
    """Print a line for each client."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--piece", type=float, default=0.005, help="seconds between two words")
    options = parser.parse_args()
    n = options.streams
    best: dict[str, tuple[float, float]] = {}
    script = ("--script", "benchmarks.streams:answer", "--piece", str(options.piece))
    with running(*script) as base_url:
        for turn in range(ROUNDS + 1):
            for name, client in (("aiohttp, bare", by_aiohttp), ("Door.stream", by_door)):
                wall, cpu = time.perf_counter(), time.process_time()
                pieces = asyncio.run(client(base_url, turn * n, n))
                took = (time.process_time() - cpu, time.perf_counter() - wall)
                assert pieces == n * WORDS
                if turn:  # the first turn warms up
                    best[name] = min(took, best.get(name, took))
    print(f"{n} streams at once, {WORDS} pieces each")
    print(f"{'':<16}{'CPU ms/stream':>14}{'CPU µs/piece':>14}{'wall s':>9}")
    for name, (cpu_s, wall_s) in best.items():
        print(f"{name:<16}{1000 * cpu_s / n:>14.2f}{1e6 * cpu_s / n / WORDS:>14.1f}{wall_s:>9.2f}")
    bare, ours = best["aiohttp, bare"][0], best["Door.stream"][0]
    print(f"ratio {ours / bare:.2f}")


if __name__ == "__main__":
    main()
