"""How fast the table of rows gives a page of 100,000 answers, by filters, orders and several runs.

    python benchmarks/row_table.py [ANSWERS]

It makes two runs of so many answers (two systems, two judges, four contexts each), opens both once, so that
their indexes are there, and prints the median of 5 requests of each page, as HTML over a client in this
process, and how long a download of all rows takes: seconds by the clock, of CPU (all threads), and kB.
"""

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from urllib.parse import urlencode

import msgspec

from ragstone.kernel.records import Answer, Context, Judgement, Question
from ragstone.kernel.tables import write_rows

WORDS = (Path(__file__).parent.parent / "docs" / "how-to" / "report.md").read_text(encoding="utf-8").split()
SYSTEMS, JUDGES, N_CONTEXTS = ("before", "after"), ("correctness", "containment"), 4
ONE, BOTH = [("run", "0/a")], [("run", "0/a"), ("run", "0/b")]
PAGES = {
    "as in the file": ONE,
    "lowest score first": [*ONE, ("order", "correctness")],
    "sorted by the answers": [*ONE, ("order", "answer")],
    "a filter by score and tag": [*ONE, ("where", "correctness < 0.5 and crop = 'crop 3'")],
    "flips, slowest first": [*ONE, ("where", "flips"), ("order", "-latency_s")],
    "two words": [*ONE, ("text", "judge answer")],
    "page 1,900": [*ONE, ("order", "correctness"), ("at", "1900")],
    "two runs, highest score first": [*BOTH, ("order", "-correctness")],
    "two runs, sorted by the answers": [*BOTH, ("order", "answer")],
    "two runs, page 3,800": [*BOTH, ("order", "-correctness"), ("at", "3800")],
}


def make_run(folder: Path, n: int, draw: Random) -> None:
    """Write a run of n answers, with its summary."""
    from ragstone.kernel.serve.runs import summary_of_rows

    def text(n_words: int) -> str:
        return " ".join(draw.choices(WORDS, k=n_words))

    ids = [f"question-{at}" for at in range(n // len(SYSTEMS))]
    asked = [
        Question(id=name, question=text(15), reference=text(10), tags={"crop": f"crop {at % 20}"})
        for at, name in enumerate(ids)
    ]
    contexts = [[Context(text=text(60), document_id=f"d{k}") for k in range(N_CONTEXTS)] for _ in range(50)]

    def answers() -> Iterator[Answer]:
        for at, name in enumerate(ids):
            for system in SYSTEMS:
                yield Answer(
                    question_id=name,
                    system=system,
                    answer=text(40),
                    contexts=contexts[at % 50],
                    latency_s=round(draw.random() * 5, 3),
                )

    def judgements() -> Iterator[Judgement]:
        for judge in JUDGES:
            for name in ids:
                for system in SYSTEMS:
                    yield Judgement(
                        question_id=name,
                        system=system,
                        judge=judge,
                        metric=judge,
                        status="scored",
                        score=round(draw.random(), 2),
                        scale=(0, 1),
                        model="none" if judge == "containment" else "openai/gpt-4o-mini",
                        prompt_version=1,
                        rationale=text(30),
                    )

    folder.mkdir(parents=True)
    write_rows(folder / "questions.jsonl", asked, Question)
    write_rows(folder / "answers.jsonl", answers(), Answer)
    write_rows(folder / "judgements.jsonl", judgements(), Judgement)
    summary = summary_of_rows(folder, folder / "judgements.jsonl")
    (folder / "summary.json").write_bytes(msgspec.json.encode(summary))


def main(n: int) -> None:
    from litestar.testing import TestClient

    from ragstone.kernel.config import load_settings
    from ragstone.workbench.app import create_workbench

    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        (project / "ragstone.toml").write_text("")
        for run in ("a", "b"):
            make_run(project / "runs" / run, n, Random(run))
        app = create_workbench(load_settings(project / "ragstone.toml"))
        with TestClient(app, base_url="http://127.0.0.1") as client:

            def get(path: str, query: list[tuple[str, str]]) -> tuple[float, float, int]:
                began, worked = time.perf_counter(), time.process_time()
                reply = client.get(f"/workbench/rows{path}?{urlencode(query)}")
                reply.raise_for_status()
                took, worked = time.perf_counter() - began, time.process_time() - worked
                return took, worked, len(reply.content)

            took, worked, _ = get("", BOTH)
            print(f"| first opening of both runs, {n:,} answers each | {took:.2f} | {worked:.2f} | |")
            for words, query in PAGES.items():
                got = [get("", query) for _ in range(5)]
                took, worked = (statistics.median(one[at] for one in got) for at in (0, 1))
                print(f"| {words} | {took:.3f} | {worked:.3f} | {got[0][2] / 1000:.0f} |")
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for ending in ("csv", "jsonl"):
                took, worked, size = get(f"/export/{ending}", ONE)
                print(f"| download as {ending} | {took:.1f} | {worked:.1f} | {size / 1000:,.0f} |")
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            print(
                f"| memory at its peak, MB | {peak / 1024:.0f} ({before / 1024:.0f} before downloads) | | |"
            )


if __name__ == "__main__":
    main(int(next(iter(sys.argv[1:]), "100000")))
