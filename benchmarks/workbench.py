"""How fast the workbench opens a run of 500 MB, gives pages of its rows, and what memory that takes.

    python benchmarks/workbench.py [ANSWERS] [--parquet]

It makes a run (an answer with four contexts and three judgements for each question; 100,000 by default),
starts `ragstone serve` on it, and asks as a browser does: the page, the first rows, how far the index is,
and once it is there the menus and rows; then once more by a new server, which finds the index. Times are
from the request of the page on. The peer, in the same minute, is msgspec, which decodes the same fields of
the same bytes and does nothing with them: on a machine that does other work both take longer.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlencode

import msgspec

from ragstone.kernel.records import Answer, Context, Judgement, Question, Status, Usage
from ragstone.kernel.tables import write_rows

WORDS = (Path(__file__).parent.parent / "docs" / "how-to" / "report.md").read_text(encoding="utf-8").split()
JUDGES = ("correctness", "faithfulness", "containment")
PAGES = {
    "as in the file": {},
    "lowest score first": {"order": "lowest"},
    "low by one judge": {"judge": "0", "result": "low"},
    "a score range, a tag": {"judge": "1", "low": "0.2", "high": "0.4", "tag": "crop", "value": "crop 3"},
    "a filter in words": {"where": 'correctness < 0.5 and crop = "crop 3"'},
    "two words": {"text": "judge answer"},
    "the last page": {"at": "9999999"},
}
RUN = "/workbench/runs/0/large"
LOOK_S = 0.02


def text(draw: Random, n_words: int) -> str:
    return " ".join(draw.choices(WORDS, k=n_words))


def judgements(n: int, draw: Random) -> Iterator[Judgement]:
    for at in range(n * len(JUDGES)):
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
            rationale=text(draw, 65),
            usage=Usage(input=1200, output=80),
        )


def make_run(folder: Path, n: int, ending: str) -> None:
    """Write a run of n answers, with its summary."""
    from ragstone.kernel.serve.runs import summary_of_rows

    draw = Random(0)
    folder.mkdir(parents=True)
    questions = (
        Question(
            id=f"question-{at}",
            question=text(draw, 15),
            reference=text(draw, 10),
            document_ids=[f"document-{at % 5000}"],
            tags={"crop": f"crop {at % 20}"},
        )
        for at in range(n)
    )
    write_rows(folder / f"questions{ending}", questions, Question)
    answers = (
        Answer(
            question_id=f"question-{at}",
            system="rag",
            answer=text(draw, 60),
            contexts=[
                Context(text=text(draw, 98), id=f"chunk-{k}", document_id=f"document-{(at + k) % 5000}")
                for k in range(4)
            ],
            latency_s=1.0,
            usage=Usage(input=1000, output=90),
        )
        for at in range(n)
    )
    write_rows(folder / f"answers{ending}", answers, Answer)
    file = folder / f"judgements{ending}"
    write_rows(file, judgements(n, draw), Judgement)
    summary = summary_of_rows(folder, file)
    (folder / "summary.json").write_bytes(msgspec.json.encode(summary))


def read_bare(folder: Path) -> None:
    """Decode what the index needs of the rows of a run, by msgspec alone."""
    from ragstone.kernel.serve.rows.files import decoded
    from ragstone.kernel.serve.rows.indexing import ROW_TYPES

    for kind in ("questions", "answers", "judgements"):
        deque(decoded(folder / f"{kind}.jsonl", ROW_TYPES[kind]), maxlen=0)


class Server:
    """A server of a project, and the most memory that it and the process that makes an index have taken."""

    def __init__(self, project: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [sys.executable, "-m", "ragstone", "serve", "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ
        )
        self.index_mb = 0
        for _ in range(1000):
            try:
                self.get("/workbench/")
                break
            except OSError:
                time.sleep(LOOK_S)

    def get(self, path: str, **query: str) -> Any:  # noqa: ANN401 - what a page answers
        """Return what an address answers: a value where that is JSON, else its bytes."""
        address = f"http://127.0.0.1:{self.port}{path}?{urlencode(query)}"
        with urllib.request.urlopen(address, timeout=300) as reply:
            content = reply.read()
        self.look()
        return json.loads(content) if content[:1] == b"{" else content

    def look(self) -> None:
        """Look how much memory the process that makes an index has taken so far, if there is one."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        tasks = children.parent.parent.glob("*/children")
        for child in " ".join(file.read_text() for file in tasks).split():
            self.index_mb = max(self.index_mb, peak_mb(int(child)))

    def end(self) -> int:
        """End it, and return the most memory that its process took, in MB."""
        peak = peak_mb(self.process.pid)
        self.process.terminate()
        self.process.wait(30)
        return peak


