"""What asking an application behind HTTP costs beside a bare aiohttp loop: `python benchmarks/systems.py`.

A fake endpoint runs in a process of its own and answers after 50 ms. Both ask it the same questions, 64 in
flight, in turn in this process; the minimum of several rounds is shown. Ours goes through template, ledger,
limits, budget and JSONPath, and comes back as Answer rows; the bare loop decodes the reply, keeps its text.
CPU is of this process only. The ideal wall time is latency x calls / in flight.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path

import aiohttp
import msgspec

from ragstone.kernel.config import HttpSystem, PythonSystem, Settings, SystemSettings
from ragstone.kernel.engine.session import open_session
from ragstone.kernel.records import Question
from ragstone.kernel.stages.answer import system_rows

sys.path.insert(0, str(Path(__file__).parents[1]))  # this file is no part of the package

from tests.support.fake_openai import running

LATENCY_S = 0.05
IN_FLIGHT = 64


def questions(n: int, number: int) -> list[Question]:
    """Return n questions, others in every round, so that the ledger knows none of them."""
    text = "when should maize be side-dressed with nitrogen after heavy rain?"
    return [Question(id=f"{number}-{n}", question=f"Field {number}-{n}: {text}") for n in range(n)]


async def bare(url: str, asked: list[Question]) -> int:
    """Ask with aiohttp alone."""
    left, answers = iter(asked), []

    async def work(session: aiohttp.ClientSession) -> None:
        for question in left:
            body = {
                "model": "fake",
                "messages": [{"role": "user", "content": question.question}],
                "max_tokens": 9,
            }
            async with session.post(url, data=msgspec.json.encode(body)) as response:
                reply = msgspec.json.decode(await response.read())
                answers.append(reply["choices"][0]["message"]["content"])

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as session:
        await asyncio.gather(*(work(session) for _ in range(IN_FLIGHT)))
    return len(answers)


async def ours(declared: SystemSettings, root: str, asked: list[Question]) -> int:
    """Ask as a system of `[systems]`."""
    async with open_session(Settings(root=root, systems={"mine": declared})) as session:
        rows = [row async for row in system_rows("mine", asked, [], [], session)]
    assert not any(row.error for row in rows), rows[0].error
    return len(rows)


async def no_time(question: str) -> str:
    """Answer as the fake endpoint would, without HTTP."""
    await asyncio.sleep(LATENCY_S)
    return question


def measure(work: Callable[[], Coroutine[None, None, int]]) -> tuple[float, float]:
    """Return wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    asyncio.run(work())
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    """Run the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {}
    with running("--latency", str(LATENCY_S)) as base_url, tempfile.TemporaryDirectory() as folder:
        url = f"{base_url}/chat/completions"
        http = HttpSystem(
            url=url,
            request={
                "model": "fake",
                "messages": [{"role": "user", "content": "{question}"}],
                "max_tokens": 9,
            },
            answer="$.choices[0].message.content",
            input_tokens="$.usage.prompt_tokens",
            output_tokens="$.usage.completion_tokens",
            max_concurrency=IN_FLIGHT,
        )
        python = PythonSystem(call=f"{Path(__file__).stem}:no_time", max_concurrency=IN_FLIGHT)
        sys.path.insert(0, str(Path(__file__).parent))
        for number in range(options.rounds + 1):
            asked = questions(options.calls, number)
            ways: dict[str, Callable[[], Coroutine[None, None, int]]] = {
                "aiohttp, bare": partial(bare, url, asked),
                "http system": partial(ours, http, folder, asked),
                "the same, from the ledger": partial(ours, http, folder, asked),
                "python system, async, 50 ms": partial(ours, python, folder, asked),
            }
            for name, work in ways.items():
                timing = measure(work)
                if number:  # the first round imports and opens
                    found.setdefault(name, []).append(timing)
    ideal = LATENCY_S * options.calls / IN_FLIGHT
    print(
        f"{options.calls} calls, {IN_FLIGHT} in flight, {LATENCY_S * 1000:.0f} ms; ideal wall {ideal:.2f} s"
    )
    print(f"{'':<32}{'wall s':>8}{'CPU ms/call':>13}{'overhead ms/call (CPU)':>24}")
    floor = min(cpu for _, cpu in found["aiohttp, bare"])
    for name, timings in found.items():
        wall, cpu = min(timing[0] for timing in timings), min(timing[1] for timing in timings)
        over = f"{1000 * (cpu - floor) / options.calls:.2f}"
        print(f"{name:<32}{wall:>8.2f}{1000 * cpu / options.calls:>13.2f}{over:>24}")


if __name__ == "__main__":
    main()
