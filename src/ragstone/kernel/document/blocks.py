"""A report as a value: what it says, in order. Terminal, page and notebook are renderers of it (render/).

Text is plain everywhere: a renderer escapes it, and only `Notes` and `prose` texts read backticks as code.
A surface shows the blocks and columns that are for it: `terminal` has 100 columns and stands for a notebook
too, `page` has room for everything. What both show stands once.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, TypeVar

import msgspec

from ragstone.kernel.document.numbers import interval, number
from ragstone.kernel.statistics import Estimate

Where = Literal["everywhere", "page", "terminal"]
Part = Literal["", "answer", "main", "caution"]
Tone = Literal["", "strong", "muted", "lead", "outcome", "warn", "good", "bad", "best", "open"]


class Link(msgspec.Struct, frozen=True):
    """A place of the same page, or of the same server (`/...`). about: shown when the mouse rests on it."""

    words: str
    target: str
    about: str = ""


class Cell(msgspec.Struct, frozen=True):
    """A cell of a table. beside: what stands small under its words, or in a column of its own.

    caution: why not to rely on it, under its words. short: in place of its words where there is little room.
    at: drawn with its interval, where the column has ends; ends: of this cell's scale, where it is another.
    share: the length of a bar, 0 to 1; pale: of a paler bar after it. heat: how dark the cell is, 0 to 5;
    framed: the one to look at.
    """

    words: str
    beside: str = ""
    tone: Tone = ""
    short: str = ""
    caution: str = ""
    at: Estimate | None = None
    ends: tuple[float, float] | None = None
    share: float | None = None
    pale: float = 0.0
    heat: int | None = None
    framed: bool = False
    links: tuple[Link, ...] = ()


Row = Sequence[Cell | str]


class Column(msgspec.Struct, frozen=True):
    """A column of numbers, or of text. short: its head where there is little room, if that is another one.

    beside: in a terminal, the head of a second column for what stands beside its cells; without one that is
    left out there. ends: of the scale on which its cells are drawn. bars: its cells have a bar before them.
    rare: a short screen (screen.py) that is too narrow for the table leaves it out, and says so.
    """

    head: str
    text: bool = False
    where: Where = "everywhere"
    short: str | None = None
    beside: str = ""
    ends: tuple[float, float] | None = None
    bars: bool = False
    rare: bool = False


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Base of what a document is made of. where: the surface that shows it.

    part: what a short screen (screen.py) makes of it: an answer; the main table, by default the first; a
    caution, which is shown or counted. A paragraph of tone "outcome" is an answer, what has tone "warn" or
    "bad" is a caution. cautions: sentences of it that are cautions; where a screen leaves it out, it counts
    them.
    """

    where: Where = "everywhere"
    part: Part = ""
    cautions: int = 0


class Heading(Block, frozen=True):
    """A heading. level: 2 begins a part of the document, 3 and 4 stand within. anchor: its id in a page."""

    words: str
    level: int = 2
    anchor: str = ""


class Paragraph(Block, frozen=True):
    """A paragraph. prose: what stands between backticks is a command. link: after the words, on a page."""

    words: str
    tone: Tone = ""
    prose: bool = False
    link: Link | None = None


class Verbatim(Block, frozen=True):
    """Text of a file as it is."""

    words: str


DiffMark = Literal["", "added", "removed", "muted"]


class Diff(Block, frozen=True):
    """The lines of a unified diff of two texts. label: what it is, for who cannot see it."""

    lines: list[str]
    label: str

    def marked(self) -> list[tuple[DiffMark, str]]:
        """Return each line with what it is; the heads, and the places of the parts, are muted."""
        marks: dict[str, DiffMark] = {"+": "added", "-": "removed", "@": "muted"}
        return [("muted" if at < 2 else marks.get(line[:1], ""), line) for at, line in enumerate(self.lines)]


class Listing(Block, frozen=True):
    """Items. most: of them where there is little room; the rest is told as a number. prose: see Paragraph."""

    items: list[str]
    most: int | None = None
    tone: Tone = ""
    prose: bool = False


class Figure(msgspec.Struct, frozen=True):
    """One number of a finding: what it is, its value and interval, and the rows that it rests on."""

    label: str
    value: str
    interval: str
    rests_on: str


