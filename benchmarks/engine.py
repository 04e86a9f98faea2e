"""What the workers of a cluster cost and bear: `python benchmarks/engine.py [--quick]`.

A fake endpoint runs in a process of its own and answers after 50 ms; 64 calls are made at once, over all
workers. Ray is started on this machine for each run. Its start takes seconds and is left out: the rate is
that of the rows between the end of the first tenth and the last row. `local` and `ray` are measured in turn.
"""

import argparse
import asyncio
import contextlib
import os
import random
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # this file is no part of the package

from tests.support.fake_openai import running, stats  # noqa: E402
from tests.support.ray import kill_a_worker, nodes_of_a_cluster  # noqa: E402

from ragstone.features.judge._sheet import AnswerSheet  # noqa: E402
from ragstone.kernel.config import Settings, choose, load_settings  # noqa: E402
from ragstone.kernel.engine.cluster.driver import cluster_of  # noqa: E402
from ragstone.kernel.engine.output import write_stream  # noqa: E402
from ragstone.kernel.engine.session import open_session  # noqa: E402
from ragstone.kernel.judging.variant import load_judges  # noqa: E402
from ragstone.kernel.records import Answer, Judgement  # noqa: E402
from ragstone.kernel.stages.judge import judge_rows  # noqa: E402
from ragstone.kernel.tables import write_rows  # noqa: E402

LATENCY_S = 0.05
KILLS = 5


class Timing(NamedTuple):
    """What a run came to. rate: rows a second, the start left out. start_s: until the first row.

    cpu_ms: for a row, of this process and all that it started but the endpoint, the start left out.
    """

    rate: float
    cpu_ms: float
    start_s: float
    peak_mb: float
    made: int
    messages: float
    exchanges: float
    content: bytes


def make_sheet(folder: Path, base_url: str, n: int) -> None:
    """Write a sheet of n answers and settings that name the endpoint."""
    answers = (
        Answer(
            question_id=f"q{number}",
            system="mine",
            question=f"Field {number}: when should maize be side-dressed with nitrogen?",
            reference="At V5 to V6, before rapid uptake begins.",
            answer="The guide recommends side-dressing nitrogen at the V6 stage, after a soil test.",
        )
        for number in range(n)
    )
    write_rows(folder / "answers.jsonl", answers, Answer)
    (folder / "ragstone.toml").write_text(f'[models."openai/fake"]\nbase_url = "{base_url}"\n')


async def judged(folder: Path, n: int, settings: Settings) -> Timing:
    """Judge a sheet into a file and return what that took."""
    times: list[float] = []
    cpu_s: list[float] = []
    tenth = n // 10

    def look(_row: Judgement) -> None:
        times.append(time.perf_counter())
        if len(times) in (tenth, n):
            cpu_s.append(_cpu_s())

    peak = [0.0]
    done = threading.Event()
    watching = threading.Thread(target=_watch_memory, args=(peak, done), daemon=True)
    watching.start()
    started = time.perf_counter()
    answers = AnswerSheet(folder / "answers.jsonl")
    async with open_session(settings) as session:
        rows = judge_rows(lambda: answers, load_judges(["correctness"]), session, n)
        output = folder / "judgements.jsonl"
        await write_stream(rows, output, Judgement, each=look)
        told: object = (0, 0)
        if settings.engine.kind == "ray":
            told = await (await cluster_of(session)).coordinator.counts.remote()
        n_messages, n_exchanges = cast("tuple[int, int]", told)
        made = session.calls().made
    done.set()
    watching.join()
    rate = (n - tenth) / (times[-1] - times[tenth - 1])
    cpu_ms = 1000 * (cpu_s[-1] - cpu_s[0]) / (n - tenth)
    return Timing(
        rate, cpu_ms, times[0] - started, peak[0], made, n_messages / n, n_exchanges / n, output.read_bytes()
    )


def _cpu_s() -> float:
    """Return the seconds of CPU of this process and its descendants, without the endpoint."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            if b"fake_openai" not in (folder / "cmdline").read_bytes():
                parents[int(folder.name)] = int(fields[1])
                used[int(folder.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    mine = {os.getpid()}
    while found := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= found
    return sum(used[pid] for pid in mine)


def _watch_memory(peak: list[float], done: threading.Event) -> None:
    """Note the most memory that this process has by itself, without what it maps of Ray's store."""
    while not done.wait(0.2):
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        kb = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon"))
        peak[0] = max(peak[0], kb / 1024)


