"""One side of a comparison: `python benchmarks/beside_openai.py openai|ragstone BASE_URL N IN_FLIGHT`.

Both sides make the same calls with the same prompt and the same schema, and both check the reply. A process
each, so that neither warms the other; imports and start-up are not counted. Prints wall and CPU as JSON.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.door import ask_all, judge_prompt

from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.llm import Ledger, open_door
from ragstone.kernel.llm.schema import parse_reply


async def by_openai(base_url: str, n: int, in_flight: int) -> None:
    """Ask through openai.AsyncOpenAI with a semaphore, as its users do."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=2)
    gate = asyncio.Semaphore(in_flight)

    async def one(number: int) -> None:
        prompt = judge_prompt(number)
        assert prompt.reply is not None
        assert prompt.schema is not None
        messages: Any = msgspec.to_builtins(prompt.messages)
        schema: Any = json.loads(prompt.schema)
        async with gate:
            completion = await client.chat.completions.create(
                model="fake",
                messages=messages,
                temperature=0,
                max_tokens=prompt.max_tokens,
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "verdict", "strict": True, "schema": schema},
                },
            )
        parse_reply(completion.choices[0].message.content or "", prompt.reply, prompt.nonce)

    await asyncio.gather(*(one(number) for number in range(n)))
    await client.close()


async def by_ragstone(base_url: str, n: int, in_flight: int) -> None:
    """Ask through the door, ledger and all."""
    with tempfile.TemporaryDirectory() as folder:
        model = ModelSettings(base_url=base_url, max_concurrency=in_flight)
        ledger = Ledger(Path(folder) / "ledger.sqlite")
        try:
            async with open_door("openai/fake", Settings(models={"openai/fake": model}), ledger) as door:
                await ask_all(door, range(n), in_flight)
        finally:
            ledger.close()


SIDES: dict[str, Callable[[str, int, int], Awaitable[None]]] = {"openai": by_openai, "ragstone": by_ragstone}


async def main() -> None:
    """Warm up with a few calls, then measure."""
    name, base_url, n, in_flight = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    await SIDES[name](base_url, in_flight, in_flight)
    started, cpu = time.perf_counter(), time.process_time()
    await SIDES[name](base_url, n, in_flight)
    wall_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu
    sys.stdout.buffer.write(msgspec.json.encode({"wall_s": wall_s, "cpu_ms": 1000 * cpu_s / n}))


if __name__ == "__main__":
    asyncio.run(main())
