"""Which component gets the blame for a fault that was planted: 200 trials of each, and some through the door.

    python -m benchmarks.blame [TRIALS] [RUNS]

Facts drawn at the rates of tests/support/planted_faults.py (150 questions a trial, judges and tests that
err), and whole runs with a scripted endpoint (120 questions each). Some 0.3 s a trial
and 3 s a run on one core.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.support.fake_openai import serving
from tests.support.planted_faults import FAULTS, Rates, largest_of, planted_blame
from tests.support.planted_run import plant_run

import ragstone
from ragstone.kernel.runs.causes import Component, SystemBlame

TRIALS, RUNS = 200, 20
QUESTIONS_OF_A_RUN = 120
COLUMNS: tuple[Component, ...] = ("dataset", "retriever", "model + prompt", "judge")
# Retriever and model answer for as many points: how often is one called the largest?
EVEN = Rates(missed=0.125, ignores=0.12, misreads=0.0, second=0.0, lenient=0.0, harsh=0.0, unanswerable=0.0)


def runs_of(rates: Rates, n: int) -> Iterator[SystemBlame]:
    """Yield the blame of whole runs, made and asked through the real door."""
    with serving() as fake:
        for seed in range(n):
            with tempfile.TemporaryDirectory() as folder:
                settings = plant_run(Path(folder), fake, rates, seed, QUESTIONS_OF_A_RUN)
                ragstone.run(settings)
                yield ragstone.blame(Path(folder) / "runs" / "planted", settings=settings).systems[0]


def show(fault: str, right: Component, found: Iterable[SystemBlame]) -> None:
    every = list(found)
    largest = Counter(largest_of(blame) for blame in every)
    told = [blame.largest for blame in every if blame.largest and blame.largest.verdict == "largest"]
    n_right = sum(one.first == right for one in told)
    row = "  ".join(f"{name} {largest[name]:3}" for name in COLUMNS)
    print(f"{fault}\n  {row}   right {largest[right] / len(every):6.1%} of {len(every)}")
    print(f"  called the largest beyond chance: {len(told)}, of these right {n_right}")


def main() -> None:
    given = [int(text) for text in sys.argv[1:3]]
    n_trials, n_runs = (*given, *(TRIALS, RUNS)[len(given) :])
    for fault, (rates, right) in FAULTS.items():
        show(fault, right, (planted_blame(rates, seed) for seed in range(n_trials)))
    even = [planted_blame(EVEN, seed) for seed in range(n_trials)]
    n_told = sum(bool(one.largest and one.largest.verdict == "largest") for one in even)
    of = Counter(largest_of(one) for one in even)
    print(f"two faults of about one size: {dict(of)}; called the largest beyond chance: {n_told}")
    print("\nwhole runs through the door")
    for fault, (rates, right) in FAULTS.items():
        show(fault, right, runs_of(rates, n_runs))


if __name__ == "__main__":
    main()
