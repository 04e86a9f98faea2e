"""Whether anything is paid twice, or lost when bits change: `python benchmarks/ledger.py`.

At once: so many processes of `ragstone judge`, started together on one sheet and one ledger file; a fake
endpoint in a process of its own answers after 20 ms and counts what it is asked. In the last line one of four
is killed (SIGKILL) in the middle; it has 64 calls in flight.

Flipped bits: a ledger of 1,500 responses, whose bits are flipped at random places of the whole file, its
first page too (fixed seed): 200 files with one flip, and 3 with 200. A response is bad where a bit of its own
row was flipped. Each response is then looked up; where the ledger refuses, saying that it is damaged, its
advice is followed first: export, import into a new file. Served: found as it was written. Wrong: found
otherwise.
"""

import argparse
import asyncio
import bisect
import contextlib
import hashlib
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # this file is no part of the package

from tests.support.fake_openai import running, stats  # noqa: E402

from ragstone.features.ledger._archive import export_responses, import_responses  # noqa: E402
from ragstone.kernel.errors import DataError  # noqa: E402
from ragstone.kernel.llm import Ledger  # noqa: E402
from ragstone.kernel.llm.ledger import connect  # noqa: E402
from ragstone.kernel.llm.prompt import Completion  # noqa: E402
from ragstone.kernel.records import Answer, Usage  # noqa: E402
from ragstone.kernel.tables import write_rows  # noqa: E402

LATENCY_S = 0.02
IN_FLIGHT = 64
MODEL = "openai/fake"
SEED = 18


