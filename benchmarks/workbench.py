"""How fast the workbench opens a run of 100,000 judgements, and gives a page of its rows.

    python benchmarks/workbench.py [JUDGEMENTS] [--parquet]

It makes a run (questions with five judges and five contexts each), serves the workbench to a client in this
process, and prints a table: the first opening, which reads every file once, the second by another server,
which finds what the first has kept, and pages of rows by several filters (the median of 5). Memory is the
peak of a process that does nothing else.

    python benchmarks/workbench.py --paint [JUDGEMENTS]

opens the same run in Chromium (the median of 5): the first contentful paint of its page, when its first rows
are there, and what some pages are on the wire, compressed, with all that they load when scrolled to the end.
"""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from ragstone.kernel.records import Answer, Context, Judgement, Question, Status, Usage
from ragstone.kernel.tables import write_rows

WORDS = (Path(__file__).parent.parent / "docs" / "report.md").read_text(encoding="utf-8").split()
JUDGES = ("correctness", "faithfulness", "relevance", "context_relevance", "containment")
PAGES = {
    "as in the file": {},
    "lowest score first": {"order": "lowest"},
    "low by one judge": {"judge": "0", "result": "low"},
    "a score range, a tag": {"judge": "1", "low": "0.2", "high": "0.4", "tag": "crop", "value": "crop 3"},
    "two words": {"text": "judge answer"},
    "the last page": {"at": "9999999"},
}


def text(draw: Random, n_words: int) -> str:
    return " ".join(draw.choices(WORDS, k=n_words))


def judgements(n: int, draw: Random) -> Iterator[Judgement]:
    for at in range(n):
        judge = JUDGES[at % len(JUDGES)]
        status: Status = "unparsable" if draw.random() < 0.01 else "scored"
        yield Judgement(
            question_id=f"question-{at // len(JUDGES)}",
            system="rag",
            judge=judge,
            metric=judge,
            status=status,
            score=round(draw.random(), 2) if status == "scored" else None,
            scale=(0, 1),
            model="none" if judge == "containment" else "openai/gpt-4o-mini",
            prompt_version=1,
            rationale=text(draw, 200),
            usage=Usage(input=1200, output=80),
        )


