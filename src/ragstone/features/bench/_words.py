"""The words of all benches: columns, verdicts, what was not measured, prices, and the frame of a report."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from ragstone.features.bench._board import LeftOutCell
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Listing,
    Made,
    ReportDocument,
    Tone,
    estimated,
)
from ragstone.kernel.document.numbers import count, size_with_ends
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.runs.wording import asked_line, made_of
from ragstone.kernel.statistics import Estimate, negated
from ragstone.kernel.statistics.estimate import FEW_CLUSTERS
from ragstone.kernel.statistics.paired import BoardPlace

MARKS: dict[BoardPlace, str] = {"best": "best", "not distinguishable": "= best?", "worse": "worse"}
TONES: dict[BoardPlace, Tone] = {"best": "best", "not distinguishable": "open", "worse": "muted"}
FEW_QUESTIONS = 20
NOT_EQUAL = (
    "“Cannot tell” is not “equal”: the interval shows how large a difference may still be. Each interval is "
    "for one comparison; the verdicts are corrected for all of them."
)


class Ranked(Protocol):
    """A row of a board."""

    @property
    def place(self) -> int:
        """From 1, the best first."""


PLACE: Made[Ranked] = ("#", lambda row: str(row.place))
RowT = TypeVar("RowT")


def named(head: str, cell: Callable[[RowT], Cell | str]) -> Made[RowT]:
    """Return the column that says what a row is of; a terminal shows it without a head."""
    return Column(head, text=True, short=""), cell


def means(
    names: Iterable[str], of: Callable[[RowT], Mapping[str, Estimate]], heads: Mapping[str, str] = {}
) -> list[Made[RowT]]:
    """Return a column for each name: the estimates under it. heads: names -> heads, where they differ."""

    def column(name: str) -> Made[RowT]:
        return heads.get(name, name), lambda row: estimated(of(row).get(name))

    return [column(name) for name in names]


def verdict(standing: BoardPlace, group: Iterable[str]) -> Cell:
    """Return the cell of a verdict. group: those of all that are compared with one best.

    Where one cannot be told from it, the first is no more the best than that one is.
    """
    if standing == "best" and "not distinguishable" in group:
        standing = "not distinguishable"
    return Cell(standing, tone=TONES[standing], short=MARKS[standing])


def few_questions(n: int) -> str:
    """Return the note on a bench of fewer than FEW_QUESTIONS questions."""
    narrow = " and yet too narrow" if n < FEW_CLUSTERS else ""
    return (
        f"Only {plural(n, 'different question')}: intervals from so few are wide{narrow}, and most "
        "differences cannot be shown."
    )


def not_measured(failed: Iterable[LeftOutCell]) -> list[Block]:
    """Return what could not be measured, and why."""
    lines = [f"{cell.name} was not measured: {cell.reason}" for cell in failed]
    return [Listing(lines, tone="warn", prose=True)] if lines else []


def measures_in(order: Sequence[str], rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the measures that any row has, in a given order."""
    known = {name for row in rows for name in row}
    return [name for name in order if name in known]


def all_of(names: Sequence[str]) -> str:
    """Return names as `a, b and c`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def size(difference: Estimate) -> str:
    """Return how large a difference is, without its sign."""
    gap = difference if difference.value >= 0 else negated(difference)
    return size_with_ends(gap.value, gap.low, gap.high)


def family_text(rows: str, test: str, n: int, cells: str) -> str:
    """Return what verdicts rest on: on which rows by which test, corrected over how many pairs of cells."""
    return (
        f"Compared on the same {rows} ({test} test); Holm's correction over {plural(n, 'comparison')}, "
        f"every pair of {cells}."
    )


class Spent(Protocol):
    """What a cell took."""

    @property
    def n_calls(self) -> int:
        """Calls of models."""

    @property
    def input(self) -> int:
        """Tokens that models were given."""

    @property
    def output(self) -> int:
        """Tokens that they gave."""


def asked_text(spent: Sequence[Spent], of: str = "") -> str:
    """Return the calls and tokens of all cells together. of: what they were for, as ` for answers`."""
    calls = plural(sum(cell.n_calls for cell in spent), "call")
    tokens_in, tokens_out = sum(cell.input for cell in spent), sum(cell.output for cell in spent)
    return f"{calls}{of}, {count(tokens_in)} tokens in, {count(tokens_out)} out"


class BenchNumbers(Protocol):
    """What the numbers of every bench begin and end with."""

    @property
    def name(self) -> str:
        """Of the run."""

    @property
    def version(self) -> str:
        """Of Ragstone."""

    @property
    def models(self) -> dict[str, str]:
        """Name or role -> model."""

    @property
    def calls(self) -> Calls | None:
        """Of the run that returned this."""


def bench_report(
    summary: BenchNumbers,
    kind: str,
    about: str,
    blocks: list[Block],
    *,
    source: str,
    skip: tuple[str, str] = ("board", "leaderboard"),
    made: Sequence[tuple[str, str]] | None = None,
) -> ReportDocument:
    """Return the report of a bench. made: what models were asked; None: the calls, and what they cost."""
    calls = summary.calls
    calls_made = made_of({}, calls) if made is None and calls else made or ()
    return ReportDocument(
        title=summary.name,
        kind=kind,
        about=about,
        version=summary.version,
        blocks=blocks,
        skip=skip,
        made=[*summary.models.items(), *calls_made],
        source=source,
        last=asked_line(calls) if calls else "",
    )