def judging(folder: Path, out: str) -> subprocess.Popen[bytes]:
    """Start `ragstone judge` on the sheet of a folder."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("OPENAI_")}
    command = [
        sys.executable,
        "-m",
        "ragstone",
        "judge",
        "answers.jsonl",
        "--judge",
        "relevance",
        "-o",
        "judgements.jsonl",
    ]
    command += ["--model", MODEL, "-o", out]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def at_once(n_processes: int, n_rows: int, *, kill: bool) -> tuple[int, float]:
    """Return how often the endpoint was asked, and the wall time in seconds."""
    with (
        running("--latency", str(LATENCY_S)) as base_url,
        tempfile.TemporaryDirectory() as name,
        contextlib.ExitStack() as stack,
    ):
        folder = Path(name)
        rows = (Answer(question_id=f"q{n}", question=f"What is {n}?", answer=f"{n}.") for n in range(n_rows))
        write_rows(folder / "answers.jsonl", rows, Answer)
        (folder / "ragstone.toml").write_text(
            f'[models."{MODEL}"]\nbase_url = "{base_url}"\nmax_concurrency = {IN_FLIGHT}\n'
        )
        started = time.perf_counter()
        judges = [stack.enter_context(judging(folder, f"{n}.jsonl")) for n in range(n_processes)]
        if kill:
            while stats(base_url)["n_requests"] < n_rows // 2:
                time.sleep(0.01)
            judges.pop(0).kill()
        codes = [judge.wait() for judge in judges]
        if any(codes):
            raise RuntimeError(f"exit codes {codes}")
        files = {file.read_bytes() for file in folder.glob("[0-9].jsonl")}
        if len(files) != 1:
            raise RuntimeError("the processes wrote different files")
        return stats(base_url)["n_requests"], time.perf_counter() - started


class Kept(NamedTuple):
    """A ledger file: its bytes; key -> response; (begin, end, key) of each row in the bytes, in order."""

    content: bytes
    said: dict[bytes, Completion]
    spans: list[tuple[int, int, bytes]]


def made_ledger(path: Path, n: int) -> Kept:
    """Write a ledger of n responses of 150 to 400 bytes."""
    said = {
        hashlib.blake2b(str(k).encode(), digest_size=16).digest(): Completion(
            text=f'{{"nonce":"5a17c0ffee","reason":"{"It answers. " * (k % 20)}","score":{k % 8}}}',
            usage=Usage(input=400 + k, output=30),
        )
        for k in range(n)
    }

    async def put() -> None:
        await asyncio.gather(*(opened.put(key, MODEL, completion) for key, completion in said.items()))

    opened = Ledger(path)
    asyncio.run(put())
    opened.close()
    with contextlib.closing(connect(path)) as connection:
        connection.execute("VACUUM")  # one copy of each row, so that its place is known
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        rows = connection.execute("SELECT key, response, checksum FROM responses").fetchall()
    content = path.read_bytes()
    spans = []
    for key, response, checksum in rows:
        at, n_numbers = content.index(key), 8 + (4 if checksum < 1 << 31 else 6)
        # Before the key stands the head: the types of five columns, its length, and that of the row.
        spans.append((at - 9, at + len(key) + len(MODEL) + len(response) + n_numbers, key))
    return Kept(content, said, sorted(spans))


def looked_up(path: Path, keys: Iterable[bytes]) -> dict[bytes, Completion | None]:
    """Return what a ledger has of each key. Raises DataError where it refuses."""

    async def find() -> dict[bytes, Completion | None]:
        return {key: await opened.find(key) for key in keys}

    opened = Ledger(path)
    try:
        return asyncio.run(find())
    finally:
        opened.close()


def flipped(kept: Kept, folder: Path, places: list[int]) -> Counter[str]:
    """Return what comes of a ledger with these bits flipped."""
    content = bytearray(kept.content)
    for place in places:
        content[place // 8] ^= 1 << place % 8
    path = folder / "ledger.sqlite"
    path.write_bytes(content)
    counts: Counter[str] = Counter()
    try:
        found = looked_up(path, kept.said)
    except DataError:
        counts["refused"] = 1
        export_responses(path, folder / "saved.jsonl")
        import_responses(folder / "new.sqlite", folder / "saved.jsonl")
        found = looked_up(folder / "new.sqlite", kept.said)
    hit = sorted(place // 8 for place in places)
    for begin, end, key in kept.spans:
        n = bisect.bisect_left(hit, begin)
        quality = "bad" if n < len(hit) and hit[n] < end else "good"
        outcome = "asked" if found[key] is None else "served" if found[key] == kept.said[key] else "wrong"
        counts[f"{quality} {outcome}"] += 1
    return counts


def flips(kept: Kept, n_files: int, n_flips: int) -> Counter[str]:
    """Return the sum over so many files with so many flips each."""
    draw, total = random.Random(SEED), Counter[str]()
    for _ in range(n_files):
        with tempfile.TemporaryDirectory() as folder:
            places = [draw.randrange(8 * len(kept.content)) for _ in range(n_flips)]
            total += flipped(kept, Path(folder), places)
    return total


def main() -> None:
    """Run the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1500)
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # of bad rows, once a file
    print(f"{'at once, on one ledger':<34}{'distinct':>10}{'made':>8}{'twice':>8}{'wall s':>9}")
    for n_processes, kill in ((1, False), (2, False), (4, False), (8, False), (4, True)):
        made, wall_s = at_once(n_processes, options.rows, kill=kill)
        name = f"{n_processes} processes" + (", one killed in the middle" if kill else "")
        print(f"{name:<34}{options.rows:>10,}{made:>8,}{made - options.rows:>8,}{wall_s:>9.1f}", flush=True)
    columns = ("refused", "good served", "good asked", "bad asked", "bad served", "good wrong", "bad wrong")
    print(f"\n{'flipped bits':<24}" + "".join(f"{name:>13}" for name in columns))
    with tempfile.TemporaryDirectory() as folder:
        kept = made_ledger(Path(folder) / "l", options.rows)
        for n_files, n_flips in ((200, 1), (3, 200)):
            counts = flips(kept, n_files, n_flips)
            line = "".join(f"{counts[name]:>13,}" for name in columns)
            print(f"{f'{n_files} files, {n_flips} each':<24}{line}", flush=True)


if __name__ == "__main__":
    main()