class HeadlineFinding(msgspec.Struct, frozen=True):
    """A question, the figures that answer it, and what they mean. Without figures it was not measured, unless
    `instead` says what was found.

    below: what else stands further down, where the figures are shown; empty if they are all there is. anchor,
    link: where all numbers stand, and what that is called. instead: what stands in place of figures.
    """

    question: str
    figures: list[Figure]
    sentences: list[str]
    below: str = ""
    anchor: str = ""
    link: str = ""
    instead: str = "Not measured"


def told(finding: HeadlineFinding) -> list[str]:
    """Return the sentences of a finding for where its figures are shown in another form."""
    return finding.sentences if finding.figures else [f"{finding.instead}.", *finding.sentences]


class Findings(Block, frozen=True, kw_only=True):
    """What a reader looks for first; a terminal has the same numbers in tables."""

    findings: list[HeadlineFinding]
    where: Where = "page"


class Notes(Block, frozen=True):
    """What to know before trusting the numbers: on a page before them, in a terminal last."""

    items: list[str]


class Pairs(Block, frozen=True):
    """What each of several things is."""

    rows: Sequence[tuple[str, str]]


class Table(Block, frozen=True):
    """A table. A row of one cell is the head of the rows under it. The first column of text names the rows.

    label: what it is, for who cannot see it. kind: classes of its style on a page.
    """

    columns: list[Column]
    rows: Sequence[Row]
    label: str
    caption: str = ""
    kind: str = "wide"


class Fold(Block, frozen=True):
    """Blocks to open on a page; no other surface has them."""

    summary: str
    blocks: Sequence[Block]


class SurfacePart(Block, frozen=True):
    """Blocks that stand together. kind: a class of the style; a page puts blocks without one in nothing."""

    blocks: Sequence[Block]
    kind: str = ""


class RowList(Block, frozen=True, kw_only=True):
    """Rows to find and to open: a template of the page, which its script fills from what the page embeds.

    heading: that of the template, whose anchor is `questions`; empty if it has none.
    """

    template: str
    heading: str = ""
    where: Where = "page"


class ReportDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A report. kind: what it is (`bench of retrievers`). about: under the title.

    skip: the anchor of what a reader comes for, and what that is called. made: what was asked of whom, at
    the end of a page; last: what a terminal says last, of what was asked or of a gate; brief: the same for
    a short screen, if that is shorter. source: the file of its numbers. back: where a page leads back to.
    """

    title: str
    kind: str
    about: str
    version: str
    blocks: list[Block]
    skip: tuple[str, str] = ("", "")
    made: list[tuple[str, str]] = []
    source: str = ""
    last: str = ""
    brief: str = ""
    last_tone: Tone = "muted"
    back: Link | None = None


RowT = TypeVar("RowT")
Made = tuple[Column | str, Callable[[RowT], Cell | str]]
"""A column (or its head alone, of numbers) and what it shows of a row."""


def table_of(
    label: str,
    rows: Iterable[RowT],
    columns: Sequence[Made[RowT]],
    *,
    caption: str = "",
    kind: str = "wide",
    where: Where = "everywhere",
    part: Part = "",
    group: Callable[[RowT], str] = lambda _row: "",
) -> Table:
    """Return a table of rows. group: the head that a row stands under, above the first of its rows."""
    heads = [head if isinstance(head, Column) else Column(head) for head, _ in columns]
    cells: list[Row] = []
    last = ""
    for row in rows:
        if group(row) not in ("", last):
            cells.append([group(row)])
        last = group(row)
        cells.append([of(row) for _, of in columns])
    return Table(heads, cells, label, caption, kind, where=where, part=part)


def estimated(estimate: Estimate | None, tone: Tone = "") -> Cell:
    """Return the cell of an estimate: its value, the interval beside it; an empty one of nothing."""
    return Cell(number(estimate.value), interval(estimate), tone, at=estimate) if estimate else Cell("")


def flat(blocks: Iterable[Block], where: Where) -> Iterator[Block]:
    """Yield the blocks of a surface, those of parts in their place; on a page a part with a style is kept."""
    for block in blocks:
        if block.where not in ("everywhere", where):
            continue
        if isinstance(block, SurfacePart) and (where == "terminal" or not block.kind):
            yield from flat(block.blocks, where)
        else:
            yield block
