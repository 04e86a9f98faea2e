"""What a user waits for: from the command to the written file. `python benchmarks/judging.py`.

Everything is counted: start of the process, reading, prompts, calls, checking, ledger, summary, writing.
A fake endpoint runs in a process of its own and answers after 50 ms; with 64 in flight the ideal wall time
of 500 calls is 0.39 s.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # this file is no part of the package

from tests.support.fake_openai import running  # noqa: E402

from ragstone.features.judge._sheet import AnswerSheet  # noqa: E402
from ragstone.features.judge.judging import judge_sheet  # noqa: E402
from ragstone.kernel.config import choose, load_settings  # noqa: E402
from ragstone.kernel.judging.variant import load_judges  # noqa: E402
from ragstone.kernel.processes import n_cores  # noqa: E402
from ragstone.kernel.records import Answer  # noqa: E402
from ragstone.kernel.tables import write_rows  # noqa: E402

ENOUGH = 20_000  # rows that are judged by words alone
EVOUNA = ROOT.parent / "shared" / "data" / "evouna" / "tq600.jsonl"
LATENCY_S = 0.05
RUNS = 5


class Timing(NamedTuple):
    """What a command took."""

    wall_s: float
    cpu_s: float


def timed(folder: str, *arguments: str) -> Timing:
    """Run `ragstone ARGUMENTS` in a folder."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("OPENAI_")}
    started, before = time.perf_counter(), os.times()
    command = [sys.executable, "-m", "ragstone", *arguments]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    wall_s, after = time.perf_counter() - started, os.times()
    cpu_s = after.children_user - before.children_user + after.children_system - before.children_system
    return Timing(wall_s, cpu_s)


def median(timings: list[Timing]) -> Timing:
    """Return the run in the middle by wall time."""
    return sorted(timings)[len(timings) // 2]


def show(name: str, timing: Timing, rows: int | None, target: str) -> None:
    """Print one line of the table."""
    cpu_ms = f"{1000 * timing.cpu_s / rows:10.3f}" if rows else f"{'':10}"
    print(f"{name:<54}{timing.wall_s:8.2f}{timing.cpu_s:8.2f}{cpu_ms}   {target}")


def make_sheet(folder: str, base_url: str, n: int) -> None:
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
    write_rows(Path(folder) / f"answers{n}.jsonl", answers, Answer)
    (Path(folder) / "ragstone.toml").write_text(f'[models."openai/fake"]\nbase_url = "{base_url}"\n')


def judged(folder: str, n: int) -> Timing:
    """Return what judging the sheet of n answers takes."""
    options = ("--judge", "correctness", "--model", "openai/fake", "--force")
    return timed(folder, "judge", f"answers{n}.jsonl", *options, "-o", "judgements.jsonl")


def words_judged(folder: str, workers: int) -> Timing:
    """Return what judging ENOUGH rows by `right` takes so many processes at most."""
    (Path(folder) / "ragstone.toml").write_text(f"[engine]\nworkers = {workers}\n")
    return timed(
        folder, "judge", f"answers{ENOUGH}.jsonl", "--judge", "right", "-o", f"by{workers}.jsonl", "--force"
    )


def show_cores() -> None:
    """Print what one process and one for each core take, in turns; their files must be equal."""
    cores = n_cores()
    with tempfile.TemporaryDirectory() as folder:
        make_sheet(folder, "", ENOUGH)
        one, all_cores = [], []
        for _ in range(RUNS):
            one.append(words_judged(folder, 1))
            all_cores.append(words_judged(folder, cores))
        same = (Path(folder) / "by1.jsonl").read_bytes() == (Path(folder) / f"by{cores}.jsonl").read_bytes()
        assert same, "the files differ"
    show(f"judge {ENOUGH:,} rows by `right`, one process", median(one), ENOUGH, "")
    gain = median(one).wall_s / median(all_cores).wall_s
    show(f"the same, one for each of {cores} cores", median(all_cores), ENOUGH, f"{gain:.2f} x as fast")


def called(base_url: str, n: int) -> Timing:
    """Return what judging a sheet of n answers takes from Python: from the call to the written file."""
    with tempfile.TemporaryDirectory() as folder:
        make_sheet(folder, base_url, n)
        settings = choose(load_settings(Path(folder) / "ragstone.toml"), "judge", model="openai/fake")
        started, cpu_s = time.perf_counter(), time.process_time()
        sheet = AnswerSheet(Path(folder) / f"answers{n}.jsonl")
        judge_sheet(sheet, Path(folder) / "judgements.jsonl", load_judges(["correctness"]), settings)
        return Timing(time.perf_counter() - started, time.process_time() - cpu_s)


def main() -> None:
    """Print the table."""
    print(f"{'':<54}{'wall s':>8}{'CPU s':>8}{'CPU ms/row':>10}   target (median of {RUNS})")
    with running("--latency", str(LATENCY_S)) as base_url:
        python = median([called(base_url, 500) for _ in range(RUNS + 1)][1:])
        show("judge 500 rows, from the call in Python to the file", python, 500, "<= 1.0 s, ideal 0.39 s")
        with tempfile.TemporaryDirectory() as folder:
            make_sheet(folder, base_url, 1)
            start = median([judged(folder, 1) for _ in range(RUNS + 1)][1:])
        show("judge 1 row, from the ledger: start and end", start, None, "")
        for n, target in ((500, "ideal 0.39 s"), (5000, "<= 0.5 ms a row + start, ideal 3.91 s")):
            fresh, again = [], []
            for _ in range(RUNS):
                with tempfile.TemporaryDirectory() as folder:
                    make_sheet(folder, base_url, n)
                    fresh.append(judged(folder, n))
                    again.append(judged(folder, n))
            show(f"judge {n:,} rows, one call each, 64 in flight", median(fresh), n, target)
            show("the same again, from the ledger", median(again), n, "<= 0.10 ms a row + start")
    show_cores()
    with tempfile.TemporaryDirectory() as folder:
        show("ragstone --help", median([timed(folder, "--help") for _ in range(RUNS)]), None, "<= 0.3 s")
        if EVOUNA.is_file():
            judge = [
                timed(folder, "judge", str(EVOUNA), "--judge", "containment", "-o", "judgements.jsonl")
                for _ in range(RUNS)
            ]
            agree = [timed(folder, "agree", "judgements.jsonl", str(EVOUNA)) for _ in range(RUNS)]
            show("judge evouna tq600 (3,000 rows) by containment", median(judge), 3000, "")
            show("agree with people on it", median(agree), 3000, "<= 5 s with the line above")


if __name__ == "__main__":
    main()
