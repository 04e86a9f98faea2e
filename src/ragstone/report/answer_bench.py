"""What bench.json holds of a bench of answerers: everything that its page and the terminal show."""

from pathlib import Path

import msgspec

from ragstone.experiments.answer_board import AnswerBoard
from ragstone.experiments.answer_race import RaceReport
from ragstone.report.judge_bench import BENCH
from ragstone.report.numbers import read_numbers
from ragstone.report.summary import Calls
from ragstone.tables.shown import Displayed


class AnswerBenchSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """A bench of answerers in numbers.

    models: name -> model, as the ledger knows it. retriever, k, n_distractors: what the conditions are made
    with. race: how it went, where questions were given out as one. list_prices: as in Calls. notes: what a
    reader must know before trusting the numbers. calls: of the run that returned this, None as bench.json
    has it, which is the same whoever answered the calls.
    """

    name: str
    version: str
    counts: dict[str, int]
    models: dict[str, str]
    retriever: str
    k: int
    n_distractors: int
    board: AnswerBoard
    race: RaceReport | None = None
    list_prices: dict[str, str]
    notes: list[str]
    calls: Calls | None = None


def read_answer_bench(folder: Path) -> AnswerBenchSummary:
    """Return what bench.json of a folder holds. Raises DataError, saying what to do."""
    return read_numbers(folder / BENCH, AnswerBenchSummary, "bench of answerers", "ragstone bench answerers")
