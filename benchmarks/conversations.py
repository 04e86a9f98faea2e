"""Replies of conversations beside single answers: time for each judged reply, and peak memory.

`python benchmarks/conversations.py`. Both sheets hold the same replies, and the runs alternate, so that what
else the machine does falls on both. A conversation has 8 turns, 4 of them replies.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # this file is no part of the package

from tests.support.fake_openai import running  # noqa: E402

from ragstone.kernel.judging.conversation import replies_of  # noqa: E402
from ragstone.kernel.records import Answer, Turn  # noqa: E402
from ragstone.kernel.tables import write_rows  # noqa: E402

RUNS = 5
REPLIES = 4


class Cost(NamedTuple):
    """What a command took: CPU seconds of its own, and its peak memory in MB."""

    cpu_s: float
    peak_mb: float


def conversations(n: int) -> Iterator[Answer]:
    """Yield n conversations."""
    for number in range(n):
        turns = [
            turn
            for place in range(REPLIES)
            for turn in (
                Turn("user", f"Field {number}, month {place}: when should maize get its nitrogen?"),
                Turn(
                    "assistant",
                    f"The guide names stage V{place + 4}, after a soil test; see page {number}.",
                ),
            )
        ]
        yield Answer(
            question_id=f"c{number}", question=turns[-2].content, answer=turns[-1].content, turns=turns
        )


def singles(n: int) -> Iterator[Answer]:
    """Yield the replies of n conversations as answers that know no conversation."""
    for whole in conversations(n):
        for reply in replies_of(whole):
            yield Answer(question_id=reply.question_id, question=reply.question, answer=reply.answer)


def cost_of(folder: Path, *arguments: str) -> Cost:
    """Return what `ragstone judge ARGUMENTS` costs."""
    shutil.rmtree(folder / ".ragstone", ignore_errors=True)  # the ledger
    command = [sys.executable, "-m", "ragstone", "judge", *arguments, "-o", "out.jsonl", "--force"]
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        os.execv(sys.executable, command)
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(command)}: exit status {status}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def compare(folder: Path, n: int, *judge: str) -> None:
    """Print a line for n conversations judged by each turn beside their replies as single answers."""
    write_rows(folder / "whole.jsonl", conversations(n), Answer, force=True)
    write_rows(folder / "single.jsonl", singles(n), Answer, force=True)
    by_turn, alone = [], []
    for _ in range(RUNS):
        alone.append(cost_of(folder, "single.jsonl", *judge))
        by_turn.append(cost_of(folder, "whole.jsonl", "--each-turn", *judge))
    ratio = median(mine.cpu_s / other.cpu_s for mine, other in zip(by_turn, alone, strict=True))
    cost = [1000 * median(run.cpu_s for run in runs) / (n * REPLIES) for runs in (by_turn, alone)]
    peak = [median(run.peak_mb for run in runs) for runs in (by_turn, alone)]
    print(
        f"{n:7,} x 8 turns, {judge[1]:<12}{cost[0]:8.3f}{cost[1]:8.3f} ms a reply, ratio {ratio:.2f};"
        f"{peak[0]:6.0f}{peak[1]:6.0f} MB"
    )


def main() -> None:
    """Print the table."""
    print("                                 by turn   alone                       by turn  alone")
    with tempfile.TemporaryDirectory() as name, running("--latency", "0") as base_url:
        folder = Path(name)
        (folder / "ragstone.toml").write_text(f'[models."openai/fake"]\nbase_url = "{base_url}"\n')
        for n in (2_500, 10_000, 40_000):
            compare(folder, n, "--judge", "no_refusal")
        compare(folder, 1_000, "--judge", "answered", "--model", "openai/fake", "--yes")


if __name__ == "__main__":
    main()