def make_run(folder: Path, n: int, ending: str) -> None:
    """Write a run of n judgements, with its summary."""
    from ragstone.kernel.runs.run import read_summary
    from ragstone.kernel.serve.runs import summary_of_rows

    draw = Random(0)
    folder.mkdir(parents=True)
    ids = [f"question-{at}" for at in range(n // len(JUDGES))]
    asked = [
        Question(id=name, question=text(draw, 15), reference=text(draw, 10), tags={"crop": f"crop {at % 20}"})
        for at, name in enumerate(ids)
    ]
    write_rows(folder / f"questions{ending}", asked, Question)
    said = (
        Answer(
            question_id=name,
            system="rag",
            answer=text(draw, 60),
            contexts=[
                Context(text=text(draw, 120), id=f"chunk-{k}", document_id=f"document-{k}") for k in range(5)
            ],
            latency_s=1.0,
        )
        for name in ids
    )
    write_rows(folder / f"answers{ending}", said, Answer)
    file = folder / f"judgements{ending}"
    write_rows(file, judgements(n, draw), Judgement)
    summary = summary_of_rows(folder, file)
    (folder / "summary.json").write_bytes(msgspec.json.encode(summary))
    read_summary(folder)


def timed(project: Path) -> None:
    """Open the run, and pages of its rows, in this process; print the seconds."""
    from litestar.testing import TestClient

    from ragstone.kernel.config import load_settings
    from ragstone.workbench.app import create_workbench

    app = create_workbench(load_settings(project / "ragstone.toml"))
    run = "/workbench/runs/0/large"
    with TestClient(app, base_url="http://127.0.0.1") as client:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        def get(path: str, **query: str) -> float:
            began = time.perf_counter()
            client.get(path, params=query).raise_for_status()
            return time.perf_counter() - began

        worked = time.process_time()
        opening = get(run) + get(f"{run}/head") + get(f"{run}/rows")
        worked = time.process_time() - worked
        print(f"| opening: page, menus, first rows | {opening:.2f} ({worked:.2f} of CPU) |")
        for name, query in PAGES.items():
            print(
                f"| rows: {name} | {statistics.median(get(f'{run}/rows', **query) for _ in range(5)):.3f} |"
            )
        opened = [get(f"{run}/question", question=f"question-{k}") for k in range(5)]
        print(f"| a question, whole | {statistics.median(opened):.3f} |")
        where = {"where": "correctness > 0.2 and crop = 'crop 3'", "order": "lowest"}
        paged = [get(f"{run}/row", question=f"question-{20 * k + 3}", **where) for k in range(5)]
        print(f"| the page of a row, and its place in a filtered list | {statistics.median(paged):.3f} |")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(
            f"| memory at its peak, MB | {peak / 1024:.0f} ({before / 1024:.0f} before the run was opened) |"
        )


def list_of_runs(project: Path, n: int) -> None:
    """Time the list of n runs, first and second look."""
    from ragstone.kernel.config import load_settings
    from ragstone.workbench.app import open_state

    summary = (project / "runs" / "large" / "summary.json").read_bytes()
    for at in range(n):
        folder = project / "many" / f"run-{at}"
        folder.mkdir(parents=True)
        for name in ("manifest.json", "questions.jsonl", "answers.jsonl", "judgements.jsonl", "report.html"):
            (folder / name).write_bytes(b"{}\n")
        (folder / "summary.json").write_bytes(summary)
    (project / "many.toml").write_text('[workbench]\nruns = ["many"]\n')
    state = open_state(load_settings(project / "many.toml"))
    for look in ("first", "second"):
        began = time.perf_counter()
        found = len(state.runs.all())
        print(f"| the list of {found} runs, {look} look | {time.perf_counter() - began:.3f} |")


PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
ROWS = "document.querySelectorAll('#list > li, [data-row]').length > 0"


def paint(n: int) -> None:
    """Print when the page of a run of n judgements is painted in Chromium, and what pages are on the wire."""
    from playwright.sync_api import sync_playwright
    from tests.support.browser import executable
    from tests.support.every_page import SCROLL
    from tests.support.served_workbench import served

    from ragstone.kernel.config import load_settings

    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        project = Path(name)
        (project / "ragstone.toml").write_text("")
        make_run(project / "runs" / "large", n, ".jsonl")
        browser = playwright.chromium.launch(executable_path=executable(), args=["--no-sandbox"])
        with served(load_settings(project / "ragstone.toml")) as address:
            print("| page | first paint, s | rows there, s | kB on the wire |\n|---|---:|---:|---:|")
            for words, path in (
                ("a run, for the first time", "/workbench/runs/0/large"),
                ("a run", "/workbench/runs/0/large"),
                ("a run, its low rows", "/workbench/runs/0/large?judge=0&result=low"),
                ("the list of runs", "/workbench/"),
                ("trends", "/workbench/runs/trends"),
                ("judges", "/workbench/judges"),
            ):
                times = 1 if "first" in words else 5
                looks = [_painted(browser, f"{address}{path}", SCROLL) for _ in range(times)]
                painted, rows, sent = (statistics.median(values) for values in zip(*looks, strict=True))
                print(f"| {words} | {painted:.2f} | {rows:.2f} | {sent / 1000:.0f} |")
        browser.close()


def _painted(browser: Any, address: str, scroll: str) -> tuple[float, float, float]:  # noqa: ANN401
    """Return the seconds to the first contentful paint and to the first row, and the bytes of the page."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    sent: list[float] = []
    session.on("Network.loadingFinished", lambda event: sent.append(event["encodedDataLength"]))
    began = time.perf_counter()
    page.goto(address, wait_until="commit")
    while (painted := page.evaluate(PAINTED)) is None:
        time.sleep(0.005)
    while time.perf_counter() - began < 60 and not page.evaluate(ROWS):
        time.sleep(0.005)
    rows = time.perf_counter() - began
    page.evaluate(scroll)
    page.wait_for_load_state("networkidle")
    page.close()
    return painted / 1000, rows, sum(sent)


def main(n: int, ending: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        (project / "ragstone.toml").write_text("")
        make_run(project / "runs" / "large", n, ending)
        size = sum(file.stat().st_size for file in (project / "runs" / "large").iterdir())
        print(f"{n:,} judgements, {size / 1e6:.0f} MB in {ending} files\n")
        for opening in ("first", "second"):
            print(f"| {opening} server | seconds |\n|---|---:|")
            subprocess.run([sys.executable, __file__, "--timed", name], check=True)
            print()
        print("| | seconds |\n|---|---:|")
        list_of_runs(project, 500)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--timed"]:
        timed(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["--paint"]:
        paint(int(sys.argv[2]) if sys.argv[2:] else 100_000)
    else:
        numbers = [int(given) for given in sys.argv[1:] if given.isdecimal()]
        main(numbers[0] if numbers else 100_000, ".parquet" if "--parquet" in sys.argv else ".jsonl")
