"""A large log of an assistant with planted judgements, and what the monitor takes to read it.

    python benchmarks/monitor_log.py [ROWS] [FOLDER]        # default 340000, a temporary folder

The log is made by resampling: questions and answers of agxqa with their documents as contexts
(../shared/data), half of the rows with a number of their own in the text, over 170 days, with tags of crop,
region, language, model and version of the prompt. Seven judges' verdicts are planted, with a drop of
faithfulness of `DROP` from day `DROP_DAY` on. Printed are wall and CPU seconds, rows a second of CPU and the
peak of memory of each step, each in a process of its own: reading the log, with masking and without; taking
the judgements in; all cells, first and again; the overview; a page of the worst; a look without a log.
"""

import datetime
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
DAYS, DROP_DAY, DROP = 170, 60, 0.05
BEGIN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
CROPS = ("maize", "wheat", "rice", "beans", "potato", "cotton", "coffee", "cassava", "sorghum", "tomato")
REGIONS = ("north", "south", "east", "west", "centre", "coast", "hills", "delta")
LANGS = ("en", "es", "fr", "hi", "ar", "sw")
MODEL = "openai/judge"
# judge -> version, scale, labels; and how often it says the first, or the highest.
JUDGES: dict[str, tuple[int, tuple[float, float], tuple[str, ...], float]] = {
    "prompt_clarity": (1, (1, 3), (), 0.7),
    "question_type": (
        1,
        (1, 6),
        ("remember", "understand", "apply", "analyze", "evaluate", "create"),
        0.5,
    ),
    "answered": (2, (0, 1), ("answered", "refused", "asked_back"), 0.8),
    "faithfulness": (2, (0, 1), (), 0.85),
    "relevance": (1, (1, 3), (), 0.8),
    "language_match": (1, (0, 1), (), 0.97),
    "toxicity": (1, (0, 1), (), 0.001),
}


