"""The failure modes of a look at the store -> a part of the monitor's page, and of a terminal."""

from collections.abc import Sequence
from urllib.parse import quote

from ragstone.features.watch._cells import TrendPoint
from ragstone.features.watch._judged import judge_words
from ragstone.features.watch._mode_looks import FoundMode
from ragstone.features.watch._uncovered import UNCOVERED
from ragstone.features.watch.look import Look, MetricRow
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Heading,
    Link,
    Listing,
    Made,
    Paragraph,
    SurfacePart,
    table_of,
)
from ragstone.kernel.document.numbers import count, one_line, percent, percent_ends
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.modes import mode_title
from ragstone.kernel.statistics import Estimate

ANCHOR = "modes"
LEAD = (
    "The share of answers that the judge of each mode names, weighted to represent all exchanges. How often "
    "that judge is right is known where people have labelled answers for it: see `ragstone modes`."
)
NONE_OF_THEM = "Wrong, in none of these modes"
LONGEST_EXAMPLE = 160


def mode_blocks(look: Look, served: str) -> list[Block]:
    """Return the watched modes and new ones; nothing where none are watched. served: see monitor_document."""
    new = [mode for mode in look.new_modes if mode.over is None]
    if not look.modes and not look.modes_left_out and not new:
        return []
    return [
        Heading("Failure modes", anchor=ANCHOR),
        *([Paragraph(LEAD, tone="lead", where="page", prose=True)] if look.modes else []),
        *([_table(look, served)] if look.modes else []),
        *(block for mode in new for block in _new(mode)),
        *([Listing(look.modes_left_out, tone="warn", prose=True)] if look.modes_left_out else []),
    ]


def _table(look: Look, served: str) -> Block:
    several = sum(row.mean.metric == UNCOVERED for row in look.modes) > 1

    def name(row: MetricRow) -> Cell:
        is_rest = row.mean.metric == UNCOVERED
        title = NONE_OF_THEM if is_rest else mode_title(row.mean.metric)
        by = (
            f"set {row.mean.judge.split()[1]} of modes"
            if is_rest and several
            else judge_words(row.mean.judge)
        )
        beside = "" if is_rest and not several else by
        if not served:
            return Cell(title, beside)
        return Cell("", beside, links=(Link(title, f"{served}/questions?metric={quote(row.mean.metric)}"),))

    def share(point: TrendPoint | None) -> str:
        return "" if point is None or point.mean is None else percent(point.mean)

    def ends(point: TrendPoint | None) -> str:
        if point is None or point.mean is None or point.low is None or point.high is None:
            return ""
        return percent_ends(_estimate(point.mean, point.low, point.high, point.n))

    def scored(point: TrendPoint | None) -> str:
        return "none" if point is None else f"{count(point.n)} judged"

    columns: list[Made[MetricRow]] = [
        (Column("Mode", text=True, short=""), name),
        (Column(f"Since {look.since}", where="page"), lambda row: Cell(share(row.recent), tone="strong")),
        (Column("95 % interval", where="page"), lambda row: ends(row.recent)),
        (Column("Rests on", text=True, where="page"), lambda row: scored(row.recent)),
        (Column("All days", short="of answers"), lambda row: share(row.mean.whole)),
        (Column("95 % interval", where="terminal"), lambda row: ends(row.mean.whole)),
        (Column("Rests on", text=True, short="of"), lambda row: scored(row.mean.whole)),
    ]
    rows = sorted(look.modes, key=lambda row: (row.mean.metric == UNCOVERED, -(row.mean.whole.mean or 0.0)))
    return table_of("Failure modes", rows, columns)


def _estimate(mean: float, low: float | None, high: float | None, n: int) -> Estimate:
    return Estimate(value=mean, low=low, high=high, n=n, method="student")


def _new(found: FoundMode) -> Sequence[Block]:
    """Return what a new mode is: how many answers, since when, some of them, and what to do with it."""
    mode = found.mode
    after = mode.after
    ends = (
        ""
        if after.low is None
        else f" ({percent_ends(_estimate(after.mean, after.low, after.high, after.n))})"
    )
    rests = (
        f"In the weeks up to {mode.looked}, {percent(after.mean)}{ends} of answers are wrong and have "
        f"its signs, before that {percent(mode.before.mean)}. Found in {plural(mode.n, 'answer')}, the first "
        f"on {mode.since}."
    )
    told = f"No person has checked it. To watch it, move `{found.file}` to the folder of your modes."
    examples = [
        one_line(f"{example.question} → {example.answer}", LONGEST_EXAMPLE) for example in found.examples
    ]
    return [
        Heading(f"New: {found.title}", level=3),
        Paragraph(rests, prose=True),
        SurfacePart([Listing(examples)], where="page"),
        Paragraph(told, prose=True),
    ]
