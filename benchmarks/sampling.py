"""A large log -> questions: `python benchmarks/sampling.py ROWS...`, default 20000 100000 340000.

The logs are made of the questions of squad2, bankfaq and xquad (../shared/data), repeated as a Zipf law
repeats them, in a file of JSON lines with messages; every tenth has personal data in it, every twentieth is
small talk. Each way of sampling runs in a process of its own: printed are wall and CPU seconds, rows per CPU
second and the peak of memory. Before that, how long masking takes, for questions and for paragraphs.
"""

import json
import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from ragstone.kernel.privacy.masking import mask_personal_data

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
PERSONAL = (
    "My name is Priya Sharma. {} Call me on +91 98765 43210",
    "{} Write to j.smith@example.org or 555-234-9999",
    "card 4111 1111 1111 1111: {}",
)
WAYS = ("random", "topic", "rarity", "frequency", "quality")


def texts_of(pack: str, file: str, field: str) -> list[str]:
    lines = (DATA / pack / file).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)[field] for line in lines]


def write_log(path: Path, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    questions = [
        text
        for pack in ("squad2", "bankfaq", "xquad")
        for text in texts_of(pack, "questions.jsonl", "question")
    ]
    ranks = np.minimum(rng.zipf(1.2, n_rows) - 1, 10**6) + rng.integers(0, len(questions), n_rows) * (
        rng.random(n_rows) < 0.5
    )
    with path.open("w", encoding="utf-8") as file:
        for at, rank in enumerate(ranks.tolist()):
            text = questions[rank % len(questions)] if at % 20 else "thanks"
            text = PERSONAL[at % 3].format(text) if at % 10 == 3 else text
            said = [{"role": "user", "content": text}, {"role": "assistant", "content": "An answer. " * 20}]
            row = {"id": str(at), "messages": said, "feedback": ("up", "down", None)[at % 3]}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def measured(log: Path, way: str, results: "multiprocessing.Queue[tuple[float, float, float, int]]") -> None:
    from ragstone.features.sample.sampling import sample_log

    before, cpu = time.perf_counter(), time.process_time()
    sample = sample_log(log, 200, by=way, quality="feedback")  # type: ignore[arg-type]
    wall, cpu = time.perf_counter() - before, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    results.put((wall, cpu, peak, sample.summary.log.n_questions))


def time_masking() -> None:
    questions = texts_of("squad2", "questions.jsonl", "question") + texts_of(
        "bankfaq", "questions.jsonl", "question"
    )
    paragraphs = texts_of("squad2", "documents.jsonl", "text")
    mask_personal_data("+1 555 010 9999")
    for name, texts in (("questions", questions), ("paragraphs", paragraphs)):
        best = min(_seconds(texts) for _ in range(3))
        length = np.mean([len(text) for text in texts])
        print(f"masking {name}: {best / len(texts) * 1e6:.0f} us CPU each, {length:.0f} characters")


def _seconds(texts: list[str]) -> float:
    before = time.process_time()
    for text in texts:
        mask_personal_data(text)
    return time.process_time() - before


def main() -> None:
    time_masking()
    print(f"{'rows':>8} {'questions':>9} {'by':<10} {'wall s':>7} {'CPU s':>7} {'rows/s':>8} {'peak MB':>8}")
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in [int(one) for one in sys.argv[1:]] or [20_000, 100_000, 340_000]:
            log = Path(folder) / f"{n_rows}.jsonl"
            write_log(log, n_rows)
            for way in WAYS:
                results = spawn.Queue()
                process = spawn.Process(target=measured, args=(log, way, results))
                process.start()
                wall, cpu, peak, n_questions = results.get()
                process.join()
                row = f"{wall:7.1f} {cpu:7.1f} {n_rows / cpu:8.0f} {peak:8.0f}"
                print(f"{n_rows:8,} {n_questions:9,} {way:<10} {row}", flush=True)


if __name__ == "__main__":
    main()