def peak_mb(pid: int) -> int:
    """Return the most memory that a process has taken until now; 0 where there is none."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0)


def opened(project: Path) -> dict[str, float]:
    """Return the seconds from the request of the page on, and the memory in MB, of one opening."""
    server = Server(project)
    began = time.perf_counter()

    def passed() -> float:
        return time.perf_counter() - began

    found: dict[str, float] = {}
    server.get(RUN)
    found["the page"] = passed()
    first = server.get(f"{RUN}/first")
    found["the first rows"] = passed()
    while first["making"]:
        time.sleep(LOOK_S)
        first = server.get(f"{RUN}/first", shown="true")
    server.get(f"{RUN}/head")
    rows = server.get(f"{RUN}/rows")
    assert rows["of"] > 0, rows
    found["menus, filters and all rows"] = passed()
    found["memory of the server, MB"] = server.end()
    found["memory of the index's process, MB"] = server.index_mb
    return found


def pages(project: Path) -> dict[str, float]:
    """Return the seconds of pages of rows and of a question, each the median of 5."""
    server = Server(project)

    def timed(path: str, **query: str) -> float:
        began = time.perf_counter()
        server.get(path, **query)
        return time.perf_counter() - began

    found = {
        f"rows: {name}": statistics.median(timed(f"{RUN}/rows", **query) for _ in range(5))
        for name, query in PAGES.items()
    }
    questions = [timed(f"{RUN}/question", question=f"question-{k}") for k in range(5)]
    found["a question, whole"] = statistics.median(questions)
    server.end()
    return found


def list_of_runs(project: Path, n: int) -> dict[str, float]:
    """Return the seconds of the list of n runs, first and second look."""
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
    found = {}
    for look in ("first", "second"):
        began = time.perf_counter()
        n_found = len(state.runs.all())
        found[f"the list of {n_found} runs, {look} look"] = time.perf_counter() - began
    return found


PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
ROWS = "document.querySelectorAll('#list > li, [data-row]').length > 0"


def paint(n: int) -> None:
    """Print when the page of a run of n answers is painted in Chromium, and what pages are on the wire."""
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
        folder = project / "runs" / "large"
        make_run(folder, n, ending)
        size = sum(file.stat().st_size for file in folder.iterdir())
        print(f"{n:,} answers, {n * len(JUDGES):,} judgements, {size / 1e6:.0f} MB in {ending} files\n")
        began = time.perf_counter()
        if ending == ".jsonl":
            read_bare(folder)
        bare = time.perf_counter() - began
        first, second = opened(project), opened(project)
        print("| opening | first | again |\n|---|---:|---:|")
        for what, value in first.items():
            shown = ".0f" if "MB" in what else ".2f"
            print(f"| {what} | {value:{shown}} | {second[what]:{shown}} |")
        if ending == ".jsonl":
            ready = first["menus, filters and all rows"]
            print(
                f"\nA bare read took {bare:.2f} s: all rows were there after {ready / bare:.1f} times that."
            )
        print("\n| | seconds |\n|---|---:|")
        for what, seconds in {**pages(project), **list_of_runs(project, 500)}.items():
            print(f"| {what} | {seconds:.3f} |")


if __name__ == "__main__":
    numbers = [int(given) for given in sys.argv[1:] if given.isdecimal()]
    if "--paint" in sys.argv:
        paint(numbers[0] if numbers else 33_000)
    else:
        main(numbers[0] if numbers else 100_000, ".parquet" if "--parquet" in sys.argv else ".jsonl")
