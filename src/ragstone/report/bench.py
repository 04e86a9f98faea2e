"""What leaderboard.json holds: everything that the page and the terminal show of a bench of retrievers."""

from pathlib import Path

import msgspec

from ragstone.experiments.leaderboard import Leaderboard
from ragstone.report.numbers import read_numbers
from ragstone.report.summary import Calls
from ragstone.tables.shown import Displayed

LEADERBOARD = "leaderboard.json"


class BenchSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """A bench of retrievers in numbers.

    counts: rows of each kind; chunks of each chunker. texts: document id -> its title or how it begins, of
    the documents that `leaderboard.differing` names. models: role -> name. notes: what a reader must know
    before trusting the numbers.
    """

    name: str
    version: str
    counts: dict[str, int]
    models: dict[str, str]
    leaderboard: Leaderboard
    texts: dict[str, str]
    calls: Calls
    notes: list[str]


def read_leaderboard(folder: Path) -> BenchSummary:
    """Return what leaderboard.json of a folder holds. Raises DataError, saying what to do."""
    return read_numbers(folder / LEADERBOARD, BenchSummary, "leaderboard", "ragstone bench retrievers")