def read_pack(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of the pack."""
    lines = (DATA / "agxqa" / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def log_rows(n_rows: int, *, days: int = DAYS, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield rows in the shape of the assistant's own log, in the order of their times."""
    rng = np.random.default_rng(seed)
    documents = {row["id"]: row["text"] for row in read_pack("documents.jsonl")}
    questions = [row for row in read_pack("questions.jsonl") if row["answerable"]]
    ids = list(documents)
    picks = rng.integers(0, len(questions), n_rows)
    others = rng.integers(0, len(ids), (n_rows, 2))
    own = rng.random(n_rows) < 0.5
    crops = rng.choice(len(CROPS), n_rows, p=np.arange(len(CROPS), 0, -1) / sum(range(len(CROPS) + 1)))
    regions, langs = rng.integers(0, len(REGIONS), n_rows), rng.integers(0, len(LANGS), n_rows)
    for at in range(n_rows):
        asked = questions[picks[at]]
        day = at * days // n_rows
        brought = [asked["document_id"], *(ids[place] for place in others[at])]
        when = BEGIN + datetime.timedelta(seconds=86_400 * days * at / n_rows)
        yield {
            "question_id": f"x{at:07d}",
            "question": f"Plot {at}: {asked['question']}" if own[at] else asked["question"],
            "answer": f"{asked['reference_answer']} [1]. Look at plot {at} again in two weeks."
            if own[at]
            else asked["reference_answer"],
            "system": "assistant",
            "contexts": [{"id": f"{one}#0", "document_id": one, "text": documents[one]} for one in brought],
            "latency_s": 1.5,
            "tags": {
                "crop": CROPS[crops[at]],
                "region": REGIONS[regions[at]],
                "lang": LANGS[langs[at]],
                "kind": "answer",
                "model": "openai/one" if day < days // 2 else "openai/two",
                "prompt_version": str(1 + day * 3 // days),
            },
            "metadata": {"time": when.isoformat(), "conversation_id": f"c{at // 3}"},
        }


def judgement_rows(n_rows: int, *, days: int = DAYS, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Yield the planted judgements of these rows by each judge."""
    rng = np.random.default_rng(seed)
    for name, (version, scale, labels, often) in JUDGES.items():
        draws = rng.random(n_rows)
        failed = rng.random(n_rows) < 0.002
        for at in range(n_rows):
            share = often - (DROP if name == "faithfulness" and at * days // n_rows >= DROP_DAY else 0.0)
            first = draws[at] < share
            row: dict[str, Any] = {
                "question_id": f"x{at:07d}",
                "system": "assistant",
                "judge": name,
                "metric": name,
                "status": "timeout" if failed[at] else "scored",
                "model": MODEL,
                "prompt_version": version,
            }
            if not failed[at]:
                row |= {"score": scale[1] if first else scale[0], "scale": scale, "rationale": "It says so."}
                if labels:
                    row["label"] = labels[0] if first else labels[1 + at % (len(labels) - 1)]
            yield row


def write_jsonl(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    """Write rows as JSON lines."""
    encode = msgspec.json.Encoder().encode
    with path.open("wb") as file:
        for row in rows:
            file.write(encode(row) + b"\n")


def _measured(work: Callable[..., object], args: tuple[object, ...], results: Any) -> None:  # noqa: ANN401
    before, cpu = time.perf_counter(), time.process_time()
    told = work(*args)
    wall, cpu = time.perf_counter() - before, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    results.put((wall, cpu, peak, told))


def measure(name: str, n: int, work: Callable[..., object], *args: object) -> None:
    """Print what a step takes, in a process of its own."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_measured, args=(work, args, results))
    process.start()
    wall, cpu, peak, told = results.get()
    process.join()
    print(
        f"{name:28} {wall:8.2f} s wall {cpu:8.2f} s CPU {n / cpu:12,.0f} /s of CPU {peak:7.0f} MB   {told}",
        flush=True,
    )


def _open(folder: Path, name: str, masking: bool) -> Any:  # noqa: ANN401
    from ragstone.features.watch.watching import Watcher
    from ragstone.kernel.config import MonitorSection, Settings

    section = MonitorSection(store=name, keep_personal_data=not masking)
    return Watcher(Settings(root=str(folder), monitor=section))


def read(folder: Path, name: str, masking: bool) -> object:
    """Read the log into a store."""
    with _open(folder, name, masking) as watcher:
        return watcher.read([folder / "log.jsonl"]).new


def take(folder: Path, name: str) -> object:
    """Take the planted judgements in."""
    with _open(folder, name, False) as watcher:
        watcher.take([folder / "judgements.jsonl"])
        return watcher.store.count_due(list(JUDGES))


def cells(folder: Path, name: str) -> object:
    """Return how many cells there are; the first time they are computed."""
    from ragstone.features.watch.store import MonitorStore

    with MonitorStore(folder / name) as store:
        return len(store.cells())


def overview(folder: Path, name: str) -> object:
    """Return how much there is."""
    from ragstone.features.watch.store import MonitorStore

    with MonitorStore(folder / name) as store:
        return store.overview().n_exchanges


def worst(folder: Path, name: str) -> object:
    """Return how many have a score, with the page of the worst."""
    from ragstone.features.watch.store import MonitorStore

    with MonitorStore(folder / name) as store:
        return store.scored("faithfulness").n


def look(folder: Path, name: str) -> object:
    """Return how many alarms a look at the store shows, as `ragstone watch` without a log does."""
    with _open(folder, name, False) as watcher:
        from ragstone.features.watch._reading import ReadCounts

        summary = watcher.judge(ReadCounts(), asking=False, today=datetime.date(2026, 12, 31))
        return len(summary.alarms)


def main() -> None:
    """Make the log and measure."""
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 340_000
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="ragstone-monitor-"))
    folder.mkdir(parents=True, exist_ok=True)
    write_jsonl(folder / "log.jsonl", log_rows(n_rows))
    write_jsonl(folder / "judgements.jsonl", judgement_rows(n_rows))
    print(f"{n_rows:,} rows, {n_rows * len(JUDGES):,} judgements in {folder}", flush=True)
    measure("read, masked", n_rows, read, folder, "masked", True)
    measure("read, as it is", n_rows, read, folder, "plain", False)
    measure("read again", n_rows, read, folder, "plain", False)
    measure("take judgements in", n_rows * len(JUDGES), take, folder, "plain")
    measure("cells, first", n_rows, cells, folder, "plain")
    measure("cells, again", n_rows, cells, folder, "plain")
    measure("overview", n_rows, overview, folder, "plain")
    measure("worst page", n_rows, worst, folder, "plain")
    measure("a look", n_rows, look, folder, "plain")


if __name__ == "__main__":
    main()