@contextlib.contextmanager
def sheet_of(n: int, base_url: str) -> Iterator[tuple[Path, Settings]]:
    """Give a folder with a sheet of n answers and an empty ledger, and its settings."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_sheet(folder, base_url, n)
        yield folder, choose(load_settings(folder / "ragstone.toml"), "judge", model="openai/fake")


def run(base_url: str, n: int, kind: str, workers: int = 1) -> Timing:
    """Return what judging n rows takes."""
    with sheet_of(n, base_url) as (folder, settings):
        return asyncio.run(judged(folder, n, choose(settings, "engine", kind=kind, workers=workers)))


def show(name: str, timing: Timing, beside: Timing | None, target: str = "") -> None:
    """Print one line of the table."""
    over = f"{100 * (beside.rate / timing.rate - 1):+7.1f} %" if beside else f"{'':9}"
    print(
        f"{name:<26}{timing.rate:9.0f}{over}{timing.cpu_ms:10.2f}{timing.start_s:9.1f}{timing.peak_mb:9.0f}"
        f"{timing.messages:10.2f}{timing.exchanges:10.3f}   {target}",
        flush=True,
    )


def with_kills(n: int, seed: int) -> None:
    """Judge while workers are killed at random times, and print what that cost."""
    draw = random.Random(seed)
    with running("--latency", str(LATENCY_S)) as base_url:
        here = run(base_url, n, "local")
    with running("--latency", str(LATENCY_S)) as base_url:
        points = sorted(draw.sample(range(n // 20, n - n // 20), KILLS))
        killed = []

        def kill() -> None:
            for point in points:
                while stats(base_url)["n_requests"] < point:
                    time.sleep(0.05)
                killed.append(kill_a_worker())

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        there = run(base_url, n, "ray", workers=2)
        again = stats(base_url)["n_asked_again"]
    same = "byte-equal" if here.content == there.content else "DIFFERENT"
    lost = here.content.count(b"\n") - there.content.count(b"\n")
    done = sum(one is not None for one in killed)
    print(
        f"\n{n:,} rows, 2 workers, {done} of {KILLS} kills done (kill -9 when {points} calls were made):\n"
        f"  rows lost {lost}, file {same} to local's, calls paid twice {again} "
        f"(in flight at the kills: at most {64 * done})"
    )


def with_a_lost_node(n: int) -> None:
    """Judge on two nodes of one worker each, take one away for good, and print what that cost."""
    with running("--latency", str(LATENCY_S)) as base_url:
        here = run(base_url, n, "local")
    with running("--latency", str(LATENCY_S)) as base_url, sheet_of(n, base_url) as (folder, settings):
        with nodes_of_a_cluster(2) as (address, remove):
            settings = choose(settings, "engine", kind="ray", address=address, workers=2, block_rows=64)
            gone = []

            def take_away() -> None:
                while stats(base_url)["n_requests"] < n // 4:
                    time.sleep(0.05)
                gone.append(time.perf_counter())
                remove()

            taking = threading.Thread(target=take_away, daemon=True)
            taking.start()
            there = asyncio.run(judged(folder, n, settings))
            took = time.perf_counter() - gone[0]
        again = stats(base_url)["n_asked_again"]
    same = "byte-equal" if here.content == there.content else "DIFFERENT"
    print(
        f"\n{n:,} rows on 2 nodes, one taken away at a quarter and for good: file {same} to local's, ended "
        f"{took:.0f} s later, calls paid twice {again}"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--many", type=int, default=200_000, help="rows of the run whose memory is measured")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["speed", "memory", "kills", "nodes"])
    options = parser.parse_args()
    print(
        f"{'':<26}{'rows/s':>9}{'':>9}{'CPU ms':>10}{'start s':>9}{'MB':>9}{'messages':>10}{'RPC/row':>10}"
        "   (MB: the driver's own memory at its peak)"
    )
    if options.only in (None, "speed"):
        _speed(options.rows, options.rounds)
    if options.only in (None, "memory"):
        with running("--latency", "0", "--lifetime", "3000") as base_url:
            show(f"ray 2, {options.many:,} rows", run(base_url, options.many, "ray", 2), None, "<= 500 MB")
    if options.only in (None, "kills"):
        with_kills(options.rows // 2, seed=0)
    if options.only in (None, "nodes"):
        with_a_lost_node(options.rows // 5)
    mapped = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"\npeak of this process, with all that it maps: {mapped} MB")


def _speed(n: int, rounds: int) -> None:
    best: dict[str, Timing] = {}
    contents = set()
    for _ in range(rounds):
        for name, kind, workers in (("local", "local", 1), ("ray 1", "ray", 1), ("ray 2", "ray", 2)):
            with running("--latency", str(LATENCY_S), "--lifetime", "3000") as base_url:
                timing = run(base_url, n, kind, workers)
            contents.add(timing.content)
            show(name, timing, None if name == "local" else best["local"])
            if name not in best or timing.rate > best[name].rate:
                best[name] = timing
    print(f"the best of {rounds}; all files equal: {len(contents) == 1}")
    for name, timing in best.items():
        beside = None if name == "local" else best["local"]
        show(f"{name}, {n:,} rows", timing, beside, "<= +20 %" if name == "ray 1" else "")


if __name__ == "__main__":
    main()
