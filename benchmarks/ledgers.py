"""What a ledger costs, in a file and in PostgreSQL: `python benchmarks/ledgers.py`.

Responses of 300 characters are stored and looked up by 64 callers at once, each of whom waits for one before
the next, and by one alone. Then a door asks a model that answers at once, so that what is left is our own
work: ledger, claim, limits, budget and checking. PostgreSQL is a server of our own on this machine, as
Debian packages it, on a Unix socket, with its default settings; a network adds its round trip to what one
alone waits for. CPU is of this process only.
"""

import argparse
import asyncio
import gc
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from ragstone.kernel.config import LedgerSection, ModelSettings, Settings
from ragstone.kernel.llm import AnyLedger, Budget, Door, open_ledger
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.transport import Endpoint
from ragstone.kernel.records import Usage

sys.path.insert(0, str(Path(__file__).parents[1]))  # this file is no part of the package

from tests.support.doors import prompt, verdict
from tests.support.postgres import PROGRAMS, serving_postgres

CALLERS = 64
SAID = Completion(text="x" * 300, usage=Usage(input=400, output=30), latency_s=0.5)


class Took(NamedTuple):
    """What n pieces of work took."""

    n: int
    wall_s: float
    cpu_s: float


async def measure(work: Callable[[int], Awaitable[object]], n: int, callers: int) -> Took:
    """Return what it takes to do `work(0)` to `work(n - 1)`, so many at once."""
    left = iter(range(n))

    async def caller() -> None:
        for number in left:
            await work(number)

    gc.collect()
    started, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(caller() for _ in range(callers)))
    return Took(n, time.perf_counter() - started, time.process_time() - cpu)


async def measure_ledger(settings: Settings, n: int) -> list[tuple[str, Took]]:
    """Return the lines of one ledger's table."""
    ledger = open_ledger(settings)

    def key(number: int) -> bytes:
        return number.to_bytes(16, "big")

    try:
        return [
            (f"put, {CALLERS} at once", await measure(lambda k: ledger.put(key(k), "m", SAID), n, CALLERS)),
            (f"find, {CALLERS} at once", await measure(lambda k: ledger.find(key(k)), n, CALLERS)),
            ("put, alone", await measure(lambda k: ledger.put(key(n + k), "m", SAID), n // 20, 1)),
            ("find, alone", await measure(lambda k: ledger.find(key(k)), n // 20, 1)),
            (f"a new call, {CALLERS} at once", await measure(asking(ledger), n, CALLERS)),
            (f"a call that is there, {CALLERS} at once", await measure(asking(ledger), n, CALLERS)),
        ]
    finally:
        ledger.close()


def asking(ledger: AnyLedger) -> Callable[[int], Awaitable[object]]:
    """Return what asks a door, whose model answers at once."""

    async def send(_prompt: object) -> Completion:
        return Completion(text=verdict(), usage=Usage(input=400, output=30))

    endpoint = Endpoint(identity="function/model", send=send, concurrency=CALLERS, price=None)
    door = Door(endpoint, ModelSettings(max_concurrency=CALLERS), ledger, Budget(), offline=False)
    return lambda number: door.ask(prompt(f"row {number}"))


def show(name: str, lines: list[tuple[str, Took]]) -> None:
    """Print one ledger's table."""
    print(f"\n{name:<40}{'per s':>9}{'wall us':>9}{'CPU us':>9}")
    for what, (n, wall_s, cpu_s) in lines:
        print(f"{what:<40}{n / wall_s:9,.0f}{1e6 * wall_s / n:9.1f}{1e6 * cpu_s / n:9.1f}")


def best(settings: Callable[[], Settings], n: int, rounds: int) -> list[tuple[str, Took]]:
    """Return the quickest of several rounds, line by line, each with a ledger of its own."""
    tables = [asyncio.run(measure_ledger(settings(), n)) for _ in range(rounds)]
    return [min(line, key=lambda entry: entry[1].wall_s) for line in zip(*tables, strict=True)]


def main() -> None:
    """Run the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fresh = iter(range(options.rounds))
        show("SQLite", best(lambda: Settings(root=f"{folder}/{next(fresh)}"), options.rows, options.rounds))
        if not PROGRAMS:
            print("\nThere is no PostgreSQL here: apt-get install postgresql")
            return
        with serving_postgres(durable=True) as server:

            def in_postgres() -> Settings:
                return Settings(root=folder, ledger=LedgerSection(url=server.url(server.new_schema())))

            show("PostgreSQL", best(in_postgres, options.rows, options.rounds))


if __name__ == "__main__":
    main()
