"""What becomes of rows when things go wrong, and of memory: `python benchmarks/endurance.py [ROWS]`.

Everything goes through `ragstone judge` in a process of its own, against a fake endpoint in another.
"""

import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # this file is no part of the package

from tests.support.fake_openai import FakeOpenAI, running, stats  # noqa: E402

from ragstone.kernel.llm import Ledger  # noqa: E402
from ragstone.kernel.records import Answer, Judgement  # noqa: E402
from ragstone.kernel.tables import read_rows, write_rows  # noqa: E402

COMMAND = [
    sys.executable,
    "-m",
    "ragstone",
    "judge",
    "answers.jsonl",
    "--judge",
    "correctness",
    "--force",
    "-o",
    "judgements.jsonl",
]
QUIET = subprocess.DEVNULL
MIB = 1024


def answers(n: int) -> Iterator[Answer]:
    """Yield n different answers."""
    for number in range(n):
        yield Answer(
            question_id=f"q{number}",
            system="mine",
            question=f"Field {number}: when should maize be side-dressed with nitrogen?",
            reference="At V5 to V6, before rapid uptake begins.",
            answer="The guide recommends side-dressing nitrogen at the V6 stage, after a soil test.",
        )


def make_project(folder: Path, base_url: str, n: int, **model: object) -> None:
    """Write a sheet of n answers and settings that name the endpoint."""
    folder.mkdir(exist_ok=True)
    write_rows(folder / "answers.jsonl", answers(n), Answer, force=True)
    table = "".join(f"{name} = {value}\n" for name, value in model.items())
    (folder / "ragstone.toml").write_text(
        f'[judge]\nmodel = "openai/fake"\n[models."openai/fake"]\nbase_url = "{base_url}"\n{table}'
    )
    (folder / ".ragstone").mkdir(exist_ok=True)
    (folder / ".ragstone" / "secret").write_text("5a" * 32)


def judged(folder: Path, *options: str) -> int:
    """Judge the sheet and return the exit code."""
    return subprocess.run([*COMMAND, *options], cwd=folder, capture_output=True, check=False).returncode


def statuses(folder: Path) -> Counter[str]:
    """Return how many judgements have each status."""
    return Counter(row.status for row in read_rows(folder / "judgements.jsonl", Judgement))


def faults(folder: Path) -> None:
    """5 % HTTP 429 with Retry-After 1, 2 % malformed, 1 % HTTP 500, 0.5 % never answered; 500 rows."""
    wrong = ("--rate-limited", "0.05", "--malformed", "0.02", "--broken", "0.01", "--hanging", "0.005")
    with running("--latency", "0.05", *wrong) as base_url:
        make_project(folder, base_url, 500, timeout_s=2)
        started = time.perf_counter()
        judged(folder)
        wall_s = time.perf_counter() - started
    counts = statuses(folder)
    share = 100 * counts["scored"] / counts.total()
    print(f"faults, 500 rows: {dict(counts)} in {wall_s:.1f} s; scored {share:.1f} % (>= 99.5)")


def kills(folder: Path, n_kills: int = 20, n: int = 300) -> None:
    """Kill -9 at random moments, then run again: what the ledger holds is not asked for again."""
    draw = random.Random(0)
    n_again = n_different = 0
    with running("--latency", "0.02") as base_url:
        make_project(folder / "quiet", base_url, n, max_concurrency=16)
        judged(folder / "quiet")
        expected = (folder / "quiet" / "judgements.jsonl").read_bytes()
        for number in range(n_kills):
            project = folder / f"kill{number}"
            make_project(project, base_url, n, max_concurrency=16)
            process = subprocess.Popen(COMMAND, cwd=project, stdout=QUIET, stderr=QUIET)
            time.sleep(draw.uniform(0.5, 1.1))
            process.kill()
            process.wait()
            n_held = len_of_ledger(project)
            before = stats(base_url)["n_requests"]
            judged(project)
            n_again += stats(base_url)["n_requests"] - before - (n - n_held)
            n_different += (project / "judgements.jsonl").read_bytes() != expected
    print(f"{n_kills} kills: {n_again} finished responses asked again (0), {n_different} files different (0)")


def len_of_ledger(project: Path) -> int:
    """Return how many responses a ledger holds."""
    path = project / ".ragstone" / "ledger.sqlite"
    if not path.exists():
        return 0
    ledger = Ledger(path)
    try:
        return int(ledger._reader.execute("SELECT count(*) FROM responses").fetchone()[0])
    finally:
        ledger.close()


def cap(folder: Path) -> None:
    """A cap of 100 calls, 64 in flight, 1,000 rows."""
    with running("--latency", "0.05") as base_url:
        make_project(folder, base_url, 1000)
        code = judged(folder, "--budget", "100calls")
        n_seen = stats(base_url)["n_requests"]
        print(f"cap of 100 calls: the server saw {n_seen} (<= 100); exit code {code} (4)")


def pace(folder: Path) -> None:
    """600 requests a minute: never more than 10.5 in any second after the first."""
    fake = FakeOpenAI()

    async def serve_and_judge() -> list[float]:
        runner = await fake.serve()
        make_project(folder, fake.base_url, 60, requests_per_minute=600)
        process = await asyncio.create_subprocess_exec(*COMMAND, cwd=folder, stdout=QUIET, stderr=QUIET)
        await process.wait()
        await runner.cleanup()
        return sorted(fake.arrivals)

    times = asyncio.run(serve_and_judge())
    later = [at for at in times if at >= times[0] + 1]
    most = max(sum(at <= other < at + 1 for other in later) for at in later)
    print(f"600 requests/minute: at most {most} in any second after the first (<= 10.5)")


def memory(folder: Path, n: int) -> None:
    """Memory does not grow with the rows."""
    with running() as base_url:
        make_project(folder, base_url, n)
        started = time.perf_counter()
        judged(folder)
        wall_s = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / MIB
    print(f"{n:,} rows, 0 ms latency: peak {peak:.0f} MiB (<= 250), {n / wall_s:,.0f} rows/s")


def beside_openai(n: int = 500, in_flight: int = 64) -> None:
    """CPU a call beside the openai SDK with a semaphore, the same calls in the same run."""
    program = ROOT / "benchmarks" / "beside_openai.py"
    with running("--latency", "0.05") as base_url:
        measured = {}
        for name in ("openai", "ragstone"):
            command = [sys.executable, str(program), name, base_url, str(n), str(in_flight)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
            if done.returncode:
                print(f"beside the openai SDK: not measured ({done.stderr.strip().splitlines()[-1]})")
                return
            measured[name] = json.loads(done.stdout)
    ours, theirs = measured["ragstone"], measured["openai"]
    print(
        f"{n} calls, {in_flight} in flight, CPU ms a call: ragstone {ours['cpu_ms']:.2f}, openai SDK "
        f"{theirs['cpu_ms']:.2f}: {theirs['cpu_ms'] / ours['cpu_ms']:.1f} x (>= 4); "
        f"wall {ours['wall_s']:.2f} s and {theirs['wall_s']:.2f} s"
    )


def main() -> None:
    """Run all, each in a folder of its own."""
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        beside_openai()
        faults(folder / "faults")
        (folder / "kills").mkdir()
        kills(folder / "kills")
        cap(folder / "cap")
        pace(folder / "pace")
        memory(folder / "memory", n_rows)


if __name__ == "__main__":
    main()
