"""What bench.json holds: everything that the page and the terminal show of a bench of judges."""

from pathlib import Path

import msgspec

from ragstone.agreement.bench.board import JudgeBoard
from ragstone.agreement.bench.choice import Choice
from ragstone.report.numbers import read_numbers
from ragstone.report.summary import Calls
from ragstone.tables.shown import Displayed

BENCH = "bench.json"


class JudgeBenchSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """A bench of judges in numbers.

    counts: rows of each kind. models: name -> model, as the ledger knows it. choice: the recommendation;
    None if no cell has a place. repeats: how often each cell that asks a model was judged. list_prices: as
    in Calls. notes: what a reader must know before trusting the numbers. calls: of the run that returned
    this, None as bench.json has it, which is the same whoever answered the calls.
    """

    name: str
    version: str
    counts: dict[str, int]
    models: dict[str, str]
    board: JudgeBoard
    choice: Choice | None
    repeats: int
    list_prices: dict[str, str]
    notes: list[str]
    calls: Calls | None = None


def read_judge_bench(folder: Path) -> JudgeBenchSummary:
    """Return what bench.json of a folder holds. Raises DataError, saying what to do."""
    return read_numbers(folder / BENCH, JudgeBenchSummary, "bench of judges", "ragstone bench judges")
